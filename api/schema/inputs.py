"""Inputs of queries, and how they become the facade's."""

from __future__ import annotations

from typing import TypeVar

import strawberry
from strawberry import UNSET

from api.identity import key_in
from api.scalars import DateTime
from api.schema.building import planned
from api.schema.enums import Aspect
from graph import views
from ontology.errors import InvalidInput
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant
from ontology.names import checked_name

T = TypeVar("T")


def given(value: T | None) -> T | None:
    """An optional argument's value; None where it is absent."""
    return None if value is UNSET else value


@strawberry.input(description="Half-open; a missing end is unbounded.")
class PeriodInput:
    """An interval."""

    from_: DateTime | None = strawberry.field(name="from", default=UNSET)
    to: DateTime | None = UNSET


@strawberry.input(description="Which statements; all given fields must match.")
class StatementFilter:
    """As `graph.views.StatementFilter`."""

    subjects: list[strawberry.ID] | None = UNSET
    objects: list[strawberry.ID] | None = UNSET
    predicates: list[str] | None = UNSET
    aspects: list[Aspect] | None = UNSET
    polarity: bool | None = UNSET
    min_confidence: float | None = UNSET
    group: str | None = strawberry.field(description="Conversation, session or document of the evidence.", default=UNSET)
    source: str | None = UNSET
    speaker: str | None = UNSET
    valid_during: PeriodInput | None = strawberry.field(
        description="Statements that hold at any time inside, instead of at the basis' `validAt`.", default=UNSET
    )
    include_invalidated: bool | None = strawberry.field(description="Statements that no longer hold at the basis too.", default=False)


@planned
@strawberry.input(description="Exactly one of. `name` where the predicate's range is a literal type makes a literal.", one_of=True)
class ObjectInput:
    """An object."""

    entity: strawberry.ID | None = UNSET
    name: str | None = UNSET
    literal: LiteralInput | None = UNSET


@planned
@strawberry.input
class LiteralInput:
    """A literal."""

    value: str
    datatype: str | None = "xsd:string"


@planned
@strawberry.input(
    description=(
        "An entity by key or ID, or by name or alias. In a mutation a name not seen before makes a new entity; in a query it makes none."
    ),
    one_of=True,
)
class EntityRef:
    """An entity."""

    id: strawberry.ID | None = UNSET
    name: str | None = UNSET


def _during(period: PeriodInput) -> tuple[Instant, Instant]:
    start, end = given(period.from_), given(period.to)
    interval = UNBOUNDED_PAST if start is None else start, UNBOUNDED_FUTURE if end is None else end
    if interval[0] >= interval[1]:
        reason = "EMPTY_INTERVAL" if interval[0] == interval[1] else "INVERTED_INTERVAL"
        raise InvalidInput("validDuring ends at or before its start", path=("filter", "validDuring"), reason=reason)
    return interval


def _keys(ids: list[strawberry.ID] | None) -> tuple[str, ...] | None:
    return None if not isinstance(ids, list) else tuple(key_in(id) for id in ids)


def filter_of(filter: StatementFilter | None) -> views.StatementFilter:
    """The facade's filter; without one all statements match."""
    if not filter:
        return views.StatementFilter()
    predicates, aspects, during = given(filter.predicates), given(filter.aspects), given(filter.valid_during)
    return views.StatementFilter(
        subjects=_keys(filter.subjects),
        objects=_keys(filter.objects),
        predicates=None if predicates is None else tuple(predicates),
        aspects=None if aspects is None else tuple(aspect.value for aspect in aspects),
        polarity=given(filter.polarity),
        min_confidence=given(filter.min_confidence),
        group=given(filter.group),
        source=given(filter.source),
        speaker=given(filter.speaker),
        valid_during=None if during is None else _during(during),
        include_invalidated=bool(filter.include_invalidated),
    )


def entity_ref(ref: EntityRef, *path: str) -> views.EntityRef:
    """The facade's reference. Raises InvalidInput for a name that is none."""
    if isinstance(ref.name, str):
        return views.EntityRef(name=checked_name(ref.name, path=(*path, "name")))
    return views.EntityRef(key=key_in(str(ref.id)))


def object_ref(ref: ObjectInput, *path: str) -> views.ObjectRef:
    """The facade's reference to an object. Raises InvalidInput for a name that is none."""
    if isinstance(ref.name, str):
        return views.ObjectRef(name=checked_name(ref.name, path=(*path, "name")))
    if isinstance(ref.literal, LiteralInput):
        return views.ObjectRef(literal=ref.literal.value, datatype=ref.literal.datatype or "xsd:string")
    return views.ObjectRef(key=key_in(str(ref.entity)))
