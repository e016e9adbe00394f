"""A graph that wants vectors, and an embedder that obeys orders in the text."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

from graph.recall.embedding.hashing import HashingEmbedder
from graph.recall.embedding.port import EmbedderUnavailable, Vectors


class Texts:
    """The texts of a graph, and the vectors that came. `broken`: how often recording fails first."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.vectors: dict[str, bytes] = {}
        self.order: list[str] = []
        self.parts: list[int] = []
        self.broken = 0

    def unembedded(self, limit: int = 256) -> list[str]:
        return [text for text in self.texts if text not in self.vectors][:limit]

    def record_vectors(self, texts: Sequence[str], vectors: Vectors) -> None:
        if self.broken:
            self.broken -= 1
            raise OSError("the disk is full")
        assert len(texts) == len(vectors) > 0
        self.order += texts
        self.parts.append(len(texts))
        self.vectors |= {text: vector.tobytes() for text, vector in zip(texts, vectors, strict=True)}


class ObedientEmbedder(HashingEmbedder):
    """`fail` raises, `die` kills the process, `sleep` takes a while, `unavailable PATH` answers when the file is there."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        for text in texts:
            order, _, rest = text.partition(" ")
            if order == "fail":
                raise ValueError("told to fail")
            if order == "die":
                os._exit(1)
            if order == "sleep":
                time.sleep(0.1)
            if order == "unavailable" and not Path(rest).exists():
                raise EmbedderUnavailable("the embedder is told to be away; bring it back")
        return super().embed_documents(texts)


class ForgetfulEmbedder(HashingEmbedder):
    """Makes a vector too few."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return super().embed_documents(texts[1:])


def absent() -> HashingEmbedder:
    """An embedder that cannot be loaded."""
    raise EmbedderUnavailable("the model is missing; install it")
