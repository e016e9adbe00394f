"""Trying again: how long between tries, and when it is enough."""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random
from threading import Event, Lock

from api.cli.link import Refused, Unreachable
from ontology.errors import ErstwhileError

FIRST = 0.5
MOST = 30.0
"""Seconds before the second try, and the most between two."""


class GaveUp(Refused):
    """It was tried for long enough."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "OVERLOADED")


class Stopped(ErstwhileError):
    """Somebody asked to stop."""

    def __init__(self) -> None:
        super().__init__("stopped")


class Patience:
    """Waits between tries: twice as long each time, less up to a half by chance, or as long as the server says. Thread-safe.

    `seconds` is how long nothing may succeed, whoever tries. `tell` gets what is waited for, None when something succeeds. `wait` takes
    seconds and answers whether to stop.
    """

    def __init__(
        self,
        seconds: float,
        stop: Event,
        *,
        tell: Callable[[str | None], None] = lambda text: None,
        random: Callable[[], float] | None = None,
        wait: Callable[[float], bool] | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._seconds, self._stop, self._tell, self._now = seconds, stop, tell, now
        # Not for secrets: tries of several senders are to fall apart.
        self._random = random or Random().random  # noqa: S311
        self._wait = wait or stop.wait
        self._since: float | None = None
        self._lock = Lock()

    def renew(self) -> None:
        """Something succeeded."""
        with self._lock:
            waited, self._since = self._since is not None, None
        if waited:
            self._tell(None)

    def check(self) -> None:
        """Raises Stopped."""
        if self._stop.is_set():
            raise Stopped

    def rest(self, why: str, attempt: int, seconds: float | None = None) -> None:
        """Wait before the try after `attempt` (from 0), or for `seconds`. Raises GaveUp, Stopped."""
        self.check()
        now = self._now()
        with self._lock:
            since = self._since = now if self._since is None else self._since
        chance = self._random()
        pause = min(MOST, FIRST * 2 ** min(attempt, 16)) * (0.5 + 0.5 * chance) if seconds is None else seconds * (1 + 0.1 * chance)
        if now + pause - since > self._seconds:
            raise GaveUp(f"{why}, for {max(now - since, 0):.0f} s now")
        self._tell(f"{why}; again in {pause if seconds is None else seconds:.0f} s")
        if self._wait(pause):
            raise Stopped

    def until_answered(self, ask: Callable[[], object]) -> None:
        """Ask until there is an answer. Raises as `rest`, and Refused."""
        attempt = 0
        while True:
            try:
                ask()
            except Unreachable as failure:
                self.rest(failure.message, attempt, failure.retry_after)
                attempt += 1
                continue
            self.renew()
            return
