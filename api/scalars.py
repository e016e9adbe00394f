"""The scalars of the contract: DateTime (an instant as int64 microseconds inside), EDTF (text) and JSON (any value)."""

from __future__ import annotations

from typing import Any, NewType

import strawberry
from strawberry.types.scalar import ScalarDefinition

from ontology.errors import InvalidInput
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant, format_instant, parse_instant

DateTime = NewType("DateTime", int)
"""Microseconds since 1970-01-01T00:00:00Z; never an unbounded end, which is null instead."""

EDTF = NewType("EDTF", str)
"""A stated time as its text. It is read with the episode's zone, so not before the episode is known."""

JSON = NewType("JSON", object)


def bound(instant: Instant) -> DateTime | None:
    """An end of an interval: None where it is unbounded."""
    return None if instant in (UNBOUNDED_PAST, UNBOUNDED_FUTURE) else DateTime(instant)


def _text(value: Any, name: str, example: str) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{name} is a string such as {example!r}", reason="UNPARSEABLE")
    return value


def _parse_datetime(value: Any) -> Instant:
    return parse_instant(_text(value, "a DateTime", "2025-03-01T12:00:00Z"))


def _parse_edtf(value: Any) -> str:
    # A date that does not exist is the business of the mutation: it may be dropped there, or answered with the argument's path.
    return _text(value, "an EDTF time", "2019-06")


SCALARS: dict[object, ScalarDefinition] = {
    DateTime: strawberry.scalar(
        name="DateTime",
        description=(
            "An instant: RFC 3339 with an offset, to the microsecond (`2025-03-01T12:00:00Z`). Years outside 0000-9999 are written with\n"
            "the ISO 8601-2 prefix (`Y20000-01-01T00:00:00Z`, `-0043-03-15T00:00:00Z`). "
            "A date without time, or a time without offset, is refused."
        ),
        specified_by_url="https://scalars.graphql.org/andimarek/date-time.html",
        serialize=format_instant,
        parse_value=_parse_datetime,
    ),
    EDTF: strawberry.scalar(
        name="EDTF",
        description=(
            "A time as people state it: a DateTime, or a reduced date of the EDTF kind (`2019`, `2019-06`, `2019-06-14`), which denotes\n"
            "one unknown instant inside that granule. A wall time without offset takes the episode's zone. `..` is unbounded."
        ),
        specified_by_url="https://www.loc.gov/standards/datetime/",
        serialize=str,
        parse_value=_parse_edtf,
    ),
    JSON: strawberry.scalar(
        name="JSON",
        description="Any JSON value; stored, never interpreted.",
        specified_by_url="https://www.rfc-editor.org/rfc/rfc8259",
        serialize=lambda value: value,
        parse_value=lambda value: value,
    ),
}
