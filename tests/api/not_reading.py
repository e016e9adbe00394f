"""Clients that subscribe and read no further, and what their server holds for them."""

from __future__ import annotations

import base64
import json
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from api.stalls import protocols
from tests.api.changes import FOLLOW

ROOM = 4096
"""Bytes that the client's system holds for it, or the least that it can."""


class Buffers:
    """uvicorn's protocols, which note how much they held at most for a connection that took nothing."""

    def __init__(self, patience: float) -> None:
        self.most = 0
        self.open = 0
        self.speaking = protocols(patience)
        for name in ("http", "ws"):
            self.speaking[name] = self._noting(self.speaking[name])

    def _noting(self, kind: Any) -> Any:
        buffers = self

        class Noting(kind):  # type: ignore[misc]
            def pause_writing(self) -> None:
                buffers.most = max(buffers.most, self.transport.get_write_buffer_size())
                buffers.open += 1
                super().pause_writing()

            def resume_writing(self) -> None:
                buffers.open -= 1
                super().resume_writing()

        return Noting


@contextmanager
def connected(url: str) -> Iterator[socket.socket]:
    """A connection with little room."""
    parts = urlsplit(url)
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, ROOM)
    connection.settimeout(30)
    connection.connect((parts.hostname, parts.port))
    with connection:
        yield connection


def ask_over_sse(connection: socket.socket, namespace: str, **variables: Any) -> None:
    """Subscribe, and read nothing."""
    body = json.dumps({"query": FOLLOW, "variables": variables}).encode()
    head = ["POST /graphql HTTP/1.1", "Host: 127.0.0.1", "Accept: text/event-stream", "Content-Type: application/json"]
    head += [f"Erstwhile-Namespace: {namespace}", f"Content-Length: {len(body)}", "", ""]
    connection.sendall("\r\n".join(head).encode() + body)


def ask_over_socket(connection: socket.socket, namespace: str, **variables: Any) -> None:
    """The same by a web socket, of which only the beginning is read."""
    head = ["GET /graphql HTTP/1.1", "Host: 127.0.0.1", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"]
    head += [f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}", "Sec-WebSocket-Protocol: graphql-transport-ws"]
    connection.sendall("\r\n".join([*head, f"Erstwhile-Namespace: {namespace}", "", ""]).encode())
    connection.recv(65536)
    connection.sendall(_frame({"type": "connection_init"}))
    connection.recv(65536)
    connection.sendall(_frame({"type": "subscribe", "id": "1", "payload": {"query": FOLLOW, "variables": variables}}))


def _frame(message: dict[str, Any]) -> bytes:
    text = json.dumps(message).encode()
    size = struct.pack("!BB", 0x81, 0x80 | len(text)) if len(text) < 126 else struct.pack("!BBH", 0x81, 0x80 | 126, len(text))
    return size + bytes(4) + text


def rest_of(connection: socket.socket) -> bytes:
    """All that still comes until the connection ends, however it ends."""
    found = b""
    try:
        while part := connection.recv(65536):
            found += part
    except ConnectionResetError:
        pass
    return found
