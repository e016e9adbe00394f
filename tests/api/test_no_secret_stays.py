"""A secret that is handed in, by whatever way, is in no file of the data folder, not in Redis, in no answer and no line of the log."""

from __future__ import annotations

import asyncio
import logging
import re
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from api.schema.build import build_schema
from api.service import Service
from extraction.hygiene import load_hygiene
from graph.opening import open_graph
from graph.recall.embedding.choosing import EmbedderSettings, choose
from ontology.loading import load_vocabulary
from tests.api.clients import InProcess
from tests.hygiene.secrets import Sample, samples
from tests.redis_server import RedisServer
from tests.workers.broker.hands import settings_for
from tests.workers.extracting import TripleExtractor
from workers.broker.dispatch import RedisDispatch
from workers.dispatching import Dispatch
from workers.embedding import Embedding
from workers.ingestion import Ingestion
from workers.pool import ExtractionPool

SAMPLES = samples()
INGEST = "mutation($input: [EpisodeInput!]!) { ingestEpisodes(input: $input) { __typename ... on Error { message } } }"
ONE = """mutation($input: EpisodeInput!, $wait: Boolean) { ingestEpisode(input: $input, wait: $wait) { __typename
  ... on Error { message } ... on InvalidInputError { path reason } ... on IdempotencyConflictError { idempotencyKey } } }"""
STATE = """mutation($input: [AssertStatementsInput!]!) { assertStatementsBatch(input: $input) { __typename
  ... on Error { message } ... on InvalidInputError { path reason } } }"""
_BASE64 = re.compile(rb"[A-Za-z0-9+/]{40,}={0,2}")


def test_there_are_as_many_secrets_of_as_many_kinds_as_it_takes() -> None:
    assert len(SAMPLES) >= 150
    assert len({sample.kind for sample in SAMPLES}) >= 30


class World:
    """A service on a folder, with all that the outside gets to see of it."""

    def __init__(self, folder: Path, client: InProcess, service: Service) -> None:
        self.folder, self._client, self.service = folder, client, service
        self.answers: list[str] = []

    def ask(self, document: str, **variables: Any) -> str:
        answer = self._client.send(document, variables)
        self.answers.append(f"{answer.data} {answer.errors}")
        return self.answers[-1]

    def files(self) -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}


def opened(folder: Path, dispatch: bool, redis: RedisServer) -> Service:
    choice = choose(EmbedderSettings(embedder="hash"))
    assert choice is not None
    vocabulary = load_vocabulary()
    graph = open_graph(folder, vocabulary, embedder=choice)
    embedding = Embedding(graph, choice.load, workers=0)
    graph.when_indexed(embedding.notify)
    hygiene = load_hygiene(None)
    elsewhere: Dispatch | None = RedisDispatch(settings_for(redis.url), vocabulary, graph.backlog.find) if dispatch else None
    scrubber, scan = hygiene.scrubber(graph.scrub_key), hygiene.scanner().scan
    return Service(graph, Ingestion(graph, ExtractionPool(TripleExtractor), scrubber, scan, dispatch=elsewhere), embedding)


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with RedisServer(tmp_path_factory.mktemp("redis")) as running:
        yield running


@pytest.fixture(params=["embedded", "broker"])
def world(request: pytest.FixtureRequest, tmp_path: Path, redis: RedisServer) -> Iterator[World]:
    service = opened(tmp_path / "data", request.param == "broker", redis)
    service.start()
    try:
        with asyncio.Runner() as runner:
            yield World(tmp_path / "data", InProcess(build_schema(), service, runner), service)
    finally:
        service.close()


def everywhere(sample: Sample, number: int) -> dict[str, Any]:
    """An episode that says a secret, and has it in what is told about it too."""
    told = {"cwd": "/src", "note": sample.text, "env": [{"text": sample.text}]}
    return {"content": f"Ann likes tea{number}.\n{sample.text}", "source": "test", "externalId": str(number), "metadata": told}


