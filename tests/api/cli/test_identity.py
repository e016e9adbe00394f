"""Commands that take something back or say who is who, through a server."""

from __future__ import annotations

import shlex

from tests.api.cli.faced import Faced
from tests.api.stating import state


def said(faced: Faced) -> None:
    """Ada changes her employer."""
    state(faced.client, "1", "2023-01-01", ("Ada", "works_at", "Acme"))
    state(faced.client, "2", "2024-01-01", ("Ada", "works_at", "Globex"))


def test_claims_are_listed_with_the_ids_that_reject_takes(faced: Faced) -> None:
    said(faced)
    rows = faced.run("claims", "Ada", "--predicate", "works_at", "--json").json
    assert [row["object"]["name"] for row in rows] == ["Globex", "Acme"]
    claim = rows[0]["evidence"]["claim"]
    listed = faced.run("claims").out.splitlines()
    assert listed[0] == "  Ada | works_at | Globex   (confidence 1.00, client)"
    assert f"      {claim}" in listed
    ran = faced.run("reject", claim, "--reason", "she never said so")
    assert ran.out.splitlines()[0].startswith("1 claim rejected in transaction ")
    assert "statements that end: 1" in ran.out
    assert "ended: REJECTED" in ran.out
    assert "Ada | works_at | Acme" in ran.out
    assert "rejected: she never said so" in faced.run("claims", "--rejected").out
    assert [row["object"]["name"] for row in faced.run("claims", "--json").json] == ["Acme"]
    assert faced.run("restore", claim).out.startswith("1 claim restored in transaction ")
    assert faced.run("claims", "--rejected").out == "there are no such claims\n"
    assert faced.run("claims", "--first", "1").out.splitlines()[-1] == "(the first 1; more with --first)"


def test_candidates_are_listed_by_themselves(faced: Faced) -> None:
    unsure = {"subject": {"name": "Ada"}, "predicate": "likes", "object": {"name": "tea"}, "confidence": 0.4}
    state(faced.client, "1", "2023-01-01", statements=[unsure, {**unsure, "object": {"name": "jazz"}, "confidence": 1}])
    assert faced.run("claims", "--candidates").out.splitlines()[0] == "  Ada | likes | tea   (confidence 0.40, client, candidate)"


def found(faced: Faced, *names: str) -> list[str]:
    """The keys that names find."""
    ask = "query($n: String) { asOf { entity(name: $n) { key } } }"
    return [faced.client.ok(ask, n=name)["asOf"]["entity"]["key"] for name in names]


def test_names_are_joined_and_the_join_is_taken_back(faced: Faced) -> None:
    state(faced.client, "1", "2023-01-01", ("Bob", "works_at", "Acme"), ("Robert", "likes", "tea"))
    merged = faced.run("merge", "Bob", "robert", "--reason", "one desk").out
    assert merged.startswith("joined in transaction ")
    assert "(also " in merged.splitlines()[0]
    bob, robert = found(faced, "Bob", "Robert")
    assert bob == robert
    command = next(line for line in merged.splitlines() if "taken back by:" in line).split("taken back by: ")[1]
    name, *arguments = shlex.split(command)
    assert name == "erstwhile"
    assert faced.run(*arguments[:-1], "two people").out.startswith("1 claim rejected in transaction ")
    bob, robert = found(faced, "Bob", "Robert")
    assert bob != robert


def test_a_split_is_by_groups_and_sources(faced: Faced) -> None:
    for group, source in (("g 1", "mail"), ("g2", "mail"), ("g2", "chat"), ("g3", "mail")):
        state(faced.client, f"{group} {source}", "2023-01-01", ("Bob", "likes", f"{group} {source}"), group=group, source=source)
    split = faced.run("split", "Bob", "--group", "g 1", "--group", "g2", "--source", "mail", "--as", "of Globex")
    assert split.out.splitlines()[0].endswith(": Bob (of globex)")
    assert "taken back by: erstwhile reject " in split.out
    assert "  Bob (of globex) | likes | g2 mail   (confidence 1.00, client)" in faced.run("claims").out.splitlines()
    told = {tuple(line.split(" | ")[::2]) for line in faced.run("as-of", "2023-02").out.splitlines() if " | likes | " in line}
    assert {(who.strip(), what.split("   ")[0]) for who, what in told} == {
        ("Bob (of globex)", "g 1 mail"),
        ("Bob (of globex)", "g2 mail"),
        ("Bob", "g2 chat"),
        ("Bob", "g3 mail"),
    }


def test_what_cannot_be_is_one_sentence_and_status_1(faced: Faced) -> None:
    said(faced)
    for arguments, sentence in (
        (["reject", "nothing", "--reason", "x"], "there is no claim with the ID 'nothing'"),
        (["merge", "Ada", "Nobody"], "nothing is known of 'Nobody'"),
        (["merge", "Ada", "ada"], "ids takes 2 to 100 different ones, not 1"),
        (["split", "Ada", "--as", "x"], "name the groups or the sources"),
        (["claims", "Nobody"], "nothing is known of 'Nobody'"),
    ):
        ran = faced.run(*arguments)
        assert (ran.status, ran.out, ran.err.count("\n")) == (1, "", 1), ran
        assert sentence in ran.err


def test_suspects_are_listed_with_a_command_that_works(faced: Faced) -> None:
    said(faced)
    assert faced.run("entities", "--suspect").out == "no name looks like two\n"
    for group, employer in (("team chat", "Initech"), ("club", "Hooli"), ("club", "Hooli")):
        state(faced.client, f"{group} {employer}", "2024-03-01", ("Ada", "works_at", employer), group=group)
    assert [row["name"] for row in faced.run("entities", "ad", "--suspect", "--json").json] == ["Ada"]
    lines = faced.run("entities", "--suspect").out.splitlines()
    assert lines[:2] == ["  Ada", "      works_at: Hooli and Initech on 2024-03-01"]
    assert faced.run("entities", "--suspect", "--evidence-until", "2024-02").out == "no name looks like two\n"
    name, *arguments = shlex.split(lines[2])
    assert (name, arguments[:5]) == ("erstwhile", ["split", "Ada", "--group", "team chat", "--as"])
    assert faced.run(*arguments[: arguments.index("--namespace")]).status == 0
    assert faced.run("entities", "--suspect").out == "no name looks like two\n"
