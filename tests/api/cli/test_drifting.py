"""What changed and why, on the command line."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from tests.api.cli.faced import Faced
from tests.api.cli.running import erstwhile
from tests.api.stating import state

MOVED = '        "I moved to Lisbon on 3 March 2024." - Ana, 2024-03-10'


def test_diff_tells_what_the_world_changed_with_the_words_that_say_so(data: Path) -> None:
    ran = erstwhile("diff", "2024-01", "2024-07", "--about", "Ana", "--data", data)
    lines = ran.out.splitlines()
    assert lines[0].startswith("from as of 2024-01-01T00:00:00Z") and lines[1].startswith("to   as of 2024-07-01T00:00:00Z")
    moved = next(number for number, line in enumerate(lines) if "Ana | lives_in" in line)
    assert lines[moved].split() == ["~", "Ana", "|", "lives_in", "Porto", "Lisbon", "the", "world", "changed"]
    assert lines[moved + 1] == MOVED
    left = next(number for number, line in enumerate(lines) if "Ana | works_at" in line)
    assert lines[left].split()[:6] == ["-", "Ana", "|", "works_at", "Acme", "-"]
    assert '"I no longer work at Acme."' in lines[left + 1]
    assert "Ben" not in ran.out


def test_diff_of_what_was_said_is_one_of_belief(data: Path) -> None:
    found = erstwhile(
        "diff", "--said", "2024-03-05", "2024-04", "--at", "2024-05", "--predicate", "lives_in", "--data", data, "--json"
    ).json
    (row,) = found["differences"]
    values = [[each["object"]["name"] for each in row[side]] for side in ("before", "after")]
    assert (row["kind"], row["cause"], values) == ("CHANGED", "BELIEF", [["Porto"], ["Lisbon"]])
    assert (found["from"]["evidenceUntil"], found["to"]["evidenceUntil"]) == ("2024-03-05T00:00:00Z", "2024-04-01T00:00:00Z")
    assert found["from"]["validAt"] == found["to"]["validAt"] == "2024-05-01T00:00:00Z"


def test_diff_of_what_was_recorded(faced: Faced) -> None:
    state(faced.client, "e1", "2020-01-01", ("Ana", "lives_in", "Porto"))
    first = faced.run("history", "Ana", "--json").json["basis"]["recordedAt"]
    state(faced.client, "e2", "2023-01-01", ("Ana", "lives_in", "Lisbon"))
    now = faced.run("diff", "--recorded", first, "--json").json
    assert [(row["kind"], row["cause"]) for row in now["differences"]] == [("CHANGED", "BELIEF")]
    assert now["from"]["recordedAt"] == first and now["from"]["transaction"] == now["to"]["transaction"] - 1
    assert "belief changed" in faced.run("diff", "--recorded", first).out
    before = faced.run("diff", "--recorded", first, "--at", "2021")
    assert before.out.splitlines()[-1] == "  nothing differs"
    both = faced.run("diff", "--valid", "--recorded", "1999", first, "--json").json
    assert [row["kind"] for row in both["differences"]] == ["ADDED"] and both["from"]["transaction"] == 0


def test_times_of_a_diff_are_echoed_as_understood(data: Path) -> None:
    ran = erstwhile("diff", "March 2024", "July 2024", "--about", "Ana", "--data", data)
    assert ran.err == "A: 2024-03-01T00:00:00Z (from 'March 2024')\nB: 2024-07-01T00:00:00Z (from 'July 2024')\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["diff", "2024-01", "2024-02", "--at", "2024"], "--at holds still what A and B move"),
        (["diff", "--recorded", "2024-01", "--recorded-at", "2024"], "--recorded-at holds still what A and B move"),
        (["diff", "2024-01", "soonish"], "'soonish' is no time"),
        (["diff", "2024-01", "--about", "Nobody"], "nothing is known of 'Nobody'"),
        (["why", "Ana", "lives_in", "--from", "2024", "--to", "2023"], "has to lie after its `from`"),
        (["why", "Ana", "Lives In!"], "is no predicate"),
    ],
    ids=["valid", "recorded", "time", "subject", "window", "predicate"],
)
def test_what_cannot_be_asked_is_one_sentence(arguments: list[str], said: str, data: Path) -> None:
    ran = erstwhile(*arguments, "--data", data)
    assert (ran.status, ran.out, ran.err.count("\n")) == (1, "", 1), ran
    assert said in ran.err


def test_why_tells_each_change_with_its_rule_and_its_words(data: Path) -> None:
    lines = erstwhile("why", "Ana", "lives_in", "--data", data).out.splitlines()
    assert lines[0] == "Ana lives_in"
    assert lines[2] == "  2023-05-01T10:00:00Z   nothing known -> Porto"
    assert lines[5:8] == ["  2024-03-03   Porto -> Lisbon", "      SUPERSEDED by rule functional-slot", MOVED.removeprefix("  ")]
    later = erstwhile("why", "Ana", "lives_in", "--from", "2024", "--data", data, "--json").json["boundaries"]
    assert [row["at"] for row in later] == ["2024-03-03T00:00:00Z"]
    assert erstwhile("why", "Ana", "likes", "--data", data).out.endswith("  nothing changed\n")
    assert "near it: lives_in" in erstwhile("why", "Ana", "livesin", "--data", data).err


def test_why_names_the_transaction_that_withdrew_a_change(faced: Faced) -> None:
    state(faced.client, "e1", "2020-01-01", ("Ana", "lives_in", "Porto"))
    state(faced.client, "e2", "2023-01-01", ("Ana", "lives_in", "Lisbon"))
    number = faced.run("retract", "test", "e2", "--reason", "it was a joke", "--json").json["transaction"]
    lines = faced.run("why", "Ana", "lives_in").out.splitlines()
    (said,) = (line for line in lines if "withdrawn" in line)
    assert said.startswith(f"      withdrawn by transaction {number}, 20") and said.endswith("it was a joke")


def test_stale_lists_what_nobody_has_attested_for_long_with_the_days_since(data: Path) -> None:
    ran = erstwhile("stale", "Ana", "--predicate", "lives_in", "--at", "2040", "--data", data)
    lines = ran.out.splitlines()
    assert lines[0].startswith("as of 2040-01-01T00:00:00Z") and lines[1].split() == ["what", "days", "last", "attested", "holds", "since"]
    days = (date(2040, 1, 1) - date(2024, 3, 10)).days - 1
    assert lines[2].split() == ["Ana", "|", "lives_in", "|", "Lisbon", f"{days:,}", "2024-03-10T10:00:00Z", "2024-03-03"]
    assert lines[3] == MOVED.removeprefix("    ")
    (row,) = erstwhile("stale", "Ana", "--predicate", "lives_in", "--at", "2040", "--data", data, "--json").json["statements"]
    assert row["lastAttestedAt"] == "2024-03-10T10:00:00Z"
    assert erstwhile("stale", "Ana", "--at", "2024-03-11", "--data", data).out.endswith("  nothing is stale\n")


def test_contested_tells_a_tie_from_what_was_decided(faced: Faced) -> None:
    assert faced.run("contested").out.endswith("  nothing is contested\n")
    state(faced.client, "e1", "2020-01-01", ("Ana", "lives_in", "Porto"), rank=1)
    state(faced.client, "e2", "2020-01-01", ("Ana", "lives_in", "Lisbon"))
    state(faced.client, "e3", "2020-01-01", ("Ben", "lives_in", "Rome"), ("Ben", "lives_in", "Oslo"))
    lines = faced.run("contested", "--at", "2020-01-01").out.splitlines()[2:]
    told = {line.split("   ")[0].strip(): line.rsplit("   ", 1)[1] for line in lines}
    assert told == {
        "Ana | lives_in | Porto": "others disagree; rank or recency decided",
        "Ben | lives_in | Oslo": "disputed: evidence as good says otherwise",
        "Ben | lives_in | Rome": "disputed: evidence as good says otherwise",
    }
    assert len(faced.run("contested", "Ben", "--at", "2020-01-01", "--json").json["statements"]) == 2


def test_an_empty_answer_names_what_nothing_is_known_under(faced: Faced) -> None:
    state(faced.client, "e1", "2020-01-01", ("Ana", "lives_in", "Porto"))
    predicate = "erstwhile: the vocabulary has no predicate 'livesin'; near it: lives_in, version\n"
    subject = "erstwhile: nothing is known of 'Anna'; `erstwhile entities Anna` lists names that hold it\n"
    for command in (["diff", "2019"], ["stale"], ["contested"], ["changes"]):
        assert faced.run(*command, "--predicate", "livesin").err == predicate
    for command in (["why"], ["timeline"], ["history"], ["plane"]):
        assert faced.run(*command, "Anna", "livesin").err == predicate + subject
        assert faced.run(*command, "Ana", "works_at").err == ""
    assert faced.run("ask", "Anna", "lives_in", "Porto").err == faced.run("as-of", "2024", "Anna").err == subject
    assert faced.run("match", "Anna lives_in ?where", "?who livesin ?where").err == predicate + subject


def test_tables_are_narrow_and_show_nothing_that_steers_a_terminal(faced: Faced) -> None:
    name = "\x1b[31mRed\x07 " + "very " * 60 + "long"
    content = "Nothing " + "is " * 100 + "short."
    state(faced.client, "e1", "2020-01-01", ("Ana", "lives_in", "Porto"), (name, "lives_in", name), content=content)
    state(faced.client, "e2", "2020-01-01", (name, "lives_in", f"{name} too"))
    for command in (["diff", "2019"], ["contested"], ["match", "?p lives_in ?city"]):
        found = faced.run(*command).out
        assert "Red" in found and all(len(line) <= 260 for line in found.splitlines())
    listed = (["as-of", "2024"], ["entities"], ["changes"], ["timeline", name, "lives_in"], ["history", name], ["plane", name, "lives_in"])
    for command in (["diff", "2019"], ["contested"], ["match", "?p lives_in ?city"], *listed):
        assert not {"\x1b", "\x07"} & set(faced.run(*command).out)


def test_the_words_of_a_difference_do_not_hold_its_columns_apart(data: Path) -> None:
    ran = erstwhile("diff", "2024-01", "2024-07", "--about", "Ana", "--data", data)
    head = next(line for line in ran.out.splitlines() if line.split() == ["what", "before", "after", "because"])
    assert len(head) < 80 and any(len(line) > len(head) for line in ran.out.splitlines() if line.startswith('        "'))
