"""Clients that follow a subscription: GraphQL over Server-Sent Events, and graphql-transport-ws."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from api.headers import NAMESPACE_HEADER

Event = tuple[str, Any]
"""What kind of message, and what it carries."""


def events(response: httpx.Response) -> Iterator[Event]:
    """The events of a stream as they come, without the comments that keep it open."""
    name, data = "", ""
    for line in response.iter_lines():
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data" or line == "data:":
            data += value
        elif not line and name:
            yield name, json.loads(data) if data else None
            name, data = "", ""


@contextmanager
def stream(
    http: httpx.Client, url: str, namespace: str, query: str, variables: Mapping[str, Any], *, method: str = "POST"
) -> Iterator[Iterator[Event]]:
    """The events of one operation (distinct connections mode)."""
    headers = {"Accept": "text/event-stream", NAMESPACE_HEADER: namespace}
    asked = {"query": query, "variables": json.dumps(variables)} if method == "GET" else None
    sent = {"query": query, "variables": variables} if method == "POST" else None
    with http.stream(method, f"{url}/graphql", headers=headers, params=asked, json=sent) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        yield events(response)


@contextmanager
def socket(url: str, namespace: str | None, *, init: Mapping[str, Any] | None = None) -> Iterator[ClientConnection]:
    """A connection of graphql-transport-ws; `init`: the payload of its beginning, None where it does not begin."""
    headers = {} if namespace is None else {NAMESPACE_HEADER: namespace}
    address = url.replace("http", "ws", 1) + "/graphql"
    with connect(address, subprotocols=[Subprotocol("graphql-transport-ws")], additional_headers=headers) as connection:
        if init is not None:
            tell(connection, type="connection_init", payload=dict(init))
            assert told(connection) == {"type": "connection_ack"}
        yield connection


def tell(connection: ClientConnection, **message: Any) -> None:
    """Send a message."""
    connection.send(json.dumps(message))


def told(connection: ClientConnection) -> dict[str, Any]:
    """The next message."""
    found: dict[str, Any] = json.loads(connection.recv(timeout=30))
    return found


def subscribe(connection: ClientConnection, number: str, query: str, **variables: Any) -> None:
    """Begin an operation."""
    tell(connection, type="subscribe", id=number, payload={"query": query, "variables": variables})


def followed(connection: ClientConnection, id: str) -> Iterator[Event]:
    """What comes of one operation until it ends."""
    while (message := told(connection))["type"] == "next":
        assert message["id"] == id
        yield "next", message["payload"]
    assert message["id"] == id
    yield message["type"], message.get("payload")
