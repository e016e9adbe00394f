"""Patterns over the graph: its parts are counted first, since the engine cannot be stopped by how much it does."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from graph.store.kuzu_members import Rows
from graph.store.pattern_cypher import counting_text, match_text, values
from graph.store.pattern_plan import MOST_JOINED, Found, Plan, joined_in_order, too_much_to_join
from graph.store.port import GraphBasis
from graph.store.walk import Apart, Who, members_of

_DEGREE = {side: f"MATCH (:Entity {{key: $key}})<-[:{side.upper()}]-(s:Statement) RETURN count(*)" for side in ("subject", "object")}


def match(rows: Rows, who: Who, basis: GraphBasis, plan: Plan, first: int, after: Sequence[Any] | None) -> list[Found]:
    """As `GraphStore.match`. Raises QueryTooComplex."""
    members = None if isinstance(who, Apart) else {key: members_of(who, key) for key in plan.known}
    counts = {
        (side, key): sum(rows(_DEGREE[side], {"key": member})[0][0] for member in (members or {}).get(key, [key]))
        for key in plan.known
        for side in ("subject", "object")
    }
    visits = joined_in_order(plan, counts)
    choices = list(product(*(step.sides() for step in plan.steps)))
    for number in range(1, len(visits) + 1):
        some = dict.fromkeys(counting_text(plan, visits[:number], sides, members) for sides in choices)
        bound = values(basis, plan, members, most=MOST_JOINED + 1)
        if sum(rows(text, _used(text, bound))[0][0] for text in some) > MOST_JOINED:
            raise too_much_to_join()
    found: list[Found] = []
    several = len(plan.steps)
    for sides in choices:
        text = match_text(plan, sides, members, after)
        answer = rows(text, _used(text, values(basis, plan, members, after, limit=first)))
        found += [Found(tuple(row[:several]), tuple(row[several : 2 * several]), sides, tuple(row[2 * several :])) for row in answer]
    found = sorted(found, key=lambda each: each.position)[:first]
    roots = who.roots({key for each in found for key in each.keys})
    return [each._replace(keys=tuple(roots.get(key, key) for key in each.keys)) for each in found]


def _used(text: str, bound: dict[str, Any]) -> dict[str, Any]:
    """What is not named in a query cannot be bound."""
    return {name: value for name, value in bound.items() if f"${name}" in text}
