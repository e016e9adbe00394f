"""The recall index: a projection of the ledger, in memory, one part for each namespace.

It follows the ledger by its watermark. Vectors follow by a watermark of their own: a document is found by its words at once, and
by its meaning when somebody has made the vector of its text.
"""

from __future__ import annotations

import logging
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from threading import RLock
from typing import Protocol

import numpy as np

from graph.recall.admission import Admissions
from graph.recall.columns import Ints
from graph.recall.dense import Dense, Matrix, Vectors
from graph.recall.feed import Changes, Feed
from graph.recall.namespace import Indexed, Part
from graph.recall.reading import Readings

log = logging.getLogger(__name__)

VERSION = 1
"""Of what is indexed and how it is scored; it changes with everything that changes an answer."""

PARTS: tuple[Part, ...] = ("claims", "episodes")


class VectorStore(Protocol):
    """Vectors by the texts that they were made of, kept beside the ledger."""

    def get(self, texts: Iterable[str]) -> dict[str, Vectors]: ...

    def put(self, texts: Sequence[str], vectors: Vectors) -> int: ...

    def use(self, pairs: Iterable[tuple[bytes, str]]) -> None: ...

    def close(self) -> None: ...


DenseFactory = Callable[[str, Part], Dense]
"""Makes the place for the vectors of a part of a namespace."""


def in_memory(namespace: str, part: Part) -> Dense:
    """Vectors in memory."""
    return Matrix()


class Space:
    """What recall has of a namespace."""

    def __init__(self, name: str, dense: DenseFactory) -> None:
        self.indexed = Indexed()
        self.readings = Readings(self.indexed)
        self.admissions = Admissions()
        self.dense: dict[Part, Dense] = {part: dense(name, part) for part in PARTS}

    def __getitem__(self, part: Part) -> Dense:
        return self.dense[part]


@dataclass(frozen=True, slots=True)
class _Place:
    """A document that waits for its vector."""

    namespace: str
    part: Part
    doc: int
    tx_from: int


class Index:
    """Follows one ledger. Thread-safe: one thread at a time brings it up to date, readers take what is there."""

    def __init__(self, feed: Feed, embedder: str | None, vectors: VectorStore | None, dense: DenseFactory = in_memory) -> None:
        """`embedder` is the ID of the one that makes the vectors; None where there is none."""
        self._feed = feed
        self.embedder = embedder
        self._vectors = vectors
        self._dense = dense
        self._work = RLock()
        self._spaces: dict[str, Space] = {}
        # Texts that wait for their vectors, oldest first, with the documents that are made of them.
        self._waiting: dict[str, list[_Place]] = {}
        self._late: Counter[int] = Counter()
        """How many of them by the transaction that they are of."""
        self.watermark = 0
        self.at = 0

    # ------------------------------------------------------------ following

    def catch_up(self, transaction: int | None = None) -> None:
        """Follow to a transaction; without one to the ledger's last."""
        if transaction is not None and transaction <= self.watermark:
            return
        with self._work:
            last = self._feed.last()
            for batch in self._feed.batches(self.watermark, last):
                for namespace, changes in sorted(batch.changes.items()):
                    self._apply(namespace, changes)
                self.watermark, self.at = batch.upto, batch.at

    def _apply(self, namespace: str, changes: Changes) -> None:
        space = self._spaces.get(namespace)
        if space is None:
            space = Space(namespace, self._dense)
        wanted = space.indexed.apply(changes, self._feed.contents)
        self._spaces[namespace] = space
        if self.embedder is None or self._vectors is None:
            return
        table = {"claims": space.indexed.claims, "episodes": space.indexed.episodes}
        known = self._vectors.get(list({text for _, _, text in wanted}))
        self._vectors.use(
            [(_use(part, int(table[part]["row"][doc]), int(table[part]["tx_from"][doc])), text) for part, doc, text in wanted]
        )
        for part in PARTS:
            found = [(doc, known[text]) for mine, doc, text in wanted if mine == part and text in known]
            if found:
                self._put(space, part, np.array([doc for doc, _ in found]), np.array([vector for _, vector in found], np.float32))
        for part, doc, text in wanted:
            if text not in known:
                place = _Place(namespace, part, doc, int(table[part]["tx_from"][doc]))
                self._waiting.setdefault(text, []).append(place)
                self._late[place.tx_from] += 1

    @staticmethod
    def _put(space: Space, part: Part, docs: Ints, vectors: Vectors) -> None:
        space[part].put(docs, vectors)
        columns = space.indexed.claims if part == "claims" else space.indexed.episodes
        columns["embedded"][docs] = True

    # ------------------------------------------------------------ vectors

    def unembedded(self, limit: int) -> list[str]:
        """Texts that wait for their vectors, oldest first."""
        self.catch_up()
        with self._work:
            return [text for text, _ in zip(self._waiting, range(limit), strict=False)]

    def record_vectors(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Keep vectors and give them to the documents that wait for them."""
        assert self._vectors is not None
        with self._work:
            self._vectors.put(texts, vectors)
            for text, vector in zip(texts, vectors, strict=True):
                for place in self._waiting.pop(text, ()):
                    self._put(self._spaces[place.namespace], place.part, np.array([place.doc]), vector[None, :])
                    self._late[place.tx_from] -= 1
            self._late = +self._late

    def waiting(self, transaction: int) -> int:
        """How many documents of the transactions up to one wait for their vectors."""
        with self._work:
            return sum(count for tx_from, count in self._late.items() if tx_from <= transaction)

    # ------------------------------------------------------------ reading

    def space(self, namespace: str) -> Space | None:
        """What there is of a namespace; None where nothing is."""
        return self._spaces.get(namespace)

    def version(self, transaction: int) -> str:
        """With it recall on a basis of that transaction is the same again: how it is scored, and which vectors it has."""
        if self.embedder is None:
            return f"{VERSION}"
        waiting = self.waiting(transaction)
        return f"{VERSION}:{self.embedder}" + (f":{waiting}-waiting" if waiting else "")

    def rebuild(self) -> None:
        """Begin anew and follow to the ledger's last transaction."""
        with self._work:
            old = self._spaces
            self._spaces, self._waiting, self._late, self.watermark, self.at = {}, {}, Counter(), 0, 0
            for space in old.values():
                for dense in space.dense.values():
                    dense.close()
            self.catch_up()

    def close(self) -> None:
        """Release what it holds."""
        with self._work:
            for space in self._spaces.values():
                for dense in space.dense.values():
                    dense.close()
            if self._vectors is not None:
                self._vectors.close()


def _use(part: Part, row: int, tx_from: int) -> bytes:
    """Names a document to the vectors' store, in 16 bytes: its row in the ledger, and for an episode since when it is read so."""
    return struct.pack(">qq", row, tx_from if part == "episodes" else -1)
