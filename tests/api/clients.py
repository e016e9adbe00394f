"""One GraphQL client over every transport: the schema in-process, and HTTP against a real server on loopback."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import uvicorn
from starlette.types import ASGIApp

from api.headers import AWAIT_HEADER, NAMESPACE_HEADER
from api.requests import Request
from api.schema.build import Schema
from api.service import Service
from api.settings import PATIENCE
from api.stalls import protocols

Headers = Mapping[str, str]


@dataclass
class Answer:
    """What came back."""

    data: Any
    errors: list[dict[str, Any]]

    @property
    def codes(self) -> list[str]:
        """The code of each error."""
        return [error["extensions"]["code"] for error in self.errors]


class Client(ABC):
    """A client bound to one namespace."""

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace

    @abstractmethod
    def send(self, query: str, variables: Mapping[str, Any] | None = None, headers: Headers | None = None) -> Answer:
        """One operation."""

    @abstractmethod
    def at(self, namespace: str) -> Client:
        """The same transport in another namespace."""

    def ok(self, query: str, **variables: Any) -> Any:
        """The data of an operation that must not fail."""
        answer = self.send(query, variables)
        assert answer.errors == []
        return answer.data


class InProcess(Client):
    """Calls the schema."""

    def __init__(self, schema: Schema, service: Service, runner: asyncio.Runner, namespace: str = "default") -> None:
        super().__init__(namespace)
        self._parts = schema, service, runner

    def at(self, namespace: str) -> InProcess:
        """The same transport in another namespace."""
        return InProcess(*self._parts, namespace)

    def send(self, query: str, variables: Mapping[str, Any] | None = None, headers: Headers | None = None) -> Answer:
        """One operation."""
        schema, service, runner = self._parts
        stated = {NAMESPACE_HEADER: self.namespace, **(headers or {})}
        request = Request(
            service.graph, service.ingestion, stated[NAMESPACE_HEADER], stated.get(AWAIT_HEADER), "in-process", service.embedding
        )
        result = runner.run(schema.execute(query, dict(variables or {}), context_value=request))
        return Answer(result.data, [dict(error.formatted) for error in result.errors or []])


class OverHttp(Client):
    """Asks a server. Threads may share it."""

    def __init__(self, http: httpx.Client, url: str, namespace: str = "default") -> None:
        super().__init__(namespace)
        self.http = http
        self.url = url

    def at(self, namespace: str) -> OverHttp:
        """The same transport in another namespace."""
        return OverHttp(self.http, self.url, namespace)

    def send(self, query: str, variables: Mapping[str, Any] | None = None, headers: Headers | None = None) -> Answer:
        """One operation."""
        stated = {NAMESPACE_HEADER: self.namespace, **(headers or {})}
        reply = self.http.post(f"{self.url}/graphql", json={"query": query, "variables": dict(variables or {})}, headers=stated)
        assert reply.status_code == 200, reply.text
        body = reply.json()
        return Answer(body.get("data"), body.get("errors") or [])


@contextmanager
def served(app: ASGIApp, speaking: Mapping[str, Any] | None = None, room: int | None = None) -> Iterator[str]:
    """The address of a server that runs `app` in a thread, on a port of its own.

    `speaking`: other protocols than the service's. `room`: bytes that the system holds of what a client has not taken.
    """
    spoken = protocols(PATIENCE) if speaking is None else speaking
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if room is not None:
        # What it accepts takes after it.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, room)
    listening.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", loop="uvloop", lifespan="on", **spoken))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        until_ready(url)
        yield url
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


def until_ready(url: str, patience: float = 60) -> None:
    """Return when the server says that it is ready."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        try:
            if httpx.get(f"{url}/readyz", timeout=5).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.02)
    raise TimeoutError(f"{url} is not ready after {patience} s")
