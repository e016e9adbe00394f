"""What one arm makes of the documents of a collection, and what all make of the same candidates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graph.recall.columns import Bools, Floats, Ints
from graph.recall.dense import Around, Dense, Vectors, exact
from graph.recall.views import Arm, ArmScore, Fusion
from graph.recall.words import Scored, WordsView, bm25

SHARES = {Arm.VECTOR: 0.5, Arm.BM25: 0.5}
RRF_K = 60


@dataclass(frozen=True, slots=True)
class Collection:
    """The documents of one kind. `units` tells what each speaks for: a statement, or the episode that it is.

    `admitted` are those that count on the basis, whose statistics are used; `allowed` those of them that may be found.
    `high` and `low` are halves of a key that decides between equal scores. Documents of `both` speak for `unit ^ 1` too.
    """

    words: WordsView
    dense: Dense | None
    embedded: Bools
    units: Ints
    high: NDArray[np.uint64]
    low: NDArray[np.uint64]
    admitted: Bools
    allowed: Bools
    both: Bools | None = None
    tellers: Callable[[Ints], Ints] | None = None
    """Finds the documents that may speak for some units, ascending, others among them; None: all are looked at (none is of `both`)."""

    def spoken_for(self, docs: Ints) -> tuple[Ints, Ints]:
        """What documents speak for: the place of the document, and the unit."""
        places, units = np.arange(len(docs)), self.units[docs]
        if self.both is None:
            return places, units
        twice = np.flatnonzero(self.both[docs])
        return np.concatenate((places, twice)), np.concatenate((units, units[twice] ^ 1))


@dataclass(frozen=True, slots=True)
class Best:
    """Units with the score of their best document, best first."""

    units: Ints
    scores: Floats
    docs: Ints


def best_of(collection: Collection, docs: Ints, scores: Floats, limit: int, among: Ints | None = None) -> Best:
    """The best units (`among` some) of scored documents; equal scores are ordered by the documents' keys."""
    places, units = collection.spoken_for(docs)
    if among is not None:
        mine = np.flatnonzero(np.isin(units, among))
        places, units = places[mine], units[mine]
    told, said = docs[places], scores[places]
    order = np.lexsort((units, collection.low[told], collection.high[told], -said))
    _, first = np.unique(units[order], return_index=True)
    chosen = order[np.sort(first)[:limit]]
    return Best(units[chosen], said[chosen], told[chosen])


def by_words(collection: Collection, scored: Scored, limit: int) -> Best:
    """The best units by BM25 among those that hold a word of the query."""
    docs = scored.docs[(scored.scores[scored.docs] > 0) & collection.allowed[scored.docs]]
    if len(docs) > 8 * limit:
        # Only as many as can matter are put in order; ties with the last are kept.
        wanted = 4 * limit
        while True:
            least = np.partition(scored.scores[docs], len(docs) - wanted)[len(docs) - wanted]
            near = docs[scored.scores[docs] >= least]
            found = best_of(collection, near, scored.scores[near], limit)
            if len(found.units) >= limit or len(near) == len(docs):
                return found
            wanted = min(4 * len(near), len(docs))
    return best_of(collection, docs, scored.scores[docs], limit)


def by_meaning(collection: Collection, query: Vectors, around: Around, limit: int) -> Best:
    """The best units by cosine."""
    assert collection.dense is not None
    allowed = collection.allowed & collection.embedded
    available = int(np.count_nonzero(allowed))
    wanted = 2 * limit
    while True:
        docs = collection.dense.nearest(query, allowed, around, min(wanted, available))
        docs = docs[allowed[docs]]
        scores = exact(query, collection.dense.vectors(docs))
        found = best_of(collection, docs, scores, limit)
        if len(found.units) >= limit or len(docs) >= available:
            return found
        wanted = 4 * max(wanted, len(docs))


def documents_of(collection: Collection, units: Ints) -> Ints:
    """The documents that may be found of some units, ascending."""
    if collection.tellers is None:
        flags = np.zeros(max(int(units.max(initial=-1)), int(collection.units.max(initial=-1))) + 1, np.bool_)
        flags[units] = True
        return np.flatnonzero(flags[collection.units] & collection.allowed)
    docs = collection.tellers(units)
    docs = docs[collection.allowed[docs]]
    places, said = collection.spoken_for(docs)
    mine = np.zeros(len(docs), np.bool_)
    mine[places[np.isin(said, units)]] = True
    return docs[mine]


def meaning_of(collection: Collection, query: Vectors, docs: Ints, units: Ints) -> Best:
    """The scores of units by the best of their documents."""
    assert collection.dense is not None
    docs = docs[collection.embedded[docs]]
    return best_of(collection, docs, exact(query, collection.dense.vectors(docs)), len(units), units)


def words_of(collection: Collection, scored: Scored, docs: Ints, units: Ints) -> Best:
    """The scores of units by the best of their documents, of those that hold a word of the query."""
    docs = docs[scored.scores[docs] > 0]
    return best_of(collection, docs, scored.scores[docs], len(units), units)


def scored(collection: Collection, terms: Sequence[int]) -> Scored:
    """BM25 of the documents that are admitted."""
    return bm25(collection.words, terms, collection.admitted)


def fused(opinions: Mapping[Arm, Mapping[int, ArmScore]], fusion: Fusion, tops: Mapping[Arm, float]) -> dict[int, float]:
    """The joined score of each unit. `tops` are the greatest scores of the arms, by which theirs are divided."""
    found: dict[int, float] = {}
    shares = sum(SHARES[arm] for arm in opinions)
    for arm, mine in sorted(opinions.items()):
        for unit, said in mine.items():
            if fusion is Fusion.RRF:
                part = 1 / (RRF_K + said.rank)
            else:
                part = SHARES[arm] / shares * max(said.score, 0.0) / tops[arm] if tops[arm] > 0 else 0.0
            found[unit] = found.get(unit, 0.0) + part
    return {unit: round(score, 6) for unit, score in found.items()}
