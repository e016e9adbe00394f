"""Every shared vector, in every arrival order, against the resolver alone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.graph.belief.vectors import VECTORS, World, orders, problem


@pytest.mark.parametrize("vector", VECTORS["vectors"], ids=lambda vector: vector["id"])
def test_vector_in_the_given_order(vector: dict[str, Any]) -> None:
    world = World(vector["ops"])
    assert [found for query in vector["queries"] if (found := problem(world, query))] == []


@pytest.mark.parametrize("vector", [v for v in VECTORS["vectors"] if v.get("order_independent", True)], ids=lambda vector: vector["id"])
def test_vector_in_any_arrival_order(vector: dict[str, Any]) -> None:
    latest = [q for q in vector["queries"] if not any(isinstance(value, dict) and "tx" in value for value in q.values())]
    for order in orders(len(vector["ops"])):
        world = World([vector["ops"][place] for place in order])
        assert [(order, found) for query in latest if (found := problem(world, query))] == []
