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
from multiprocessing.connection import wait
from threading import Lock, Thread
from typing import Protocol

from ontology.claim import ClaimDraft
from ontology.episode import Turn


class Extractor(Protocol):
    """What finds claims in text. `id` names it and its version."""

    id: str

    def extract(self, turns: Sequence[Turn]) -> list[list[ClaimDraft]]:
        """The claims of each turn."""
        ...


ExtractorFactory = Callable[[], Extractor]
"""Makes an extractor inside a worker process; picklable (a module's function, or a `partial` of one)."""

ATTEMPTS = 3
"""How often an extraction is tried when its process dies."""

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


class ExtractionFailed(Exception):
    """The processes that extracted a turn died each time."""


class ExtractionPool:
    """Extracts in `workers` processes, which start with the first extraction. Thread-safe; blocks the calling thread only."""

    def __init__(self, factory: ExtractorFactory, *, workers: int = 1) -> None:
        self._factory = factory
        self._workers = workers
        self._lock = Lock()
        self._executor: ProcessPoolExecutor | None = None
        self._closed = False

    def _new(self, workers: int) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), initializer=_begin, initargs=(self._factory,))

    def _shared(self) -> ProcessPoolExecutor:
        with self._lock:
            if self._closed:
                raise ExtractionFailed("the extraction pool is closed")
            if self._executor is None:
                self._executor = self._new(self._workers)
            return self._executor

    def _discard(self, broken: ProcessPoolExecutor) -> None:
        """Forget a broken pool, once for all threads that saw it break."""
        with self._lock:
            if self._executor is broken:
                self._executor = None
        broken.shutdown(wait=False)

    def extract(self, turns: Sequence[Turn]) -> tuple[str, list[list[ClaimDraft]]]:
        """(extractor's ID, claims of each turn). Raises ExtractionFailed, or what the extractor itself raised.

        What was in a process that died is tried again in one of its own: a text that kills its process takes no other along.
        """
        shared = self._shared()
        try:
            future = shared.submit(_extract, turns)
        except RuntimeError:
            # Broken, or discarded by another thread between the lines above.
            self._discard(shared)
        else:
            try:
                return future.result()
            except BrokenProcessPool:
                self._discard(shared)
        for _ in range(ATTEMPTS - 1):
            with self._new(1) as alone:
                try:
                    return alone.submit(_extract, turns).result()
                except BrokenProcessPool:
                    continue
        raise ExtractionFailed(f"the extracting process died {ATTEMPTS} times")

    def close(self) -> None:
        """Stop the processes after what they are doing."""
        with self._lock:
            self._closed = True
            executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown(wait=True, cancel_futures=True)
