"""What Kuzu does that the engine must not let through: each of its pitfalls that a test can show."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from graph.store.feed import Feed
from graph.store.kuzu_engine import KuzuStore
from graph.store.kuzu_session import Session
from graph.store.port import AssertionRow, Batch, EntityRow, GraphBasis, GraphClosed, GraphUnreadable
from ontology.errors import DataFolderBusy
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST
from tests.graph.store.conftest import ENGINE, SETTINGS
from tests.graph.store.ledgers import LedgerBuilder, Proposition
from tests.graph.store.pictures import graph_statements, ledger_statements, picture

OpenGraph = Callable[..., KuzuStore]
YEAR_12000 = 316_516_204_800_000_000


def test_a_second_database_on_one_path_is_refused(open_graph: OpenGraph) -> None:
    store = open_graph()
    with pytest.raises(DataFolderBusy):
        open_graph()
    store.close()
    open_graph()


@pytest.mark.parametrize("copy_from", [1, 1_000])
def test_instants_survive_from_the_unbounded_past_to_the_year_12000(
    ledger: LedgerBuilder, feed: Feed, open_graph: OpenGraph, copy_from: int
) -> None:
    # With Kuzu's bit packing -2^63 beside small numbers comes back as 0, after a checkpoint.
    ledger.commit({Proposition("a", "knows", "b"): [(UNBOUNDED_PAST, 0)], Proposition("a", "knows", "c"): [(5, 7)]})
    ledger.commit({Proposition("a", "knows", "d"): [(YEAR_12000, UNBOUNDED_FUTURE - 1)]})
    store = open_graph(settings=SETTINGS.model_copy(update={"copy_from": copy_from}))
    for batch in feed.batches(0):
        store.apply(batch)
    store.checkpoint()
    assert graph_statements(store) == ledger_statements(ledger, 2)
    about = [store.statements_about(GraphBasis("default", at, 2), ledger.entity("a")) for at in (-(2**62), 6, YEAR_12000)]
    assert about == [[1], [2], [3]]


@pytest.mark.parametrize("copy_from", [1, 1_000])
def test_empty_lists_and_columns_of_nulls_are_no_error(open_graph: OpenGraph, copy_from: int) -> None:
    store = open_graph(settings=SETTINGS.model_copy(update={"copy_from": copy_from}))
    store.apply(Batch(0, 1, 10))
    store.apply(Batch(1, 2, 20, entities=[EntityRow("a", "default", None), EntityRow("b", "default", None)]))
    store.apply(Batch(2, 3, 30, entities=[EntityRow("c", "default", "xsd:date")]))
    assert store.query("MATCH (e:Entity) RETURN e.key, e.datatype ORDER BY e.key") == [["a", None], ["b", None], ["c", "xsd:date"]]
    assert store.mark().at == 30


@pytest.mark.parametrize("copy_from", [1, 1_000])
def test_a_batch_that_fails_leaves_nothing_and_the_next_goes_in(open_graph: OpenGraph, copy_from: int) -> None:
    store = open_graph(settings=SETTINGS.model_copy(update={"copy_from": copy_from}))
    before = picture(store)
    entities = [EntityRow("a", "default", None)]
    with pytest.raises(GraphUnreadable):
        store.apply(Batch(0, 1, 10, entities=[*entities, *entities]))
    with pytest.raises(GraphUnreadable):
        store.apply(Batch(0, 1, 10, entities=entities, assertions=[AssertionRow(1, 1, 1, 0, 1, 1, 2)]))
    with pytest.raises(GraphUnreadable):
        store.apply(Batch(0, 1, 10, closed=[(1, 1)]))
    assert picture(store) == before
    store.apply(Batch(0, 1, 10, entities=entities))
    assert store.counts()["Entity"] == 1


def test_an_error_costs_a_connection_not_the_process(tmp_path: Path) -> None:
    session = Session(tmp_path / f"graph.{ENGINE}", SETTINGS)
    for _ in range(3):
        with pytest.raises(RuntimeError), session.reading() as run:
            run.once("MATCH (n:Nowhere) RETURN n")
        # The BEGIN inside fails, for there is a transaction already.
        with pytest.raises(RuntimeError), session.writing() as run:
            run.once("BEGIN TRANSACTION")
        with session.writing() as run:
            run.once("CREATE NODE TABLE IF NOT EXISTS T(id INT64 PRIMARY KEY)")
        with session.reading() as run:
            assert run.once("MATCH (t:T) RETURN count(*)") == [[0]]
    session.close()


def test_writers_take_turns(history: LedgerBuilder, feed: Feed, open_graph: OpenGraph) -> None:
    store = open_graph()
    failures: list[Exception] = []

    def apply(number: int) -> None:
        batch = Batch(0, number, number, entities=[EntityRow(str(number), "default", None)])
        try:
            store.apply(batch)
        except Exception as failure:
            failures.append(failure)

    threads = [threading.Thread(target=apply, args=(number,)) for number in range(1, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # All began at 0: one was first, the others were refused.
    assert len(failures) == 4
    assert store.counts()["Entity"] == 1


def test_readers_see_whole_batches_while_the_graph_is_written_and_reopened_and_closed(
    history: LedgerBuilder, feed: Feed, open_graph: OpenGraph
) -> None:
    store = open_graph()
    store.apply(next(feed.batches(0, 5)))
    basis = GraphBasis("default", 4, 5)
    keys = [history.entity(f"n{number}") for number in range(6)]
    expected = [store.neighbors(basis, key, 2, 100) for key in keys]
    wrong: list[object] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            try:
                found = [store.neighbors(basis, key, 2, 100) for key in keys]
            except GraphClosed:
                return
            if found != expected:
                wrong.append(found)

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for first in (5, 15):
        store.apply(next(feed.batches(first, first + 10)))
        store.checkpoint()
    store.close()
    done.set()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_garbage_and_another_format_are_unreadable(tmp_path: Path, open_graph: OpenGraph, feed: Feed) -> None:
    (tmp_path / "garbage.kuzu").write_bytes(b"no graph at all" * 1_000)
    with pytest.raises(GraphUnreadable):
        open_graph("garbage.kuzu")
    session = Session(tmp_path / "foreign.kuzu", SETTINGS)
    with session.writing() as run:
        run.once("CREATE NODE TABLE T(id INT64 PRIMARY KEY)")
    session.close()
    with pytest.raises(GraphUnreadable):
        open_graph("foreign.kuzu")
