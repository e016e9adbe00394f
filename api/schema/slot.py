"""Slots: a timeline and the three-valued answer."""

from __future__ import annotations

import strawberry
from strawberry.types import Info

from api.context import Context, Scope
from api.schema.basics import Period, Predicate, period, predicate
from api.schema.entity import Entity, entity
from api.schema.enums import Truth
from api.schema.statement import Statement, statement
from api.selection import wanted
from graph import views


@strawberry.type(description="A maximal interval in which the slot's values are the same.")
class Segment:
    """As `graph.views.SegmentView`."""

    valid_time: Period
    statements: list[Statement]


@strawberry.type(description="The values of one slot in order of valid time; `subject` is null where nothing is known of it.")
class SlotTimeline:
    """As `graph.views.TimelineView`."""

    subject: Entity | None
    predicate: Predicate
    qualifier: str
    segments: list[Segment]


@strawberry.type(description="Answer to `ask`.")
class Answer:
    """As `graph.views.AnswerView`."""

    value: Truth
    statements: list[Statement] = strawberry.field(description="What says so.")


def slot_timeline(scope: Scope, info: Info[Context, None], subject: views.EntityRef, name: str, qualifier: str | None) -> SlotTimeline:
    """One slot over all valid time, with the parts that are selected of its statements."""
    want = wanted(info, "segments", "statements")
    view = scope.snapshot.timeline(subject, name, qualifier or "", want=want)
    return SlotTimeline(
        subject=None if view.subject is None else entity(scope, view.subject),
        predicate=predicate(scope.context, view.predicate),
        qualifier=view.qualifier,
        segments=[
            Segment(
                valid_time=period(segment.v_from, segment.v_to), statements=[statement(scope, each, want) for each in segment.statements]
            )
            for segment in view.segments
        ],
    )


def answer(
    scope: Scope, info: Info[Context, None], subject: views.EntityRef, name: str, object: views.ObjectRef, qualifier: str | None
) -> Answer:
    """Whether (subject, predicate, object) is the case."""
    want = wanted(info, "statements")
    view = scope.snapshot.ask(subject, name, object, qualifier or "", want=want)
    return Answer(value=Truth[view.value.name], statements=[statement(scope, each, want) for each in view.statements])