def in_redis(client: Any) -> bytes:
    """All values, and what is behind their base64."""
    values: list[bytes] = []
    for key in client.keys("*"):
        kind = client.type(key)
        if kind == b"list":
            values += client.lrange(key, 0, -1)
        elif kind == b"hash":
            values += [part for pair in client.hgetall(key).items() for part in pair]
        elif kind == b"stream":
            values += [part for _, fields in client.xrange(key) for pair in fields.items() for part in pair]
        elif kind == b"set":
            values += client.smembers(key)
        elif kind == b"zset":
            values += client.zrange(key, 0, -1)
        else:
            values.append(client.get(key))
    raw = b"\n".join(values)
    return raw + b"\n".join(b64decode(run + b"=" * (-len(run) % 4)) for run in _BASE64.findall(raw))


def found_in(places: dict[Any, bytes]) -> list[tuple[str, str]]:
    """Kinds of the secrets that stand somewhere, and where; never the secret itself."""
    return [
        (sample.kind, str(place))
        for place, content in places.items()
        for sample in SAMPLES
        if sample.secret.encode() in content or sample.secret.replace("/", "\\/").encode() in content
    ]


def test_no_secret_stays_anywhere(world: World, redis: RedisServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    episodes = [everywhere(sample, number) for number, sample in enumerate(SAMPLES)]
    assert "IngestEpisodesPayload" in world.ask(INGEST, input=episodes)
    for number, sample in enumerate(SAMPLES[::10]):
        named = {"group": sample.text[:900], "speaker": sample.text[:900], "idempotencyKey": sample.text[:200]}
        world.ask(ONE, input={**everywhere(sample, 1000 + number), **named}, wait=False)
        # The key again with another payload, a date that is none, and a name that is too long: each is told back.
        world.ask(ONE, input={"content": "Ann likes rum", "source": "test", "idempotencyKey": sample.text[:200]}, wait=False)
        world.ask(ONE, input={"content": "Ann likes rum", "source": "test", "saidAt": sample.text}, wait=False)
        world.ask(ONE, input={"content": "Ann likes rum", "source": "test", "timeZone": sample.text}, wait=False)
        stated = {"subject": {"name": sample.text[:900]}, "predicate": "likes", "object": {"name": sample.text[:900]}}
        batch = {"source": "test", "externalId": f"s{number}", "content": sample.text, "statements": [{**stated, "quote": sample.text}]}
        world.ask(STATE, input=[batch])
        world.ask(STATE, input=[{**batch, "statements": [{**stated, "validFrom": sample.text}]}])
        world.ask('mutation($r: String!) { releaseEpisode(id: "x", reason: $r) { __typename ... on Error { message } } }', r=sample.text)
        world.ask('mutation($r: String!) { retractEpisode(id: "x", reason: $r) { __typename ... on Error { message } } }', r=sample.text)
    backlog = world.service.graph.backlog
    if world.service.ingestion.pipeline.dispatch.resend_after is None:
        assert world.service.ingestion.pipeline.wait_until(lambda: backlog.view().waiting == 0, 60)
        assert world.service.embedding is not None and world.service.embedding.finish(30)
    else:
        assert world.service.ingestion.pipeline.wait_until(lambda: backlog.view().sent >= 64, 30) or backlog.view().sent
    with Redis.from_url(redis.url) as client:
        queued = in_redis(client)
    places: dict[Any, bytes] = {**world.files(), "Redis": queued, "answers": "\n".join(world.answers).encode(), "log": caplog.text.encode()}
    assert found_in(places) == []
    # What stands there is what was meant to: the marks, and the words around them.
    written = b"".join(world.files().values())
    assert written.count(b"[REDACTED:") >= len(SAMPLES)
    assert b"Alice left Acme" in written
    if world.service.ingestion.pipeline.dispatch.resend_after is not None:
        assert b"[REDACTED:" in queued
