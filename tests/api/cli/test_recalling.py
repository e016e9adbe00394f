"""Recall on the command line, read directly: with the embedder for tests, and with none."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from ontology import marking
from tests.api.cli.running import Ran, erstwhile

WAITED = re.compile(r"erstwhile: \d+ texts get their vectors, so that they are found by meaning\n")


@pytest.fixture(scope="module")
def embedded(ingested: tuple[Path, Ran], transcript: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ran]:
    """A folder whose texts have vectors, and what it said when they were made: ingesting again finds them waiting."""
    folder = tmp_path_factory.mktemp("embedded") / "data"
    shutil.copytree(ingested[0], folder)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("ERSTWHILE_EMBEDDER", "hash")
        patched.setenv("ERSTWHILE_EMBEDDING_WORKERS", "0")
        return folder, erstwhile("ingest", transcript, "--data", folder, "--workers", "1")


@pytest.fixture
def data(embedded: tuple[Path, Ran], monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ERSTWHILE_EMBEDDER", "hash")
    return embedded[0]


def test_ingesting_waits_for_the_vectors(embedded: tuple[Path, Ran], data: Path) -> None:
    assert (embedded[1].status, embedded[1].out.splitlines()[0]) == (0, "accepted 0  known before 4  held back 0  failed 0")
    # Nothing to tell where they were made before anybody looked.
    assert embedded[1].err == "" or WAITED.fullmatch(embedded[1].err)
    ran = erstwhile("recall", "where does Ana live?", "--data", data)
    assert (ran.status, ran.err) == (0, "")


def test_recall_shows_what_each_arm_says(data: Path) -> None:
    lines = erstwhile("recall", "Lisbon", "--at", "2024-07", "--first", "1", "--data", data).out.splitlines()
    assert lines[0].split() == ["score", "what", "when", "vector", "bm25"]
    assert re.match(r"  1\.000   Ana \| lives_in \| Lisbon +2024-03-03 \.\. now", lines[1])
    assert re.search(r"0\.\d{3} \(1\)   \d\.\d{3} \(1\)$", lines[1])
    assert lines[2].strip() == '"I moved to Lisbon on 3 March 2024."'
    assert re.fullmatch(r"\(\d more were weighed; more with --first\)", lines[3])


def test_recall_at_a_time_and_by_what_was_said_until_then(data: Path) -> None:
    assert "Ana | lives_in | Porto" in erstwhile("recall", "Ana lives", "--at", "2023-06", "--data", data).out
    later = erstwhile("recall", "Ana lives", "--at", "2024-07", "--data", data).out
    assert "Lisbon" in later and "Porto" not in later
    assert "Porto" in erstwhile("recall", "Ana lives", "--at", "2024-07", "--evidence-until", "2024-02", "--data", data).out
    assert "Porto" in erstwhile("recall", "Ana lives", "--at", "2024-07", "--past", "--data", data).out


def test_recall_finds_episodes_and_takes_filters(data: Path) -> None:
    found = erstwhile("recall", "nurse", "--kind", "episode", "--kind", "statement", "--data", data, "--json").json
    assert {edge["node"]["__typename"] for edge in found["edges"]} == {"Episode", "Statement"}
    assert found["basis"]["indexVersion"].startswith("1:hash/")
    assert '"I am a nurse."' in erstwhile("recall", "nurse", "--kind", "episode", "--data", data).out
    only = erstwhile("recall", "nurse", "--speaker", "Ana", "--data", data, "--json").json
    assert {edge["node"]["subject"]["name"] for edge in only["edges"]} == {"Ana"}
    assert erstwhile("recall", "nurse", "--source", "no such", "--data", data).out == "  nothing bears on it\n"


def test_without_an_embedder_recall_says_so_and_finds_by_words(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ERSTWHILE_EMBEDDER", "none")
    lines = erstwhile("recall", "Lisbon", "--at", "2024-07", "--data", data).out.splitlines()
    assert lines[0] == "without vector: no embedder is chosen (ERSTWHILE_EMBEDDER)"
    assert "Ana | lives_in | Lisbon" in lines[2]


def test_context_is_a_block_within_its_budget(data: Path) -> None:
    ran = erstwhile("context", "Where does Ana live?", "--at", "2024-07", "--budget", "200", "--data", data)
    lines = ran.out.splitlines()
    assert (lines[0], lines[-1]) == (marking.BEGIN, marking.END)
    assert '- Ana | lives_in | Lisbon | since 2024-03-03 | current | "I moved to Lisbon on 3 March 2024." [1]' in lines
    refused = erstwhile("context", "Where does Ana live?", "--budget", "20", "--data", data)
    assert (refused.status, refused.out) == (1, "")
    assert re.search(r"at least \d+$", refused.err.strip())


def test_what_waits_gets_its_vectors_before_the_question(
    ingested: tuple[Path, Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data"
    shutil.copytree(ingested[0], folder)
    monkeypatch.setenv("ERSTWHILE_EMBEDDER", "hash")
    ran = erstwhile("recall", "nurse", "--data", folder)
    assert WAITED.fullmatch(ran.err)
    assert "without" not in ran.out
    assert erstwhile("recall", "nurse", "--data", folder).err == ""
    told = erstwhile("rebuild", "--index", "--data", folder, "--json").json
    assert (told["ok"], told["indexVersion"][:7], told["vectorsMade"]) == (True, "1:hash/", 0)
    monkeypatch.setenv("ERSTWHILE_EMBEDDER", "none")
    assert erstwhile("rebuild", "--index", "--data", folder).out == "the recall index was rebuilt from the ledger: 1\n"


def test_status_names_the_index(data: Path) -> None:
    lines = erstwhile("status", "--data", data).out.splitlines()
    assert {"  index: ok", "  embedding: ok"} <= set(lines)
    assert lines[-1].startswith("  recall: index 1:hash/")
