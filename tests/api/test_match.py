"""Questions over several hops over GraphQL: answers, pages, errors."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from graph.store import sql_work
from tests.api.clients import InProcess
from tests.api.stating import state

MATCH = """query($patterns: [PatternInput!]!, $first: Int, $after: String, $at: DateTime) { asOf(validAt: $at) {
  match(patterns: $patterns, first: $first, after: $after) { pageInfo { hasNextPage hasPreviousPage endCursor }
    edges { cursor node { bindings { variable value { ... on Entity { id name } ... on Literal { value datatype } } }
      statements { id subject { name } predicate { name } object { ... on Entity { name } ... on Literal { value } }
        provenance { edges { evidence { quote } } } } } } } } }"""
PATH = """query($from: EntityRef!, $to: EntityRef!, $hops: Int) { asOf(validAt: "2024-06-01T00:00:00Z") {
  path(from: $from, to: $to, maxHops: $hops) { statements { subject { name } predicate { name } object { ... on Entity { name } } } } } }"""
AT = "2024-06-01T00:00:00Z"
P, C = {"variable": "p"}, {"variable": "city"}
QUESTION = [
    {"subject": P, "predicate": "works_at", "object": {"name": "Acme"}},
    {"subject": P, "predicate": "lives_in", "object": C},
]


DOCUMENT = Path(__file__).parents[2] / "docs" / "drift.md"


def told(client: InProcess) -> None:
    """Who works and lives where."""
    work = [(name, "works_at", "Acme") for name in ("Ann", "Bo", "Cy")]
    state(client, "1", "2024-01-01", *work, ("Ann", "lives_in", "Faro"), ("Bo", "lives_in", "Lagos"), ("Ann", "friend_of", "Dora"))
    state(client, "2", "2024-03-01", ("Cy", "lives_in", "Faro"))


def ask(client: InProcess, patterns: list[dict[str, Any]], **more: Any) -> Any:
    """The connection."""
    return client.ok(MATCH, **({"patterns": patterns, "at": AT} | more))["asOf"]["match"]


def errors(client: InProcess, query: str, **variables: Any) -> list[dict[str, Any]]:
    """The errors of a question that must fail."""
    return client.send(query, variables).errors


def bindings(connection: Any) -> list[tuple[str, ...]]:
    """What the variables of each match stand for."""
    return sorted(
        tuple(each["value"].get("name") or each["value"]["value"] for each in edge["node"]["bindings"]) for edge in connection["edges"]
    )


def test_a_question_over_two_patterns_is_answered_on_the_basis(faced: InProcess) -> None:
    told(faced)
    found = ask(faced, QUESTION)
    assert bindings(found) == [("Ann", "Faro"), ("Bo", "Lagos"), ("Cy", "Faro")]
    for edge in found["edges"]:
        works, lives = edge["node"]["statements"]
        assert (works["predicate"]["name"], lives["predicate"]["name"]) == ("works_at", "lives_in")
        assert [each["variable"] for each in edge["node"]["bindings"]] == ["p", "city"]
        assert works["subject"] == lives["subject"] == {"name": edge["node"]["bindings"][0]["value"]["name"]}
        assert works["provenance"]["edges"]
    assert bindings(ask(faced, QUESTION, at="2024-02-01T00:00:00Z")) == [("Ann", "Faro"), ("Bo", "Lagos")]
    acme = faced.ok('{ asOf { entity(name: "Acme") { id key } } }')["asOf"]["entity"]
    for entity in acme.values():
        by_id = [QUESTION[0] | {"object": {"entity": entity}}, QUESTION[1]]
        assert bindings(ask(faced, by_id)) == bindings(found)


def test_a_page_begins_after_a_cursor_and_says_whether_more_follow(faced: InProcess) -> None:
    told(faced)
    whole = ask(faced, QUESTION)
    first = ask(faced, QUESTION, first=2)
    assert first["pageInfo"] == {"hasNextPage": True, "hasPreviousPage": False, "endCursor": first["edges"][1]["cursor"]}
    state(faced, "3", "2024-01-02", ("Eve", "works_at", "Acme"), ("Eve", "lives_in", "Faro"))
    # The cursor brings its basis along: what came meanwhile is in none of its pages.
    question = MATCH.replace("(validAt: $at)", "").replace(", $at: DateTime", "")
    rest = faced.ok(question, patterns=QUESTION, after=first["pageInfo"]["endCursor"])["asOf"]["match"]
    assert sorted(bindings(first) + bindings(rest)) == bindings(whole)
    assert (rest["pageInfo"]["hasNextPage"], rest["pageInfo"]["hasPreviousPage"]) == (False, True)


@pytest.mark.parametrize(
    ("patterns", "path", "words"),
    [
        ([], ["patterns"], "1 to 8 patterns, not 0"),
        ([QUESTION[0]] * 9, ["patterns"], "not 9"),
        ([QUESTION[0] | {"subject": {"variable": "?p"}}], ["patterns", "0", "subject", "variable"], "without the question mark"),
        ([QUESTION[0], QUESTION[1] | {"object": {"name": " "}}], ["patterns", "1", "object", "name"], "name"),
        ([QUESTION[0] | {"subject": {"literal": {"value": "1"}}}], ["patterns", "0", "subject", "literal"], "only be an object"),
    ],
)
def test_what_is_no_question_is_refused_and_says_where(faced: InProcess, patterns: list[Any], path: list[str], words: str) -> None:
    error = errors(faced, MATCH, patterns=patterns, at=AT)[0]
    assert error["extensions"]["code"] == "BAD_USER_INPUT"
    assert error["extensions"]["argument"] == path
    assert words in error["message"]


def test_a_term_is_one_thing_and_a_cursor_is_of_its_question(faced: InProcess) -> None:
    told(faced)
    two = [QUESTION[0] | {"subject": {"variable": "p", "name": "Ann"}}]
    assert "exactly one" in errors(faced, MATCH, patterns=two, at=AT)[0]["message"].lower()
    after = ask(faced, QUESTION, first=1)["pageInfo"]["endCursor"]
    for other in (QUESTION[:1], [QUESTION[0], QUESTION[1] | {"predicate": "was_in"}], QUESTION[::-1]):
        error = errors(faced, MATCH, patterns=other, after=after, at=AT)[0]
        assert error["extensions"]["reason"] == "INVALID_CURSOR"


def test_too_much_to_join_is_refused_with_what_to_do(faced: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    told(faced)
    monkeypatch.setattr(sql_work, "MOST_STEPS", 30)
    apart = [QUESTION[1], {"subject": {"variable": "q"}, "predicate": "works_at", "object": {"variable": "r"}}]
    error = errors(faced, MATCH, patterns=apart, at=AT)[0]
    assert error["extensions"]["code"] == "QUERY_TOO_COMPLEX"
    assert "name an entity" in error["message"]
    monkeypatch.undo()
    assert len(ask(faced, apart)["edges"]) == 9


def test_paths_lead_from_one_entity_to_another(faced: InProcess) -> None:
    told(faced)

    def ways(start: dict[str, str], end: str, **more: int) -> list[list[str]]:
        found = faced.ok(PATH, **{"from": start, "to": {"name": end}}, **more)["asOf"]["path"]
        words = [
            [" ".join((s["subject"]["name"], s["predicate"]["name"], s["object"]["name"])) for s in way["statements"]] for way in found
        ]
        return sorted(words)

    dora = faced.ok('{ asOf { entity(name: "Dora") { key } } }')["asOf"]["entity"]["key"]
    assert ways({"name": "Dora"}, "Bo") == [["Ann friend_of Dora", "Ann works_at Acme", "Bo works_at Acme"]]
    assert ways({"id": dora}, "Bo") == ways({"name": "Dora"}, "Bo", hops=6)
    assert ways({"name": "Dora"}, "Bo", hops=2) == ways({"name": "Dora"}, "Dora") == ways({"name": "Nobody"}, "Bo") == []
    error = errors(faced, PATH, **{"from": {"name": "Ann"}, "to": {"name": "Bo"}}, hops=7)[0]
    assert (error["extensions"]["code"], error["extensions"]["argument"]) == ("BAD_USER_INPUT", ["maxHops"])


@pytest.mark.parametrize("field", ["match", "path"])
def test_one_operation_asks_a_bounded_number_of_them(faced: InProcess, field: str) -> None:
    asked = {
        "match": 'match(patterns: [{subject: {variable: "x"}, predicate: "knows", object: {name: "Bo"}}]) { edges { cursor } }',
        "path": 'path(from: {name: "Ann"}, to: {name: "Bo"}) { statements { id } }',
    }[field]
    fields = " ".join(f"f{number}: {asked}" for number in range(21))
    error = errors(faced, f"{{ asOf {{ {fields} }} }}")[0]
    assert error["extensions"]["code"] == "QUERY_TOO_COMPLEX"
    assert f"ask for {field} up to 20 times" in error["message"]


def test_the_documented_question_has_the_documented_answer(faced: InProcess) -> None:
    told(faced)
    section = DOCUMENT.read_text(encoding="utf-8").split("## Questions over several hops")[1].split("\n## ")[0]
    question, answer = (re.findall(rf"```{kind}\n(.*?)```", section, re.DOTALL)[0] for kind in ("graphql", "json"))
    assert faced.ok(question)["asOf"] == json.loads(answer)
