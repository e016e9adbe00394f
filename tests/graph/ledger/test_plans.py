"""What is asked about a thing is looked up by the thing: a walk over all statements in order of time would grow with the ledger.

What differs between two bases is looked up by what lies between them.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from graph.drift import Cause
from graph.facade import Snapshot
from graph.ledger.change_steps import RANGES, Rank
from graph.ledger.selection import Selection, Wanted
from graph.service import LedgerGraph
from graph.views import Basis, EntityRef, StatementFilter
from tests.graph.ledger.listening import sent
from tests.graph.ledger.saying import say, when


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


def plans(graph: LedgerGraph, bases: Sequence[Snapshot], filter: StatementFilter) -> list[str]:
    """How SQLite finds the rows of `statements` that a diff reads."""
    engine, (start, end) = graph._engine, bases
    asked = sent(engine, lambda: graph.diff(start, end, filter))
    with engine.connect() as connection:
        steps = [
            str(row[3])
            for statement, parameters in asked
            if statement.lstrip().startswith("SELECT")
            for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
        ]
    return [step for step in steps if " statements" in step]


@pytest.mark.parametrize("analysed", [False, True])
@pytest.mark.parametrize("cause", Cause)
def test_a_diff_reads_what_lies_between_its_bases(cause: Cause, analysed: bool, graph: LedgerGraph) -> None:
    for year in range(2000, 2020):
        say(graph, f"{year}-01-01", f"Ann works_at Acme{year}", f"Bob{year} likes tea", f"Ann friend_of Cy{year}")
    last = graph.snapshot("n").basis.transaction
    if analysed:
        with graph._engine.connect() as connection:
            connection.exec_driver_sql("ANALYZE")
    start = {"valid_at": when("2010-06-01"), "transaction": last - (1 if cause is Cause.BELIEF else 0)}
    end = {"valid_at": when("2010-06-01" if cause is Cause.BELIEF else "2011-06-01"), "transaction": last}
    bases = [graph.snapshot("n", **basis) for basis in (start, end)]
    columns = ("tx_from", "tx_to") if cause is Cause.BELIEF else ("v_from", "v_to")
    boundary = {f"(namespace=? AND {column}>? AND {column}<?)" for column in columns}
    whole = plans(graph, bases, StatementFilter())
    between = [step for step in whole if "namespace=?" in step]
    assert {part for part in boundary for step in between if part in step} == boundary, whole
    assert len(between) == 2 and not any("SCAN" in step for step in whole), whole
    ann = bases[1].key_of(EntityRef(name="Ann"))
    mine = plans(graph, bases, StatementFilter(subjects=(ann,)))
    assert mine and not any("namespace=?" in step or "SCAN" in step for step in mine), mine
