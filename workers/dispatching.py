"""The port between the owner of the ledger and whoever extracts for it: chunks of waiting episodes go out, outcomes come back.

The owner alone commits. A dispatch may lose what it was given, run it twice or out of order: what waits is in the ledger, and is sent
again until an outcome is committed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from graph.views import ComponentHealth
from graph.work import WaitingEpisode
from ontology.claim import ClaimDraft
from ontology.errors import ErstwhileError


class Kind(StrEnum):
    """What is told of an episode."""

    STARTED = "started"
    EXTRACTED = "extracted"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What happened to one episode, by its row and round. `token` is what the dispatch knows it by until it is settled.

    STARTED comes before an episode is run; then EXTRACTED with its claims (valid: their words stand in the ledger's text) and the
    extractor's ID, or FAILED with a reason for a person.
    """

    kind: Kind
    row: int
    round: int
    claims: Sequence[ClaimDraft] = ()
    extractor: str = ""
    reason: str = ""
    seconds: float = 0.0
    token: str = ""


class DispatchUnavailable(ErstwhileError):
    """Nothing can be sent or received now; what waits goes on waiting."""

    code = "OVERLOADED"


class Dispatch(Protocol):
    """Hands chunks of waiting episodes to extractors. One thread uses it at a time, but for `drop`, `close` and `health`."""

    @property
    def resend_after(self) -> float | None:
        """Seconds after which what was sent and came to nothing is sent again; None: never, since nothing is lost while this runs."""
        ...

    def lost(self) -> bool:
        """Whether what was sent has been forgotten since this was last asked: then all of it is to be sent again, at once.

        Raises DispatchUnavailable.
        """
        ...

    def room(self, queue: str) -> int:
        """How many more episodes of a queue it takes now. Raises DispatchUnavailable."""
        ...

    def send(self, queue: str, chunk: Sequence[WaitingEpisode]) -> None:
        """Hand out a chunk; returns before it is run. Raises DispatchUnavailable, and then has sent nothing."""
        ...

    def receive(self, limit: int, wait: float) -> list[Outcome]:
        """Up to `limit` outcomes, after waiting at most `wait` seconds for the first. Raises DispatchUnavailable.

        What was received and not settled by an earlier process comes first.
        """
        ...

    def settle(self, outcomes: Sequence[Outcome]) -> None:
        """Outcomes are committed: they need not be told again. Raises DispatchUnavailable; they may come again then."""
        ...

    def drop(self, episodes: Sequence[WaitingEpisode]) -> None:
        """Some episodes are given up: a later delivery of this round is not run."""
        ...

    def health(self) -> list[ComponentHealth]:
        """The state of what it depends on; does not wait."""
        ...

    def close(self) -> None:
        """Stop. What was not settled comes again."""
        ...
