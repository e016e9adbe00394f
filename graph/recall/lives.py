"""When documents count, for stores that filter by themselves: their own ends, and the rectangles of what they tell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import repeat

import numpy as np

from graph.belief.identity import IDENTITY
from graph.recall.columns import Bools, Columns, Ints
from graph.recall.dense import Life
from graph.recall.namespace import Indexed, Part

MOST = 16
"""Rectangles of a proposition up to which its documents are told of them. One that has more is attested again and again, and each
time all its documents would change."""

BOTH = 2
"""Beside the polarities 0 and 1."""

Spans = tuple[tuple[int, int, int, int], ...]


class Lives:
    """The lives of one namespace's documents, and which of them change from batch to batch."""

    def __init__(self, indexed: Indexed) -> None:
        self._indexed = indexed
        self._ends = {"claims": _Ends(indexed.claims), "episodes": _Ends(indexed.episodes), "rectangles": _Ends(indexed.rectangles)}
        self._concerned = np.zeros(0, np.bool_)
        self._heard = 0
        self._concern()

    def changed(self) -> dict[Part, Ints]:
        """The documents that live otherwise than when this was last asked, of those that there were then."""
        indexed = self._indexed
        known, before = self._ends["claims"].size, self._ends["rectangles"].size
        ended = np.zeros(known, np.bool_)
        ended[self._ends["claims"].moved()] = True
        touched = np.concatenate((self._ends["rectangles"].moved(), np.arange(before, indexed.rectangles.size)))
        fresh = self._concern()
        things = [indexed.claims[name][:known] for name in ("subject", "object")]
        told = self._telling(touched, before)[indexed.claims["base"][:known]]
        told &= ~(self._concerned[things[0]] | self._concerned[things[1]])
        return {
            "claims": np.flatnonzero(ended | told | fresh[things[0]] | fresh[things[1]]),
            "episodes": self._ends["episodes"].moved(),
        }

    def of(self, part: Part, docs: Ints) -> dict[int, Life]:
        """The lives of some documents now."""
        columns = self._indexed.claims if part == "claims" else self._indexed.episodes
        froms, tos, said = (columns[name][docs].tolist() for name in ("tx_from", "tx_to", "said"))
        spans: Iterable[Spans | None] = repeat(None) if part == "episodes" else self._told_of(docs)
        told = zip(docs.tolist(), froms, tos, said, spans, strict=False)
        return {doc: Life(tx_from, tx_to, at, mine) for doc, tx_from, tx_to, at, mine in told}

    def _told_of(self, docs: Ints) -> Iterator[Spans | None]:
        """What limits some claims' documents beside their own ends."""
        claims = self._indexed.claims
        bases = claims["base"][docs]
        spans = self._spans(bases)
        free = self._concerned[claims["subject"][docs]] | self._concerned[claims["object"][docs]] | self._often(bases)
        # What ends is told of twice: that it was so, and that it no longer is.
        sides = np.where(claims["ends"][docs], BOTH, claims["polarity"][docs].astype(np.int64))
        for base, side, unbound in zip(bases.tolist(), sides.tolist(), free.tolist(), strict=True):
            yield None if unbound else spans.get((base, side), ())

    def _spans(self, bases: Ints) -> dict[tuple[int, int], Spans]:
        """The rectangles of some propositions, by polarity, and of BOTH; those aside that have too many."""
        table = self._indexed.rectangles
        flags = np.zeros(len(self._indexed.bases), np.bool_)
        flags[bases[~self._often(bases)]] = True
        rows = np.flatnonzero(flags[table["base"]])
        found: dict[tuple[int, int], list[tuple[int, int, int, int]]] = defaultdict(list)
        sides = (table["base"][rows].tolist(), table["polarity"][rows].tolist())
        spans = zip(*(table[name][rows].tolist() for name in ("v_from", "v_to", "tx_from", "tx_to")), strict=True)
        for base, polarity, span in zip(*sides, spans, strict=True):
            found[base, int(polarity)].append(span)
            found[base, BOTH].append(span)
        return {key: tuple(each) for key, each in found.items()}

    def _often(self, bases: Ints, rows: int | None = None) -> Bools:
        """Which propositions have more rectangles, among the first so many, than their documents are told of."""
        counts = np.bincount(self._indexed.rectangles["base"][:rows], minlength=len(self._indexed.bases))
        return np.asarray(counts[bases] > MOST)

    def _telling(self, rows: Ints, before: int) -> Bools:
        """The propositions of some rectangles; those aside that had too many even before the last of them came."""
        bases = np.unique(self._indexed.rectangles["base"][rows])
        flags = np.zeros(len(self._indexed.bases), np.bool_)
        flags[bases[~self._often(bases, before)]] = True
        return flags

    def _concern(self) -> Bools:
        """Look through new claims for things that are joined or split; which of them were not before."""
        claims, indexed = self._indexed.claims, self._indexed
        fresh = np.zeros(len(indexed.things), np.bool_)
        number = indexed.predicates.known(IDENTITY)
        if number is not None:
            rows = self._heard + np.flatnonzero(claims["predicate"][self._heard :] == number)
            for name in ("subject", "object"):
                fresh[claims[name][rows]] = True
        self._heard = claims.size
        known = np.zeros(len(fresh), np.bool_)
        known[: len(self._concerned)] = self._concerned
        fresh &= ~known
        self._concerned = known | fresh
        return fresh


class _Ends:
    """The last transactions of rows as they were when last looked at."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._seen = columns["tx_to"].copy()

    @property
    def size(self) -> int:
        """How many rows there were."""
        return len(self._seen)

    def moved(self) -> Ints:
        """The rows, of those that there were, that have ended since; from now on this is how they were."""
        now = self._columns["tx_to"]
        moved = np.flatnonzero(self._seen != now[: len(self._seen)])
        self._seen = now.copy()
        return moved
