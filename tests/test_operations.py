"""docs/operations.md is true: its table of settings, its commands, and what it says happens."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict
from sqlalchemy import event

from api.cli.commands import app
from api.credentials import parse_keys
from api.schema.build import build_schema
from api.service import Service
from api.settings_table import BEGIN, END, PAGE, ROOT, Setting, filled, settings_classes, settings_of
from graph.facade import Graph
from graph.ledger.database import open_database
from graph.service import LedgerGraph
from ontology.episode import EpisodeDraft
from ontology.loading import load_vocabulary
from tests import compose
from tests.api.clients import InProcess
from tests.api.opening import OVERLAY, open_test_service
from tests.api.stating import ASSERT
from tests.api.stating import state as states
from tests.graph.ledger.conftest import NoProjection
from tests.workers.extracting import OneSecret, TripleExtractor, scan
from workers.ingestion import Ingestion
from workers.pool import ExtractionPool

TEXT = PAGE.read_text(encoding="utf-8")


def block(containing: str) -> str:
    """The first block of code with these words."""
    blocks: list[str] = re.findall(r"```\w+\n(.*?)```", TEXT, re.DOTALL)
    return next(found for found in blocks if containing in found)


def test_the_table_of_settings_is_that_of_the_classes() -> None:
    assert filled(TEXT) == TEXT, "write it anew: python -m api.settings_table"


def test_every_setting_says_what_it_means() -> None:
    for kind in settings_classes():
        for setting in settings_of(kind):
            assert len(setting.meaning) > 10, f"{kind.__module__}.{kind.__name__}: {setting.variable} has no description"
            assert setting.row.count("|") == 5, setting.variable


def test_a_variable_that_two_classes_read_means_the_same_to_both() -> None:
    known: dict[str, Setting] = {}
    for kind in settings_classes():
        for setting in settings_of(kind):
            assert known.setdefault(setting.variable, setting) == setting


def test_no_settings_class_is_missing() -> None:
    found = {kind.__name__ for kind in settings_classes()}
    written = set()
    for package in ("api", "workers", "graph", "extraction", "ontology"):
        for path in (ROOT / package).rglob("*.py"):
            written |= set(re.findall(r"^class (\w+)\(\w*Settings\)", path.read_text(encoding="utf-8"), re.MULTILINE))
    assert found == written
    assert "Settings" in found


class _Told(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="TOLD_")

    number: int = Field(default=3, description="How\n  many.")
    secret: SecretStr = Field(default=SecretStr("hush"), description="Not shown.")


def test_a_row_shows_no_secret_and_stays_on_its_line() -> None:
    rows = [setting.row for setting in settings_of(_Told)]
    assert rows == ["| `TOLD_NUMBER` | whole number | `3` | How many. |", "| `TOLD_SECRET` | secret | `**********` | Not shown. |"]


def test_a_page_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="settings"):
        filled(TEXT.replace(END, ""))
    assert filled(f"a{BEGIN}old{END}b").startswith(f"a{BEGIN}\n| variable")


def test_every_variable_that_it_names_is_one() -> None:
    known = {setting.variable for kind in settings_classes() for setting in settings_of(kind)} | set(
        compose.variables(compose.FILE.read_text())
    )
    assert set(re.findall(r"\bERSTWHILE_[A-Z_]+\b", TEXT)) <= known


def test_its_entries_of_keys_are_entries() -> None:
    entries = json.loads(block('"dashboard"').replace("sha256:...", "sha256:" + "0" * 64).replace("0" * 64, "1" * 64, 1))
    assert len(parse_keys(json.dumps(entries), "the page")) == len(entries) == 2


def test_its_commands_are_commands() -> None:
    known = {(info.name or getattr(info.callback, "__name__", "")) for info in app.registered_commands}
    known |= {str(group.name) for group in app.registered_groups}
    assert set(re.findall(r"(?:`|^|api |live )erstwhile (\w+)", TEXT, re.MULTILINE)) <= known


def test_every_figure_of_the_metrics_has_its_alarm() -> None:
    source = (ROOT / "api" / "metrics.py").read_text(encoding="utf-8")
    known = {f"erstwhile_{name}" for name in re.findall(r"_gauge\(\"(\w+)\"", source)}
    known |= {name + "_total" * (kind == "Counter") for kind, name in re.findall(r"(Counter|Histogram)\(\s*\"(erstwhile_\w+)\"", source)}
    assert len(known) > 10
    assert set(re.findall(r"`(erstwhile_\w+)`", TEXT)) == known


def test_its_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)", TEXT):
        assert (PAGE.parent / target).exists(), target
    for anchor in re.findall(r"\]\(#([^)]+)\)", TEXT):
        assert anchor in {title.lower().replace(" ", "-") for title in re.findall(r"^#+ (.*)$", TEXT, re.MULTILINE)}


def accept(graph: Graph, number: int) -> None:
    """One episode."""
    draft = EpisodeDraft(content=f"number {number} " + "x" * 2000, source="test", external_id=str(number), said_at="2024-01-01")
    graph.accept("default", [(draft, [])])


def test_a_copy_made_as_it_says_is_whole_while_the_service_writes(tmp_path: Path) -> None:
    service = open_test_service(tmp_path)
    try:
        for number in range(20):
            accept(service.graph, number)
        command = shlex.split(block("VACUUM INTO").replace("/data/", f"{tmp_path}/"))
        subprocess.run([sys.executable, *command[1:]], check=True, timeout=60)
        accept(service.graph, 20)
        before = service.graph.stats("default")
    finally:
        service.close()
    restored = tmp_path / "restored"
    restored.mkdir()
    (tmp_path / "backup.db").rename(restored / "ledger.db")
    copy = open_test_service(restored)
    try:
        stats = copy.graph.stats("default")
        assert (stats.episodes, before.episodes) == (20, 21)
        # The secret behind IDs is in it: the same text is the same episode.
        accept(copy.graph, 7)
        assert copy.graph.stats("default").episodes == 20
    finally:
        copy.close()


def test_on_a_full_disk_a_write_fails_whole_and_reads_go_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pages = [2**30]

    def limit(connection: Any, *_: object) -> None:
        # What SQLite answers on a full disk, which a test cannot fill.
        connection.execute(f"PRAGMA max_page_count = {pages[0]}")

    engine = open_database(f"sqlite:///{tmp_path / 'ledger.db'}")
    event.listen(engine, "checkout", limit)
    graph = LedgerGraph(engine, load_vocabulary(OVERLAY), lambda _: NoProjection())
    service = Service(graph, Ingestion(graph, ExtractionPool(TripleExtractor), OneSecret(), scan))
    counted = "{ stats { episodes transactions statements } }"
    with asyncio.Runner() as runner:
        client = InProcess(build_schema(), service, runner)
        states(client, "1", "2024-01-01", ("Ada", "works_at", "Acme"))
        with engine.connect() as connection:
            pages[0] = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        before = client.ok(counted)
        claims = [("Ada", "knows", f"somebody called {number} " + "x" * 900) for number in range(50)]
        statements = [{"subject": {"name": s}, "predicate": p, "object": {"name": o}} for s, p, o in claims]
        full = client.send(ASSERT, {"input": {"source": "test", "externalId": "2", "saidAt": "2024-01-02", "statements": statements}})
        assert full.codes == ["INTERNAL_SERVER_ERROR"]
        assert "disk is full" in caplog.text
        assert client.ok(counted) == before
        assert client.ok('{ asOf { entity(name: "Ada") { name } } }')["asOf"]["entity"]["name"] == "Ada"
        pages[0] = 2**30
        states(client, "2", "2024-01-02", *claims)
        assert client.ok(counted)["stats"]["episodes"] == before["stats"]["episodes"] + 1
    service.close()
