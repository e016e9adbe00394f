"""One contract over both engines: the ledger's tables are the oracle of the graph."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph.store.feed import Feed
from graph.store.kuzu_engine import KuzuStore
from graph.store.port import Batch, BatchRefused, GraphBasis
from graph.store.sql_engine import SqlStore
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST
from tests.graph.store.conftest import SETTINGS, Follow
from tests.graph.store.ledgers import LedgerBuilder, Proposition, make_database, random_history, vocabulary_at
from tests.graph.store.pictures import answers, graph_statements, ledger_statements, picture

ALWAYS = [(UNBOUNDED_PAST, UNBOUNDED_FUTURE)]


def test_a_statement_is_found_where_its_rectangle_is_on_both_axes(follow: Follow, ledger: LedgerBuilder) -> None:
    fact = Proposition("Ann", "works_at", "Acme")
    ledger.commit({fact: [(0, UNBOUNDED_FUTURE)]})
    ledger.commit({fact: [(0, 5)], Proposition("Ann", "works_at", "Initech"): [(5, UNBOUNDED_FUTURE)]})
    store = follow()
    ann = ledger.entity("Ann")

    def found(valid_at: int, transaction: int) -> list[int]:
        return store.statements_in_slot(GraphBasis("default", valid_at, transaction), ann, "works_at")

    assert [found(-1, 2), found(0, 2), found(4, 2), found(5, 2)] == [[], [2], [2], [3]]
    assert [found(0, 0), found(0, 1), found(5, 1)] == [[], [1], [1]]
    assert store.statements_in_slot(GraphBasis("elsewhere", 0, 2), ann, "works_at") == []


def test_neighbours_come_nearest_first_and_then_by_key(follow: Follow, ledger: LedgerBuilder) -> None:
    for subject, value in (("a", "b"), ("c", "a"), ("b", "d"), ("d", "e"), ("e", "a2")):
        ledger.commit({Proposition(subject, "knows", value): ALWAYS})
    store = follow()
    basis = GraphBasis("default", 0, 5)
    key = ledger.entity
    near = sorted((key(name), 1) for name in "bc")
    assert store.neighbors(basis, key("a"), 1, 9) == near
    assert store.neighbors(basis, key("a"), 3, 9) == [*near, (key("d"), 2), (key("e"), 3)]
    assert store.neighbors(basis, key("a"), 3, 3) == [*near, (key("d"), 2)]


def test_denials_and_literals_make_no_neighbours(follow: Follow, ledger: LedgerBuilder) -> None:
    ledger.commit({Proposition("Ann", "age", "31"): ALWAYS, Proposition("Ann", "knows", "Bo", False): ALWAYS})
    ledger.commit({Proposition("Bo", "age", "31"): ALWAYS})
    store = follow()
    basis = GraphBasis("default", 0, 2)
    assert store.neighbors(basis, ledger.entity("Ann"), 3, 9) == []
    assert store.statements_about(basis, ledger.entity("Ann")) == [1, 2]


def test_what_is_unknown_or_of_another_namespace_is_empty(follow: Follow, history: LedgerBuilder) -> None:
    store = follow()
    for basis, key in ((GraphBasis("default", 3, 25), "0" * 32), (GraphBasis("elsewhere", 3, 25), history.entity("n1"))):
        assert store.neighbors(basis, key, 3, 9) == []
        assert store.statements_about(basis, key) == store.statements_in_slot(basis, key, "works_at") == []


def test_an_entity_that_knows_itself_is_no_neighbour_and_its_statement_counts_once(follow: Follow, ledger: LedgerBuilder) -> None:
    ledger.commit({Proposition("Ann", "knows", "Ann"): ALWAYS})
    store = follow()
    basis = GraphBasis("default", 0, 1)
    assert store.neighbors(basis, ledger.entity("Ann"), 2, 9) == []
    assert store.statements_about(basis, ledger.entity("Ann")) == [1]


def test_a_wide_level_is_walked_as_a_narrow_one(follow: Follow, ledger: LedgerBuilder) -> None:
    ledger.commit({Proposition("hub", "knows", f"spoke{number}"): ALWAYS for number in range(20)})
    ledger.commit({Proposition(f"spoke{number}", "knows", f"rim{number}"): ALWAYS for number in range(20)})
    found = follow().neighbors(GraphBasis("default", 0, 2), ledger.entity("hub"), 2, 100)
    assert [hops for _, hops in found] == [1] * 20 + [2] * 20
    assert found[20:] == sorted((ledger.entity(f"rim{number}"), 2) for number in range(20))


def test_counts_agree(history: LedgerBuilder, feed: Feed, open_graph: Callable[..., KuzuStore]) -> None:
    store = open_graph()
    for batch in feed.batches(0):
        store.apply(batch)
    expected = SqlStore(history.engine).counts()
    assert {name: store.counts()[name] for name in expected} == expected
    assert SqlStore(history.engine).watermark() == store.watermark() == 25


def test_a_batch_is_applied_once(history: LedgerBuilder, feed: Feed, open_graph: Callable[..., KuzuStore]) -> None:
    store = open_graph()
    first, second = next(feed.batches(0, 10)), next(feed.batches(10))
    with pytest.raises(BatchRefused):
        store.apply(second)
    store.apply(first)
    before = picture(store)
    with pytest.raises(BatchRefused):
        store.apply(first)
    assert picture(store) == before
    store.apply(second)
    with pytest.raises(BatchRefused):
        SqlStore(history.engine).apply(Batch(25, 26, 0))


def test_reopening_changes_nothing(history: LedgerBuilder, feed: Feed, open_graph: Callable[..., KuzuStore]) -> None:
    store = open_graph()
    store.apply(next(feed.batches(0, 20)))
    before = picture(store)
    store.checkpoint()
    assert picture(store) == before
    store.close()
    again = open_graph()
    assert picture(again) == before
    assert again.mark() == store.mark()


@given(seed=st.integers(0, 2**32), length=st.integers(8, 20), cuts=st.sets(st.integers(1, 16), max_size=3), by_copy=st.booleans())
@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_history_in_any_batches_gives_one_graph_of_the_ledger(seed: int, length: int, cuts: set[int], by_copy: bool) -> None:
    with TemporaryDirectory() as folder:
        engine = make_database(Path(folder) / "ledger.db")
        ledger = LedgerBuilder(engine)
        # The graph of the first pieces is made while the ledger goes on: it may not see what comes later.
        random = Random(seed)
        store = KuzuStore(Path(folder) / "pieces.kuzu", Feed(engine, vocabulary_at).keys, SETTINGS)
        whole = KuzuStore(Path(folder) / "whole.kuzu", Feed(engine, vocabulary_at).keys, SETTINGS)
        try:
            for step in range(1, length + 1):
                random_history(ledger, random, 1, joins=0.25)
                if step in cuts:
                    for batch in Feed(engine, vocabulary_at, batch_rows=3).batches(store.watermark()):
                        store.apply(batch)
            for batch in Feed(engine, vocabulary_at).batches(store.watermark()):
                store.apply(batch)
            feed = Feed(engine, vocabulary_at, load_rows=5 if by_copy else 50)
            if by_copy:
                whole.load(feed.whole(feed.last()))
            else:
                for batch in feed.batches(0):
                    whole.apply(batch)
            assert picture(store) == picture(whole)
            assert graph_statements(store) == ledger_statements(ledger, length)
            bases = [(random.randint(-1, 10), random.randint(0, length)) for _ in range(2)]
            assert answers(store, ledger, bases) == answers(SqlStore(engine), ledger, bases)
        finally:
            store.close()
            whole.close()
            engine.dispose()


def test_copy_and_prepared_statements_write_the_same(history: LedgerBuilder, feed: Feed, open_graph: Callable[..., KuzuStore]) -> None:
    by_copy = open_graph("copy.kuzu", SETTINGS.model_copy(update={"copy_from": 1}))
    by_statement = open_graph("statement.kuzu")
    for first, last in ((0, 12), (12, 25)):
        by_copy.apply(next(feed.batches(first, last)))
        by_statement.apply(next(feed.batches(first, last)))
    assert picture(by_copy) == picture(by_statement)
