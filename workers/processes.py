"""Processes that hold one loaded object each: what is heavy runs in them, never on the event loop or under its GIL.

Processes are spawned, never forked: a fork after Kuzu has opened its files would share them.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing.connection import wait
from queue import Empty, LifoQueue
from threading import Thread
from time import monotonic
from typing import Any, Generic, TypeVar

Worker = TypeVar("Worker")
Given = TypeVar("Given")
Answer = TypeVar("Answer")

ATTEMPTS = 3
"""How often a task is tried when its process dies."""

_factories: list[Callable[[], Any]] = []
_in_worker: list[Any] = []
# The one object of a worker process, and what makes it: a task of a process pool can reach nothing but its module. Empty everywhere else.


def _leave_with_parent() -> None:
    """End this process when its parent is gone: a pool's worker waits on a pipe whose other end it holds itself, so it would stay."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _begin(factory: Callable[[], Any], niceness: int) -> None:
    os.nice(niceness)
    # Ctrl-C reaches every process of the terminal; the parent closes the pool when it is done.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_leave_with_parent, daemon=True).start()
    _factories.append(factory)


def _perform(task: Callable[[Any, Given], Answer], given: Given) -> Answer:
    if not _in_worker:
        # Not in `_begin`: what fails there breaks the pool and is told to nobody.
        _in_worker.append(_factories[0]())
    return task(_in_worker[0], given)


class ProcessesFailed(Exception):
    """The processes of a task died each time, or there are none any more."""


class Processes(Generic[Worker]):
    """Runs tasks in up to `workers` processes, each started when it is first needed. Thread-safe; blocks the calling thread only.

    Every process is an executor of its own with one task at a time: a task that kills its process takes no other along. (In
    an executor with several, the death of a process that was started late can also stay unnoticed while another one works.)
    """

    def __init__(self, factory: Callable[[], Worker], *, workers: int = 1, niceness: int = 0) -> None:
        """`factory` makes the object of a process inside it; picklable (a module's function or class, or a `partial` of one).

        `niceness`: by how much the processes stand back behind others that want the processor.
        """
        self._factory = factory
        self._niceness = niceness
        self._workers = workers
        self._closed = False
        self._ids: dict[ProcessPoolExecutor, int] = {}
        # The last one used is taken first: it is warm.
        self._free: LifoQueue[ProcessPoolExecutor | None] = LifoQueue()
        for _ in range(workers):
            self._free.put(None)

    def _start(self) -> ProcessPoolExecutor:
        executor = ProcessPoolExecutor(
            1, multiprocessing.get_context("spawn"), initializer=_begin, initargs=(self._factory, self._niceness)
        )
        # The executor does not say which process it started, and `close` may have to end it.
        self._ids[executor] = executor.submit(os.getpid).result()
        return executor

    def run(self, task: Callable[[Worker, Given], Answer], given: Given, *, attempts: int = ATTEMPTS) -> Answer:
        """What a task (a module's function) answers for something, after waiting for a process; `attempts` where the process dies.

        Raises ProcessesFailed, or what the factory or the task raised.
        """
        executor = self._free.get()
        try:
            for _ in range(attempts):
                try:
                    if executor is None and not self._closed:
                        executor = self._start()
                    if executor is None or self._closed:
                        raise ProcessesFailed("the processes are closed")
                    return executor.submit(_perform, task, given).result()
                except BrokenProcessPool:
                    if executor is not None:
                        self._ids.pop(executor)
                        executor.shutdown(wait=False)
                    executor = None
            raise ProcessesFailed(f"the process died {attempts} times" if attempts > 1 else "the process died")
        finally:
            self._free.put(executor)

    def close(self, *, grace: float | None = None) -> None:
        """Stop each process after what it is doing; `grace`: kill those that are not done after so many seconds."""
        self._closed = True
        end = None if grace is None else monotonic() + grace
        for _ in range(self._workers):
            try:
                executor = self._free.get(timeout=None if end is None else max(0.0, end - monotonic()))
            except Empty:
                # Whoever waits for their answers learns that they died, and that there are no others.
                for number in list(self._ids.values()):
                    with suppress(ProcessLookupError):
                        os.kill(number, signal.SIGKILL)
                executor = self._free.get()
            if executor is not None:
                self._ids.pop(executor, None)
                executor.shutdown(wait=True)
        # Whoever still waits for a process learns that there is none.
        for _ in range(self._workers):
            self._free.put(None)
