"""Feature hashing: vectors of the words and letters of a text, without a model. For tests and benchmarks; it knows no meanings."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from hashlib import blake2b

import numpy as np

from graph.recall.embedding.port import Vectors, readable, unit_rows

_TOKEN = re.compile(r"\w+|[^\w\s]+")
_LETTERS = (3, 4)


def hashing_id(dim: int) -> str:
    """The ID of an embedder of so many dimensions."""
    return f"hash/1/{dim}"


class HashingEmbedder:
    """Words, pairs of words and groups of letters, each added to one dimension with a sign (Weinberger et al. 2009)."""

    def __init__(self, dim: int = 256) -> None:
        self.dim = dim
        self.id = hashing_id(dim)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors (n, dim) of texts."""
        rows = np.zeros((len(texts), self.dim))
        for row, text in enumerate(texts):
            self._add(rows[row], text)
        return unit_rows(rows)

    def embed_query(self, text: str) -> Vectors:
        """The vector (dim,) of a question, which is read as a document is."""
        found: Vectors = self.embed_documents([text])[0]
        return found

    def _add(self, row: np.ndarray[tuple[int, ...], np.dtype[np.float64]], text: str) -> None:
        tokens = _TOKEN.findall(unicodedata.normalize("NFKC", readable(text)).casefold())
        for feature, weight in _features(tokens):
            place, sign = self._place(feature)
            row[place] += sign * weight
        if tokens and not row.any():
            # The features of a short text can undo each other.
            row[self._place("whole " + " ".join(tokens))[0]] = 1

    def _place(self, feature: str) -> tuple[int, int]:
        number = int.from_bytes(blake2b(feature.encode(), digest_size=8).digest(), "little")
        return (number >> 1) % self.dim, 1 if number & 1 else -1


def _features(tokens: Sequence[str]) -> Iterator[tuple[str, float]]:
    before = None
    for token in tokens:
        yield f"word {token}", 1.0
        if before is not None:
            yield f"pair {before} {token}", 0.5
        before = token
        marked = f"<{token}>"
        for length in _LETTERS:
            for start in range(len(marked) - length + 1):
                yield f"letters {marked[start : start + length]}", 0.25
