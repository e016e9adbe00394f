"""Each command, read directly."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from api.folder import owned
from tests.api.cli.running import Ran, erstwhile

# The keys of a row of `extract`, in their order.
CLAIM = "turn subject predicate qualifier object polarity kind modality status validFrom validTo"
BEARING = "replaces additive attributedTo start end rule confidence"


def test_ingesting_again_adds_nothing(ingested: tuple[Path, Ran], transcript: Path) -> None:
    data, first = ingested
    assert (first.status, first.out.splitlines()[0]) == (0, "accepted 4  known before 0  held back 0  failed 0")
    again = erstwhile("ingest", transcript, "--data", data, "--json").json
    assert (again["accepted"], again["known"], again["failed"]) == (0, 4, 0)


def test_timeline_quotes_what_each_value_rests_on_and_what_ended_it(data: Path) -> None:
    lines = erstwhile("timeline", "Ana", "lives_in", "--data", data).out.splitlines()
    assert lines[0] == "Ana lives_in"
    assert lines[1] == "  2023-05-01T10:00:00Z .. 2024-03-03   Porto"
    assert any("ended: SUPERSEDED" in line for line in lines)
    assert '        "I moved to Lisbon on 3 March 2024." - Ana, 2024-03-10' in lines
    assert "  2024-03-03 .. now   Lisbon" in lines


def test_timeline_marks_what_is_only_possible(data: Path) -> None:
    assert "Acme (possibly)" in erstwhile("timeline", "Ana", "works_at", "--data", data).out


def test_timeline_as_json(data: Path) -> None:
    segments = erstwhile("timeline", "Ana", "lives_in", "--data", data, "--json").json["segments"]
    assert [segment["statements"][0]["object"]["name"] for segment in segments] == ["Porto", "Lisbon"]


def test_as_of_one_subject_and_everything(data: Path) -> None:
    about = erstwhile("as-of", "2023-06", "Ana", "--data", data).out
    assert "Ana | lives_in | Porto" in about
    assert "Ben" not in about
    everything = erstwhile("as-of", "2024-07", "--data", data, "--json").json
    assert {"Ana", "Ben"} <= {row["subject"]["name"] for row in everything["statements"]}
    assert everything["basis"]["validAt"] == "2024-07-01T00:00:00Z"
    assert "(the first 1; more with --first)" in erstwhile("as-of", "2024-07", "--first", "1", "--data", data).out


def test_words_are_echoed_as_understood(data: Path) -> None:
    ran = erstwhile("as-of", "March 2024", "Ana", "--data", data)
    assert ran.err == "validAt: 2024-03-01T00:00:00Z (from 'March 2024')\n"
    assert erstwhile("as-of", "2024-03-01", "Ana", "--data", data).err == ""


@pytest.mark.parametrize(
    ("options", "answer"),
    [(["--at", "2023-06"], "yes"), (["--at", "2024-04"], "no"), (["--at", "2024-04", "--evidence-until", "2024-03-05"], "yes")],
)
def test_ask(options: list[str], answer: str, data: Path) -> None:
    assert erstwhile("ask", "Ana", "lives_in", "Porto", *options, "--data", data).out.splitlines()[0] == answer
    assert erstwhile("ask", "Ana", "lives_in", "Porto", *options, "--data", data, "--json").json["value"] == answer.upper()


def test_recorded_at_sees_only_what_was_recorded(data: Path) -> None:
    assert erstwhile("ask", "Ana", "lives_in", "Porto", "--recorded-at", "2001-01-01", "--data", data).out.startswith("unknown")


def test_entities(data: Path) -> None:
    assert erstwhile("entities", "lis", "--data", data).out == "  Lisbon  (Place)\n"
    assert {row["name"] for row in erstwhile("entities", "--data", data, "--json").json} >= {"Ana", "Ben", "Porto", "Lisbon"}
    assert erstwhile("entities", "nobody", "--data", data).out == "nothing is known by that name\n"


def test_status_and_rebuild(data: Path) -> None:
    found = erstwhile("status", "--data", data, "--json").json
    assert (found["data"], found["stats"]["episodes"], found["health"]["ok"]) == (str(data), 4, True)
    assert erstwhile("rebuild", "--data", data).out == "the graph was rebuilt from the ledger\n"


def test_extract_prints_rows_of_the_agreed_keys(transcript: Path) -> None:
    ran = erstwhile("extract", transcript)
    rows = [Ran(0, line, "").json for line in ran.out.splitlines()]
    assert all(list(row) == [*CLAIM.split(), *BEARING.split()] for row in rows)
    assert {(row["subject"], row["predicate"], row["object"], row["status"]) for row in rows} >= {
        ("Ana", "lives_in", "Lisbon", "NOW"),
        ("Ana", "works_at", "Acme", "PAST"),
    }


def test_refusals_are_one_sentence_and_status_1(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments, said in (
        (["timeline", "Ana", "Lives In!"], "'Lives In!' is no predicate"),
        (["as-of", "2024-02-30"], "2024-02 has 29 days"),
        (["as-of", "soonish"], "is no time"),
        (["ingest", tmp_path / "missing.json"], "there is no such file or folder"),
        (["entities", "--namespace", "a b"], "is no namespace"),
    ):
        ran = erstwhile(*arguments, "--data", data)
        assert (ran.status, ran.out, ran.err.count("\n")) == (1, "", 1), ran
        assert said in ran.err
    assert erstwhile("extract", tmp_path / "missing.json").status == 1
    monkeypatch.setenv("ERSTWHILE_PORT", "abc")
    assert "ERSTWHILE_PORT is wrong" in erstwhile("entities", "--data", data).err


def test_a_misspelt_predicate_is_no_empty_answer(data: Path) -> None:
    ran = erstwhile("timeline", "Ana", "livesin", "--data", data)
    assert (ran.status, ran.err) == (0, "erstwhile: the vocabulary has no predicate 'livesin'; near it: lives_in, version\n")


def test_a_folder_in_use_is_refused_with_the_process_that_uses_it(tmp_path: Path) -> None:
    with owned(tmp_path):
        ran = erstwhile("timeline", "Ana", "lives_in", "--data", tmp_path)
    assert ran.status == 1
    assert f"in use by process {os.getpid()}" in ran.err
