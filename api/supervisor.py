"""Keeps one worker process alive: restarts it when it dies, stops it when the parent is told to stop.

uvicorn's own supervisor restarts a worker at once and for ever; a graph that crashes on opening would spin. Here each quick
death doubles the pause, and after some in a row it gives up.
"""

from __future__ import annotations

import logging
import multiprocessing
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from socket import socket, socketpair
from types import FrameType

logger = logging.getLogger(__name__)

REFUSED = 3
"""Exit status of a worker that would fail the same way again: it is not restarted."""

LONGEST_PAUSE = 10.0

Target = Callable[[socket], None]
"""What the worker runs, with the listening socket that all workers in turn share; picklable."""


class Supervisor:
    """Runs `target` in a spawned process. Connections made while it restarts wait in the socket's backlog.

    A worker that lived less than `steady` seconds died quickly: after the second in a row it waits `pause` seconds, then twice
    as long each time, and after `patience` of them it gives up. A worker has `grace` seconds to stop.
    """

    def __init__(
        self, target: Target, listening: socket, *, patience: int = 5, steady: float = 10, pause: float = 0.5, grace: float = 30
    ) -> None:
        self._target = target
        self._listening = listening
        self._patience = patience
        self._steady = steady
        self._pause = pause
        self._grace = grace
        self._stopping = False

    def run(self) -> int:
        """Supervise until SIGINT or SIGTERM (0), or until the worker cannot be kept alive (1)."""
        # A signal wakes the wait through this pair: its handler alone would not interrupt waiting for a process.
        waking, woken = socketpair()
        waking.setblocking(False)

        def stop(signum: int, frame: FrameType | None) -> None:
            self._stopping = True
            waking.send(b"!")

        before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            return self._supervise(woken)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            waking.close()
            woken.close()

    def _supervise(self, woken: socket) -> int:
        quick = 0
        while True:
            worker = multiprocessing.get_context("spawn").Process(target=self._target, args=(self._listening,), name="erstwhile-worker")
            started = time.monotonic()
            worker.start()
            wait([worker.sentinel, woken])
            if self._stopping:
                self._stop(worker)
                return 0
            worker.join()
            if worker.exitcode == REFUSED:
                return 1
            quick = 0 if time.monotonic() - started >= self._steady else quick + 1
            if quick >= self._patience:
                logger.error(
                    "the worker died %d times within %g seconds of its start; giving up (see its messages above)", quick, self._steady
                )
                return 1
            pause = 0.0 if quick <= 1 else min(self._pause * 2 ** (quick - 2), LONGEST_PAUSE)
            logger.warning("the worker (process %s) ended with %s; restarting it", worker.pid, worker.exitcode)
            worker.close()
            wait([woken], timeout=pause)
            if self._stopping:
                return 0

    def _stop(self, worker: multiprocessing.process.BaseProcess) -> None:
        worker.terminate()
        worker.join(self._grace)
        if worker.is_alive():
            logger.error("the worker did not stop within %g seconds; it is killed", self._grace)
            worker.kill()
            worker.join()
