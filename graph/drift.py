"""Drift in the facade: what differs between two bases, why a slot changed, what to distrust, and the feed of changes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from graph.views import (
    EVERYTHING,
    EntityRef,
    EntityView,
    EvidenceView,
    LiteralView,
    Page,
    Positions,
    StatementFilter,
    StatementView,
    TransactionView,
    Want,
)
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant


class Cause(StrEnum):
    """Why two bases differ. BELIEF: the same instant is seen differently (transactions, said-time limit). WORLD: the world moved on."""

    BELIEF = "BELIEF"
    WORLD = "WORLD"


class DifferenceKind(StrEnum):
    """ADDED and REMOVED: on one side nothing. CHANGED: other values of a one-valued slot."""

    ADDED = "ADDED"
    REMOVED = "REMOVED"
    CHANGED = "CHANGED"


@dataclass(frozen=True, slots=True)
class DifferenceView:
    """A slot (one-valued) or a proposition that two bases tell differently. `before` and `after` are whole: all that holds there.

    `before` stands on the basis before the step of `cause`, `after` on the one behind it: BELIEF leads from `from` to what `to` believes
    of the same instant, WORLD from there to `to`. `subject` is an entity of `to`.
    """

    kind: DifferenceKind
    cause: Cause
    subject: EntityView
    predicate: str
    qualifier: str
    before: tuple[StatementView, ...]
    after: tuple[StatementView, ...]


class BoundaryReason(StrEnum):
    """Why a slot has a boundary (`BoundaryReason` of the schema)."""

    STARTED = "STARTED"
    SUPERSEDED = "SUPERSEDED"
    CONTRADICTED = "CONTRADICTED"
    EXPLICIT_END = "EXPLICIT_END"
    CORRECTED = "CORRECTED"
    CLIPPED = "CLIPPED"
    RESUMED = "RESUMED"
    REVIVED = "REVIVED"
    RETRACTED = "RETRACTED"
    REJECTED = "REJECTED"
    REIDENTIFIED = "REIDENTIFIED"


@dataclass(frozen=True, slots=True)
class BoundaryView:
    """An instant at which a slot's values change, as the basis has it: `evidence` are the words that say so.

    Or one at which they did change as far as an earlier transaction of the basis knew, until `transaction` withdrew what it rested on:
    then `before` is what was believed from `at` on, `after` what is believed now, and nothing else speaks of it.
    """

    at: Instant
    reason: BoundaryReason
    rule: str
    before: tuple[StatementView, ...]
    after: tuple[StatementView, ...]
    evidence: tuple[EvidenceView, ...]
    transaction: TransactionView | None = None


@dataclass(frozen=True, slots=True)
class SlotView:
    """A slot, how often its values changed and how often one came back."""

    subject: EntityView
    predicate: str
    qualifier: str
    changes: int
    returns: int


@dataclass(frozen=True, slots=True)
class VolatilityView:
    """How often a predicate changes: `per_slot_year` is smoothed; `median_seconds` of its closed intervals, None where it has none."""

    predicate: str
    slots: int
    changes: int
    per_slot_year: float
    median_seconds: float | None


class Explaining(Protocol):
    """What one basis says of why a slot changed."""

    def why_changed(
        self,
        subject: EntityRef,
        predicate: str,
        qualifier: str = "",
        *,
        start: Instant | None = None,
        end: Instant | None = None,
        want: frozenset[Want] = frozenset(),
    ) -> list[BoundaryView]:
        """The boundaries of a slot in `[start, end)`, in order of time; of one instant those that the basis believes come first.

        A one-valued slot has one for each instant, any other one for each instant and proposition. An unbounded start is none.
        Raises InvalidInput for an empty or inverted window, QueryTooComplex where there is too much to tell at once.
        """
        ...


class Measures(Protocol):
    """What to distrust on one basis. `filter` chooses as for `Snapshot.statements`.

    Raises InvalidInput for `valid_during` and `include_invalidated`: all look at the basis' `valid_at`.
    """

    def contested(
        self,
        filter: StatementFilter = EVERYTHING,
        *,
        first: int = 20,
        after: Positions | None = None,
        want: frozenset[Want] = frozenset(),
    ) -> Page[StatementView]:
        """Statements that hold on the basis and are TIED, or RESOLVED against evidence to the contrary.

        Raises QueryTooComplex where more would have to be weighed than the budget allows.
        """
        ...

    def stale(
        self,
        filter: StatementFilter = EVERYTHING,
        *,
        first: int = 20,
        after: Positions | None = None,
        want: frozenset[Want] = frozenset(),
    ) -> Page[StatementView]:
        """Open statements that hold on the basis and were last attested longer ago than their predicate allows; longest first.

        Raises QueryTooComplex as `contested`.
        """
        ...

    def flip_flops(self, filter: StatementFilter = EVERYTHING, *, first: int = 20, after: Positions | None = None) -> Page[SlotView]:
        """Slots in which a value came back by `valid_at`, most returns first."""
        ...

    def volatility(self) -> list[VolatilityView]:
        """How often each predicate changes, most volatile first."""
        ...

    def retro_edits(
        self,
        lag_seconds: int,
        filter: StatementFilter = EVERYTHING,
        *,
        first: int = 20,
        after: Positions | None = None,
        want: frozenset[Want] = frozenset(),
    ) -> Page[StatementView]:
        """Statements that were recorded more than so many seconds after they began to be true; longest first."""
        ...


class Drift(Explaining, Measures, Protocol):
    """What one basis says of change. Everything is a function of the basis; nothing of it is stored."""


class ChangeKind(StrEnum):
    """Kinds of change (`ChangeKind` of the schema)."""

    OPENED = "OPENED"
    CLOSED = "CLOSED"
    IDENTITY = "IDENTITY"
    ERASED = "ERASED"


@dataclass(frozen=True, slots=True)
class ChangeView:
    """One change. OPENED and CLOSED of one rectangle have one `key`; `statement` stands on the transaction of the change.

    IDENTITY: who the entity `key` is changed; `members` are all keys that denote it now or did before. What is held of any of them
    is to be dropped, and the statements of `key` read again as of the transaction: also where it is nobody there (all split off), as it
    is still told apart from others.
    """

    kind: ChangeKind
    key: str
    statement: StatementView | None
    transaction: int
    at: Instant
    members: tuple[str, ...] = ()

    @property
    def valid_at(self) -> Instant:
        """The instant that its statement is shown at."""
        return self.at if self.statement is None else shown_at(self.statement.v_from, self.statement.v_to, self.at)


def shown_at(v_from: Instant, v_to: Instant, recorded_at: Instant) -> Instant:
    """The instant at which a change shows a rectangle: its first, without one its last, without either when it was recorded."""
    if v_from != UNBOUNDED_PAST:
        return v_from
    return v_to - 1 if v_to != UNBOUNDED_FUTURE else recorded_at


class Changes(Protocol):
    """The feed of one ledger's changes in the order of commits: closings, openings, then who is who, within a transaction."""

    def page(
        self,
        namespace: str,
        *,
        after: Positions | None = None,
        first: int = 100,
        filter: StatementFilter = EVERYTHING,
        want: frozenset[Want] = frozenset(),
    ) -> Page[ChangeView]:
        """The changes after a position (None: from the beginning), up to 1,000.

        A filter is asked of a statement as of the transaction of the change: `valid_during` of those that it overlaps, what asks for
        evidence of those that cite it. Who is who passes every filter. Where much has to be looked through for what matches, a page
        comes back short, or empty, with `has_next`, and `end` has moved on. Without anything new `end` is `after`.

        Raises InvalidInput: `first`, `include_invalidated`, a position of something else.
        """
        ...

    def last(self, namespace: str) -> Positions | None:
        """The position of the last change; None before the first."""
        ...

    def latest(self, namespaces: Collection[str]) -> Mapping[str, int]:
        """The last transactions of some namespaces; 0 where there is none. Cheap: for who looks again and again."""
        ...


