"""Graphs with a recall index."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from graph.ledger.database import open_database
from graph.service import LedgerGraph
from ontology.loading import load_vocabulary
from ontology.vocabulary import Vocabulary
from tests.graph.recall.worlds import copied, open_world

SPEC = Path(__file__).parents[2] / "spec"


@pytest.fixture(scope="session")
def vocabulary() -> Vocabulary:
    return load_vocabulary(SPEC / "vectors_ontology.yaml")


@pytest.fixture(scope="session")
def empty_ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger file with the newest schema and nothing in it, to copy."""
    path = tmp_path_factory.mktemp("recall-ledger") / "empty.db"
    open_database(f"sqlite:///{path}").dispose()
    return path


@pytest.fixture
def open_graph(tmp_path: Path, vocabulary: Vocabulary, empty_ledger: Path) -> Iterator[Callable[..., LedgerGraph]]:
    """Opens (again) the graph of the test."""
    opened: list[LedgerGraph] = []
    copied(empty_ledger, tmp_path)

    def build(*, vectors: bool = True, batch_rows: int = 20_000) -> LedgerGraph:
        opened.append(open_world(tmp_path, vocabulary, vectors=vectors, batch_rows=batch_rows))
        return opened[-1]

    yield build
    for graph in opened:
        graph.close()


@pytest.fixture
def graph(open_graph: Callable[..., LedgerGraph]) -> LedgerGraph:
    return open_graph()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, vocabulary: Vocabulary, empty_ledger: Path) -> Iterator[LedgerGraph]:
    """One graph for all examples of a module, each in a namespace of its own."""
    graph = open_world(copied(empty_ledger, tmp_path_factory.mktemp("shared")), vocabulary)
    yield graph
    graph.close()
