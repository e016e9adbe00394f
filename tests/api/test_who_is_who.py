"""Joining and splitting entities, and the signs that one name denotes two."""

from __future__ import annotations

import shlex

import pytest
from graphql import parse

from api.schema.split import split_command, split_mutation
from graph.views import EntityView, SuspectedSplit, UndeclaredPredicate
from ontology.instant import parse_instant
from tests.api.clients import InProcess
from tests.api.standing_in import StandIn
from tests.api.stating import state

MERGE = """mutation($ids: [ID!]!, $reason: String) { mergeEntities(ids: $ids, reason: $reason) { __typename
  ... on EntityPayload { transaction deduplicated claims entity { key name } asserted { id } invalidated { id } }
  ... on NotFoundError { code id } ... on InvalidInputError { code path reason } } }"""
SPLIT = """mutation($id: ID!, $groups: [String!], $sources: [String!], $discriminator: String!, $reason: String) {
  splitEntity(id: $id, groups: $groups, sources: $sources, discriminator: $discriminator, reason: $reason) { __typename
  ... on EntityPayload { transaction claims entity { name } } ... on NotFoundError { id } ... on InvalidInputError { path reason } } }"""
SIGNS = "suspectedSplits { predicate { name } qualifier at values groups sources discriminator command mutation }"


def known(client: InProcess, *names: str) -> list[dict[str, str]]:
    """Entities of these names: key and ID."""
    state(client, "known", "2023-01-01", *((name, "likes", "tea") for name in names))
    return [client.ok("query($n: String) { asOf { entity(name: $n) { id key } } }", n=name)["asOf"]["entity"] for name in names]


def suspicion(key: str, name: str = "Alex", groups: tuple[str, ...] = ("team chat",), sources: tuple[str, ...] = ()) -> SuspectedSplit:
    at = parse_instant("2024-03-01T00:00:00Z")
    return SuspectedSplit(EntityView(key, name), "works_at", "", at, ("Acme", "Globex"), groups, sources, "Globex")


def test_entities_are_joined_by_key_or_id(faced: InProcess, stand_in: StandIn) -> None:
    bob, robert = known(faced, "Bob", "Robert")
    done = faced.ok(MERGE, ids=[bob["id"], robert["key"]], reason="same desk")["mergeEntities"]
    assert done["claims"] == ["join"]
    assert done["entity"]["key"] == min(bob["key"], robert["key"])
    assert stand_in.calls == [("merge", {"entities": [bob["key"], robert["key"]], "reason": "same desk", "actor": "local"})]


def test_joining_takes_two_different_known_entities(faced: InProcess) -> None:
    bob = known(faced, "Bob")[0]
    assert faced.ok(MERGE, ids=[bob["id"], bob["key"]])["mergeEntities"]["path"] == ["ids"]
    assert faced.ok(MERGE, ids=[bob["id"], "nobody"])["mergeEntities"] == {
        "__typename": "NotFoundError",
        "code": "NOT_FOUND",
        "id": "nobody",
    }


def test_an_entity_is_split_by_groups_and_sources(faced: InProcess, stand_in: StandIn) -> None:
    alex = known(faced, "Alex")[0]
    done = faced.ok(SPLIT, id=alex["id"], groups=["g"], sources=["s"], discriminator="of Globex")["splitEntity"]
    assert (done["claims"], done["entity"]) == (["split"], {"name": "Alex"})
    name, asked = stand_in.calls[-1]
    assert (name, asked["entity"], asked["groups"], asked["sources"], asked["discriminator"]) == (
        "split",
        alex["key"],
        ["g"],
        ["s"],
        "of Globex",
    )
    assert faced.ok(SPLIT, id=alex["id"], discriminator="x")["splitEntity"]["path"] == ["groups"]
    assert faced.ok(SPLIT, id=alex["id"], groups=["g"], discriminator=" ")["splitEntity"]["path"] == ["discriminator"]
    assert faced.ok(SPLIT, id="nobody", groups=["g"], discriminator="x")["splitEntity"]["id"] == "nobody"


def test_suspects_are_listed_with_what_to_paste(faced: InProcess, stand_in: StandIn) -> None:
    alex, sam = known(faced, "Alex", "Sam")
    stand_in.splits = {alex["key"]: suspicion(alex["key"]), sam["key"]: suspicion(sam["key"], "Sam")}
    ask = f"query($after: String) {{ asOf {{ suspects(first: 1, after: $after) {{ edges {{ node {{ name {SIGNS} }} }} \
pageInfo {{ hasNextPage endCursor }} }} }} }}"
    first = faced.ok(ask)["asOf"]["suspects"]
    sign = first["edges"][0]["node"]["suspectedSplits"][0]
    assert (sign["predicate"]["name"], sign["values"], sign["at"]) == ("works_at", ["Acme", "Globex"], "2024-03-01T00:00:00Z")
    assert sign["command"] == f"erstwhile split Alex --group 'team chat' --as Globex --namespace {faced.namespace}"
    pasted = faced.ok(sign["mutation"])["splitEntity"]
    assert pasted["claims"] == ["split"]
    rest = faced.ok(ask, after=first["pageInfo"]["endCursor"])["asOf"]["suspects"]
    assert ([edge["node"]["name"] for edge in rest["edges"]], rest["pageInfo"]["hasNextPage"]) == (["Sam"], False)
    assert faced.ok(f'{{ asOf {{ entity(name: "tea") {{ {SIGNS} }} }} }}')["asOf"]["entity"]["suspectedSplits"] == []


def test_an_entity_that_its_name_does_not_find_is_named_by_key(faced: InProcess, stand_in: StandIn) -> None:
    sam = known(faced, "Sam")[0]
    stand_in.splits = {sam["key"]: suspicion(sam["key"], "Alex")}
    sign = faced.ok(f'{{ asOf {{ entity(name: "Sam") {{ {SIGNS} }} }} }}')["asOf"]["entity"]["suspectedSplits"][0]
    assert sign["command"].startswith(f"erstwhile split {sam['key']} --group")


@pytest.mark.parametrize("name", ["Alex", "O'Neil; rm -rf /", "-v", 'a "b" \\ c', "$(id)\n`x`"])
def test_what_to_paste_is_quoted(name: str) -> None:
    view = suspicion("k", name, groups=("-g", "it's"), sources=(name,))
    words = shlex.split(split_command("default", view, name))
    assert words[:2] == ["erstwhile", "split"]
    assert "--group=-g" in words
    assert words[-1 if name.startswith("-") else 2] == name
    parse(split_mutation(view))


def test_undeclared_predicates_are_listed(faced: InProcess, stand_in: StandIn) -> None:
    stand_in.undeclared = [UndeclaredPredicate("mentors", 9, 4, 1, ("Ada mentors Bo.",)), UndeclaredPredicate("hums", 2, 1, 0, ())]
    ask = (
        "query($least: Int) { asOf { undeclaredPredicates(least: $least) { name claims subjects several examples cardinality temporal } } }"
    )
    assert faced.ok("{ asOf { undeclaredPredicates { name } } }")["asOf"]["undeclaredPredicates"] == [{"name": "mentors"}]
    both = faced.ok(ask, least=1)["asOf"]["undeclaredPredicates"]
    assert both[0] == {
        "name": "mentors",
        "claims": 9,
        "subjects": 4,
        "several": 1,
        "examples": ["Ada mentors Bo."],
        "cardinality": "MANY",
        "temporal": "STATE",
    }
    assert [row["name"] for row in both] == ["mentors", "hums"]
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
