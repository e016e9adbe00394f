"""Processes that hold one object each."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ontology.errors import InvalidInput
from workers.processes import ATTEMPTS, Processes, ProcessesFailed


class Counter:
    """Counts what its process did."""

    def __init__(self) -> None:
        self.done = 0


class Reluctant(Counter):
    """Cannot be made until a file is there."""

    marker = Path(os.environ.get("ERSTWHILE_TEST_MARKER", "/nowhere"))

    def __init__(self) -> None:
        super().__init__()
        if not self.marker.exists():
            raise InvalidInput("the marker is missing")


def count(counter: Counter, by: int) -> tuple[int, int]:
    """(process, how much it has counted)."""
    counter.done += by
    return os.getpid(), counter.done


def fail(counter: Counter, message: str) -> None:
    """Raise."""
    raise InvalidInput(message)


def linger(counter: Counter, marker: Path) -> None:
    """Leave a mark and take a minute."""
    marker.touch()
    time.sleep(60)


def die(counter: Counter, marker: Path) -> int:
    """Die as often as the marker has lines left."""
    lines = marker.read_text(encoding="utf-8")
    if lines:
        marker.write_text(lines[1:], encoding="utf-8")
        os.kill(os.getpid(), signal.SIGKILL)
    return counter.done


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes[Counter]]:
    found = Processes(Counter)
    yield found
    found.close()


def test_a_process_keeps_its_object(processes: Processes[Counter]) -> None:
    first, before = processes.run(count, 1)
    second, after = processes.run(count, 2)
    assert (first, after - before) == (second, 2)
    assert first != os.getpid()


def test_what_a_task_raises_is_raised_here(processes: Processes[Counter]) -> None:
    with pytest.raises(InvalidInput, match="told to fail"):
        processes.run(fail, "told to fail")


def test_a_task_is_tried_again_when_its_process_dies_and_not_for_ever(processes: Processes[Counter], tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    marker.write_text("x" * (ATTEMPTS - 1), encoding="utf-8")
    assert processes.run(die, marker) == 0
    marker.write_text("x" * ATTEMPTS, encoding="utf-8")
    with pytest.raises(ProcessesFailed, match=f"died {ATTEMPTS} times"):
        processes.run(die, marker)


def test_what_making_the_object_raises_is_raised_here_and_it_is_made_when_it_can_be(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ERSTWHILE_TEST_MARKER", str(tmp_path / "marker"))
    reluctant = Processes(Reluctant)
    try:
        with pytest.raises(InvalidInput, match="the marker is missing"):
            reluctant.run(count, 1)
        (tmp_path / "marker").touch()
        assert reluctant.run(count, 1)[1] == 1
    finally:
        reluctant.close()
    with pytest.raises(ProcessesFailed, match="closed"):
        reluctant.run(count, 1)


def test_closing_kills_what_is_not_done_in_time(tmp_path: Path) -> None:
    marker = tmp_path / "begun"
    processes = Processes(Counter, workers=2)
    with ThreadPoolExecutor(1) as threads:
        lingering = threads.submit(processes.run, linger, marker)
        while not marker.exists():
            time.sleep(0.01)
        started = time.monotonic()
        processes.close(grace=0.1)
        assert time.monotonic() - started < 10
        with pytest.raises(ProcessesFailed, match="closed"):
            lingering.result()


def niceness(counter: Counter, given: int) -> int:
    """How far its process stands back."""
    return os.nice(given)


@pytest.mark.parametrize("more", [0, 3])
def test_they_stand_back_as_far_as_they_are_told_to(more: int) -> None:
    own = Processes(Counter, niceness=more)
    try:
        assert own.run(niceness, 0) == min(19, os.nice(0) + more)
    finally:
        own.close()
