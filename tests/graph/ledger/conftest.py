"""A graph on a fresh ledger, with a clock that tests can read."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from graph.ledger.database import open_database
from graph.service import LedgerGraph
from graph.store.pattern_plan import Found, Plan
from graph.store.port import GraphBasis
from graph.views import ComponentHealth
from ontology.loading import load_vocabulary
from ontology.vocabulary import Vocabulary

SPEC = Path(__file__).parents[2] / "spec"
EPOCH = 1_767_225_600_000_000
"""2026-01-01: the first present of the tests' clock, which goes on by a second a look."""


class NoProjection:
    """A projection that holds nothing: the tests here read the ledger alone."""

    def neighbors(self, basis: GraphBasis, entity: str, depth: int, limit: int) -> list[tuple[str, int]]:
        return []

    def match(self, basis: GraphBasis, plan: Plan, first: int, after: Sequence[Any] | None = None) -> list[Found]:
        return []

    def paths(self, basis: GraphBasis, start: str, end: str, max_hops: int, limit: int) -> list[list[int]]:
        return []

    def notify(self, transaction: int) -> None:
        return None

    @property
    def watermark(self) -> int:
        return 0

    def wait_for(self, transaction: int, timeout: float) -> bool:
        return True

    def health(self) -> ComponentHealth:
        return ComponentHealth("graph", True)

    def rebuild(self) -> None:
        return None

    def close(self) -> None:
        return None


@pytest.fixture(scope="session")
def vocabulary() -> Vocabulary:
    return load_vocabulary(SPEC / "vectors_ontology.yaml")


@pytest.fixture(scope="session")
def empty_ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger file with the newest schema and nothing in it, to copy: migrating anew would take most of a test's time."""
    path = tmp_path_factory.mktemp("ledger") / "empty.db"
    open_database(f"sqlite:///{path}").dispose()
    return path


@pytest.fixture
def open_graph(tmp_path: Path, vocabulary: Vocabulary, empty_ledger: Path) -> Iterator[Callable[..., LedgerGraph]]:
    """Opens (again) the ledger of the test."""
    opened: list[LedgerGraph] = []
    ticks = count(EPOCH, 1_000_000)
    path = tmp_path / "ledger.db"
    shutil.copy(empty_ledger, path)

    def build(words: Vocabulary = vocabulary) -> LedgerGraph:
        engine = open_database(f"sqlite:///{path}")
        opened.append(LedgerGraph(engine, words, lambda _: NoProjection(), clock=lambda: next(ticks)))
        return opened[-1]

    yield build
    for graph in opened:
        graph.close()


@pytest.fixture
def graph(open_graph: Callable[..., LedgerGraph]) -> LedgerGraph:
    return open_graph()


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory, vocabulary: Vocabulary, empty_ledger: Path) -> Iterator[LedgerGraph]:
    """One ledger for all examples, each in a namespace of its own; it need not survive a power cut."""
    path = tmp_path_factory.mktemp("properties") / "ledger.db"
    shutil.copy(empty_ledger, path)
    engine = open_database(f"sqlite:///{path}")
    event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA synchronous=OFF"))
    engine.dispose()
    ticks = count(EPOCH, 1_000_000)
    graph = LedgerGraph(engine, vocabulary, lambda _: NoProjection(), clock=lambda: next(ticks))
    yield graph
    graph.close()
