"""Joining and splitting entities, and the signs that one name denotes two."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
from graphql import parse

from api.schema.split import split_command, split_mutation
from graph.views import EntityView, SuspectedSplit
from ontology.instant import parse_instant
from tests.api.clients import InProcess
from tests.api.stating import state

MERGE = """mutation($ids: [ID!]!, $reason: String) { mergeEntities(ids: $ids, reason: $reason) { __typename
  ... on EntityPayload { transaction deduplicated claims entity { key name } asserted { id } invalidated { id } }
  ... on NotFoundError { code id } ... on InvalidInputError { code path reason } } }"""
SPLIT = """mutation($id: ID!, $groups: [String!], $sources: [String!], $discriminator: String!, $reason: String) {
  splitEntity(id: $id, groups: $groups, sources: $sources, discriminator: $discriminator, reason: $reason) { __typename
  ... on EntityPayload { transaction claims entity { key name discriminator } } ... on NotFoundError { id }
  ... on InvalidInputError { path reason } } }"""
SIGNS = "suspectedSplits { predicate { name } qualifier at values groups sources discriminator command mutation }"


def known(client: InProcess, *names: str) -> list[dict[str, str]]:
    """Entities of these names: key and ID."""
    state(client, "known", "2023-01-01", *((name, "likes", "tea") for name in names))
    return [client.ok("query($n: String) { asOf { entity(name: $n) { id key } } }", n=name)["asOf"]["entity"] for name in names]


def suspicion(name: str, groups: tuple[str, ...] = ("team chat",), sources: tuple[str, ...] = ()) -> SuspectedSplit:
    at = parse_instant("2024-03-01T00:00:00Z")
    return SuspectedSplit(EntityView("k", name), "works_at", "", at, ("Acme", "Globex"), groups, sources, "Globex")


def employed(client: InProcess, name: str, **employers: str) -> None:
    """Groups tell where somebody works at one time."""
    for group, employer in employers.items():
        state(client, f"{name} {group}", "2024-03-01", (name, "works_at", employer), group=f"{group} chat")


def found(client: InProcess, name: str) -> dict[str, Any]:
    """What somebody's name or key finds: the entity with its signs."""
    by = "id: $n" if len(name) == 32 else "name: $n"
    ask = f"query($n: {'ID' if len(name) == 32 else 'String'}) {{ asOf {{ entity({by}) {{ id key name {SIGNS} }} }} }}"
    entity: dict[str, Any] = client.ok(ask, n=name)["asOf"]["entity"]
    return entity


def test_entities_are_joined_by_key_or_id(faced: InProcess) -> None:
    bob, robert = known(faced, "Bob", "Robert")
    done = faced.ok(MERGE, ids=[bob["id"], robert["key"]], reason="same desk")["mergeEntities"]
    assert done["entity"]["key"] == min(bob["key"], robert["key"])
    assert {found(faced, name)["key"] for name in ("Bob", "Robert")} == {done["entity"]["key"]}
    again = faced.ok(MERGE, ids=[robert["key"], bob["key"]])["mergeEntities"]
    assert (again["deduplicated"], again["claims"]) == (True, done["claims"])
    last = faced.ok("{ transactions(first: 1) { edges { node { kind reason number } } } }")["transactions"]["edges"][0]["node"]
    assert last == {"kind": "merge", "reason": "same desk", "number": done["transaction"]}


def test_joining_takes_two_different_known_entities(faced: InProcess) -> None:
    bob = known(faced, "Bob")[0]
    assert faced.ok(MERGE, ids=[bob["id"], bob["key"]])["mergeEntities"]["path"] == ["ids"]
    assert faced.ok(MERGE, ids=[bob["id"], "nobody"])["mergeEntities"] == {
        "__typename": "NotFoundError",
        "code": "NOT_FOUND",
        "id": "nobody",
    }


def test_an_entity_is_split_by_groups_and_sources(faced: InProcess) -> None:
    alex = known(faced, "Alex")[0]
    state(faced, "1", "2024-01-01", ("Alex", "works_at", "Globex"), group="g", source="s")
    state(faced, "2", "2024-01-01", ("Alex", "works_at", "Acme"), group="g", source="elsewhere")
    done = faced.ok(SPLIT, id=alex["id"], groups=["g"], sources=["s"], discriminator="of Globex")["splitEntity"]
    assert (done["entity"]["name"], done["entity"]["discriminator"]) == ("Alex", "of globex")
    assert done["entity"]["key"] != alex["key"]
    ask = 'query($k: ID) { asOf { entity(id: $k) { statements(filter: {predicates: ["works_at"]}) { edges { node { \
object { ... on Entity { name } } } } } } } }'
    for key, employer in ((alex["key"], "Acme"), (done["entity"]["key"], "Globex")):
        held = faced.ok(ask, k=key)["asOf"]["entity"]["statements"]["edges"]
        assert [edge["node"]["object"]["name"] for edge in held] == [employer]


