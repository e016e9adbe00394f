"""Who follows changes and takes none: ended with the last cursor, then cut off, and never kept in memory."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable
from functools import partial
from itertools import count

import pytest

from api.app import create_app
from api.cursors import encode_cursor
from api.exposure import Exposure
from api.service import Service
from api.watches import Watches
from ontology.claim import ClaimDraft, ObjectDraft
from ontology.episode import EpisodeDraft
from tests.api.clients import served
from tests.api.conftest import Borrowed
from tests.api.not_reading import Buffers, ask_over_socket, ask_over_sse, connected, rest_of

BEGINNING = encode_cursor("changes", (0, 0, 0), None)
ROOM = 4096
_numbers = count()
Ask = Callable[..., None]


def commit(service: Service, namespace: str, many: int) -> None:
    """So many changes, by 500 in a transaction."""
    for batch in range(many // 500):
        claims = [ClaimDraft(f"P{number}", "likes", ObjectDraft(f"thing {batch}")) for number in range(500)]
        draft = EpisodeDraft("x", "chat", external_id=f"many {batch}", said_at="2024-01-01")
        service.graph.record_extracted(namespace, [(draft, claims, ())], extractor="test")


def until(done: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture(params=[ask_over_sse, ask_over_socket], ids=["sse", "socket"])
def ask(request: pytest.FixtureRequest) -> Ask:
    found: Ask = request.param
    return found


class Stage:
    """A server of little patience; `cut`: that of its connections goes by another."""

    def __init__(self, service: Service, patience: float, cut: float | None = None) -> None:
        exposure = Exposure(patience=patience)
        self.app = create_app(partial(Borrowed, service.graph, service.ingestion), exposure=exposure)
        self.buffers = Buffers(cut or patience)

    @property
    def watches(self) -> Watches:
        found = self.app.state.watches
        assert isinstance(found, Watches)
        return found


@pytest.mark.parametrize("many", [1000, pytest.param(20_000, marks=pytest.mark.deep)])
def test_who_never_reads_is_cut_off_and_held_nothing_for(service: Service, ask: Ask, many: int) -> None:
    stage, namespace = Stage(service, 0.5), f"unread-{next(_numbers)}"
    with served(stage.app, stage.buffers.speaking, ROOM) as url, connected(url) as connection:
        ask(connection, namespace)
        until(lambda: stage.watches.changes.followers == 1)
        commit(service, namespace, many)
        # What is sent fills the buffers of both systems; then whoever sends waits, until the connection is cut.
        until(lambda: stage.buffers.most > 0 and stage.watches.changes.followers == 0)
        assert stage.watches.changes.reading == 0
        assert stage.buffers.most < 2**16 + 2**12
        told = rest_of(connection)
        assert 0 < told.count(b'"cursor"') < many


def test_who_reads_too_slowly_is_told_where_to_go_on(service: Service, ask: Ask) -> None:
    stage, namespace = Stage(service, 1, cut=60), f"unread-{next(_numbers)}"
    commit(service, namespace, 1000)
    with served(stage.app, stage.buffers.speaking, ROOM) as url, connected(url) as connection:
        ask(connection, namespace, after=BEGINNING)
        until(lambda: stage.buffers.open == 1)
        time.sleep(1.3)
        told = rest_of(connection) if ask is ask_over_sse else until_ended(connection)
    cursors = [match.decode() for match in re.findall(rb'"cursor": ?"([^"]+)"', told)]
    *sent, last = cursors
    assert b"OVERLOADED" in told and b"no event was taken for 1 seconds" in told
    assert last == sent[-1]
    assert 0 < len(sent) < 1000
    assert len(set(sent)) == len(sent)


def until_ended(connection: socket.socket) -> bytes:
    """What a web socket is sent until its operation is complete."""
    found = b""
    while b'"complete"' not in found[-200:]:
        found += connection.recv(65536)
    return found
