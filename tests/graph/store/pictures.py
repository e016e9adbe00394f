"""What a graph says, whole: to compare graphs with each other and with the ledger."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import select

from graph.ledger.schema import OPEN, statements
from graph.store.kuzu_engine import KuzuStore
from graph.store.kuzu_schema import EDGES, stored_start
from graph.store.port import GraphBasis, GraphStore
from tests.graph.store.ledgers import PREDICATES, LedgerBuilder

_ENDS = {
    "SUBJECT": ("row", "key"),
    "OBJECT": ("row", "key"),
    "IN_SLOT": ("row", "key"),
    "MEMBER_OF": ("key", "key"),
    **dict.fromkeys(("ASSERTED_IN", "INVALIDATED_BY", "REVISES"), ("row", "row")),
}
_VALUES = {
    "MEMBER_OF": ", r.namespace, r.tx_from, r.tx_to",
    "ASSERTED_IN": ", r.claim, r.span_from, r.span_to, r.tx_from, r.tx_to",
    "INVALIDATED_BY": ", r.reason, r.rule",
}
_NODES = {
    "Entity": "n.key, n.namespace, n.datatype",
    "Predicate": "n.name",
    "Slot": "n.key, n.namespace, n.subject, n.predicate, n.qualifier",
    "Episode": "n.row, n.key, n.namespace, n.said",
    "Statement": "n.row, n.namespace, n.proposition, n.subject, n.predicate, n.qualifier, n.object, n.literal, n.polarity, "
    "n.v_from, n.v_to, n.tx_from, n.tx_to",
}


def picture(store: KuzuStore) -> dict[str, list[Any]]:
    """Every node and edge with all that it carries, sorted; `watermark` too."""
    found: dict[str, list[Any]] = {"watermark": [store.watermark()]}
    for name, columns in _NODES.items():
        found[name] = sorted(store.query(f"MATCH (n:{name}) RETURN {columns}"), key=repr)
    for name in EDGES:
        one, other = _ENDS[name]
        rows = store.query(f"MATCH (a)-[r:{name}]->(b) RETURN a.{one}, b.{other}{_VALUES.get(name, '')}")
        found[name] = sorted(rows, key=repr)
    return found


def ledger_statements(ledger: LedgerBuilder, upto: int) -> list[list[Any]]:
    """(row, v_from, v_to, tx_from, tx_to) of the ledger's statements as they stood at a transaction, as Kuzu holds them."""
    columns = (statements.c.row, statements.c.v_from, statements.c.v_to, statements.c.tx_from, statements.c.tx_to)
    with ledger.engine.connect() as connection:
        rows = connection.execute(select(*columns).where(statements.c.tx_from <= upto).order_by(statements.c.row)).all()
    return [[row, stored_start(a), b, c, d if d <= upto else OPEN] for row, a, b, c, d in rows]


def graph_statements(store: KuzuStore) -> list[list[Any]]:
    """The same of a graph."""
    return sorted(store.query("MATCH (s:Statement) RETURN s.row, s.v_from, s.v_to, s.tx_from, s.tx_to"))


def answers(store: GraphStore, ledger: LedgerBuilder, bases: Iterable[tuple[int, int]], *, names: int = 6) -> list[Any]:
    """Answers to every question about every entity on some (instant, transaction)."""
    found: list[Any] = []
    for valid_at, transaction in bases:
        basis = GraphBasis("default", valid_at, transaction)
        for number in range(names):
            name = f"n{number}"
            found += [store.neighbors(basis, ledger.entity(name), depth, 100) for depth in (1, 3)]
            found.append(store.statements_about(basis, ledger.entity(name)))
            found += [store.statements_in_slot(basis, ledger.entity(name), predicate) for predicate in PREDICATES[:2]]
    return found
