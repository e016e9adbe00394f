"""Restarting, backing off, giving up, stopping."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from socket import socket

import pytest

from api.server import listen
from api.supervisor import REFUSED, Supervisor
from tests.api import working


@pytest.fixture
def listening() -> Iterator[socket]:
    with listen("127.0.0.1", 0) as found:
        yield found


def started(log: Path) -> list[int]:
    """The workers that have started."""
    return [int(line) for line in log.read_text().split()] if log.exists() else []


def when(condition: Callable[[], bool], act: Callable[[], None]) -> threading.Thread:
    """Act in a thread when a condition holds."""

    def wait() -> None:
        end = time.monotonic() + 20
        while not condition() and time.monotonic() < end:
            time.sleep(0.02)
        act()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def test_it_gives_up_when_workers_die_at_once_again_and_again(tmp_path: Path, listening: socket, caplog: pytest.LogCaptureFixture) -> None:
    log = tmp_path / "log"
    assert Supervisor(partial(working.dies, log), listening, patience=3, pause=0.05).run() == 1
    assert len(set(started(log))) == 3
    assert "giving up" in caplog.text


def test_a_worker_that_refuses_is_not_restarted(tmp_path: Path, listening: socket) -> None:
    assert working.REFUSED == REFUSED
    log = tmp_path / "log"
    assert Supervisor(partial(working.refuses, log), listening).run() == 1
    assert len(started(log)) == 1


def test_a_killed_worker_is_restarted_and_the_last_one_stopped(tmp_path: Path, listening: socket) -> None:
    log = tmp_path / "log"
    killing = when(lambda: len(started(log)) == 1, lambda: os.kill(started(log)[0], signal.SIGKILL))
    stopping = when(lambda: len(started(log)) == 2, lambda: os.kill(os.getpid(), signal.SIGTERM))
    before = signal.getsignal(signal.SIGTERM)
    assert Supervisor(partial(working.works, log), listening).run() == 0
    killing.join()
    stopping.join()
    assert signal.getsignal(signal.SIGTERM) is before
    with pytest.raises(ProcessLookupError):
        os.kill(started(log)[1], 0)


def test_a_stop_ends_the_pause_between_restarts(tmp_path: Path, listening: socket) -> None:
    log = tmp_path / "log"
    stopping = when(lambda: len(started(log)) == 2, lambda: os.kill(os.getpid(), signal.SIGINT))
    begin = time.monotonic()
    assert Supervisor(partial(working.dies, log), listening, pause=9).run() == 0
    stopping.join()
    assert time.monotonic() - begin < 8
