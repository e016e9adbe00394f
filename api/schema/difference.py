"""What differs between two bases."""

from __future__ import annotations

import strawberry
from strawberry.types import Info

from api.context import Context, Scope
from api.cursors import decode_span
from api.identity import Pin
from api.scalars import DateTime
from api.schema.basics import Predicate, predicate
from api.schema.entity import Entity, entity
from api.schema.enums import DifferenceCause, DifferenceKind
from api.schema.inputs import StatementFilter, filter_of, given
from api.schema.pages import Edge, PageInfo, frame, stood_on
from api.schema.statement import Statement, statement
from api.selection import IN_PAGE, wanted_of_both
from graph import drift

AXES = frozenset({"validAt", "recordedAt", "evidenceUntil"})


@strawberry.input(description="A basis to compare; a missing field is as in `asOf`.")
class BasisInput:
    """The arguments of `asOf`."""

    valid_at: DateTime | None = strawberry.UNSET
    recorded_at: DateTime | None = strawberry.UNSET
    evidence_until: DateTime | None = strawberry.UNSET


@strawberry.type(description="How a statement differs between two bases.")
class Difference:
    """As `graph.drift.DifferenceView`."""

    kind: DifferenceKind
    cause: DifferenceCause = strawberry.field(description="WORLD: the world moved on. BELIEF: the same instant is now seen differently.")
    subject: Entity
    predicate: Predicate
    qualifier: str = strawberry.field(description="Keeps slots of one predicate apart; mostly empty.")
    before: list[Statement] = strawberry.field(
        description="All that holds there on the basis before: `from`, or for WORLD what `to` believes of the instant of `from`."
    )
    after: list[Statement] = strawberry.field(
        description="All that holds there on the basis after: `to`, or for BELIEF what `to` believes of the instant of `from`."
    )


@strawberry.type
class DifferenceEdge(Edge):
    """A difference and its cursor."""

    node: Difference


@strawberry.type
class DifferenceConnection:
    """A page of differences."""

    edges: list[DifferenceEdge]
    page_info: PageInfo


def difference_page(
    info: Info[Context, None], start: BasisInput, end: BasisInput, filter: StatementFilter | None, first: int, after: str | None
) -> DifferenceConnection:
    """A page of what differs. A cursor brings both bases along, so pages never shift."""
    context = info.context
    context.spend("diff")
    scopes = [_scope(context, basis) for basis in (start, end)]
    position = None
    if after is not None:
        span = decode_span(after, "diff")
        scopes = [stood_on(scope, pin, name) for scope, pin, name in zip(scopes, (span.start, span.end), ("`from`", "`to`"), strict=True)]
        position = span.position
    # Statements of both bases lie side by side: their IDs name the basis, whatever was left out.
    one, other = (Scope(context, scope.snapshot, AXES) for scope in scopes)
    want = wanted_of_both(info, *IN_PAGE)
    page = context.graph.diff(one.snapshot, other.snapshot, filter_of(filter), first=first, after=position, want=want)
    middle = Scope(context, context.pinned(Pin(one.pin.valid_at, other.pin.transaction, other.pin.evidence_until)), AXES)
    sides = {drift.Cause.BELIEF: (one, middle), drift.Cause.WORLD: (middle, other)}
    items, page_info = frame(page, "diff", (one.pin, other.pin), after)
    edges = []
    for place, view in items:
        before, later = sides[view.cause]
        node = Difference(
            kind=DifferenceKind[view.kind.name],
            cause=DifferenceCause[view.cause.name],
            subject=entity(other, view.subject),
            predicate=predicate(context, view.predicate),
            qualifier=view.qualifier,
            before=[statement(before, each, want) for each in view.before],
            after=[statement(later, each, want) for each in view.after],
        )
        edges.append(DifferenceEdge(place=place, node=node))
    return DifferenceConnection(edges=edges, page_info=page_info)


def _scope(context: Context, basis: BasisInput) -> Scope:
    """The basis as resolved, and which of its fields were stated."""
    stated = {"validAt": given(basis.valid_at), "recordedAt": given(basis.recorded_at), "evidenceUntil": given(basis.evidence_until)}
    snapshot = context.snapshot(valid_at=stated["validAt"], recorded_at=stated["recordedAt"], evidence_until=stated["evidenceUntil"])
    return Scope(context, snapshot, frozenset(name for name, value in stated.items() if value is not None))
