"""How large a request may be."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing

import httpx
import pytest

from api.service import Service
from tests.api.keyed import LIMIT, Keys, keyed_service

PLAIN = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def keys() -> Keys:
    return Keys()


@pytest.fixture(scope="module")
def keyed(service: Service, keys: Keys) -> Iterator[str]:
    with keyed_service(service, keys) as url:
        yield url


def padded(size: int) -> bytes:
    """A query of a size in bytes."""
    head, tail = b'{"query": "{ stats { episodes } }", "padding": "', b'"}'
    return head + b"x" * (size - len(head) - len(tail)) + tail


def pieces(size: int) -> Iterator[bytes]:
    """The same, whose length is not announced."""
    body = padded(size)
    return (body[start : start + 60_000] for start in range(0, size, 60_000))


@pytest.mark.parametrize("announced", [True, False])
def test_a_body_may_be_as_large_as_the_limit_and_no_larger(keyed: str, http: httpx.Client, keys: Keys, announced: bool) -> None:
    headers = {**PLAIN, "Authorization": f"Bearer {keys.reader}"}
    for more, status in ((0, 200), (1, 413), (3 * LIMIT, 413)):
        body = padded(LIMIT + more) if announced else pieces(LIMIT + more)
        reply = http.post(f"{keyed}/graphql", content=body, headers=headers)
        assert reply.status_code == status, reply.text
    answer = reply.json()
    assert answer["data"] is None
    assert answer["errors"][0]["extensions"] == {"code": "BAD_USER_INPUT", "reason": "BODY_TOO_LARGE"}
    assert f"{LIMIT:,} bytes (ERSTWHILE_MAX_BODY)" in answer["errors"][0]["message"]


def test_who_is_not_let_in_need_not_be_read(keyed: str, http: httpx.Client) -> None:
    assert http.post(f"{keyed}/graphql", content=pieces(4 * LIMIT), headers=PLAIN).status_code == 401


def asked(url: str, head: str) -> str:
    """The status line that a request gets whose body never comes."""
    host, _, port = url.removeprefix("http://").partition(":")
    with closing(socket.create_connection((host, int(port)), timeout=30)) as connection:
        connection.sendall(head.replace("\n", "\r\n").encode())
        return connection.recv(4096).decode().splitlines()[0]


@pytest.mark.parametrize(
    "length",
    [str(LIMIT + 1), "9" * 19, "18446744073709551615"],
)
def test_an_announced_length_is_refused_before_a_byte_of_it_comes(keyed: str, keys: Keys, length: str) -> None:
    head = f"POST /graphql HTTP/1.1\nHost: 127.0.0.1\nAuthorization: Bearer {keys.reader}\nContent-Length: {length}\n\n"
    assert asked(keyed, head).startswith("HTTP/1.1 413 ")


def test_the_service_takes_128_mib_where_nothing_else_is_set(url: str, http: httpx.Client) -> None:
    host, _, port = url.removeprefix("http://").partition(":")
    head = "POST /graphql HTTP/1.1\nHost: 127.0.0.1\nContent-Type: application/json\nContent-Length: {}\n\n"
    assert asked(f"{host}:{port}", head.format(128 * 2**20 + 1)).startswith("HTTP/1.1 413 ")
    assert http.post(f"{url}/graphql", content=padded(2 * LIMIT), headers=PLAIN).status_code == 200
