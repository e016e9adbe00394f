"""The port of embedders: what turns texts into vectors of unit length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ontology.errors import ErstwhileError

Vectors = NDArray[np.float32]

LONGEST = 16_384
"""Characters of a text that an embedder here reads at most: models read a few hundred words, and tokenizers would read it all."""


class Embedder(Protocol):
    """Turns texts into vectors. Thread-safe. A text's vector does not depend on the texts beside it."""

    @property
    def id(self) -> str:
        """Names the model and all that changes its output: vectors of two IDs are never compared."""
        ...

    @property
    def dim(self) -> int: ...

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """(n, dim) in the order of the texts, rows of unit length; of zeros for a text that has nothing. Raises EmbedderUnavailable."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """(dim,), as above; some models read a question otherwise than a document. Raises EmbedderUnavailable."""
        ...


class EmbedderUnavailable(ErstwhileError):
    """An embedder that cannot be had, or does not answer. The message names the cause and what to do.

    It keeps the code of a fault of the service: recall goes on without vectors and says so, so no caller meets it.
    """


class EmbedderMismatch(ErstwhileError):
    """Vectors that do not belong to those kept: of another embedder, or of another length."""


def readable(text: str) -> str:
    """The part of a text that is embedded, as UTF-8 can spell it; empty where there is nothing but space."""
    return text[:LONGEST].encode("utf-8", "replace").decode("utf-8").strip()


def unit_rows(rows: NDArray[np.floating]) -> Vectors:
    """Rows (n, dim) at unit length, rows of zeros as they are. Raises EmbedderUnavailable for what is no number."""
    exact = np.asarray(rows, dtype=np.float64)
    if not np.isfinite(exact).all():
        raise EmbedderUnavailable("the embedder answered with vectors that are no numbers; choose another model")
    lengths = np.sqrt((exact * exact).sum(axis=1, keepdims=True))
    return (exact / np.where(lengths == 0, 1, lengths)).astype(np.float32)
