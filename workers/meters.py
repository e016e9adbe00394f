"""What the work counts as it goes: batches, times, outcomes, failures, redactions. Who shows the figures is another's affair."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol


class Ending(StrEnum):
    """What became of an episode that was handed in; EMPTY: it is committed, and nothing in it is worth keeping."""

    COMMITTED = "committed"
    EMPTY = "empty"
    DEDUPLICATED = "deduplicated"
    QUARANTINED = "quarantined"
    FAILED = "failed"


class Failure(StrEnum):
    """Kinds of failure: few, whatever the reasons say, so that they can be labels."""

    CANCELLED = "cancelled"
    STARTS = "starts"
    TIME = "time"
    MEMORY = "memory"
    DIED = "died"
    EXTRACTOR = "extractor"
    RESULT = "result"
    KEY = "key"
    OTHER = "other"


# What an exception said may hold any word, so what comes before it is looked for first.
_SIGNS: tuple[tuple[Failure, tuple[str, ...]], ...] = (
    (Failure.EXTRACTOR, ("extractor failed",)),
    (Failure.RESULT, ("cannot be committed", "can be sent")),
    (Failure.CANCELLED, ("cancelled",)),
    (Failure.KEY, ("idempotency key",)),
    (Failure.TIME, ("time limit", "timed out", "took longer")),
    (Failure.MEMORY, ("memory",)),
    (Failure.STARTS, ("begun", "started")),
    (Failure.DIED, ("died", "killed", "signal", "lost")),
    (Failure.RESULT, ("result", "signature", "quote", "span")),
)


def failure_kind(reason: str) -> Failure:
    """The kind of a reason that was written for a person; the first whose signs it has."""
    lowered = reason.casefold()
    return next((kind for kind, signs in _SIGNS if any(sign in lowered for sign in signs)), Failure.OTHER)


class Meters(Protocol):
    """Takes the figures of the work. Thread-safe; never raises, never waits."""

    def batch(self, size: int, seconds: float) -> None:
        """One commit of `size` results that took so long."""
        ...

    def extracted(self, seconds: float) -> None:
        """One episode was extracted in so much time of an extractor."""
        ...

    def outcome(self, ending: Ending, number: int = 1) -> None:
        """So many episodes ended like this."""
        ...

    def failed(self, reason: str, number: int = 1) -> None:
        """So many episodes were given up for a reason; an `outcome` too, which is told by itself."""
        ...

    def redacted(self, rule: str, number: int = 1) -> None:
        """A rule replaced so many secrets. The rule's name only, never what it found."""
        ...


class NoMeters:
    """Nobody looks."""

    def batch(self, size: int, seconds: float) -> None:
        """Not counted."""

    def extracted(self, seconds: float) -> None:
        """Not counted."""

    def outcome(self, ending: Ending, number: int = 1) -> None:
        """Not counted."""

    def failed(self, reason: str, number: int = 1) -> None:
        """Not counted."""

    def redacted(self, rule: str, number: int = 1) -> None:
        """Not counted."""
