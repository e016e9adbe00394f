"""The extraction pool: processes that hold one extractor each, so that parsing never runs on the event loop or blocks its GIL.

Processes are spawned, never forked: a fork after Kuzu has opened its files would share them.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.connection import wait
from queue import LifoQueue
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

from ontology.claim import ClaimDraft
from ontology.episode import Turn

if TYPE_CHECKING:
    from extraction.extractor import Extractor


T = TypeVar("T")
ExtractorFactory = Callable[[], "Extractor"]
"""Makes an extractor inside a worker process; picklable (a module's function, or a `partial` of one)."""

ATTEMPTS = 3
"""How often an extraction is tried when its process dies."""


@dataclass(frozen=True, slots=True)
class Left:
    """A piece of a turn that makes no claim: half-open characters of its text, and why."""

    start: int
    end: int
    reason: str


@dataclass(frozen=True, slots=True)
class Findings:
    """What a turn yields: its claims, and what was left out."""

    claims: Sequence[ClaimDraft] = ()
    dropped: Sequence[Left] = ()


_in_worker: list[Extractor] = []
# The one extractor of a worker process: a task of a process pool can reach nothing but its module. Empty everywhere else.


def _leave_with_parent() -> None:
    """End this process when its parent is gone: a pool's worker waits on a pipe whose other end it holds itself, so it would stay."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _begin(factory: ExtractorFactory) -> None:
    # Ctrl-C reaches every process of the terminal; the parent closes the pool when it is done.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_leave_with_parent, daemon=True).start()
    _in_worker.append(factory())


def _extract(turns: Sequence[Turn]) -> tuple[str, list[list[ClaimDraft]]]:
    extractor = _in_worker[0]
    return extractor.id, extractor.extract(turns)


def _examine(turns: Sequence[Turn]) -> tuple[str, list[Findings]]:
    extractor = _in_worker[0]
    examine = getattr(extractor, "examine", None)
    if examine is None:
        # An extractor need not say what it leaves out.
        return extractor.id, [Findings(claims) for claims in extractor.extract(turns)]
    return extractor.id, [
        Findings(found.claims, [Left(each.start, each.end, each.reason) for each in found.dropped]) for found in examine(turns)
    ]


class ExtractionFailed(Exception):
    """The processes that extracted a turn died each time."""


class ExtractionPool:
    """Extracts in up to `workers` processes, each started when it is first needed. Thread-safe; blocks the calling thread only.

    Every process is an executor of its own with one task at a time: a text that kills its process takes no other along. (In
    an executor with several, the death of a process that was started late can also stay unnoticed while another one works.)
    """

    def __init__(self, factory: ExtractorFactory, *, workers: int = 1) -> None:
        self._factory = factory
        self._workers = workers
        self._closed = False
        # The last one used is taken first: it is warm.
        self._free: LifoQueue[ProcessPoolExecutor | None] = LifoQueue()
        for _ in range(workers):
            self._free.put(None)

    def _start(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), initializer=_begin, initargs=(self._factory,))

    def extract(self, turns: Sequence[Turn]) -> tuple[str, list[list[ClaimDraft]]]:
        """(extractor's ID, claims of each turn), after waiting for a process. Raises ExtractionFailed, or what the extractor raised."""
        return self._run(_extract, turns)

    def examine(self, turns: Sequence[Turn]) -> tuple[str, list[Findings]]:
        """The same with what was left out of each turn, where the extractor says so."""
        return self._run(_examine, turns)

    def _run(self, task: Callable[[Sequence[Turn]], T], turns: Sequence[Turn]) -> T:
        executor = self._free.get()
        try:
            for _ in range(ATTEMPTS):
                if self._closed:
                    raise ExtractionFailed("the extraction pool is closed")
                executor = executor or self._start()
                try:
                    return executor.submit(task, turns).result()
                except BrokenProcessPool:
                    executor.shutdown(wait=False)
                    executor = None
            raise ExtractionFailed(f"the extracting process died {ATTEMPTS} times")
        finally:
            self._free.put(executor)

    def close(self) -> None:
        """Stop each process after what it is doing."""
        self._closed = True
        for executor in [self._free.get() for _ in range(self._workers)]:
            if executor is not None:
                executor.shutdown(wait=True)
        # Whoever still waits for a process learns that there is none.
        for _ in range(self._workers):
            self._free.put(None)
