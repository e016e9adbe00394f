"""What names documents to the store of their vectors, which knows nothing else of them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import numpy as np

from graph.recall.columns import Columns, Ints
from graph.recall.dense import Vectors
from graph.recall.namespace import Part
from graph.recall.space import PARTS, Space


class VectorStore(Protocol):
    """Vectors by the texts that they were made of, kept beside the ledger."""

    def get(self, texts: Iterable[str]) -> dict[str, Vectors]: ...

    def put(self, texts: Sequence[str], vectors: Vectors) -> int: ...

    def use(self, pairs: Iterable[tuple[bytes, str]]) -> None: ...

    def every(self) -> Iterator[tuple[list[bytes], Vectors]]: ...

    def retain(self, documents: Iterable[bytes]) -> int: ...

    def forget_others(self) -> int: ...

    def close(self) -> None: ...


class Documents:
    """Finds the documents of a part by what names them to the vectors' store."""

    def __init__(self, columns: Columns) -> None:
        self._order = np.lexsort((columns["tx_from"], columns["row"]))
        self._rows, self._from = columns["row"][self._order], columns["tx_from"][self._order]

    def among(self, named: Ints, part: Part) -> tuple[Ints, Ints]:
        """Of (row, since when) pairs, n x 2, the places of those that are of the part, and their documents."""
        if not len(self._rows):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        claims = part == "claims"
        mine = np.flatnonzero((named[:, 1] < 0) == claims)
        place = np.searchsorted(self._rows, named[mine, 0])
        if not claims:
            # Versions of one episode lie together, few.
            while True:
                known = np.minimum(place, len(self._rows) - 1)
                onwards = (place < len(self._rows)) & (self._rows[known] == named[mine, 0]) & (self._from[known] < named[mine, 1])
                if not onwards.any():
                    break
                place = place + onwards
        known = np.minimum(place, len(self._rows) - 1)
        right = self._rows[known] == named[mine, 0]
        if not claims:
            right &= self._from[known] == named[mine, 1]
        return mine[right], self._order[known[right]]


def uses_of(space: Space) -> Iterator[bytes]:
    """What names the documents of a space to the vectors' store."""
    for part in PARTS:
        columns = space.columns(part)
        yield from (use_of(part, row, since) for row, since in zip(columns["row"].tolist(), columns["tx_from"].tolist(), strict=True))


def use_of(part: Part, row: int, tx_from: int) -> bytes:
    """Names a document to the vectors' store, in 16 bytes: its row in the ledger, and for an episode since when it is read so."""
    return struct.pack(">qq", row, tx_from if part == "episodes" else -1)
