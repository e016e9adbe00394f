"""The models of fastembed, with a stand-in for the library."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError
from types import SimpleNamespace

import numpy as np
import pytest

from graph.recall.embedding import fast
from graph.recall.embedding.fast import FastEmbedder, fast_id
from graph.recall.embedding.hashing import HashingEmbedder
from graph.recall.embedding.port import EmbedderUnavailable, Vectors


class TextEmbedding:
    """Answers as the library does; it reads a question otherwise than a document."""

    def __init__(self, *, model_name: str, threads: int) -> None:
        if model_name == "unknown":
            raise ValueError("no such model")
        self._hash = HashingEmbedder(16)

    def passage_embed(self, texts: Iterable[str], *, batch_size: int) -> Iterator[Vectors]:
        assert batch_size == 1
        for text in texts:
            if "fail" in text:
                raise RuntimeError("told to fail")
            yield 2 * self._hash.embed_query(text)

    def query_embed(self, query: str) -> Iterator[Vectors]:
        yield self._hash.embed_query(f"query: {query}")


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", SimpleNamespace(TextEmbedding=TextEmbedding))
    monkeypatch.setattr(fast, "version", lambda name: "9.9")


@pytest.mark.usefixtures("library")
def test_documents_and_questions_go_their_own_ways() -> None:
    embedder = FastEmbedder("small")
    vectors = embedder.embed_documents(["tea", " ", "coffee"])
    assert (embedder.id, embedder.dim, vectors.dtype) == ("fastembed/9.9/small", 16, np.dtype(np.float32))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 0, 1], abs=1e-6)
    assert embedder.embed_query("tea").tobytes() != vectors[0].tobytes()
    assert not embedder.embed_query("").any()


@pytest.mark.usefixtures("library")
def test_a_model_that_is_not_known_or_fails_is_named() -> None:
    with pytest.raises(EmbedderUnavailable, match="fastembed has no model unknown"):
        FastEmbedder("unknown")
    with pytest.raises(EmbedderUnavailable, match="cannot run"):
        FastEmbedder("small").embed_documents(["fail"])


def test_without_the_library_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    monkeypatch.setattr(fast, "version", lambda name: "9.9")
    with pytest.raises(EmbedderUnavailable, match=r"cannot be loaded .*install erstwhile\[fastembed\]"):
        FastEmbedder("small")
    monkeypatch.undo()

    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(fast, "version", missing)
    with pytest.raises(EmbedderUnavailable, match=r"needs the package fastembed; install erstwhile\[fastembed\]"):
        fast_id("small")
