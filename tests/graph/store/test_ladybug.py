"""The third engine: the suite of this folder over Ladybug, in processes of its own, since Kuzu and Ladybug do not go into one."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from graph.store import driver
from graph.store.projection import GraphProjection
from graph.store.settings import Kind
from ontology.errors import InvalidInput
from tests.graph.store.conftest import ENGINE, SETTINGS
from tests.graph.store.ledgers import LedgerBuilder, vocabulary_at

HERE = Path(__file__).parent.relative_to(Path.cwd())

both = pytest.mark.skipif(find_spec("ladybug") is None, reason="the extra `ladybug` is not installed")
once = pytest.mark.skipif(ENGINE != "kuzu", reason="this is the other run already")


def over_ladybug(*arguments: str) -> None:
    """Run a part of the suite over Ladybug; its output is the reason of a failure."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", *arguments]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    run = subprocess.run(
        command,
        env=environment | {"ERSTWHILE_TEST_ENGINE": "ladybug"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=1_800,
        check=False,
    )
    assert run.returncode == 0, run.stdout
    assert " passed" in run.stdout


@both
@once
def test_the_contract_and_the_pitfalls_hold_over_ladybug() -> None:
    over_ladybug("-m", "not deep", f"{HERE}/test_contract.py", f"{HERE}/test_kuzu.py")


@both
@once
@pytest.mark.deep
@pytest.mark.parametrize("marked", ["not deep", "deep"])
def test_the_whole_suite_holds_over_ladybug(marked: str) -> None:
    over_ladybug("-m", marked, str(HERE))


def run_python(program: str, folder: Path) -> str:
    """What a program prints in a process of its own."""
    environment = {"PYTHONPATH": str(Path.cwd())}
    return subprocess.run(
        [sys.executable, "-c", program], check=True, cwd=folder, env=environment, timeout=60, stdout=subprocess.PIPE, text=True
    ).stdout


@both
@once
@pytest.mark.parametrize(("first", "second"), [("kuzu", "ladybug"), ("ladybug", "kuzu")])
def test_the_second_of_two_drivers_in_one_process_is_refused_before_it_is_loaded(first: str, second: str, tmp_path: Path) -> None:
    program = (
        "import sys; from graph.store.driver import driver; from ontology.errors import InvalidInput\n"
        f"driver({first!r}).Database(':memory:')\n"
        f"try: driver({second!r})\n"
        f"except InvalidInput as refusal: print(refusal.reason, refusal, {second!r} in sys.modules)"
    )
    said = run_python(program, tmp_path)
    assert said == (
        f"ENGINE_LOADED this process has loaded {first} already, and {second} cannot be loaded beside it; "
        "open the graph in a process of its own False\n"
    )


def test_an_engine_that_is_not_installed_is_named_with_what_to_do(
    ledger: LedgerBuilder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "NATIVE", ())
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    absent: Kind = "ladybug" if ENGINE == "kuzu" else "kuzu"
    with pytest.raises(InvalidInput, match=rf"pip install 'erstwhile\[{absent}\]'.*ERSTWHILE_GRAPH_ENGINE"):
        GraphProjection(ledger.engine, tmp_path, absent, settings=SETTINGS, vocabulary_at=vocabulary_at)


@both
@once
def test_another_engine_builds_a_graph_of_its_own_and_leaves_none_of_the_last_one(history: LedgerBuilder, tmp_path: Path) -> None:
    ledger, keys = history.engine.url.database, [history.entity(f"n{number}") for number in range(6)]
    program = (
        "import sys, pathlib; from sqlalchemy import create_engine; from graph.store.port import GraphBasis\n"
        "from graph.store.projection import GraphProjection; from tests.graph.store.ledgers import vocabulary_at\n"
        "from graph.store.settings import GraphSettings\n"
        "settings = GraphSettings(engine=ENGINE, walks='graph', buffer_pool_mb=64, max_size_mb=1024)\n"
        f"ledger = create_engine('sqlite:///{ledger}')\n"
        "graph = GraphProjection(ledger, pathlib.Path('graph'), settings=settings, vocabulary_at=vocabulary_at)\n"
        "graph.catch_up(); print(graph.health().ok, graph.watermark)\n"
        f"print(*(graph.neighbors(GraphBasis('default', 4, 25), key, 2) for key in {keys!r})); graph.close()"
    )
    answers = set()
    for engine in ("kuzu", "ladybug"):
        answers.add(run_python(f"ENGINE = {engine!r}\n{program}", tmp_path))
        assert {path.name for path in (tmp_path / "graph").iterdir() if path.suffix != ".lock"} == {f"graph.{engine}"}
    (answer,) = answers
    assert answer.startswith("True 25\n")
    assert "[(" in answer
