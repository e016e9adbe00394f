"""Texts that workers embed: what they answer is checked, and whoever waits is told when nothing will come."""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from graph.recall.embedding.choosing import Choice
from graph.recall.embedding.hashing import HashingEmbedder
from graph.recall.embedding.port import EmbedderUnavailable, Vectors
from graph.work import BULK, MAX_STARTS
from ontology.errors import InvalidInput
from tests.redis_server import RedisServer
from tests.workers.broker.groups import until
from tests.workers.broker.hands import Hand, settings_for
from tests.workers.embedding import Texts
from workers.broker.embedding import EmbedderChoice, EmbeddingTasks
from workers.broker.messages import VERSION, Embedded, EmbedTask, packed, unpacked
from workers.broker.settings import BrokerSettings
from workers.broker.signing import Purpose, Signer
from workers.broker.vectors import RemoteVectors, TextsFailed
from workers.embedding import Embedding

HASHING = HashingEmbedder()
TEXTS = ["Ada likes tea", "Bob lives in Oslo", ""]


def hashing() -> Choice:
    return Choice(HASHING.id, HashingEmbedder)


@pytest.fixture
def settings(redis: RedisServer) -> BrokerSettings:
    return settings_for(redis.url)


@pytest.fixture
def hand(settings: BrokerSettings) -> Iterator[Hand]:
    found = Hand(settings)
    yield found
    found.client.close()


@pytest.fixture
def vectors(settings: BrokerSettings) -> Iterator[RemoteVectors]:
    found = RemoteVectors(settings, HASHING.id)
    # Closing waits for the read at hand.
    found._wait = 0.05
    yield found
    found.close()


@pytest.fixture
def asking(vectors: RemoteVectors) -> Iterator[Callable[..., Future[Vectors]]]:
    with ThreadPoolExecutor(4) as threads:
        yield lambda *texts: threads.submit(vectors, list(texts))
        vectors.close()


def embed(hand: Hand, choice: EmbedderChoice = hashing) -> None:
    """Run the next task, as a worker does."""
    until(lambda: hand.waiting() > 0)
    task = hand.take()
    assert task is not None
    EmbeddingTasks(hand.client, hand.keys, hand.signer, choice, refuse=hand.running.refuse).run(*task)


def test_the_vectors_are_those_of_the_embedder_to_the_last_bit(asking: Callable[..., Future[Vectors]], hand: Hand) -> None:
    first, second = asking(*TEXTS), asking("another")
    embed(hand)
    embed(hand)
    assert first.result(10).tobytes() == HASHING.embed_documents(TEXTS).tobytes()
    assert second.result(10).tobytes() == HASHING.embed_documents(["another"]).tobytes()
    until(lambda: hand.client.xlen(hand.keys.vectors) == 0)
    until(lambda: hand.client.keys(f"{hand.keys.prefix}:embedding:*") == [])


def taken(hand: Hand) -> EmbedTask:
    until(lambda: hand.waiting() > 0)
    task = hand.take()
    assert task is not None
    return unpacked(EmbedTask, task[0].encode())


def answer(hand: Hand, body: bytes, mark: str | None = None) -> None:
    hand.client.xadd(hand.keys.vectors, {"body": body, "mark": mark or hand.signer.mark(Purpose.VECTORS, body)})


def rows(*numbers: Sequence[float]) -> str:
    return b64encode(np.array(numbers, dtype="<f4").tobytes()).decode()


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"refused": "a worker has another embedder"}, "a worker has another embedder"),
        ({"dim": 2, "vectors": rows((1, 0), (0, 1))}, "2 dimensions"),
        ({"dim": 2, "vectors": rows((1,))}, "2 dimensions"),
        ({"dim": 0, "vectors": ""}, "0 dimensions"),
        ({"dim": 2, "vectors": rows((3, 4))}, "unit length"),
        ({"dim": 2, "vectors": rows((np.nan, 1))}, "unit length"),
        ({"dim": 2, "vectors": rows((np.inf, 1))}, "unit length"),
        ({"dim": 2, "vectors": "!!!"}, "no vectors"),
    ],
)
def test_an_answer_that_is_none_says_so(asking: Callable[..., Future[Vectors]], hand: Hand, fields: dict[str, Any], told: str) -> None:
    asked = asking("tea")
    answer(hand, packed(Embedded(v=VERSION, id=taken(hand).id, **fields)))
    with pytest.raises(EmbedderUnavailable, match=told):
        asked.result(10)


def test_a_forged_answer_is_passed_over_and_the_true_one_taken(
    asking: Callable[..., Future[Vectors]], vectors: RemoteVectors, hand: Hand
) -> None:
    asked = asking("tea")
    task = taken(hand)
    false = packed(Embedded(v=VERSION, id=task.id, dim=2, vectors=rows((0, 1))))
    answer(hand, false, Signer(b"another key, just as long").mark(Purpose.VECTORS, false))
    answer(hand, b"no JSON")
    hand.client.xadd(hand.keys.vectors, {"any": "thing"})
    answer(hand, packed(Embedded(v=VERSION, id="of nobody", dim=2, vectors=rows((0, 1)))))
    answer(hand, packed(Embedded(v=VERSION, id=task.id, dim=2, vectors=rows((1, 0)))))
    assert asked.result(10).tolist() == [[1.0, 0.0]]
    assert vectors.refused == {"forged": 2, "malformed": 1}
    until(lambda: hand.client.xlen(hand.keys.vectors) == 0)


