"""Models that the library fastembed fetches and runs; an optional extra, loaded when it is chosen."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from graph.recall.embedding.port import EmbedderUnavailable, Vectors, readable, unit_rows
from graph.recall.embedding.telemetry import keep_quiet

_FIX = "install erstwhile[fastembed], or set ERSTWHILE_EMBEDDER to another embedder or to none"


def fast_id(model: str) -> str:
    """The ID of a model, with fastembed's version: its versions pool one model in different ways. Raises EmbedderUnavailable."""
    try:
        return f"fastembed/{version('fastembed')}/{model}"
    except PackageNotFoundError as failure:
        raise EmbedderUnavailable(f"the embedder fastembed:{model} needs the package fastembed; {_FIX}") from failure


class FastEmbedder:
    """One model of fastembed, which tells questions from documents where the model does. `threads`: those of one text."""

    def __init__(self, model: str, *, threads: int = 1) -> None:
        """Load the model, fetching it the first time. Raises EmbedderUnavailable."""
        self.id = fast_id(model)
        keep_quiet()
        try:
            library = importlib.import_module("fastembed")
            self._model: Any = library.TextEmbedding(model_name=model, threads=threads)
        except ImportError as failure:
            raise EmbedderUnavailable(f"the package fastembed cannot be loaded ({failure}); {_FIX}") from failure
        except Exception as failure:
            # What it raises for an unknown model, no network or a broken copy has no common class.
            raise EmbedderUnavailable(f"fastembed has no model {model} ({failure}); check the name and the network") from failure
        self.dim = len(self._run(self._model.passage_embed, ["a"], batch_size=1)[0])

    def _run(self, embed: Any, *given: Any, **options: Any) -> list[Any]:
        try:
            return list(embed(*given, **options))
        except Exception as failure:
            raise EmbedderUnavailable(f"the model of fastembed cannot run ({failure}); choose another") from failure

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors (n, dim) of texts."""
        rows = np.zeros((len(texts), self.dim))
        read = [(row, found) for row, text in enumerate(texts) if (found := readable(text))]
        if read:
            # One by one: its batches are padded, and many of its models quantise as they run.
            vectors = self._run(self._model.passage_embed, [text for _, text in read], batch_size=1)
            for (row, _), vector in zip(read, vectors, strict=True):
                rows[row] = vector
        return unit_rows(rows)

    def embed_query(self, text: str) -> Vectors:
        """The vector (dim,) of a question."""
        row = np.zeros((1, self.dim))
        if found := readable(text):
            row[0] = self._run(self._model.query_embed, found)[0]
        vector: Vectors = unit_rows(row)[0]
        return vector
