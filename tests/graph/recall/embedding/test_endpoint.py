"""Embeddings of a server: what is sent, what is tried again, and that no key is told."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from graph.recall.embedding.endpoint import ATTEMPTS, BATCH, EndpointEmbedder, endpoint_id
from graph.recall.embedding.port import EmbedderUnavailable
from tests.graph.recall.embedding.serving import DIM, EmbeddingServer, serving

KEY = "sk-very-secret"
TEXT = "a private matter"


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with serving() as found:
        yield found


@pytest.fixture
def embedder(server: EmbeddingServer) -> Iterator[EndpointEmbedder]:
    found = EndpointEmbedder(server.url, "small", key=KEY, pause=0.001)
    yield found
    found.close()


def hurry(embedder: EndpointEmbedder, failures: Sequence[object]) -> None:
    """Wait no longer than a server that hangs is worth, where it is to hang."""
    if "hang" in failures:
        embedder._client.timeout = 0.5


def test_texts_go_in_batches_with_the_model_and_the_key(server: EmbeddingServer, embedder: EndpointEmbedder) -> None:
    embedder.embed_documents([f"text {number}" for number in range(BATCH + 3)])
    assert [len(body["input"]) for body in server.asked] == [1, BATCH, 3]
    assert {body["model"] for body in server.asked} == {"small"}
    assert set(server.keys) == {f"Bearer {KEY}"}
    assert set(server.paths) == {"/v1/embeddings"}


def test_without_a_key_none_is_sent(server: EmbeddingServer) -> None:
    EndpointEmbedder(f"{server.url}/embeddings/", "small").close()
    assert (server.keys, server.paths) == ([None], ["/v1/embeddings"])


def test_the_length_is_that_of_the_first_answer(embedder: EndpointEmbedder) -> None:
    assert embedder.dim == DIM


@pytest.mark.parametrize("failure", [500, 503, 429, "hang"])
def test_what_may_pass_is_tried_again(server: EmbeddingServer, embedder: EndpointEmbedder, failure: int | str) -> None:
    before = embedder.embed_query("tea")
    hurry(embedder, [failure])
    server.failures = [failure] * (ATTEMPTS - 1)
    assert embedder.embed_query("tea").tobytes() == before.tobytes()


@pytest.mark.parametrize(
    ("failures", "told"),
    [
        ([500] * ATTEMPTS, f"answers 500 Internal Server Error, {ATTEMPTS} times; check that it runs"),
        (["hang"] * ATTEMPTS, "does not answer in time"),
        ([401], "refuses the key; set ERSTWHILE_EMBEDDER_KEY"),
        ([404], "check ERSTWHILE_EMBEDDER and ERSTWHILE_EMBEDDER_MODEL"),
        ([400], "answers 400 Bad Request; check ERSTWHILE_EMBEDDER_MODEL"),
        ([{"data": [{"embedding": [1.0, 2.0]}]}], "not a vector of 32 numbers for each"),
        ([{"data": []}], "gives no vectors for 1 texts"),
        ([{"error": "none"}], "check that it speaks OpenAI's protocol"),
        ([{"data": "many"}], "check that it speaks OpenAI's protocol"),
        ([{"data": [{"embedding": "AAAA"}]}], "check that it speaks OpenAI's protocol"),
        ([{"data": [{"embedding": [None] * DIM}]}], "no numbers"),
    ],
)
def test_what_does_not_pass_is_named_without_the_key_or_the_text(
    server: EmbeddingServer, embedder: EndpointEmbedder, failures: list[int | str | dict[str, Any]], told: str
) -> None:
    hurry(embedder, failures)
    server.failures = failures
    with pytest.raises(EmbedderUnavailable) as caught:
        embedder.embed_query(TEXT)
    whole = "".join(traceback.format_exception(caught.value))
    assert told in str(caught.value)
    assert KEY not in whole
    assert TEXT not in whole
    assert not server.failures
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_server_that_is_not_there_is_named() -> None:
    with serving() as gone:
        url = gone.url
    with pytest.raises(EmbedderUnavailable, match=rf"{url}/embeddings cannot be reached \(ConnectError\)"):
        EndpointEmbedder(url, "small", pause=0.001)


def test_the_name_holds_no_credentials() -> None:
    found = endpoint_id("https://ada:pass@example.org:8080/v1?key=abc", "small")
    assert found == "endpoint/small@https://example.org:8080/v1/embeddings"
