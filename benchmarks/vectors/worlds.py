"""What an adapter is told and asked, and what it answers with. Needs the standard library alone: it runs in every peer's environment.

Instants are microseconds since 1970 in UTC; `EVER` and `FOR_EVER` stand for unbounded. Intervals are half-open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

EVER, FOR_EVER = -(2**63), 2**63 - 1


class Failed(Exception):
    """The system broke where it should have answered. It is counted as a wrong answer."""


class CannotAsk(Exception):
    """The system has no way to be told or asked this. It is counted apart, never as a right answer and never as a wrong one."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """`one`: at most one value at a time. `temporal`: state, event or static. `resumes`: a value holds again after a bounded rival."""

    name: str
    one: bool
    temporal: str
    resumes: bool


@dataclass(frozen=True, slots=True)
class Claim:
    """What an episode states. `kind`: state, change, correction, patch or end.

    `valid_from`, `valid_to` and `at` are as written (RFC 3339, a wall time, a reduced date, `..`), None where not stated; `start` and
    `end` say the same as instants: the first of the granule of a start, and the first after the granule of an end. They are None too
    where what is written is no date; `no_date` is then the reason (INVALID_DATE, OUT_OF_RANGE).
    """

    subject: str
    predicate: str
    qualifier: str
    object: str
    affirmed: bool = True
    kind: str = "state"
    valid_from: str | None = None
    valid_to: str | None = None
    at: str | None = None
    start: int | None = None
    end: int | None = None
    replaces: str | None = None
    additive: bool = False
    no_date: str | None = None


def refused(claim: Claim) -> str | None:
    """Why a system that takes instants refuses a claim, or its caller does: no date, or an empty or inverted interval."""
    if claim.no_date is not None:
        return claim.no_date
    if claim.start is None or claim.end is None or claim.start < claim.end:
        return None
    return "EMPTY_INTERVAL" if claim.start == claim.end else "INVERTED_INTERVAL"


@dataclass(frozen=True, slots=True)
class Operation:
    """One transaction. `kind`: assert (an episode with claims), retract or erase (an episode told before, or yet to come).

    `keep_undated`: a claim whose date is none is kept without it; else it is refused.
    """

    kind: str
    episode: str
    said: str = ""
    said_at: int = 0
    zone: str | None = None
    rank: int = 0
    keep_undated: bool = False
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """A claim that was refused, or whose date was dropped: INVALID_DATE, OUT_OF_RANGE, EMPTY_INTERVAL, INVERTED_INTERVAL."""

    episode: str
    reason: str


@dataclass(frozen=True, slots=True)
class Slot:
    """What is asked about."""

    subject: str
    predicate: str
    qualifier: str = ""


@dataclass(frozen=True, slots=True)
class Basis:
    """Where a question stands. None: the present, all operations, all evidence.

    `operations`: as known after so many operations. `known`: only what was said by then counts.
    """

    valid_at: int | None = None
    operations: int | None = None
    known: int | None = None


@dataclass(frozen=True, slots=True)
class Value:
    """A value that holds. What the system does not tell is None, and no answer to a question that asks for it.

    `support`: attested or projected. `conflict`: none, resolved or tied. `certainty`: certain or possible. `episodes`: the evidence.
    """

    object: str
    support: str | None = None
    conflict: str | None = None
    certainty: str | None = None
    episodes: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """Values that hold together from `start` to `end`."""

    start: int
    end: int
    objects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A value, when it holds, and between which operations that was believed; `until` is None while it is."""

    object: str
    start: int
    end: int
    since: int
    until: int | None


@dataclass(frozen=True, slots=True)
class Difference:
    """A slot, and the values that one basis has and the other has not; one-valued slots together, others a value each."""

    subject: str
    predicate: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Boundary:
    """Where the values of a slot change, and the episodes whose words say so."""

    at: int
    before: tuple[str, ...]
    after: tuple[str, ...]
    episodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """A rectangle that an operation opened, or closed."""

    operation: int
    opened: bool
    subject: str
    predicate: str
    qualifier: str
    object: str
    start: int
    end: int


class World(Protocol):
    """A graph that begins empty. Only what is affirmed is asked for. Every method may raise CannotAsk, saying why."""

    def apply(self, operation: Operation) -> Sequence[Refusal]:
        """Carry out an operation as one transaction."""
        ...

    def as_of(self, slot: Slot, basis: Basis) -> Sequence[Value]:
        """The values that hold."""
        ...

    def ask(self, slot: Slot, object: str, basis: Basis) -> str:
        """Whether a value holds: yes, no or unknown."""
        ...

    def timeline(self, slot: Slot, basis: Basis) -> Sequence[Span]:
        """The slot over all valid time, without what is unknown."""
        ...

    def rectangles(self, slot: Slot) -> Sequence[Rectangle]:
        """All that was ever believed of the slot."""
        ...

    def diff(self, before: Basis, after: Basis) -> Sequence[Difference]:
        """What two bases tell differently, of everything."""
        ...

    def why(self, slot: Slot) -> Sequence[Boundary]:
        """The boundaries of a slot."""
        ...

    def returns(self, slot: Slot) -> int:
        """How often a value of the slot came back."""
        ...

    def feed(self, after: int) -> Sequence[Change]:
        """What the operations after the first so many changed, in their order."""
        ...

    def between(self, slot: Slot, start: int, end: int) -> Sequence[Span]:
        """Values that hold at any instant of a window, each with its own interval."""
        ...

    def last_attested(self, slot: Slot, object: str, basis: Basis) -> int:
        """When evidence last attested a value that holds."""
        ...

    def close(self) -> None:
        """Forget it."""
        ...


class Adapter(Protocol):
    """A system under these vectors."""

    @property
    def title(self) -> str:
        """Name and version."""
        ...

    def world(self, predicates: Mapping[str, Predicate]) -> World:
        """An empty world with some predicates."""
        ...

    def close(self) -> None:
        """Stop what was started."""
        ...
