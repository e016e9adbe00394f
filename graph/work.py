"""What waits to be done, as other packages see it: episodes that wait for extraction, and jobs, which hand in many at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from graph.views import EpisodeView, Page, Positions, Receipt, StatedClaim
from ontology.claim import ClaimDraft
from ontology.episode import EpisodeDraft
from ontology.instant import Instant

MAX_STARTS = 3
"""Starts without a result after which an episode is given up."""
LIVE, BULK = "live", "bulk"
"""The queues: of what somebody waits for, and of what comes by the thousand."""


@dataclass(frozen=True, slots=True)
class WaitingEpisode:
    """An episode that waits for extraction. `row` names it; `said` is the reference for relative dates that the ledger has.

    `starts` counts how often it was begun in this `round` (a round begins each time that it is asked for again), `sent` is when it was
    last handed out, `accepted` when it began to wait, `problem` what went wrong last. `trace` is that of the request it came with.
    """

    row: int
    namespace: str
    key: str
    revision: str
    said: Instant
    draft: EpisodeDraft
    flags: tuple[str, ...]
    queue: str
    starts: int
    round: int
    accepted: Instant
    sent: Instant | None = None
    problem: str | None = None
    trace: str | None = None


@dataclass(frozen=True, slots=True)
class Extracted:
    """What extraction found in an episode, by the row of the episode."""

    row: int
    claims: Sequence[ClaimDraft]
    extractor: str


@dataclass(frozen=True, slots=True)
class Failed:
    """An episode, by its row, that is given up, and why."""

    row: int
    reason: str


@dataclass(frozen=True, slots=True)
class BacklogView:
    """Episodes that wait, of all namespaces: how many, how many of them are handed out, and since when the oldest waits (None: none)."""

    waiting: int
    sent: int
    oldest: Instant | None


class Backlog(Protocol):
    """The episodes that wait for extraction, of all namespaces. Thread-safe. Only what still waits is ever changed."""

    def unsent(self, queue: str, limit: int) -> list[WaitingEpisode]:
        """Episodes of a queue that are not handed out, oldest first."""
        ...

    def overdue(self, before: Instant, limit: int) -> list[WaitingEpisode]:
        """Episodes that were handed out at `before` or earlier and still wait, the longest first."""
        ...

    def find(self, rows: Collection[int]) -> dict[int, WaitingEpisode]:
        """Those of some episodes that still wait, by row."""
        ...

    def waiting_copies(self, namespace: str, key: str) -> list[WaitingEpisode]:
        """The copies of an episode that wait, oldest first."""
        ...

    def extracted_in(self, namespace: str, key: str) -> int:
        """The transaction in which a copy of an episode was last extracted; 0 where none was."""
        ...

    def note_sent(self, rows: Collection[int], at: Instant | None) -> None:
        """Some episodes were handed out; None: they are to be handed out again."""
        ...

    def unsend_all(self) -> None:
        """Nothing is handed out: a process begins whose workers ended with the last one."""
        ...

    def note_starts(self, rows: Sequence[int]) -> None:
        """Some episodes were begun, each as often as it is named."""
        ...

    def note_problems(self, problems: Mapping[int, str]) -> None:
        """What went wrong with some episodes, by row; they are to be handed out again."""
        ...

    def complete(self, found: Sequence[Extracted]) -> dict[int, Receipt]:
        """Commit what was found, in one transaction for each namespace. Rows that wait no more are left out of the answer."""
        ...

    def give_up(self, lost: Sequence[Failed]) -> int:
        """Make dead letters (FAILED) of episodes, in one transaction for each namespace; how many waited still."""
        ...

    def view(self) -> BacklogView:
        """How much waits."""
        ...

    def queues(self) -> dict[str, int]:
        """How many episodes wait, by their queue."""
        ...

    def dead_letters(self) -> dict[str, int]:
        """Episodes that are given up now, counted by reason."""
        ...


class JobState(StrEnum):
    """How far a job has come."""

    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    PARTIAL = "PARTIAL"
    CANCELLED = "CANCELLED"


@dataclass(frozen=True, slots=True)
class Progress:
    """Counts of a job's episodes: accepted = committed + deduplicated + quarantined + failed + pending; `empty` are of the committed."""

    accepted: int = 0
    committed: int = 0
    empty: int = 0
    deduplicated: int = 0
    quarantined: int = 0
    failed: int = 0
    pending: int = 0


@dataclass(frozen=True, slots=True)
class JobView:
    """A job as it stands. `finished_at` is None while episodes of it wait."""

    id: str
    namespace: str
    kind: str
    state: JobState
    progress: Progress
    created_at: Instant
    finished_at: Instant | None
    trace: str | None = None


@dataclass(frozen=True, slots=True)
class JobFailureView:
    """An episode of a job that failed. One whose idempotency key was used before with another payload is not recorded: then it is the
    episode that the key was used with first.
    """

    episode: EpisodeView
    message: str
    attempts: int


@dataclass(frozen=True, slots=True)
class Offered:
    """An episode (scrubbed, scanned) of a job. `quarantined`: it is recorded and waits for a person."""

    draft: EpisodeDraft
    flags: tuple[str, ...] = ()
    quarantined: bool = False
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True)
class OfferedStatements:
    """An episode (scrubbed) of a job with the statements that a client states."""

    draft: EpisodeDraft
    claims: Sequence[StatedClaim] = field(default_factory=tuple)
    drop_bad_dates: bool = False
    idempotency_key: str | None = None
    flags: tuple[str, ...] = ()


class Jobs(Protocol):
    """The jobs of a graph. Thread-safe. Job IDs are keys: `JobView.id`."""

    def accept(self, namespace: str, items: Sequence[Offered], *, actor: str = "local", trace: str | None = None) -> JobView:
        """Record episodes to be extracted, in one transaction: they are on disk when this returns.

        A used idempotency key with another payload is a failure of the job. Raises InvalidInput, its path beginning with the index,
        for one that is malformed; nothing is recorded then.
        """
        ...

    def state(self, namespace: str, items: Sequence[OfferedStatements], *, actor: str = "local", trace: str | None = None) -> JobView:
        """Record episodes with their statements, in one transaction. Raises as `accept`, also for an unknown entity."""
        ...

    def job(self, namespace: str, id: str) -> JobView | None: ...

    def jobs(self, namespace: str, *, first: int = 20, after: Positions | None = None) -> Page[JobView]:
        """Newest first."""
        ...

    def failures(self, namespace: str, id: str, *, first: int = 20, after: Positions | None = None) -> Page[JobFailureView]:
        """In the order of the call. Raises NotFound."""
        ...

    def waiting(self, namespace: str, id: str) -> list[WaitingEpisode]:
        """Episodes of a job that wait. Raises NotFound."""
        ...

    def cancel(self, namespace: str, id: str, *, actor: str = "local") -> JobView:
        """Give up what still waits; what is committed stays. Twice is once. Raises NotFound."""
        ...

    def retry(self, namespace: str, id: str, *, actor: str = "local", trace: str | None = None) -> JobView:
        """Let the failed episodes wait again. Raises NotFound."""
        ...
