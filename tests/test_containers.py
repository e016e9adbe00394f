"""The commands and health checks of docker-compose.yml, run from it without an engine."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx
import pytest
from redis import Redis
from redis.exceptions import OutOfMemoryError

from api.credentials import Access, entry_of, new_key
from tests import compose
from tests.compose import GIVEN, SERVICES
from tests.containers import Place, healthy, running
from tests.redis_server import free_port


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("containers"), free_port(), free_port(), free_port())


@pytest.fixture(scope="module")
def redis(place: Place) -> Iterator[Redis]:
    with running("redis", place), Redis(port=place.redis, password=GIVEN["REDIS_PASSWORD"], decode_responses=True) as client:
        yield client


def test_redis_runs_as_the_file_says(redis: Redis, place: Place) -> None:
    assert redis.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
    assert redis.config_get("save") == {"save": ""}
    assert redis.config_get("appendonly") == {"appendonly": "no"}
    assert redis.config_get("maxmemory") == {"maxmemory": str(512 * 2**20)}
    # Without the password it answers nobody, and its health check does not take a refusal for health.
    service = {**SERVICES["redis"], "environment": {"REDISCLI_AUTH": "wrong"}}
    command = [place.mapped(part) for part in compose.health_check(service)]
    assert subprocess.run(command, env=place.environment(service), capture_output=True, check=False).returncode != 0


def test_redis_full_refuses_and_drops_nothing(redis: Redis) -> None:
    limit = str(redis.config_get("maxmemory")["maxmemory"])
    redis.set("pending", "task")
    try:
        redis.config_set("maxmemory", "1mb")
        with pytest.raises(OutOfMemoryError):
            for number in range(100):
                redis.set(f"filler-{number}", "x" * 100_000)
        assert redis.get("pending") == "task"
    finally:
        redis.config_set("maxmemory", limit)
        redis.flushall()


@pytest.fixture(scope="module")
def key(place: Place) -> str:
    made = new_key()
    (place.folder / "api_keys").write_text(json.dumps([entry_of(made, "ana", ["team"], Access.WRITE)]))
    return made


def _ingest(http: httpx.Client, url: str, headers: dict[str, str]) -> None:
    """Hand in a text, and wait until a worker has read it."""
    query = """mutation { ingestEpisode(input: {content: "I live in Porto.", source: "t", speaker: "Ana", saidAt: "2024-01-01T00:00:00Z"})
        { __typename ... on IngestEpisodePayload { episode { status } } } }"""
    done = http.post(f"{url}/graphql", json={"query": query}, headers=headers).json()
    assert done["data"]["ingestEpisode"]["__typename"] == "IngestEpisodePayload", done
    ask = {"query": '{ stats { pendingEpisodes } asOf { entity(name: "Ana") { statements { edges { node { predicate { name } } } } } } }'}
    end = time.monotonic() + 60
    while (found := http.post(f"{url}/graphql", json=ask, headers=headers).json()["data"])["stats"]["pendingEpisodes"]:
        assert time.monotonic() < end, "no worker has read it"
        time.sleep(0.05)
    assert found["asOf"]["entity"]["statements"]["edges"] == [{"node": {"predicate": {"name": "lives_in"}}}]


@pytest.mark.usefixtures("redis")
def test_the_service_runs_as_the_file_says(place: Place, key: str, http: httpx.Client) -> None:
    url = f"http://127.0.0.1:{place.api}"
    assert not healthy("api", place)
    with running("api", place):
        ask = {"query": "{ stats { episodes } }"}
        headers = {"Authorization": f"Bearer {key}", "Erstwhile-Namespace": "team"}
        assert http.post(f"{url}/graphql", json=ask, headers=headers).json() == {"data": {"stats": {"episodes": 0}}}
        assert http.post(f"{url}/graphql", json=ask).status_code == 401
        assert http.post(f"{url}/graphql", json=ask, headers={**headers, "Erstwhile-Namespace": "other"}).status_code == 403
        assert http.get(f"{url}/livez", headers={"Host": "api:8000"}).status_code == 200
        assert http.get(f"{url}/livez", headers={"Host": "evil.example"}).status_code == 400
        assert (place.folder / "data" / "ledger.db").exists()
        # A first start says where it answers, and what was refused since, and nothing else.
        first, second = (place.folder / "api.log").read_text().splitlines()
        assert "Erstwhile answers at" in first and "was refused" in second
        with running("worker-live", place):
            _ingest(http, url, headers)
        # `docker compose exec api erstwhile status` asks the service that runs.
        command = ["erstwhile", "status", "--namespace", "team"]
        environment = {**place.environment(SERVICES["api"]), "ERSTWHILE_API_KEY": key}
        status = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        assert f"server at {url}" in status
    for name in ("api", "worker-live"):
        written = (place.folder / f"{name}.log").read_text()
        for hidden in (key, GIVEN["ERSTWHILE_WORKER_KEY"], GIVEN["REDIS_PASSWORD"], "Porto"):
            assert hidden not in written


@pytest.mark.deep
@pytest.mark.usefixtures("redis")
def test_the_worker_of_imports_runs_as_the_file_says(place: Place) -> None:
    with running("worker-bulk", place) as process:
        assert process.poll() is None


class _Ready(BaseHTTPRequestHandler):
    status = 200

    def do_GET(self) -> None:
        self.send_response(self.status if self.path == "/readyz" else 404)
        self.end_headers()
        self.wfile.write(b"all shards are ready\n")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class _Starting(_Ready):
    status = 503


@pytest.mark.parametrize(("handler", "well"), [(_Ready, True), (_Starting, False), (None, False)])
def test_the_health_check_of_qdrant_takes_readiness_for_health(place: Place, handler: type[_Ready] | None, well: bool) -> None:
    if handler is None:
        assert healthy("qdrant", place) is well
        return
    with HTTPServer(("127.0.0.1", place.qdrant), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            assert healthy("qdrant", place) is well
        finally:
            server.shutdown()
            thread.join()


def test_qdrant_does_not_start_without_a_key(place: Place) -> None:
    command: Sequence[str] = SERVICES["qdrant"]["command"]
    script = place.folder / "entrypoint.sh"
    script.write_text("#!/bin/sh\necho started\n")
    script.chmod(0o755)

    def start(key: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": "/usr/bin:/bin", "QDRANT__SERVICE__API_KEY": key}
        return subprocess.run(command, cwd=place.folder, env=environment, capture_output=True, text=True, check=False)

    assert start("k").stdout == "started\n"
    refused = start("")
    assert (refused.returncode != 0, refused.stdout) == (True, "")
    assert "set ERSTWHILE_QDRANT_KEY" in refused.stderr


@pytest.fixture(scope="module")
def http() -> Iterator[httpx.Client]:
    with httpx.Client(timeout=30) as client:
        yield client
