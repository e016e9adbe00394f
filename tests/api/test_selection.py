"""Which parts of statements a query selects."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from graphql import FieldNode, FragmentDefinitionNode, OperationDefinitionNode, parse
from strawberry.types import Info

from api.selection import wanted
from graph.views import Want


def info(query: str) -> Info[Any, Any]:
    """What a resolver of the first field of a query is told."""
    definitions = parse(query).definitions
    operation = next(each for each in definitions if isinstance(each, OperationDefinitionNode))
    fragments = {each.name.value: each for each in definitions if isinstance(each, FragmentDefinitionNode)}
    first = operation.selection_set.selections[0]
    assert isinstance(first, FieldNode)
    return cast(Info[Any, Any], SimpleNamespace(_raw_info=SimpleNamespace(field_nodes=[first], fragments=fragments)))


HISTORY, INVALIDATION, PROVENANCE = Want.HISTORY, Want.INVALIDATION, Want.PROVENANCE


@pytest.mark.parametrize(
    ("query", "path", "wants"),
    [
        ("{ statements { edges { node { key } } } }", ("edges", "node"), {Want.BARE}),
        ("{ statements { edges { node { key support } } } }", ("edges", "node"), set()),
        ("{ statements { edges { node { validTime { fromStated } } } } }", ("edges", "node"), set()),
        ("{ statements { edges { node { history { validTime { from } } } } } }", ("edges", "node"), {HISTORY}),
        ("{ x: statements { edges { y: node { z: provenance { edges { cursor } } } } } }", ("edges", "node"), {PROVENANCE}),
        (
            "{ s { edges { node { invalidation { by { provenance { edges { cursor } } } } } } } }",
            ("edges", "node"),
            {INVALIDATION, PROVENANCE},
        ),
        (
            "{ s { edges { node { invalidation { by { invalidation { by { history { x } } } } } } } } }",
            ("edges", "node"),
            {INVALIDATION, HISTORY},
        ),
        ("{ s { edges { node { subject { statements { edges { node { history { x } } } } } } } } }", ("edges", "node"), {Want.BARE}),
        ("{ t { segments { statements { history { x } } } history { x } } }", ("segments", "statements"), {HISTORY}),
        (
            "{ node { ... on Statement { ...p } } } fragment p on Statement { provenance { x } ...q } fragment q on S { history { x } }",
            (),
            {PROVENANCE, HISTORY},
        ),
        ("{ node { ...p } } fragment p on Statement { history { x } ...p }", (), {HISTORY}),
    ],
)
def test_the_selected_parts_are_wanted(query: str, path: tuple[str, ...], wants: set[Want]) -> None:
    assert wanted(info(query), *path) == wants
