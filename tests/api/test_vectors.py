"""Every shared vector over GraphQL, in the given order and in two other arrival orders."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest

from tests.api.clients import InProcess
from tests.api.vectors import GraphQLWorld
from tests.graph.belief.vectors import VECTORS, instant, orders, problem, text

# Erasing and comparing two bases come with their own features.
ASKED = [
    vector
    for vector in VECTORS["vectors"]
    if not any(op["op"] == "erase" for op in vector["ops"]) and not any("changes_at_tx" in query for query in vector["queries"])
]


@pytest.mark.parametrize("vector", ASKED, ids=lambda vector: vector["id"])
def test_vector_over_graphql(vector: dict[str, Any], in_process: InProcess) -> None:
    world = GraphQLWorld(in_process.at(f"vector-{vector['id']}"), vector["ops"])
    problems = [found for query in vector["queries"] if (found := problem(world, query))]
    for query in vector["queries"]:
        if "rectangles" in query:
            wanted = [[text(o), instant(a), instant(b), t, u] for o, a, b, t, u in query["expect"]]
            if sorted(wanted, key=str) != world.rectangles(query["rectangles"]):
                problems.append(str(world.rectangles(query["rectangles"])))
    assert problems == []
    if vector.get("order_independent", True):
        latest = [q for q in vector["queries"] if not any(isinstance(value, dict) and "tx" in value for value in q.values())]
        for number, order in enumerate(islice(orders(len(vector["ops"])), 1, 3)):
            client = in_process.at(f"vector-{vector['id']}-{number}")
            shuffled = GraphQLWorld(client, [vector["ops"][place] for place in order])
            wrong = [found for query in latest if (found := problem(shuffled, query))]
            assert (order, wrong) == (order, [])
