"""The Redis of the tests: what they stop, kill and start again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, ConnectionError, OutOfMemoryError
from redis.retry import Retry

from tests.redis_server import RedisServer


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    with RedisServer(tmp_path / "redis", password="of/the:tests@ %") as running:
        yield running


def test_it_answers_with_its_password_only(server: RedisServer) -> None:
    with server.client() as client:
        assert client.ping()
        assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
    # It would try again for seconds.
    once = Retry(NoBackoff(), 0)
    with Redis(host="127.0.0.1", port=server.port, retry=once) as stranger, pytest.raises(AuthenticationError):
        stranger.ping()


@pytest.mark.parametrize("kill", [False, True])
def test_it_comes_back_empty_on_the_same_port(server: RedisServer, kill: bool) -> None:
    before = server.pid, server.url
    with server.client() as client:
        client.set("held", "x")
        server.restart(kill=kill)
        assert client.get("held") is None
    assert server.url == before[1]
    assert server.pid != before[0]


def test_stopped_it_refuses_connections_until_it_is_started(server: RedisServer) -> None:
    server.stop()
    assert not server.running
    with server.client() as client:
        with pytest.raises(ConnectionError):
            client.ping()
        server.start()
        assert client.ping()


def test_flushall_drops_what_it_holds(server: RedisServer) -> None:
    with server.client() as client:
        client.set("held", "x")
        server.flushall()
        assert client.dbsize() == 0


def test_full_it_refuses_and_evicts_nothing(tmp_path: Path) -> None:
    with RedisServer(tmp_path, arguments=["--maxmemory", "1mb"]) as server, server.client() as client:
        client.set("first", "x")
        with pytest.raises(OutOfMemoryError):
            for number in range(100):
                client.set(f"k{number}", "x" * 100_000)
        assert client.get("first") == "x"


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    server = RedisServer(tmp_path, arguments=["--no-such-setting", "1"])
    with pytest.raises(RuntimeError, match="no-such-setting"):
        server.start()
    assert not server.running


def test_after_the_context_it_is_gone(tmp_path: Path) -> None:
    with RedisServer(tmp_path) as server:
        assert server.running
    assert not server.running
    with pytest.raises(RuntimeError, match="not started"):
        RedisServer(tmp_path).pid  # noqa: B018
