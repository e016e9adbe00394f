"""The projection: it follows, notices what it cannot follow, rebuilds, and is right meanwhile."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import cast

import pytest
from sqlalchemy import delete, update

from graph.ledger.schema import settings, statements, transactions
from graph.store.feed import Feed
from graph.store.files import GraphFiles
from graph.store.kuzu_engine import KuzuStore
from graph.store.kuzu_session import Session
from graph.store.pattern_plan import Known, Plan, Step, Variable
from graph.store.port import GraphBasis, GraphClosed, GraphUnreadable
from graph.store.projection import GraphProjection
from graph.store.settings import GraphSettings, Kind
from ontology.errors import DataFolderBusy
from tests.graph.store.conftest import ENGINE, SETTINGS
from tests.graph.store.ledgers import LedgerBuilder, Proposition, random_history, vocabulary_at

BASIS = GraphBasis("default", 4, 25)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the graph's files go."""
    return tmp_path / "graph"


def opened(ledger: LedgerBuilder, folder: Path, kind: Kind = ENGINE) -> GraphProjection:
    """A projection of the ledger."""
    return GraphProjection(ledger.engine, folder, kind, settings=SETTINGS, vocabulary_at=vocabulary_at)


@pytest.fixture
def projection(history: LedgerBuilder, folder: Path) -> Iterator[GraphProjection]:
    """One that has caught up with 25 transactions."""
    found = opened(history, folder)
    found.catch_up()
    yield found
    found.close()


def about(key: str) -> Plan:
    """Who knows an entity."""
    return Plan((Step(Variable("x"), "knows", Known(key)),))


def check(projection: GraphProjection, ledger: LedgerBuilder) -> None:
    """It is well, at the ledger's end, and says what the ledger says."""
    reference = opened(ledger, Path(), "sql")
    health = projection.health()
    assert (health.name, health.ok, health.degraded) == ("graph", True, None)
    assert projection.watermark == reference.watermark
    basis = GraphBasis("default", 4, projection.watermark)
    for number in range(6):
        key = ledger.entity(f"n{number}")
        assert projection.neighbors(basis, key, 2) == reference.neighbors(basis, key, 2)
        assert projection.match(basis, about(key), 50) == reference.match(basis, about(key), 50)
        assert projection.statements_about(basis, key) == reference.statements_about(basis, key)
        assert projection.statements_in_slot(basis, key, "works_at") == reference.statements_in_slot(basis, key, "works_at")


def test_it_follows_what_it_is_told_of(projection: GraphProjection, history: LedgerBuilder) -> None:
    check(projection, history)
    random_history(history, Random(3), 4)
    projection.notify(history.number)
    assert projection.wait_for(history.number, 10)
    check(projection, history)
    assert not projection.wait_for(history.number + 1, 0.01)


def test_a_basis_that_the_graph_has_not_reached_is_answered_by_the_ledger(projection: GraphProjection, history: LedgerBuilder) -> None:
    history.commit({Proposition("n1", "knows", "somebody new"): [(0, 9)]})
    found = projection.neighbors(GraphBasis("default", 4, history.number), history.entity("n1"))
    assert (history.entity("somebody new"), 1) in found
    matches = projection.match(GraphBasis("default", 4, 26), about(history.entity("somebody new")), 50)
    assert [match.keys for match in matches] == [(history.entity("n1"),)]
    assert projection.paths(BASIS, history.entity("n1"), history.entity("somebody new"), 3, 9) == []
    assert "1 transactions behind" in (projection.health().degraded or "")


