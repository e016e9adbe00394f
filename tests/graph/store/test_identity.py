"""Entities with several keys, in both engines: who is who as of the basis' transaction."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graph.store.feed import Feed
from graph.store.kuzu_engine import KuzuStore
from graph.store.port import GraphBasis, GraphStore, MembershipRow
from graph.store.sql_engine import SqlStore
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST
from tests.graph.store.ledgers import LedgerBuilder, Proposition

ALWAYS = [(UNBOUNDED_PAST, UNBOUNDED_FUTURE)]
Stores = Callable[[], list[GraphStore]]


@pytest.fixture
def stores(ledger: LedgerBuilder, feed: Feed, open_graph: Callable[..., KuzuStore]) -> Stores:
    """Both engines, up with the ledger when they are asked for."""
    kuzu: list[KuzuStore] = []

    def make() -> list[GraphStore]:
        kuzu.extend([open_graph()] if not kuzu else [])
        for batch in feed.batches(kuzu[0].watermark()):
            kuzu[0].apply(batch)
        return [*kuzu, SqlStore(ledger.engine)]

    return make


def knows(*pairs: str | tuple[str, str]) -> dict[Proposition, list[tuple[int, int]]]:
    """Statements that hold always: "ab" says that a knows b."""
    return {Proposition(subject, "knows", value): ALWAYS for subject, value in map(tuple, pairs)}


def test_a_walk_goes_over_entities_by_whatever_names_and_as_of_the_transaction(stores: Stores, ledger: LedgerBuilder) -> None:
    ledger.commit(knows("ab", "cd", "ef", "bc"))
    ledger.identify("bc", "de")
    ledger.identify("de")

    def near(store: GraphStore, name: str, transaction: int, depth: int = 3) -> list[tuple[str, int]]:
        return store.neighbors(GraphBasis("default", 0, transaction), ledger.entity(name), depth, 9)

    def roots(*groups: str, hops: int) -> list[tuple[str, int]]:
        return sorted((min(map(ledger.entity, group)), hops) for group in groups)

    for store in stores():
        assert near(store, "a", 1) == [*roots("b", hops=1), *roots("c", hops=2), *roots("d", hops=3)]
        # What joins b to c leads nowhere now, and what e knows is what d knows.
        assert near(store, "a", 2) == [*roots("bc", hops=1), *roots("de", hops=2), *roots("f", hops=3)]
        assert near(store, "b", 2) == near(store, "c", 2) == [*roots("a", "de", hops=1), *roots("f", hops=2)]
        assert near(store, "a", 3) == [*roots("b", hops=1), *roots("c", hops=2), *roots("de", hops=3)]
        assert near(store, "d", 3, 1) == near(store, "e", 3, 1) == roots("c", "f", hops=1)
        assert near(store, "f", 2, 2) == [*roots("de", hops=1), *roots("bc", hops=2)]


def test_statements_of_all_keys_are_the_entitys(stores: Stores, ledger: LedgerBuilder) -> None:
    acme, vim = Proposition("Bob", "works_at", "Acme"), Proposition("Robert", "uses", "vim")
    ledger.commit({acme: ALWAYS, vim: ALWAYS, **knows(("Bob", "Robert"))})
    ledger.identify(["Bob", "Robert", "Nobody has said this name"])
    ledger.identify()
    for store in stores():
        for transaction, asked in ((1, ["Bob"]), (2, ["Bob", "Robert", "Nobody has said this name"]), (3, ["Bob"])):
            for name in asked:
                key, basis = ledger.entity(name), GraphBasis("default", 0, transaction)
                assert store.statements_about(basis, key) == ([1, 2, 3] if transaction == 2 else [1, 3])
                assert store.statements_in_slot(basis, key, "works_at") == [1]
                assert store.statements_in_slot(basis, key, "uses") == ([2] if transaction == 2 else [])
                assert store.statements_in_slot(basis, key, "uses", "staging") == []


def test_a_wide_level_is_walked_as_a_narrow_one(stores: Stores, ledger: LedgerBuilder) -> None:
    ledger.commit(knows(*[("hub", f"spoke{number}") for number in range(20)], *[(f"other{n}", f"rim{n}") for n in range(20)]))
    pairs = [(f"spoke{number}", f"other{number}") for number in range(20)]
    ledger.identify(*pairs)
    for store in stores():
        found = store.neighbors(GraphBasis("default", 0, 2), ledger.entity("hub"), 2, 100)
        assert found[:20] == sorted((min(map(ledger.entity, pair)), 1) for pair in pairs)
        assert found[20:] == sorted((ledger.entity(f"rim{number}"), 2) for number in range(20))


def test_a_join_in_one_namespace_is_none_in_another(stores: Stores, ledger: LedgerBuilder) -> None:
    ledger.commit(knows("ab"))
    ledger.identify("ac")
    for store in stores():
        assert store.neighbors(GraphBasis("elsewhere", 0, 2), ledger.entity("a"), 1, 9) == []


def test_a_graph_that_is_opened_again_knows_who_is_who(ledger: LedgerBuilder, feed: Feed, open_graph: Callable[..., KuzuStore]) -> None:
    ledger.commit(knows("ab"))
    ledger.identify("ac")
    store = open_graph()
    store.load(feed.whole(2))
    store.close()
    assert open_graph().neighbors(GraphBasis("default", 0, 2), ledger.entity("c"), 1, 9) == [(ledger.entity("b"), 1)]


def test_the_feed_tells_each_membership_once_and_its_end_in_a_later_batch(ledger: LedgerBuilder, feed: Feed) -> None:
    ledger.commit(knows("ab"))
    ledger.identify("ac")
    ledger.identify()
    root = min(map(ledger.entity, "ac"))

    def rows(tx_to: int) -> list[MembershipRow]:
        return [MembershipRow(ledger.entity(name), root, "default", 2, tx_to) for name in "ac"]

    (whole,) = feed.batches(0)
    assert (whole.joined, whole.parted) == (rows(3), [])
    first, second = next(feed.batches(0, 2)), next(feed.batches(2))
    assert [row.tx_to for row in first.joined] == [UNBOUNDED_FUTURE] * 2
    assert (second.joined, second.parted) == ([], rows(3))
    # A key that nothing names is an entity too, from the first transaction on that joins it.
    assert [row.key for row in next(feed.batches(1, 2)).entities] == [ledger.entity("c")]
    ledger.commit(knows("cb"))
    assert next(feed.batches(3)).entities == []