@dataclass(frozen=True, slots=True)
class Term:
    """One place of a pattern; exactly one of: a variable, an entity's key, a name or alias, a literal (with its datatype)."""

    variable: str | None = None
    key: str | None = None
    name: str | None = None
    literal: str | None = None
    datatype: str | None = None


@dataclass(frozen=True, slots=True)
class Pattern:
    """A statement with variables. The predicate may be an inverse, a symmetric one or an antonym."""

    subject: Term
    predicate: str
    object: Term


@dataclass(frozen=True, slots=True)
class MatchView:
    """One way in which all patterns hold: what each variable stands for, by the variables' names, and a statement for each pattern."""

    bindings: tuple[tuple[str, EntityView | LiteralView], ...]
    statements: tuple[StatementView, ...]


@dataclass(frozen=True, slots=True)
class PathView:
    """Statements that lead from one entity to another, in order."""

    statements: tuple[StatementView, ...]


class Patterns(Protocol):
    """Questions over several hops, answered as of one basis."""

    def match(
        self, patterns: Sequence[Pattern], *, first: int = 20, after: Positions | None = None, want: frozenset[Want] = frozenset()
    ) -> Page[MatchView]:
        """The ways in which all patterns hold at once: affirmed statements that hold on the basis.

        Raises InvalidInput (no pattern, too many, a malformed term), QueryTooComplex (too much to join).
        """
        ...

    def path(self, start: EntityRef, end: EntityRef, *, max_hops: int = 3, want: frozenset[Want] = frozenset()) -> list[PathView]:
        """All shortest paths of affirmed statements that hold, in either direction of each. None: no path of so many hops.

        Raises InvalidInput (`max_hops`), QueryTooComplex.
        """
        ...
