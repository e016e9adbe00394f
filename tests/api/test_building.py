"""Inputs that are built by a plan are what Strawberry makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from graphql import GraphQLInputObjectType, coerce_input_value
from strawberry.types.arguments import InputContext, convert_argument
from strawberry.types.base import get_object_definition

from api.schema.build import build_schema
from api.schema.inputs import EntityRef, LiteralInput, ObjectInput
from api.schema.writing import AssertStatementsInput, EpisodeInput, StatementInput
from tests.api.jobs import said, stated

SCHEMA = build_schema()
PLANNED: tuple[type, ...] = (EpisodeInput, AssertStatementsInput, StatementInput, ObjectInput, EntityRef, LiteralInput)

GIVEN: list[tuple[type, Mapping[str, Any]]] = [
    (EpisodeInput, said("one")),
    (EpisodeInput, {"content": "x", "source": "y"}),
    (
        EpisodeInput,
        said(
            "one",
            group=None,
            speaker="A",
            addressee="B",
            timeZone="Europe/Berlin",
            rank=3,
            metadata={"a": [1, {"b": None}]},
            revisedAt="2024",
        ),
    ),
    (EpisodeInput, {"content": "x", "source": "y", "rank": None, "metadata": None, "idempotencyKey": "k"}),
    (AssertStatementsInput, stated("one")),
    (AssertStatementsInput, stated("one", statements=[], onBadDate="DROP_DATE", content=None)),
    (
        AssertStatementsInput,
        stated(
            "one",
            statements=[
                {"subject": {"id": "k"}, "predicate": "p", "object": {"literal": {"value": "5"}}, "kind": "END", "validTo": "2024"},
                {"subject": {"name": "A"}, "predicate": "p", "object": {"entity": "e"}, "replaces": {"name": "old"}, "polarity": False},
                {"subject": {"name": "A"}, "predicate": "p", "object": {"name": "B"}, "replaces": None, "confidence": None, "kind": None},
            ],
        ),
    ),
]


@pytest.mark.parametrize(("kind", "given"), GIVEN)
def test_a_planned_input_is_what_strawberry_makes(kind: type, given: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    named = SCHEMA._schema.get_type(kind.__name__)
    assert isinstance(named, GraphQLInputObjectType)
    coerced = coerce_input_value(given, named)
    registry = SCHEMA.schema_converter.scalar_registry

    def made() -> object:
        return convert_argument(coerced, kind, registry, SCHEMA.config)

    planned = made()
    for each in PLANNED:
        definition = get_object_definition(each, strict=True)
        assert definition.from_input is not None
        monkeypatch.setattr(definition, "from_input", None)
    assert planned == made()
    assert type(planned) is kind


def test_a_list_is_never_that_of_another_request() -> None:
    value = coerce_input_value(stated("one"), SCHEMA._schema.get_type("AssertStatementsInput"))  # type: ignore[arg-type]
    context = InputContext(None, SCHEMA.config, SCHEMA.schema_converter.scalar_registry, ())
    one, other = (context.convert(value, AssertStatementsInput) for _ in range(2))
    assert one == other
    assert one.statements is not other.statements  # type: ignore[attr-defined]
