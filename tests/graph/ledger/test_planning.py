"""SQLite's plans are the same whatever the ledger holds, and look up by key what is asked for by key."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, event

from graph.ledger.database import open_database
from graph.ledger.planning import statistics
from graph.service import LedgerGraph
from graph.store.port import GraphBasis
from graph.store.sql_engine import SqlStore
from graph.views import EntityRef, StatementFilter, Want
from ontology.vocabulary import Vocabulary
from tests.graph.ledger.conftest import EPOCH, NoProjection
from tests.graph.ledger.saying import ALWAYS, ask, say

_KEYED = re.compile(r'\b(statements|claims|things|episodes|components|denotations)\."?(\w+)"? (?:= \?|IN \(\?)')
_KEYS = {"subject", "object", "base", "proposition", "slot", "key", "episode", "id", "member", "root"}
_WALK = re.compile(
    r"(?:SCAN (\w+)\b(?! USING INDEX \w+_of_)|SEARCH (\w+) USING (?:COVERING )?INDEX \w+ \((?:namespace=\?|tx_to[=><]\?|tx_from[><]\?).*\))"
)


def _asked(engine: Engine, vocabulary: Vocabulary) -> list[str]:
    """All that is read and written over a ledger with joins, in the database's words."""
    found: set[str] = set()

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        found.add(statement)

    event.listen(engine, "before_cursor_execute", note)
    ticks = iter(range(EPOCH, EPOCH + 10**12, 1_000_000))
    graph = LedgerGraph(engine, vocabulary, lambda _: NoProjection(), clock=lambda: next(ticks))
    say(graph, "2024-01-01", "Ann works_at Acme", "Ann lives_in Bonn", "Ben works_at Acme", "Ben likes tea")
    say(graph, "2024-01-02", "Ann also_known_as Anna", "Anna works_at Beta", external_id="gone")
    say(graph, "2024-01-03", "not Ben likes tea", "Anna lives_in Rome", "Cara likes tea")
    graph.retract("n", source="chat", external_id="gone", reason="wrong")
    say(graph, "2024-01-04", "Ann also_known_as Annie", "Annie works_at Gamma", "Dora works_at Gamma")
    snapshot = graph.snapshot("n")
    keys = tuple(snapshot.key_of(EntityRef(name=name)) for name in ("Ann", "Ben", "Cara", "Dora", "Acme", "Gamma"))
    for wanted in (StatementFilter(subjects=keys), StatementFilter(objects=keys), ALWAYS):
        snapshot.statements(wanted, first=50, want=frozenset(Want))
    snapshot.timeline(EntityRef(name="Annie"), "works_at")
    ask(graph, "Annie works_at Gamma", "2024-06-01")
    store = SqlStore(engine)
    basis = GraphBasis("n", snapshot.basis.valid_at, snapshot.basis.transaction)
    assert len(store.neighbors(basis, keys[0], 3, 100)) > 1
    store.statements_about(basis, keys[0])
    store.paths(basis, keys[0], keys[1], 4, 5)
    graph.close()
    event.remove(engine, "before_cursor_execute", note)
    return sorted(statement for statement in found if re.match(r"(SELECT|UPDATE|DELETE)", statement) and _keyed(statement))


def _keyed(statement: str) -> set[str]:
    """Tables whose rows a statement asks for by key."""
    return {table for table, column in _KEYED.findall(statement) if column in _KEYS}


def _with_keys(statement: str, count: int) -> str:
    """The same statement with so many values in each list."""
    return re.sub(r"IN \(\?(, \?)*\)", f"IN ({', '.join('?' * count)})", statement)


def _plan(engine: Engine, statement: str) -> list[str]:
    with engine.connect() as connection:
        rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", (None,) * statement.count("?")).all()
    return [str(row[3]) for row in rows]


def _walked(statement: str, plan: Sequence[str]) -> set[str]:
    """Tables that are asked by key and read by namespace or time, or whole."""
    found = (match for step in plan for match in _WALK.finditer(step))
    return {one or other for one, other in (match.groups() for match in found)} & _keyed(statement)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory, empty_ledger: Path) -> Iterator[Path]:
    """A file with the newest schema."""
    path = tmp_path_factory.mktemp("planning") / "ledger.db"
    shutil.copy(empty_ledger, path)
    yield path


@pytest.fixture(scope="module")
def asked(ledger: Path, vocabulary: Vocabulary) -> list[str]:
    """What was asked of it by key, once for each form."""
    engine = open_database(f"sqlite:///{ledger}")
    found = sorted({_with_keys(statement, 1) for statement in _asked(engine, vocabulary)})
    engine.dispose()
    assert len(found) > 30
    return found


@pytest.mark.parametrize("keys", [1, 5, 500])
def test_what_is_asked_by_key_is_found_by_key(ledger: Path, asked: list[str], keys: int) -> None:
    engine = open_database(f"sqlite:///{ledger}")
    walked = {}
    for statement in (_with_keys(one, keys) for one in asked):
        plan = _plan(engine, statement)
        if _walked(statement, plan):
            walked[statement] = plan
    engine.dispose()
    assert walked == {}


def test_without_the_statistics_it_is_not(ledger: Path, asked: list[str]) -> None:
    engine = open_database(f"sqlite:///{ledger}")
    with engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM sqlite_stat1")
        connection.exec_driver_sql("ANALYZE sqlite_master")
    engine.dispose()
    bare = create_engine(f"sqlite:///{ledger}")
    several = [_with_keys(one, 5) for one in asked]
    assert any(_walked(one, _plan(bare, one)) for one in several)
    bare.dispose()


def test_statistics_of_the_data_do_not_outlive_opening(ledger: Path, asked: list[str]) -> None:
    several = [_with_keys(one, 5) for one in asked]
    engine = open_database(f"sqlite:///{ledger}")
    before = [_plan(engine, one) for one in several]
    with engine.begin() as connection:
        connection.exec_driver_sql("ANALYZE")
    engine.dispose()
    engine = open_database(f"sqlite:///{ledger}")
    with engine.connect() as connection:
        found = connection.exec_driver_sql("SELECT tbl, idx, stat FROM sqlite_stat1").all()
    assert {tuple(row) for row in found} == statistics()
    assert [_plan(engine, one) for one in several] == before
    engine.dispose()


def test_the_connection_that_wrote_the_statistics_plans_by_them(tmp_path: Path) -> None:
    engine = open_database(f"sqlite:///{tmp_path / 'new.db'}")
    keys = ", ".join("?" * 50)
    plan = _plan(engine, f"SELECT row FROM claims WHERE episode IN ({keys}) AND tx_to = ?")
    assert plan == ["SEARCH claims USING INDEX claims_by_episode (episode=?)"]
    engine.dispose()


def test_one_namespace_among_many_is_read_by_its_index(ledger: Path) -> None:
    engine = open_database(f"sqlite:///{ledger}")
    (step, *_) = _plan(engine, "SELECT object FROM statements WHERE namespace = ? AND tx_from <= ? AND tx_to > ?")
    assert step.startswith("SEARCH statements USING INDEX statements_by_"), step
    assert "namespace=?" in step
    (step, *_) = _plan(engine, "SELECT base FROM statements WHERE v_from = ? AND base IN (?, ?)")
    assert "ANY(" not in step
    engine.dispose()
