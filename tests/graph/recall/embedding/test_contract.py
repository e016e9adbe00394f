"""What every embedder keeps to."""

from __future__ import annotations

import numpy as np
import pytest

from graph.recall.embedding.port import Embedder

TEXTS = [
    "Ada works at Acme.",
    "tea",
    "Ben said on Monday that the new office in Lyon opens in March, unless the lease falls through again.",
    "Grüße aus Zürich, Żółć и привет",
    "東京に住んでいます",
    "🎉 party 🎉",
    "مرحبا بالعالم",
    "port 8080, v2.1.0-rc1",
]


def test_a_document_is_a_row_of_unit_length(embedder: Embedder) -> None:
    vectors = embedder.embed_documents(TEXTS)
    assert (vectors.shape, vectors.dtype) == ((len(TEXTS), embedder.dim), np.dtype(np.float32))
    assert np.linalg.norm(vectors.astype(np.float64), axis=1) == pytest.approx(1, abs=1e-6)


def test_a_question_is_a_vector_of_unit_length(embedder: Embedder) -> None:
    vector = embedder.embed_query("where does Ada work?")
    assert (vector.shape, vector.dtype) == ((embedder.dim,), np.dtype(np.float32))
    assert float(np.linalg.norm(vector)) == pytest.approx(1, abs=1e-6)


def test_a_text_has_the_same_vector_whatever_stands_beside_it(embedder: Embedder) -> None:
    together = embedder.embed_documents(TEXTS)
    backwards = embedder.embed_documents(TEXTS[::-1])[::-1]
    alone = np.concatenate([embedder.embed_documents([text]) for text in TEXTS])
    assert together.tobytes() == backwards.tobytes() == alone.tobytes()
    assert embedder.embed_documents(["tea", "tea"]).tobytes() == 2 * alone[1].tobytes()


def test_texts_of_one_length_have_the_vectors_that_they_have_alone(embedder: Embedder) -> None:
    words = ("tea", "rum", "gin", "ale", "jam", "oil", "ham")
    texts = [" ".join([one, "and", other] * repeats) for repeats in (1, 3, 9) for one in words for other in words[:5]]
    together = embedder.embed_documents(texts)
    alone = np.concatenate([embedder.embed_documents([text]) for text in texts])
    assert together.tobytes() == alone.tobytes()


@pytest.mark.parametrize("nothing", ["", " \n\t "])
def test_a_text_that_has_nothing_is_a_row_of_zeros(embedder: Embedder, nothing: str) -> None:
    vectors = embedder.embed_documents(["tea", nothing])
    assert vectors[0].any()
    assert not vectors[1].any()
    assert not embedder.embed_query(nothing).any()


def test_no_texts_are_no_rows(embedder: Embedder) -> None:
    assert embedder.embed_documents([]).shape == (0, embedder.dim)


def test_a_very_long_text_has_a_vector(embedder: Embedder) -> None:
    vector = embedder.embed_query("Ada met Ben at the harbour. " * 4000)
    assert float(np.linalg.norm(vector)) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("text", ["half a pair \ud83d here", "zero\x00byte", "a\u200bb\u202ec", "e" + "\u0301" * 50, "x" * 5000])
def test_odd_characters_do_no_harm(embedder: Embedder, text: str) -> None:
    assert float(np.linalg.norm(embedder.embed_query(text))) == pytest.approx(1, abs=1e-6)


def test_different_texts_have_different_vectors(embedder: Embedder) -> None:
    vectors = embedder.embed_documents(TEXTS)
    assert len({vector.tobytes() for vector in vectors}) == len(TEXTS)


def test_it_has_a_name(embedder: Embedder) -> None:
    assert embedder.id.strip()
