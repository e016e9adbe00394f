"""A Redis for the tests of a module, emptied for each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.redis_server import RedisServer

PASSWORD = "hush/hush:of@Redis"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """One that the tests of a module share."""
    folder: Path = tmp_path_factory.mktemp("redis")
    with RedisServer(folder, password=PASSWORD) as running:
        yield running


@pytest.fixture
def redis(server: RedisServer) -> RedisServer:
    """An empty one that runs."""
    if not server.running:
        server.start()
    server.flushall()
    return server
