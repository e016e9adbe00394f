"""Patterns over the ledger's own tables: joined by one query, whose work is counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, func, select, text

from graph.ledger.schema import statements
from graph.store.pattern_plan import MOST_JOINED, Counts, Found, Known, Plan, Visit, joined_in_order, too_much_to_join
from graph.store.pattern_sql import counting_text, match_text, values
from graph.store.port import GraphBasis
from graph.store.sql_members import who
from graph.store.sql_work import bounded
from graph.store.walk import Apart, members_of

_COUNTED = 20_000
"""Statements of a known key up to which they are counted."""

_COUNT = {
    side: select(func.count()).select_from(
        select(statements.c.row)
        .where(statements.c[side].in_(bindparam("keys", expanding=True)), statements.c.tx_to > bindparam("tx"))
        .limit(_COUNTED)
        .subquery()
    )
    for side in ("subject", "object")
}


def match(connection: Connection, basis: GraphBasis, plan: Plan, first: int, after: Sequence[Any] | None) -> list[Found]:
    """As `GraphStore.match`. Raises QueryTooComplex."""
    who_is_who = who(connection, basis)
    roots = who_is_who.roots(plan.known)
    joined = None if isinstance(who_is_who, Apart) else frozenset(roots)
    keys = {key: members_of(who_is_who, key) for key in plan.known}
    with bounded(connection, too_much_to_join):
        visits = joined_in_order(plan, _counts(connection, basis, plan, keys))
        bound = values(basis, plan, dict(roots), after, first)
        if connection.dialect.name != "sqlite":
            check_size(connection, plan, visits, joined, bound)
        rows = connection.execute(text(match_text(plan, visits, joined, after=after is not None)), bound).all()
    return [found(plan, row) for row in rows]


def found(plan: Plan, row: Sequence[Any]) -> Found:
    """A match from the columns of the query."""
    several = len(plan.steps)
    turned = tuple(map(bool, row[2 * several : 3 * several]))
    return Found(tuple(row[:several]), tuple(row[several : 2 * several]), turned, tuple(row[3 * several :]))


def _counts(connection: Connection, basis: GraphBasis, plan: Plan, keys: dict[str, list[str]]) -> Counts:
    """What is counted of the known keys by the indexes alone; nothing where there is no choice."""
    if len(plan.steps) == 1 and sum(isinstance(end, Known) for end in plan.steps[0].sides_given()) < 2:
        return {}
    counted: dict[tuple[str, str], int] = {}
    for step in plan.steps:
        for side, end in (("subject", step.subject), ("object", step.object)):
            for each in ("subject", "object") if step.either else (side,):
                if isinstance(end, Known) and (each, end.key) not in counted:
                    bound = {"keys": keys[end.key], "tx": basis.transaction}
                    counted[each, end.key] = connection.scalar(_COUNT[each], bound) or 0
    return counted


def check_size(connection: Connection, plan: Plan, visits: Sequence[Visit], joined: frozenset[str] | None, bound: dict[str, Any]) -> None:
    """Refuse to join more rows than the bound, for databases that cannot count their work. Raises QueryTooComplex."""
    for number in range(1, len(visits) + 1):
        query = text(counting_text(plan, visits[:number], joined))
        known = {name: value for name, value in (bound | {"limit": MOST_JOINED + 1}).items() if name in query.compile().params}
        if sum(connection.execute(query, known).one()) > MOST_JOINED:
            raise too_much_to_join()
