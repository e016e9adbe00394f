"""Every shared vector through the facade, in the given order and in sampled arrival orders."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest

from graph.service import LedgerGraph
from tests.graph.belief.vectors import VECTORS, instant, orders, problem, text
from tests.graph.ledger.vectors import LedgerWorld

# Erasing comes with its own feature.
ASKED = [vector for vector in VECTORS["vectors"] if not any(op["op"] == "erase" for op in vector["ops"])]

DIFFS = [vector for vector in VECTORS["drift"] if "diff" in vector]


@pytest.mark.parametrize("vector", ASKED, ids=lambda vector: vector["id"])
def test_vector_through_the_ledger(vector: dict[str, Any], graph: LedgerGraph) -> None:
    world = LedgerWorld(graph, "given", vector["ops"])
    problems = [found for query in vector["queries"] if (found := problem(world, query))]
    for query in vector["queries"]:
        if "rectangles" in query:
            ends = {"inf": "inf"}
            wanted = [[text(o), instant(a), instant(b), t, ends.get(u, u)] for o, a, b, t, u in query["expect"]]
            if sorted(wanted, key=str) != world.rectangles(query["rectangles"]):
                problems.append(str(world.rectangles(query["rectangles"])))
        if "changes_at_tx" in query:
            before, after = ({"tx": number} for number in (query["changes_at_tx"] - 1, query["changes_at_tx"]))
            differing = world.differences(before, after)
            if sum(map(len, differing.values())) != query["expect"] or world.recorded[before["tx"]] != world.recorded[after["tx"]]:
                problems.append(f"a duplicate changed something: {differing}")
    assert problems == []
    if vector.get("order_independent", True):
        latest = [q for q in vector["queries"] if not any(isinstance(v, dict) and "tx" in v for v in q.values())]
        for number, order in enumerate(islice(orders(len(vector["ops"])), 1, 4)):
            shuffled = LedgerWorld(graph, f"order{number}", [vector["ops"][place] for place in order])
            wrong = [found for query in latest if (found := problem(shuffled, query))]
            assert (order, wrong) == (order, [])


@pytest.mark.parametrize("vector", DIFFS, ids=lambda vector: vector["id"])
def test_diff_through_the_ledger(vector: dict[str, Any], graph: LedgerGraph) -> None:
    world = LedgerWorld(graph, "given", VECTORS["drift_bases"][vector["base"]])
    assert world.differences(vector["diff"]["from"], vector["diff"]["to"]) == vector["expect"]
