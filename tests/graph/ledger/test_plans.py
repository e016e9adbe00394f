"""What is asked about a thing is looked up by the thing: a walk over all statements in order of time would grow with the ledger."""

from __future__ import annotations

from typing import Any

import pytest

from graph.ledger import column_reading
from graph.ledger.change_steps import RANGES, Rank
from graph.ledger.selection import Selection, Wanted
from graph.service import LedgerGraph
from graph.views import Basis, StatementFilter
from tests.graph.ledger.listening import sent


@pytest.mark.parametrize(
    "wanted",
    [
        Wanted(StatementFilter(), ("e",), "ANY"),
        Wanted(StatementFilter(predicates=("works_at",)), ("e",), "SUBJECT"),
        Wanted(StatementFilter(predicates=("manager_of",), include_invalidated=True), ("e",), "OBJECT"),
        Wanted(StatementFilter(), ("e", "f"), "ANY"),
        Wanted(StatementFilter(subjects=("e", "f"), objects=("g",))),
    ],
)
def test_statements_of_a_thing_are_found_by_its_key(graph: LedgerGraph, wanted: Wanted) -> None:
    query, values = Selection(Basis("n", 0, 0, 1), graph.vocabulary()).query(wanted, after=None, limit=20)
    engine = graph._engine
    with engine.connect() as connection:
        statement, parameters = sent(engine, lambda: connection.execute(query, values).all())[-1]
        plan = [str(row[3]) for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)]
    assert any("statements USING INTEGER PRIMARY KEY" in step for step in plan), plan
    assert not any("statements_by_valid" in step for step in plan), plan


@pytest.mark.parametrize("rank", RANGES)
@pytest.mark.parametrize("part", ["rest", "later", "last"])
def test_the_feed_is_read_by_index_in_its_order(graph: LedgerGraph, rank: Rank, part: str) -> None:
    values = {"namespace": "n", "transaction": 5, "row": 7, "limit": 101}
    query = getattr(RANGES[rank], part)
    engine = graph._engine
    with engine.connect() as connection:
        statement, parameters = sent(engine, lambda: connection.execute(query, values).all())[-1]
        plan = [str(row[3]) for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)]
    index = {Rank.CLOSED: "statements_by_closing (namespace=? AND tx_to", Rank.OPENED: "statements_by_opening (namespace=? AND tx_from"}
    assert len(plan) == 1 and index[rank] in plan[0], plan


@pytest.mark.parametrize(
    ("query", "index"),
    [
        (column_reading.OPENED, "statements_by_opening (namespace=? AND tx_from"),
        (column_reading.CLOSED, "statements_by_closing (namespace=? AND tx_to"),
        (column_reading.RENAMED, "things_by_tx_from (tx_from"),
    ],
)
def test_what_has_changed_since_is_read_by_index(graph: LedgerGraph, query: Any, index: str) -> None:
    given = {"namespace": "n", "before": 4, "transaction": 5}
    values = {name: given[name] for name in query.compile().params if name in given}
    engine = graph._engine
    with engine.connect() as connection:
        statement, parameters = sent(engine, lambda: connection.execute(query, values).all())[-1]
        plan = [str(row[3]) for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)]
    assert len(plan) == 1 and index in plan[0], plan