@pytest.mark.parametrize(
    ("chosen", "asked"),
    [({}, set()), ({"walks": "graph"}, {"neighbors", "match", "paths"})],
)
def test_the_settings_say_what_the_graph_is_asked(
    chosen: dict[str, str], asked: set[str], history: LedgerBuilder, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: set[str] = set()
    for name in ("neighbors", "match", "paths"):

        def ask(*_: object, name: str = name) -> None:
            found.add(name)
            raise GraphClosed

        monkeypatch.setattr(KuzuStore, name, ask)
    settings = GraphSettings(engine=ENGINE, buffer_pool_mb=64, max_size_mb=1024).model_copy(update=chosen)
    projection = GraphProjection(history.engine, folder, settings=settings, vocabulary_at=vocabulary_at)
    projection.catch_up()
    key, reference = history.entity("n1"), opened(history, Path(), "sql")
    # Whatever the graph is asked, it is closed here, and the ledger answers.
    assert projection.neighbors(BASIS, key) == reference.neighbors(BASIS, key)
    assert projection.match(BASIS, about(key), 9) == reference.match(BASIS, about(key), 9)
    assert projection.paths(BASIS, key, history.entity("n2"), 3, 9) == reference.paths(BASIS, key, history.entity("n2"), 3, 9)
    assert found == asked
    projection.close()


def test_it_goes_on_where_it_was(history: LedgerBuilder, folder: Path) -> None:
    first = opened(history, folder)
    first.catch_up()
    first.close()
    random_history(history, Random(4), 3)
    second = opened(history, folder)
    second.catch_up()
    check(second, history)
    second.close()
    assert not (folder / f"set-aside.{ENGINE}").exists()


def test_two_projections_of_one_folder_are_refused(projection: GraphProjection, history: LedgerBuilder, folder: Path) -> None:
    with pytest.raises(DataFolderBusy):
        opened(history, folder)
    check(projection, history)


def _garbage(ledger: LedgerBuilder, folder: Path) -> None:
    (folder / f"graph.{ENGINE}").write_bytes(b"no graph" * 5_000)


def _cut_short(ledger: LedgerBuilder, folder: Path) -> None:
    data = (folder / f"graph.{ENGINE}").read_bytes()
    (folder / f"graph.{ENGINE}").write_bytes(data[: len(data) // 2])


def _ahead(ledger: LedgerBuilder, folder: Path) -> None:
    with ledger.engine.begin() as connection:
        connection.execute(delete(transactions).where(transactions.c.number > 20))
        connection.execute(delete(statements).where(statements.c.tx_from > 20))
        connection.execute(update(statements).where(statements.c.tx_to > 20).values(tx_to=2**63 - 1))


def _another_history(ledger: LedgerBuilder, folder: Path) -> None:
    with ledger.engine.begin() as connection:
        connection.execute(update(transactions).where(transactions.c.number == 25).values(at=transactions.c.at + 1))


def _another_ledger(ledger: LedgerBuilder, folder: Path) -> None:
    with ledger.engine.begin() as connection:
        connection.execute(update(settings).values(value=b"another secret"))


def _earlier_format(ledger: LedgerBuilder, folder: Path) -> None:
    session = Session(folder / f"graph.{ENGINE}", SETTINGS)
    with session.writing() as run:
        run.once("MATCH (m:Meta) SET m.format = m.format - 1")
    session.close()


@pytest.mark.parametrize(
    "spoil",
    [
        _garbage,
        _earlier_format,
        _ahead,
        _another_ledger,
        pytest.param(_cut_short, marks=pytest.mark.deep),
        pytest.param(_another_history, marks=pytest.mark.deep),
    ],
)
def test_it_rebuilds_what_is_not_a_graph_of_this_ledger(
    history: LedgerBuilder, folder: Path, spoil: object, caplog: pytest.LogCaptureFixture
) -> None:
    first = opened(history, folder)
    first.catch_up()
    first.close()
    assert callable(spoil)
    spoil(history, folder)
    second = opened(history, folder)
    try:
        second.catch_up()
        check(second, history)
    finally:
        second.close()
    assert "is rebuilt from the ledger" in caplog.text
    assert (folder / f"set-aside.{ENGINE}").exists()
    assert not (folder / f"building.{ENGINE}").exists()


def test_a_graph_that_breaks_while_it_is_read_is_replaced_and_the_ledger_answers(
    projection: GraphProjection, history: LedgerBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    rebuilding, go_on = threading.Event(), threading.Event()
    whole = Feed.whole

    def broken(*_: object) -> list[tuple[str, int]]:
        raise GraphUnreadable("a page is torn")

    def slow(feed: Feed, upto: int) -> Iterator[object]:
        rebuilding.set()
        go_on.wait(10)
        yield from whole(feed, upto)

    expected = projection.neighbors(BASIS, history.entity("n1"), 2)
    with monkeypatch.context() as patched:
        patched.setattr(KuzuStore, "neighbors", broken)
        patched.setattr(Feed, "whole", slow)
        assert projection.neighbors(BASIS, history.entity("n1"), 2) == expected
        assert rebuilding.wait(10)
        health = projection.health()
        assert not health.ok
        assert "a page is torn" in (health.degraded or "")
        assert projection.wait_for(25, 1)
        assert projection.neighbors(BASIS, history.entity("n1"), 2) == expected
        go_on.set()
    projection.catch_up()
    check(projection, history)


def test_a_failure_to_rebuild_is_told_and_tried_again(
    history: LedgerBuilder, folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tries = threading.Semaphore(0)

    def full(*_: object) -> None:
        tries.release()
        raise OSError("no space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(KuzuStore, "apply", full)
        projection = opened(history, folder)
        assert tries.acquire(timeout=10)
        assert tries.acquire(timeout=10)
        assert "no space left" in caplog.text
    projection.catch_up()
    check(projection, history)
    projection.close()


def test_a_graph_that_was_being_copied_into_when_the_process_died_is_not_believed(history: LedgerBuilder, folder: Path) -> None:
    first = opened(history, folder)
    first.catch_up()
    first.close()
    (folder / f"graph.{ENGINE}.unfinished").touch()
    second = opened(history, folder)
    second.catch_up()
    check(second, history)
    second.close()
    assert (folder / f"set-aside.{ENGINE}.unfinished").exists()
    assert not (folder / f"graph.{ENGINE}.unfinished").exists()


def test_rebuilding_on_demand_gives_the_same_graph(projection: GraphProjection, history: LedgerBuilder) -> None:
    projection.rebuild()
    check(projection, history)


def test_closing_in_the_middle_of_following_is_clean(history: LedgerBuilder, folder: Path) -> None:
    opened(history, folder).close()
    last = opened(history, folder)
    last.catch_up()
    check(last, history)
    last.close()
    last.close()
    assert last.neighbors(BASIS, history.entity("n1")) == opened(history, folder, "sql").neighbors(BASIS, history.entity("n1"))
    assert last.health().degraded == "the graph is closed"


def test_a_file_that_kills_the_process_when_opened_is_given_up(tmp_path: Path) -> None:
    files = GraphFiles(tmp_path, ENGINE)
    files.live.write_bytes(b"")
    (tmp_path / f"opening.{ENGINE}").write_bytes(b".")
    with files.opening():
        assert (tmp_path / f"opening.{ENGINE}").read_bytes() == b".."
    (tmp_path / f"opening.{ENGINE}").write_bytes(b"..")
    with pytest.raises(GraphUnreadable, match="died 2 times"), files.opening():
        pass
    files.set_aside()
    with files.opening():
        pass


def test_the_reference_engine_needs_neither_kuzu_nor_files(tmp_path: Path) -> None:
    program = (
        "import sys, pathlib; from sqlalchemy import create_engine; from graph.ledger.schema import metadata\n"
        "from graph.store.projection import GraphProjection; from graph.store.port import GraphBasis\n"
        "engine = create_engine('sqlite://'); metadata.create_all(engine)\n"
        "graph = GraphProjection(engine, pathlib.Path('nowhere'), 'sql'); graph.notify(1); graph.catch_up(); graph.rebuild()\n"
        "assert graph.neighbors(GraphBasis('default', 0, 0), 'x') == [] and graph.health().ok and graph.wait_for(0, 0)\n"
        "graph.close(); assert 'kuzu' not in sys.modules and 'pyarrow' not in sys.modules and not pathlib.Path('nowhere').exists()"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path, env={"PYTHONPATH": str(Path.cwd())}, timeout=60)


def test_an_unknown_engine_is_refused(history: LedgerBuilder, folder: Path) -> None:
    with pytest.raises(ValueError, match="is no engine"):
        GraphProjection(history.engine, folder, cast(Kind, "neo4j"))


def test_by_default_the_ledger_answers_walks(history: LedgerBuilder, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    by_default = GraphSettings(engine=ENGINE, buffer_pool_mb=64, max_size_mb=1024)
    found = GraphProjection(history.engine, folder, settings=by_default, vocabulary_at=vocabulary_at)
    found.catch_up()
    monkeypatch.setattr(KuzuStore, "neighbors", None)
    try:
        assert found.neighbors(BASIS, history.entity("n1"), 2) == opened(history, Path(), "sql").neighbors(BASIS, history.entity("n1"), 2)
    finally:
        found.close()
