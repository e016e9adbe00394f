"""What of a request is not its body has a bound, before anybody has shown a key."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import closing

import httpx
import pytest

from api.heads import MAX_HEAD


def connected(url: str) -> socket.socket:
    host, _, port = url.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=30)


def taken(url: str, begin: bytes, again: bytes, most: int) -> tuple[int, bytes]:
    """How much of an endless request the server takes before it ends the connection, and what it answers."""
    sent = 0
    answer = b""
    with closing(connected(url)) as connection:
        try:
            connection.sendall(begin)
            while sent < most:
                connection.sendall(again)
                sent += len(again)
            connection.settimeout(0.2)
        except OSError:
            pass
        try:
            while piece := connection.recv(65536):
                answer += piece
        except OSError:
            pass
    return sent, answer


HEAD = b"POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.mark.parametrize(
    ("begin", "again"),
    [
        (HEAD + b"X-Long: ", b"x" * 65536),
        (HEAD, b"X-Again: x\r\n" * 5000),
        (b"GET /" + b"x" * 100, b"x" * 65536),
        (HEAD + b"X" * 100, b"X" * 65536),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX-Trailer: ", b"x" * 65536),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;", b"x" * 65536),
    ],
    ids=["header", "headers", "path", "name", "trailer", "extension"],
)
def test_a_head_without_end_is_refused(url: str, http: httpx.Client, begin: bytes, again: bytes) -> None:
    # What the buffers of both sockets hold comes on top.
    sent, answer = taken(url, begin, again, 2**26)
    assert sent < 2**25
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400 ")
    assert http.get(f"{url}/livez").status_code == 200


def pieces(size: int, length: int) -> Iterator[bytes]:
    body = b'{"query": "{ stats { episodes } }"' + b" " * size + b"}"
    return (body[start : start + length] for start in range(0, len(body), length))


@pytest.mark.parametrize("make", [lambda: pieces(200_000, 7), lambda: pieces(3_000_000, 1000), lambda: pieces(5000, 1)])
def test_a_body_in_small_pieces_is_taken(url: str, http: httpx.Client, make: Callable[[], Iterator[bytes]]) -> None:
    headers = {"Content-Type": "application/json", "X-Long": "x" * (MAX_HEAD - 1000)}
    for _ in range(2):
        reply = http.post(f"{url}/graphql", content=make(), headers=headers)
        assert (reply.status_code, set(reply.json())) == (200, {"data"})
