"""Places for vectors that tests open: in memory, on qdrant-client's local mode, and on a real server where there is one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from uuid import uuid4

from qdrant_client import QdrantClient
from qdrant_client.http.exceptions import ResponseHandlingException

from graph.recall.dense import DenseFactory, InMemory
from graph.recall.qdrant import Qdrant

SERVER = os.environ.get("ERSTWHILE_TEST_QDRANT_URL")
KINDS = ("matrix", "qdrant", "server")

LOCAL_WARNINGS = (
    "ignore:Payload indexes have no effect in the local Qdrant",
    "ignore:Local mode performs exact",
)
"""What the local mode says of itself, once a process."""


class Local(QdrantClient):
    """A server in memory that outlives its connections, and counts and refuses what it is asked."""

    def __init__(self) -> None:
        super().__init__(":memory:")
        self.down = False
        self.asked: list[str] = []

    def close(self, *args: Any, **kwargs: Any) -> None:
        """The next one to connect finds it as it is."""

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name.startswith("_") or name in ("down", "asked", "close") or not callable(found):
            return found

        def asked(*args: Any, **kwargs: Any) -> Any:
            self.asked.append(name)
            if self.down:
                raise ResponseHandlingException(ConnectionError("refused"))
            return found(*args, **kwargs)

        return asked


def on(client: QdrantClient, ledger: str = "ledger", embedder: str = "embedder", pause: float = 0.0) -> Qdrant:
    """The place of a ledger's vectors on a server."""
    return Qdrant(lambda: client, ledger, embedder, pause=pause)


@cache
def shared() -> Local:
    """One for many tests: to make one takes a twentieth of a second."""
    return Local()


def emptied() -> Local:
    """The shared one, with nothing in it."""
    local = shared()
    local.down = False
    for each in local.get_collections().collections:
        local.delete_collection(each.name)
    local.asked.clear()
    return local


@contextmanager
def place(kind: str) -> Iterator[DenseFactory]:
    """An empty place of one kind."""
    if kind == "matrix":
        yield InMemory()
    elif kind == "qdrant":
        yield on(emptied())
    else:
        server = on(QdrantClient(url=SERVER), ledger=uuid4().hex)
        try:
            yield server
        finally:
            server.ask(lambda client: client.delete_collection(server.collection))
            server.close()
