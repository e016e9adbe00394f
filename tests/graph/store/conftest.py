"""Fixtures: a random ledger, and graphs of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from graph.store.driver import Native
from graph.store.feed import Feed
from graph.store.kuzu_engine import KuzuStore
from graph.store.port import GraphStore
from graph.store.settings import GraphSettings
from graph.store.sql_engine import SqlStore
from tests.graph.store.ledgers import LedgerBuilder, make_database, random_history, vocabulary_at

ENGINE: Native = "ladybug" if os.environ.get("ERSTWHILE_TEST_ENGINE") == "ladybug" else "kuzu"
"""Which driver the suite runs over in this process: test_ladybug.py runs all of it again over the other."""

SETTINGS = GraphSettings(engine=ENGINE, walks="graph", buffer_pool_mb=64, load_pool_mb=64, max_size_mb=1024)
"""Small, so that many graphs fit side by side."""

Follow = Callable[[], GraphStore]


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[LedgerBuilder]:
    """An empty ledger with a secret."""
    engine = make_database(tmp_path / "ledger.db")
    yield LedgerBuilder(engine)
    engine.dispose()


@pytest.fixture
def history(ledger: LedgerBuilder) -> LedgerBuilder:
    """A ledger of 25 transactions."""
    random_history(ledger, Random(7), 25)
    return ledger


@pytest.fixture
def feed(ledger: LedgerBuilder) -> Feed:
    """The feed of the ledger; it reads whatever is there when it is asked."""
    return Feed(ledger.engine, vocabulary_at)


@pytest.fixture
def open_graph(tmp_path: Path, feed: Feed) -> Iterator[Callable[..., KuzuStore]]:
    """Opens graphs by name; closes them at the end."""
    opened: list[KuzuStore] = []

    def open_one(name: str = f"graph.{ENGINE}", settings: GraphSettings = SETTINGS) -> KuzuStore:
        opened.append(KuzuStore(tmp_path / name, feed.keys, settings))
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture(params=[ENGINE, "sql"])
def follow(request: pytest.FixtureRequest, ledger: LedgerBuilder, feed: Feed, open_graph: Callable[..., KuzuStore]) -> Follow:
    """A store of either engine, up with the ledger when it is called."""

    def make() -> GraphStore:
        store = open_graph() if request.param == ENGINE else SqlStore(ledger.engine)
        for batch in feed.batches(0):
            store.apply(batch)
        return store

    return make
