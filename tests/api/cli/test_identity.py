"""Commands that take something back or say who is who, through a server."""

from __future__ import annotations

import shlex

from graph.views import EntityView, SuspectedSplit
from ontology.instant import parse_instant
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
    assert "ended: SUPERSEDED" in ran.out
    assert "rejected: she never said so" in faced.run("claims", "--rejected").out
    assert len(faced.run("claims", "--json").json) == 1
    assert faced.run("restore", claim).out.startswith("1 claim restored in transaction ")
    assert faced.run("claims", "--rejected").out == "there are no such claims\n"
    assert faced.run("claims", "--first", "1").out.splitlines()[-1] == "(the first 1; more with --first)"


def test_candidates_are_listed_by_themselves(faced: Faced) -> None:
    unsure = {"subject": {"name": "Ada"}, "predicate": "likes", "object": {"name": "tea"}, "confidence": 0.5}
    state(faced.client, "1", "2023-01-01", statements=[unsure, {**unsure, "object": {"name": "jazz"}, "confidence": 1}])
    assert faced.run("claims", "--candidates").out.splitlines()[0] == "  Ada | likes | tea   (confidence 0.50, client, candidate)"


def test_names_are_joined_and_split(faced: Faced) -> None:
    state(faced.client, "1", "2023-01-01", ("Bob", "likes", "tea"), ("Robert", "likes", "tea"))
    merged = faced.run("merge", "Bob", "robert", "--reason", "one desk").out
    assert merged.startswith("joined in transaction ")
    assert "taken back by: erstwhile reject join --reason" in merged
    assert len(faced.graph.calls[-1][1]["entities"]) == 2
    split = faced.run("split", "Bob", "--group", "g 1", "--group", "g2", "--source", "mail", "--as", "of Globex")
    assert split.out.splitlines()[0].endswith(": Bob, of Globex")
    asked = faced.graph.calls[-1][1]
    assert (asked["groups"], asked["sources"], asked["discriminator"]) == (["g 1", "g2"], ["mail"], "of Globex")


def test_what_cannot_be_is_one_sentence_and_status_1(faced: Faced) -> None:
    said(faced)
    for arguments, sentence in (
        (["reject", "nothing", "--reason", "x"], "there is no such claim"),
        (["merge", "Ada", "Nobody"], "nothing is known of 'Nobody'"),
        (["merge", "Ada", "ada"], "ids takes 2 to 1,000 different ones, not 1"),
        (["split", "Ada", "--as", "x"], "name the groups or the sources"),
        (["claims", "Nobody"], "nothing is known of 'Nobody'"),
    ):
        ran = faced.run(*arguments)
        assert (ran.status, ran.out, ran.err.count("\n")) == (1, "", 1), ran
        assert sentence in ran.err


def test_suspects_are_listed_with_a_command_that_works(faced: Faced) -> None:
    said(faced)
    assert faced.run("entities", "--suspect").out == "no name looks like two\n"
    key = faced.client.ok('{ asOf { entity(name: "Ada") { key } } }')["asOf"]["entity"]["key"]
    at = parse_instant("2024-03-01T00:00:00Z")
    ada = EntityView(key, "Ada", "Person")
    faced.graph.splits = {key: SuspectedSplit(ada, "works_at", "", at, ("Acme", "Globex"), ("team chat",), (), "of Globex")}
    lines = faced.run("entities", "--suspect").out.splitlines()
    assert lines[:2] == ["  Ada  (Person)", "      works_at: Acme and Globex on 2024-03-01"]
    name, *arguments = shlex.split(lines[2])
    assert name == "erstwhile"
    assert faced.run(*arguments).status == 0
    assert faced.graph.calls[-1][1]["groups"] == ["team chat"]
    assert faced.run("entities", "ad", "--suspect", "--json").json[0]["name"] == "Ada"
