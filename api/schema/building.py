"""How inputs become objects where they come by the thousand: by a plan that is made once.

Strawberry finds out anew for each value what each field is called and of which type it is: half of the time that a call with 1,000
episodes took. The hook is its own (`StrawberryObjectDefinition.from_input`); what comes out is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING
from typing import Any, TypeVar

from strawberry.types.arguments import InputContext
from strawberry.types.base import (
    StrawberryList,
    StrawberryObjectDefinition,
    StrawberryOptional,
    get_object_definition,
    has_object_definition,
)

T = TypeVar("T")
Convert = Callable[[Any, InputContext], Any]
Step = tuple[str, str, Convert | None]
"""A field's name in the schema and in Python, and what converts its value; None: it is what it should be."""


def planned(kind: type[T]) -> type[T]:
    """Makes an input type one that is built by a plan. A class decorator above `strawberry.input`."""
    definition = get_object_definition(kind, strict=True)
    steps: list[Step] = []
    absent = {each.python_name: None for each in definition.fields if each.default_value is MISSING and each.default_factory is MISSING}

    def build(type_: type, value: Mapping[str, Any], context: InputContext) -> Any:
        if not steps:
            # Only now: a type may name one that is defined after it.
            steps.extend(_steps(definition, context))
        fields = dict(absent)
        for given, name, convert in steps:
            if given in value:
                found = value[given]
                fields[name] = found if convert is None or found is None else convert(found, context)
        return type_(**fields)

    definition.from_input = build
    return kind


def _steps(definition: StrawberryObjectDefinition, context: InputContext) -> list[Step]:
    named = context.config.name_converter.from_field
    return [(named(each), each.python_name, _convert(each.resolve_type(type_definition=definition))) for each in definition.fields]


def _convert(type_: Any) -> Convert | None:
    if isinstance(type_, StrawberryOptional):
        return _convert(type_.of_type)
    if isinstance(type_, StrawberryList):
        inner = _convert(type_.of_type)
        if inner is None:
            # graphql-core gives the same default to all.
            return lambda value, context: list(value)
        return lambda value, context: [None if each is None else inner(each, context) for each in value]
    if has_object_definition(type_):
        build = type_.__strawberry_definition__.from_input
        if build is not None:
            return lambda value, context: build(type_, value, context)
        return lambda value, context: context.convert(value, type_)
    return None