def test_what_cannot_be_split_is_a_member_of_the_result(faced: InProcess) -> None:
    alex = known(faced, "Alex")[0]
    assert faced.ok(SPLIT, id=alex["id"], discriminator="x")["splitEntity"]["path"] == ["groups"]
    assert faced.ok(SPLIT, id=alex["id"], groups=["g"], discriminator=" ")["splitEntity"]["path"] == ["discriminator"]
    assert faced.ok(SPLIT, id="nobody", groups=["g"], discriminator="x")["splitEntity"]["id"] == "nobody"


def test_suspects_are_listed_with_what_to_paste(faced: InProcess) -> None:
    for name in ("Alex", "Sam"):
        employed(faced, name, team="Acme", club="Globex")
    ask = f"query($after: String) {{ asOf {{ suspects(first: 1, after: $after) {{ edges {{ node {{ name {SIGNS} }} }} \
pageInfo {{ hasNextPage endCursor }} }} }} }}"
    first = faced.ok(ask)["asOf"]["suspects"]
    sign = first["edges"][0]["node"]["suspectedSplits"][0]
    assert (sign["predicate"]["name"], sign["values"], sign["at"]) == ("works_at", ["Acme", "Globex"], "2024-03-01T00:00:00Z")
    assert sign["command"] == f"erstwhile split Alex --group 'club chat' --as 'club chat' --namespace {faced.namespace}"
    rest = faced.ok(ask, after=first["pageInfo"]["endCursor"])["asOf"]["suspects"]
    assert ([edge["node"]["name"] for edge in rest["edges"]], rest["pageInfo"]["hasNextPage"]) == (["Sam"], False)
    assert faced.ok(sign["mutation"])["splitEntity"]["claims"] != []
    assert [edge["node"]["name"] for edge in faced.ok(ask)["asOf"]["suspects"]["edges"]] == ["Sam"]
    assert found(faced, "Alex")["suspectedSplits"] == found(faced, "Acme")["suspectedSplits"] == []


def test_an_entity_that_its_name_does_not_find_is_named_by_key(faced: InProcess) -> None:
    employed(faced, "Alex", team="Acme", club="Globex", gym="Initech")
    split = faced.ok(SPLIT, id=found(faced, "Alex")["key"], groups=["club chat", "gym chat"], discriminator="of the clubs")["splitEntity"]
    other = found(faced, split["entity"]["key"])
    assert other["suspectedSplits"][0]["command"].startswith(f"erstwhile split {other['key']} --group")
    assert found(faced, "Alex")["suspectedSplits"] == []


@pytest.mark.parametrize("name", ["Alex", "O'Neil; rm -rf /", "-v", 'a "b" \\ c', "$(id)\n`x`"])
def test_what_to_paste_is_quoted(name: str) -> None:
    view = suspicion(name, groups=("-g", "it's"), sources=(name,))
    words = shlex.split(split_command("default", view, name))
    assert words[:2] == ["erstwhile", "split"]
    assert "--group=-g" in words
    assert words[-1 if name.startswith("-") else 2] == name
    parse(split_mutation(view))


def test_undeclared_predicates_are_listed(faced: InProcess) -> None:
    for number in range(5):
        told = {"subject": {"name": "Ada"}, "predicate": "mentors", "object": {"name": f"Bo {number}"}, "quote": f"Ada mentors Bo {number}"}
        state(faced, str(number), f"2024-01-0{number + 1}", content=f"Ada mentors Bo {number}.", statements=[told])
    state(faced, "hums", "2024-01-01", ("Bo", "hums", "tunes"), ("Ada", "hums", "tunes"))
    ask = (
        "query($least: Int) { asOf { undeclaredPredicates(least: $least) { name claims subjects several examples cardinality temporal } } }"
    )
    assert faced.ok("{ asOf { undeclaredPredicates { name } } }")["asOf"]["undeclaredPredicates"] == [{"name": "mentors"}]
    both = faced.ok(ask, least=1)["asOf"]["undeclaredPredicates"]
    assert both[0] == {
        "name": "mentors",
        "claims": 5,
        "subjects": 1,
        "several": 1,
        "examples": ["Ada mentors Bo 4", "Ada mentors Bo 3", "Ada mentors Bo 2"],
        "cardinality": "MANY",
        "temporal": "STATE",
    }
    assert [(row["name"], row["claims"], row["subjects"], row["several"]) for row in both] == [("mentors", 5, 1, 1), ("hums", 2, 2, 0)]
    assert faced.send(ask, {"least": 0}).codes == ["BAD_USER_INPUT"]


@pytest.mark.parametrize(
    ("field", "most"),
    [
        ("asOf { undeclaredPredicates { name } }", 10),
        ("asOf { suspects { pageInfo { hasNextPage } } }", 10),
        ('preview(input: {content: "x", source: "t"}) { flags }', 10),
    ],
)
def test_dear_fields_are_counted_for_each_operation(field: str, most: int, faced: InProcess) -> None:
    asked = [f"f{number}: {field}" for number in range(most + 1)]
    assert faced.send(f"{{ {' '.join(asked[:most])} }}").errors == []
    answer = faced.send(f"{{ {' '.join(asked)} }}")
    assert answer.codes == ["QUERY_TOO_COMPLEX"]
