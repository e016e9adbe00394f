"""Every shared vector over GraphQL, in the given order and in two other arrival orders."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest

from tests.api.clients import InProcess
from tests.api.vectors import GraphQLWorld
from tests.graph.belief.vectors import VECTORS, instant, orders, problem, text

# Erasing comes with its own feature.
ASKED = [vector for vector in VECTORS["vectors"] if not any(op["op"] == "erase" for op in vector["ops"])]
DIFFS = [vector for vector in VECTORS["drift"] if "diff" in vector]


@pytest.mark.parametrize("vector", ASKED, ids=lambda vector: vector["id"])
def test_vector_over_graphql(vector: dict[str, Any], in_process: InProcess) -> None:
    world = GraphQLWorld(in_process.at(f"vector-{vector['id']}"), vector["ops"])
    problems = [found for query in vector["queries"] if (found := problem(world, query))]
    for query in vector["queries"]:
        if "rectangles" in query:
            wanted = [[text(o), instant(a), instant(b), t, u] for o, a, b, t, u in query["expect"]]
            if sorted(wanted, key=str) != world.rectangles(query["rectangles"]):
                problems.append(str(world.rectangles(query["rectangles"])))
        if "changes_at_tx" in query:
            differing = world.differences(*({"tx": number} for number in (query["changes_at_tx"] - 1, query["changes_at_tx"])))
            if sum(map(len, differing.values())) != query["expect"]:
                problems.append(str(differing))
    assert problems == []
    if vector.get("order_independent", True):
        latest = [q for q in vector["queries"] if not any(isinstance(value, dict) and "tx" in value for value in q.values())]
        for number, order in enumerate(islice(orders(len(vector["ops"])), 1, 3)):
            client = in_process.at(f"vector-{vector['id']}-{number}")
            shuffled = GraphQLWorld(client, [vector["ops"][place] for place in order])
            wrong = [found for query in latest if (found := problem(shuffled, query))]
            assert (order, wrong) == (order, [])


@pytest.mark.parametrize("vector", DIFFS, ids=lambda vector: vector["id"])
def test_diff_over_graphql(vector: dict[str, Any], in_process: InProcess) -> None:
    world = GraphQLWorld(in_process.at(f"vector-{vector['id']}"), VECTORS["drift_bases"][vector["base"]])
    assert world.differences(vector["diff"]["from"], vector["diff"]["to"]) == vector["expect"]
