"""The dispatch of a process without a broker: chunks run in its own pool of processes."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue
from threading import Lock
from time import perf_counter

from graph.views import ComponentHealth
from graph.work import BULK, WaitingEpisode
from workers.dispatching import Kind, Outcome
from workers.pool import ExtractionFailed, ExtractionPool
from workers.turns import turn_of

logger = logging.getLogger(__name__)

AHEAD = 48
"""Episodes for each process that are taken at a time: enough that none waits for the next commit."""
RESERVED = 16
"""Of these, room that only what somebody waits for may take."""


class PoolDispatch:
    """Runs chunks in `pool`, whose processes are `workers`. Nothing it holds survives the process, and nothing is lost while it runs."""

    resend_after: float | None = None

    def __init__(self, pool: ExtractionPool, *, workers: int = 1) -> None:
        self._pool = pool
        self._most = AHEAD * workers
        self._threads = ThreadPoolExecutor(workers, "extraction")
        self._outcomes: SimpleQueue[Outcome] = SimpleQueue()
        self._lock = Lock()
        self._taken = 0

    def lost(self) -> bool:
        """Nothing is lost here."""
        return False

    def room(self, queue: str) -> int:
        """What is left of the window."""
        with self._lock:
            return self._most - self._taken - (RESERVED if queue == BULK else 0)

    def send(self, queue: str, chunk: Sequence[WaitingEpisode]) -> None:
        """Have a chunk run as soon as a process is free."""
        with self._lock:
            self._taken += len(chunk)
        self._threads.submit(self._run, chunk)

    def _run(self, chunk: Sequence[WaitingEpisode]) -> None:
        try:
            for each in chunk:
                self._outcomes.put(Outcome(Kind.STARTED, each.row, each.round))
            start = perf_counter()
            try:
                extractor, claims = self._pool.extract([turn_of(each.draft, each.said) for each in chunk], attempts=1)
            except ExtractionFailed:
                self._fail(chunk, "the process that read it died")
            except Exception as failure:
                logger.exception("a chunk of %d episodes cannot be extracted", len(chunk))
                self._fail(chunk, f"the extractor failed: {failure}")
            else:
                seconds = (perf_counter() - start) / len(chunk)
                for each, found in zip(chunk, claims, strict=True):
                    self._outcomes.put(Outcome(Kind.EXTRACTED, each.row, each.round, found, extractor, seconds=seconds))
        finally:
            with self._lock:
                self._taken -= len(chunk)

    def _fail(self, chunk: Sequence[WaitingEpisode], reason: str) -> None:
        for each in chunk:
            self._outcomes.put(Outcome(Kind.FAILED, each.row, each.round, reason=reason))

    def receive(self, limit: int, wait: float) -> list[Outcome]:
        """What has come, in the order in which it came."""
        found: list[Outcome] = []
        try:
            found.append(self._outcomes.get(timeout=wait) if wait > 0 else self._outcomes.get_nowait())
            while len(found) < limit:
                found.append(self._outcomes.get_nowait())
        except Empty:
            # There is no more now.
            return found
        return found

    def settle(self, outcomes: Sequence[Outcome]) -> None:
        """Nothing is told twice here."""

    def drop(self, episodes: Sequence[WaitingEpisode]) -> None:
        """What is in the window is run: it is no more than a second of work."""

    def health(self) -> list[ComponentHealth]:
        """The processes are started when they are needed, and again when they die: there is nothing to ask."""
        return []

    def close(self) -> None:
        """Stop after what is being run."""
        self._threads.shutdown(wait=True, cancel_futures=True)
