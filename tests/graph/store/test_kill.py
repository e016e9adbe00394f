"""kill -9 at any time: the files open at a transaction, whole, or are noticed and rebuilt."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from graph.store.feed import Feed
from graph.store.files import GraphFiles
from graph.store.kuzu_engine import KuzuStore
from graph.store.port import GraphGivenUp, GraphUnreadable
from graph.store.projection import GraphProjection
from tests.graph.store.conftest import ENGINE, SETTINGS
from tests.graph.store.ledgers import LedgerBuilder, random_history, vocabulary_at
from tests.graph.store.pictures import graph_statements, ledger_statements, picture


def killed(tmp_path: Path, folder: Path, copy_from: int, delay: float) -> None:
    """Follow the ledger in a process that dies `delay` seconds after its first batch."""
    command = [sys.executable, "-m", "tests.graph.store.follow_until_killed", str(tmp_path / "ledger.db"), str(folder), str(copy_from)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path.cwd(), env=dict(os.environ), text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        time.sleep(delay)
        process.kill()


def survives(ledger: LedgerBuilder, folder: Path) -> bool:
    """Whether the files opened, in which case they must be whole; the projection must come to the ledger's end either way."""
    feed = Feed(ledger.engine, vocabulary_at)
    readable = True
    try:
        store = KuzuStore(folder / f"graph.{ENGINE}", feed.keys, SETTINGS)
    except GraphUnreadable:
        readable = False
    else:
        assert graph_statements(store) == ledger_statements(ledger, store.watermark())
        fresh = KuzuStore(folder / "fresh.kuzu", feed.keys, SETTINGS)
        for batch in feed.batches(0, store.watermark()):
            fresh.apply(batch)
        assert picture(fresh) == picture(store)
        fresh.close()
        store.close()
    projection = GraphProjection(ledger.engine, folder, settings=SETTINGS, vocabulary_at=vocabulary_at)
    projection.catch_up()
    assert projection.health().ok
    assert projection.watermark == ledger.number
    projection.close()
    return readable


@pytest.mark.parametrize("copy_from", [1, 1_000])
def test_a_kill_leaves_a_graph_or_one_that_is_rebuilt(tmp_path: Path, ledger: LedgerBuilder, copy_from: int) -> None:
    random_history(ledger, Random(11), 16)
    killed(tmp_path, tmp_path / "graph", copy_from, Random(copy_from).uniform(0, 0.3))
    survives(ledger, tmp_path / "graph")


@pytest.mark.deep
@pytest.mark.parametrize("copy_from", [1, 1_000])
def test_many_kills(tmp_path: Path, ledger: LedgerBuilder, copy_from: int) -> None:
    random_history(ledger, Random(12), 60)
    random = Random(copy_from)
    readable = 0
    for number in range(10):
        killed(tmp_path, tmp_path / f"graph{number}", copy_from, random.uniform(0, 2))
        readable += survives(ledger, tmp_path / f"graph{number}")
    # By prepared statements a kill should hardly ever cost a rebuild. A kill inside a COPY always does, and nearly all are here.
    assert readable >= (0 if copy_from == 1 else 8)


def test_a_load_that_kills_the_process_is_given_up_and_the_ledger_answers(tmp_path: Path, ledger: LedgerBuilder) -> None:
    random_history(ledger, Random(11), 16)
    folder = tmp_path / "graph"
    command = [sys.executable, "-m", "tests.graph.store.load_until_killed", str(tmp_path / "ledger.db"), str(folder)]

    def start() -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=Path.cwd(), env=dict(os.environ), stdout=subprocess.PIPE, text=True, timeout=60)

    assert [start().returncode for _ in range(2)] == [-signal.SIGKILL] * 2
    third = start()
    assert third.returncode == 0
    assert "the process died 2 times while loading" in third.stdout
    assert "ERSTWHILE_GRAPH_LOAD_POOL_MB" in third.stdout

    settings = SETTINGS.model_copy(update={"copy_from": 1})
    projection = GraphProjection(ledger.engine, folder, settings=settings, vocabulary_at=vocabulary_at)
    projection.catch_up()
    random_history(ledger, Random(3), 2)
    projection.notify(ledger.number)
    projection.catch_up()
    assert not projection.health().ok
    assert projection.watermark == ledger.number
    assert not (folder / f"building.{ENGINE}").exists()
    assert not (folder / f"graph.{ENGINE}").exists()
    projection.rebuild()
    assert projection.health().ok
    assert (folder / f"graph.{ENGINE}").exists()
    projection.close()


def test_a_load_that_killed_is_tried_again_with_more_memory(tmp_path: Path) -> None:
    files = GraphFiles(tmp_path, ENGINE)
    (tmp_path / f"loading.{ENGINE}").write_text("64 2")
    with pytest.raises(GraphGivenUp, match=r"2 times .* pool of 64 MB"), files.loading(64):
        pass
    with files.loading(128):
        assert (tmp_path / f"loading.{ENGINE}").read_text() == "128 1"
    with files.loading(64):
        pass


def test_a_load_that_fails_without_a_death_is_not_counted(tmp_path: Path) -> None:
    files = GraphFiles(tmp_path, ENGINE)
    for _ in range(3):
        with pytest.raises(GraphUnreadable, match="no memory"), files.loading(64):
            raise GraphUnreadable("no memory")
    (tmp_path / f"loading.{ENGINE}").write_text("64")
    with files.loading(64):
        assert (tmp_path / f"loading.{ENGINE}").read_text() == "64 1"
