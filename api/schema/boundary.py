"""Boundary: where a slot changes and why; and the field of Snapshot that tells it."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import strawberry
from strawberry import enum_value
from strawberry.types import Info

from api.context import Context, Scope
from api.scalars import DateTime
from api.schema.episode import Evidence, evidence
from api.schema.inputs import EntityRef, entity_ref, given
from api.schema.pages import Transaction
from api.schema.statement import Statement, statement
from api.schema.support import described
from api.selection import wanted_of_both
from graph.drift import BoundaryView
from graph.views import Want


@strawberry.enum(description="Why a slot has a boundary.")
class BoundaryReason(Enum):
    """As `graph.drift.BoundaryReason`."""

    STARTED = enum_value("STARTED", description="First value.")
    SUPERSEDED = "SUPERSEDED"
    CONTRADICTED = "CONTRADICTED"
    EXPLICIT_END = "EXPLICIT_END"
    CORRECTED = "CORRECTED"
    CLIPPED = "CLIPPED"
    RESUMED = enum_value("RESUMED", description="What lay under a bounded rival holds again.")
    REVIVED = enum_value("REVIVED", description="What had ended it was withdrawn.")
    RETRACTED = "RETRACTED"
    REJECTED = "REJECTED"
    REIDENTIFIED = "REIDENTIFIED"


@strawberry.type(description="A boundary of a slot; an unbounded start is none.")
class Boundary:
    """As `graph.drift.BoundaryView`."""

    at: DateTime
    reason: BoundaryReason
    rule: str
    before: list[Statement]
    after: list[Statement]
    evidence: list[Evidence]
    transaction: Transaction | None = strawberry.field(
        description=(
            "The transaction that withdrew the boundary: up to it `before` was believed from `at` on; `after` is what is believed now.\n"
            "Null for a boundary that this view believes: its evidence says so."
        )
    )


@strawberry.type
class Explaining:
    """What Snapshot has of this. It is no type of the schema itself."""

    scope: strawberry.Private[Scope]

    @described("Why the slot changed: each boundary in the window with the evidence and the rule that made it.")
    def why_changed(
        self,
        info: Info[Context, None],
        subject: EntityRef,
        predicate: str,
        qualifier: str | None = "",
        from_: Annotated[DateTime | None, strawberry.argument(name="from")] = strawberry.UNSET,
        to: DateTime | None = strawberry.UNSET,
    ) -> list[Boundary]:
        """The boundaries in order of time."""
        self.scope.context.spend("whyChanged")
        want = wanted_of_both(info)
        found = self.scope.snapshot.drift.why_changed(
            entity_ref(subject, "subject"), predicate, qualifier or "", start=given(from_), end=given(to), want=want
        )
        return [_boundary(self.scope, view, want) for view in found]


def _boundary(scope: Scope, view: BoundaryView, want: frozenset[Want]) -> Boundary:
    by = view.transaction
    return Boundary(
        at=DateTime(view.at),
        reason=BoundaryReason[view.reason.name],
        rule=view.rule,
        before=[statement(scope, each, want) for each in view.before],
        after=[statement(scope, each, want) for each in view.after],
        evidence=[evidence(scope, each) for each in view.evidence],
        transaction=None
        if by is None
        else Transaction(number=by.number, at=DateTime(by.at), kind=by.kind, actor=by.actor, reason=by.reason),
    )
