"""All that was ever believed of a slot, as rows and as a picture."""

from __future__ import annotations

from pathlib import Path

from tests.api.cli.faced import Faced
from tests.api.cli.running import erstwhile
from tests.api.stating import state


def test_history_tells_when_each_value_holds_when_that_was_believed_and_what_ended_it(data: Path) -> None:
    ran = erstwhile("history", "Ana", "lives_in", "--data", data)
    lines = ran.out.splitlines()
    assert lines[0] == "Ana" and lines[1].startswith("as of ")
    assert lines[2].split() == ["what", "holds", "believed", "ended"]
    assert any("lives_in | Porto" in line and "SUPERSEDED by Lisbon (functional-slot)" in line for line in lines)
    assert any("lives_in | Lisbon" in line and line.endswith(".. now") for line in lines)
    everything = erstwhile("history", "Ana", "--data", data).out
    assert "works_at | Acme" in everything and "works_at | NOT Acme" in everything
    assert erstwhile("history", "Nobody", "--data", data).out.endswith("  nothing is known\n")
    assert "near it: lives_in" in erstwhile("history", "Ana", "livesin", "--data", data).err


def test_history_has_each_rectangle_once_with_what_became_of_it(faced: Faced) -> None:
    state(faced.client, "e1", "2020-01-01", ("Ana", "lives_in", "Porto"))
    state(faced.client, "e2", "2023-01-01", ("Ana", "lives_in", "Lisbon"))
    faced.run("retract", "test", "e2")
    rows = faced.run("history", "Ana", "lives_in", "--json").json["rows"]
    told = [(row["object"]["name"], row["validTime"]["to"], row["transactionTime"]["to"] is None, row["ended"]) for row in rows]
    assert told == [
        ("Porto", None, False, "known otherwise from then on"),
        ("Porto", "2023-01-01T00:00:00Z", False, "known otherwise from then on"),
        ("Porto", None, True, ""),
        ("Lisbon", None, False, told[3][3]),
    ]
    assert told[3][3].startswith("RETRACTED")
    before = faced.run("history", "Ana", "lives_in", "--recorded-at", rows[0]["transactionTime"]["from"], "--json").json
    assert [row["object"]["name"] for row in before["rows"]] == ["Porto"] and before["rows"][0]["ended"] == ""


def test_the_plane_has_a_row_for_each_transaction_that_changed_the_slot(faced: Faced) -> None:
    state(faced.client, "e1", "2020-01-01", ("Ana", "lives_in", "Porto"))
    state(faced.client, "e2", "2020-06-01", ("Ana", "likes", "tea"))
    state(faced.client, "e3", "2023-01-01", ("Ana", "lives_in", "Lisbon"))
    lines = faced.run("plane", "Ana", "lives_in", "--width", "60").out.splitlines()
    assert lines[0] == "Ana lives_in" and max(map(len, lines)) <= 60
    first, second = (line for line in lines if line.startswith("20"))
    assert first.endswith("AAAA") and second.endswith("BBBB") and "AAAA" in second
    assert lines[-3:-1] == ["  A  Porto", "  B  Lisbon"]
    assert faced.run("plane", "Ana", "lives_in", "-q", "staging").out == "Ana lives_in staging\n  nothing is known\n"
    assert len(faced.run("plane", "Ana", "lives_in", "--json").json["rows"]) == 3
