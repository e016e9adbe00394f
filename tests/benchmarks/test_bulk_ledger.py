"""A bulk ledger is what the facade would have written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Table, select

from benchmarks import bulk_ledger
from benchmarks.bulk_ledger import EXTRACTOR, NAMESPACE, Facts, begun
from graph.ledger.database import open_database
from graph.ledger.schema import OPEN, claims, components, denotations, episodes, labels, settings, statements, things, transactions
from graph.opening import LEDGER
from graph.service import LedgerGraph
from graph.store.projection import GraphProjection
from ontology.loading import load_vocabulary

MANY = 1500


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch_module: pytest.MonkeyPatch) -> tuple[Path, Path]:
    monkeypatch_module.setattr(bulk_ledger, "PER_TRANSACTION", 200)
    bulk, told = tmp_path_factory.mktemp("bulk"), tmp_path_factory.mktemp("told")
    vocabulary = load_vocabulary()
    bulk_ledger.load(bulk, Facts(MANY), vocabulary=vocabulary)
    begun(told, vocabulary, 7)
    engine = open_database(f"sqlite:///{told / LEDGER}")
    now = [0]
    graph = LedgerGraph(
        engine,
        vocabulary,
        lambda vocabulary_at: GraphProjection(engine, told / "graph", "sql", vocabulary_at=vocabulary_at),
        clock=lambda: now[0],
    )
    for session in Facts(MANY).sessions():
        now[0] = session.at
        graph.record_extracted(NAMESPACE, session.episodes, extractor=EXTRACTOR)
    graph.close()
    return bulk, told


@pytest.fixture(scope="module")
def monkeypatch_module() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def rows(folder: Path, table: Table) -> list[dict[str, Any]]:
    engine = open_database(f"sqlite:///{folder / LEDGER}")
    with engine.connect() as connection:
        found = [dict(row._mapping) for row in connection.execute(select(table))]
    engine.dispose()
    for row in found:
        row.pop("row", None)
    return sorted(found, key=repr)


@pytest.mark.parametrize(
    "table",
    [claims, components, denotations, episodes, labels, settings, statements, things, transactions],
    ids=lambda table: str(table.name),
)
def test_a_bulk_ledger_has_the_rows_that_the_facade_writes(folders: tuple[Path, Path], table: Table) -> None:
    bulk, told = (rows(folder, table) for folder in folders)
    assert bulk == told


def test_a_bulk_ledger_has_what_recall_is_measured_on(folders: tuple[Path, Path]) -> None:
    found = rows(folders[0], statements)
    assert len(rows(folders[0], claims)) == MANY
    assert len({row["tx_from"] for row in found}) > 5
    assert sum(row["tx_to"] < OPEN for row in found) > MANY // 20
    assert sum(row["v_to"] < OPEN for row in found) > MANY // 5
    assert any(not row["polarity"] for row in found)
    assert any(row["inverse_slot"] for row in found)
    assert any(row["object_is_literal"] for row in found)
    assert len({row["type"] for row in rows(folders[0], things)}) > 5


def test_a_bulk_ledger_has_all_indexes(folders: tuple[Path, Path]) -> None:
    def indexes(folder: Path) -> list[Any]:
        engine = open_database(f"sqlite:///{folder / LEDGER}")
        with engine.connect() as connection:
            query = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY rowid"
            found = list(map(tuple, connection.exec_driver_sql(query)))
        engine.dispose()
        return found

    assert indexes(folders[0]) == indexes(folders[1])
