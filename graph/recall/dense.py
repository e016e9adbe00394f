"""Where the vectors of documents lie, and how the nearest to a query are found."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from graph.recall.columns import Bools, Floats, Ints
from graph.recall.namespace import Part
from ontology.errors import ErstwhileError
from ontology.instant import Instant

Vectors = NDArray[np.float32]

MARGIN = 1e-5
"""How much less than the last candidate's a score may be that is still weighed exactly: BLAS rounds by the matrix' size."""
BLOCK = 65_536
_PART = 4096
_SHARED_FROM = 4
_AT_A_TIME = 8192


class DenseUnavailable(ErstwhileError):
    """The place of the vectors cannot be read now; the message says why."""


@dataclass(frozen=True, slots=True)
class Around:
    """The basis of a query, for stores that filter by themselves. `valid_at` is None where a document's period does not count."""

    transaction: int
    valid_at: Instant | None
    said_until: Instant | None


@dataclass(frozen=True, slots=True)
class Life:
    """When a document counts: `[tx_from, tx_to)`, said at `said`; `spans` are (v_from, v_to, tx_from, tx_to) of what it tells.

    `spans` is None where these do not limit it, or depend on more than the document.
    """

    tx_from: int
    tx_to: int
    said: Instant
    spans: tuple[tuple[int, int, int, int], ...] | None


class Dense(Protocol):
    """The vectors of one collection, by the numbers of its documents: 0, 1, 2. One thread writes, many read.

    Writing does not fail where a server does: what it does not take waits, and reading raises DenseUnavailable until it has all.
    """

    filters: bool
    """Whether it must be told when documents count."""

    @property
    def behind(self) -> int:
        """How many documents wait to be sent."""
        ...

    def send(self) -> None:
        """Send what waits."""
        ...

    def put(self, docs: Ints, vectors: Vectors) -> None:
        """Keep the vectors of some documents."""
        ...

    def describe(self, lives: dict[int, Life]) -> None:
        """When documents count: told of new ones before their vectors come, and again when it changes."""
        ...

    def nearest(self, query: Vectors, admitted: Bools, around: Around, limit: int) -> Ints:
        """At least the `limit` admitted documents with a vector whose scores are greatest, and those that come close to the last."""
        ...

    def vectors(self, docs: Ints) -> Vectors:
        """The vectors of some documents that have one."""
        ...

    def close(self) -> None:
        """Release what it holds."""
        ...


def exact(query: Vectors, vectors: Vectors) -> Floats:
    """The scores of some vectors: each by itself in one order of addition, rounded to 1e-6, so that none depends on the others."""
    scores = np.zeros(len(vectors))
    for start in range(0, len(vectors), _AT_A_TIME):
        products = vectors[start : start + _AT_A_TIME].astype(np.float64) * query.astype(np.float64)
        scores[start : start + _AT_A_TIME] = products.sum(axis=1)
    return np.round(scores, 6)


class Matrix:
    """Implements Dense in memory: blocks of rows, so that growing copies nothing but the last one. Exact: it looks at all."""

    filters = False
    behind = 0

    def __init__(self) -> None:
        self._dim = 0
        self._blocks: list[Vectors] = []
        self._beside = ThreadPoolExecutor(1, "recall-vectors")

    def _reach(self, size: int) -> None:
        needed = -(-size // BLOCK)
        for number in range(needed):
            rows = BLOCK if number < needed - 1 else size - number * BLOCK
            if number == len(self._blocks):
                self._blocks.append(np.zeros((max(rows, 1024), self._dim), np.float32))
            elif len(self._blocks[number]) < rows:
                self._blocks[number] = self._grown(self._blocks[number], min(BLOCK, max(rows, 2 * len(self._blocks[number]))))

    def _grown(self, block: Vectors, rows: int) -> Vectors:
        larger = np.zeros((rows, self._dim), np.float32)
        larger[: len(block)] = block
        return larger

    def put(self, docs: Ints, vectors: Vectors) -> None:
        """Keep vectors in the rows of their documents."""
        if len(docs) == 0:
            return
        self._dim = vectors.shape[1]
        self._reach(int(docs.max()) + 1)
        for number, block in enumerate(self._blocks):
            mine = docs // BLOCK == number
            block[docs[mine] % BLOCK] = vectors[mine]

    def send(self) -> None:
        """Nothing waits."""

    def describe(self, lives: dict[int, Life]) -> None:
        """Nothing: whoever asks says which documents are admitted."""

    def nearest(self, query: Vectors, admitted: Bools, around: Around, limit: int) -> Ints:
        """By the products with all rows, of which another thread takes a share where they are many."""
        parts = [
            (first, block[first - number * BLOCK : first - number * BLOCK + _PART])
            for number, block in enumerate(self._blocks)
            for first in range(number * BLOCK, number * BLOCK + len(block), _PART)
            if admitted[first : first + _PART].any()
        ]
        left = iter(parts)
        beside = self._beside.submit(self._scan, query, admitted, left, limit) if len(parts) >= _SHARED_FROM else None
        found, scores = self._scan(query, admitted, left, limit)
        if beside is not None and not beside.cancel():
            others, theirs = beside.result()
            found, scores = found + others, scores + theirs
        if not found:
            return np.zeros(0, np.int64)
        if sum(map(len, found)) > limit:
            self._cut(found, scores, limit)
        return np.sort(np.concatenate(found))

    def _scan(
        self, query: Vectors, admitted: Bools, parts: Iterator[tuple[int, Vectors]], limit: int
    ) -> tuple[list[Ints], list[NDArray[np.float32]]]:
        """What comes near in the parts that are left, while they are."""
        found: list[Ints] = []
        scores: list[NDArray[np.float32]] = []
        least = -np.inf
        for start, rows in parts:
            mine = admitted[start : start + len(rows)]
            # Row by row, which memory limits as it does BLAS' own way for a matrix; but that waits for threads that may have no core.
            products = np.vecdot(rows[: len(mine)], query)
            near = np.flatnonzero(mine & (products >= least - MARGIN))
            found.append(near + start)
            scores.append(products[near])
            if sum(map(len, found)) > 4 * limit:
                least = self._cut(found, scores, limit)
        return found, scores

    def _cut(self, found: list[Ints], scores: list[NDArray[np.float32]], limit: int) -> float:
        """Keep the best of what was found, and tell the score of the last."""
        docs, each = np.concatenate(found), np.concatenate(scores)
        least = float(np.partition(each, len(each) - limit)[len(each) - limit])
        keep = each >= least - MARGIN
        found[:], scores[:] = [docs[keep]], [each[keep]]
        return least

    def vectors(self, docs: Ints) -> Vectors:
        """Rows of the blocks."""
        rows = np.zeros((len(docs), self._dim), np.float32)
        for number, block in enumerate(self._blocks):
            mine = docs // BLOCK == number
            if mine.any():
                rows[mine] = block[docs[mine] % BLOCK]
        return rows

    def close(self) -> None:
        """Let go of the rows."""
        self._beside.shutdown()
        self._blocks = []


class DenseFactory(Protocol):
    """Makes the places for the vectors of the parts of namespaces."""

    def __call__(self, namespace: str, part: Part) -> Dense: ...

    def clear(self) -> None:
        """Drop all that was kept by those made before."""
        ...

    def close(self) -> None: ...


class InMemory:
    """Vectors in memory."""

    def __call__(self, namespace: str, part: Part) -> Dense:
        """An empty matrix."""
        return Matrix()

    def clear(self) -> None:
        """Nothing is kept."""

    def close(self) -> None:
        """Nothing is held."""