def test_a_worker_with_another_embedder_or_none_refuses_and_says_which(asking: Callable[..., Future[Vectors]], hand: Hand) -> None:
    for choice, told in ((lambda: Choice("other/1", HashingEmbedder), "other/1"), (lambda: None, "none")):
        asked = asking("tea")
        embed(hand, choice)
        with pytest.raises(EmbedderUnavailable, match=f"has the embedder {told}, not {HASHING.id}.*ERSTWHILE_EMBEDDER"):
            asked.result(10)

    def wrong() -> Choice:
        raise InvalidInput("ERSTWHILE_EMBEDDER chooses nothing")

    asked = asking("tea")
    embed(hand, wrong)
    with pytest.raises(EmbedderUnavailable, match="chooses nothing"):
        asked.result(10)


class Choosy(HashingEmbedder):
    """Stumbles over some texts."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        if any("stumble" in text for text in texts):
            raise ValueError("it says Ada")
        return super().embed_documents(texts)


def test_what_is_for_the_texts_is_told_as_that(asking: Callable[..., Future[Vectors]], hand: Hand) -> None:
    asked = asking("tea", "stumble")
    embed(hand, lambda: Choice(HASHING.id, Choosy))
    with pytest.raises(TextsFailed, match=r"^ValueError$"):
        asked.result(10)


def test_texts_that_kill_their_worker_are_given_back_after_some_starts(asking: Callable[..., Future[Vectors]], hand: Hand) -> None:
    asked = asking("tea")
    until(lambda: hand.waiting() > 0)
    (key,) = hand.client.keys(f"{hand.keys.prefix}:embedding:*")
    hand.client.set(key, MAX_STARTS)
    embed(hand)
    with pytest.raises(TextsFailed, match="died 3 times"):
        asked.result(10)


def test_an_unsigned_task_is_refused_and_one_that_nobody_waits_for_is_left(hand: Hand) -> None:
    made: list[Choice] = []
    tasks = EmbeddingTasks(hand.client, hand.keys, hand.signer, lambda: made.append(hashing()), refuse=hand.running.refuse)
    body = packed(EmbedTask(v=VERSION, id="x", embedder=HASHING.id, texts=["tea"]))
    tasks.run(body.decode(), hand.signer.mark(Purpose.EXTRACT, body))
    assert hand.counts() == {"refused": 1}
    tasks.run(body.decode(), hand.signer.mark(Purpose.EMBED, body))
    assert made == []
    assert hand.client.xlen(hand.keys.vectors) == 0


def test_whoever_waits_learns_that_redis_has_forgotten_or_is_gone(
    asking: Callable[..., Future[Vectors]], hand: Hand, redis: RedisServer
) -> None:
    asked = asking("tea")
    until(lambda: hand.waiting() > 0)
    redis.flushall()
    with pytest.raises(EmbedderUnavailable, match="forgotten"):
        asked.result(10)
    asked = asking("tea")
    until(lambda: hand.waiting() > 0)
    redis.kill()
    with pytest.raises(EmbedderUnavailable, match="does not answer"):
        asked.result(10)
    with pytest.raises(EmbedderUnavailable, match="does not answer"):
        asking("tea").result(10)
    redis.start()
    asked = asking("tea")
    embed(hand)
    assert len(asked.result(10)) == 1


def test_patience_ends_and_closing_ends_it_at_once(settings: BrokerSettings, hand: Hand) -> None:
    short = RemoteVectors(settings, HASHING.id, patience=0.3)
    with pytest.raises(EmbedderUnavailable, match="no worker has embedded 1 texts in 0 seconds"):
        short(["tea"])
    short.close()
    long = RemoteVectors(settings, HASHING.id)
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(long, ["tea"])
        until(lambda: hand.waiting() > 1)
        begun = time.monotonic()
        long.close()
        with pytest.raises(EmbedderUnavailable, match="stops"):
            asked.result(10)
        assert time.monotonic() - begun < 3
    with pytest.raises(EmbedderUnavailable, match="stops"):
        long(["tea"])


def test_what_is_wanted_in_the_background_is_embedded_by_workers(settings: BrokerSettings, vectors: RemoteVectors, hand: Hand) -> None:
    wanted = [f"text {number}" for number in range(70)] + ["stumble"]
    graph = Texts(*wanted)
    tasks = EmbeddingTasks(hand.client, hand.keys, hand.signer, lambda: Choice(HASHING.id, Choosy), refuse=hand.running.refuse)
    work = Embedding(graph, pytest.fail, workers=3, chunk=16, remote=vectors)
    work.start()

    def done() -> bool:
        if (task := hand.take(BULK)) is not None:
            tasks.run(*task)
        return len(graph.vectors) == 70

    until(done)
    work.close()
    assert all(graph.vectors[text] == HASHING.embed_documents([text])[0].tobytes() for text in wanted[:70])
    with pytest.raises(EmbedderUnavailable):
        vectors(["tea"])
