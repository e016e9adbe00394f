"""`Query.changes` and `Stats.cursor`: the feed over GraphQL, its cursors, IDs, filters and errors, and a client that replays it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from api.cursors import encode_cursor
from api.service import Service
from tests.api.changes import MERGE, PULL, about, in_words, pulled
from tests.api.clients import Client
from tests.api.keyed import Keys, keyed_service
from tests.api.stating import state

CLAIMS = "query { asOf { claims(first: 100) { edges { node { id object { ... on Entity { name } } } } } } }"
REJECT = 'mutation($ids: [ID!]!) { rejectClaims(ids: $ids, reason: "test") { __typename } }'
SPLIT = """mutation($id: ID!) { splitEntity(id: $id, groups: ["h"], discriminator: "2") { __typename
  ... on Error { message } } }"""
RETRACT = 'mutation { retractEpisode(ref: {source: "test", externalId: "2"}, reason: "test") { __typename } }'
Held = dict[tuple[str, str | None], tuple[Any, ...]]


def key(client: Client, name: str) -> str:
    return str(client.ok("query($n: String!) { asOf { entity(name: $n) { key } } }", n=name)["asOf"]["entity"]["key"])


def careers(client: Client) -> None:
    state(client, "1", "2019-01-01", ("Ada", "works_at", "Acme"), ("Bob", "likes", "tea"))
    state(client, "2", "2021-01-01", ("Ada", "works_at", "Beta"))


def test_changes_are_told_in_the_order_of_commits(client: Client) -> None:
    careers(client)
    edges = pulled(client)
    assert [in_words(edge) for edge in edges] == [
        "OPENED Ada works_at Acme",
        "OPENED Bob likes tea",
        "CLOSED Ada works_at Acme",
        "OPENED Ada works_at Beta",
        "OPENED Ada works_at Acme",
    ]
    first, closed = edges[0]["node"], edges[2]["node"]
    assert first["key"] == closed["key"] and first["members"] == []
    assert first["statement"]["transactionTime"] == {"from": first["at"], "to": None}
    assert closed["statement"]["transactionTime"] == {"from": first["at"], "to": closed["at"]}
    assert first["transaction"] < closed["transaction"]


def test_pages_of_any_size_are_parts_of_one_feed(client: Client) -> None:
    careers(client)
    client.ok(MERGE, ids=[key(client, "Acme"), key(client, "Beta")])
    whole = pulled(client, first=1000)
    for first in (1, 2, 3):
        assert pulled(client, first=first) == whole
    for place, edge in enumerate(whole):
        assert pulled(client, edge["cursor"], first=2) == whole[place + 1 :]
    page = client.ok(PULL, after=whole[1]["cursor"], first=2)["changes"]
    cursors = [edge["cursor"] for edge in page["edges"]]
    assert page["pageInfo"] == {
        "startCursor": cursors[0],
        "endCursor": cursors[-1],
        "hasNextPage": True,
        "hasPreviousPage": True,
    }


def test_the_last_cursor_is_told_and_goes_on(client: Client) -> None:
    asked = "{ stats { cursor } }"
    assert client.ok(asked) == {"stats": {"cursor": None}}
    careers(client)
    cursor = client.ok(asked)["stats"]["cursor"]
    assert cursor == pulled(client)[-1]["cursor"]
    page = client.ok(PULL, after=cursor)["changes"]
    assert (page["edges"], page["pageInfo"]["endCursor"], page["pageInfo"]["hasNextPage"]) == ([], cursor, False)
    state(client, "3", "2022-01-01", ("Bob", "likes", "jazz"))
    assert [in_words(edge) for edge in pulled(client, cursor)] == ["OPENED Bob likes jazz"]


def test_the_id_of_a_statement_pins_its_transaction(client: Client) -> None:
    careers(client)
    found = [edge["node"]["statement"] for edge in pulled(client)]
    assert len({one["id"] for one in found}) == len(found)
    state(client, "3", "2022-01-01", ("Ada", "works_at", "Gamma"))
    parts = "id key validTime { from to } transactionTime { from to } subject { key name } predicate { name }"
    query = f"query($id: ID!) {{ node(id: $id) {{ ... on Statement {{ {parts} object {{ ... on Entity {{ key name }} }} }} }} }}"
    for one in found:
        assert client.ok(query, id=one["id"])["node"] == one


def test_what_the_evidence_says_is_that_of_the_change(client: Client) -> None:
    careers(client)
    asked = """{ changes { edges { node { kind statement { id text evidenceCount invalidation { reason by { text } }
      history { validTime { from } } provenance { edges { node { externalId } evidence { quote } } } } } } } }"""
    node = """query($id: ID!) { node(id: $id) { ... on Statement { id text evidenceCount invalidation { reason by { text } }
      history { validTime { from } } provenance { edges { node { externalId } evidence { quote } } } } } }"""
    found = [edge["node"] for edge in client.ok(asked)["changes"]["edges"]]
    closed = found[2]
    assert (closed["kind"], closed["statement"]["invalidation"]["reason"]) == ("CLOSED", "SUPERSEDED")
    for one in found:
        assert client.ok(node, id=one["statement"]["id"])["node"] == one["statement"]


def test_entities_below_a_change_stand_on_its_basis(client: Client) -> None:
    careers(client)
    asked = """{ changes(first: 1) { edges { node { statement { subject { timeline(predicate: "works_at") {
      segments { statements { object { ... on Entity { name } } } } } } } } } } }"""
    (edge,) = client.ok(asked)["changes"]["edges"]
    segments = edge["node"]["statement"]["subject"]["timeline"]["segments"]
    assert [one["object"]["name"] for part in segments for one in part["statements"]] == ["Acme"]


def test_filters_leave_who_is_who(client: Client) -> None:
    careers(client)
    client.ok(MERGE, ids=[key(client, "Acme"), key(client, "Beta")])
    assert next(in_words(edge) for edge in pulled(client, predicates=["likes"], first=1)) == "OPENED Bob likes tea"
    assert [edge["node"]["kind"] for edge in pulled(client, predicates=["likes"])] == ["OPENED", "IDENTITY"]
    assert [edge["node"]["kind"] for edge in pulled(client, source="elsewhere")] == ["IDENTITY"]
    during = {"from": "2020-01-01T00:00:00Z", "to": "2020-06-01T00:00:00Z"}
    assert [in_words(edge) for edge in pulled(client, predicates=["works_at"], validDuring=during)][:3] == [
        "OPENED Ada works_at Acme",
        "CLOSED Ada works_at Acme",
        "OPENED Ada works_at Acme",
    ]


@pytest.mark.parametrize(
    ("variables", "argument"),
    [
        ({"first": 0}, ["first"]),
        ({"first": 1001}, ["first"]),
        ({"filter": {"includeInvalidated": True}}, ["filter", "includeInvalidated"]),
        ({"after": "nonsense"}, ["after"]),
        ({"after": encode_cursor("transactions", (1,), None)}, ["after"]),
        ({"after": encode_cursor("changes", ("x", 1, 1), None)}, ["after"]),
        ({"after": encode_cursor("changes", (1_000_000, 1, 1), None)}, ["after"]),
    ],
    ids=["none", "many", "invalidated", "nonsense", "of another kind", "malformed", "of another ledger"],
)
def test_what_cannot_be_asked_is_refused(client: Client, variables: dict[str, Any], argument: list[str]) -> None:
    answer = client.send(PULL, variables)
    assert answer.codes == ["BAD_USER_INPUT"]
    assert answer.errors[0]["extensions"]["argument"] == argument


def test_one_operation_asks_for_few_pages(client: Client) -> None:
    many = " ".join(f"a{number}: changes(first: 1) {{ edges {{ cursor }} }}" for number in range(11))
    assert set(client.send(f"{{ {many} }}").codes) == {"QUERY_TOO_COMPLEX"}


def test_a_namespace_has_its_own_feed(client: Client) -> None:
    careers(client)
    assert pulled(client.at(f"{client.namespace}-other")) == []


def test_a_key_reads_the_feed_of_its_namespaces(service: Service, http: httpx.Client) -> None:
    keys = Keys()
    asked = [(keys.limited, "keyed-1", 200), (keys.limited, "other", 403), (None, "keyed-1", 401), (keys.reader, "a", 200)]
    with keyed_service(service, keys) as url:
        for key, namespace, status in asked:
            headers = {"Erstwhile-Namespace": namespace, **({"Authorization": f"Bearer {key}"} if key else {})}
            reply = http.post(f"{url}/graphql", json={"query": "{ changes { edges { cursor } } }"}, headers=headers)
            assert reply.status_code == status


def story(client: Client) -> None:
    """A handful of everything: succession, joins, splits, rejections, retractions."""
    careers(client)
    state(client, "g", "2021-02-01", ("Alex", "likes", "art"), ("Alex", "friend_of", "Ada"), group="g")
    state(client, "h", "2021-03-01", ("Alex", "likes", "jazz"), ("Bob", "manager_of", "Alex"), group="h")
    merged = client.ok(MERGE, ids=[key(client, "Ada"), key(client, "Bob")])["mergeEntities"]
    assert merged["__typename"] == "EntityPayload", merged
    split = client.ok(SPLIT, id=key(client, "Alex"))["splitEntity"]
    assert split["__typename"] == "EntityPayload", split
    for name in ("Iris", "Jana", "Kira", "Lena"):
        # Nobody bears these names any more; they are still told apart from the entities that did.
        state(client, f"only {name}", "2021-04-01", (name, "likes", "tea"), group="h")
        client.ok(SPLIT, id=key(client, name))
    state(client, "3", "2023-01-01", ("Bob", "works_at", "Acme"))
    wrong = [edge["node"]["id"] for edge in client.ok(CLAIMS)["asOf"]["claims"]["edges"] if edge["node"]["object"].get("name") == "tea"]
    client.ok(REJECT, ids=wrong)
    client.ok(RETRACT)
    joins = """{ asOf { claims(first: 100, filter: {predicates: ["also_known_as"], polarity: true}) { edges { node { id } } } } }"""
    client.ok(REJECT, ids=[edge["node"]["id"] for edge in client.ok(joins)["asOf"]["claims"]["edges"]][:1])


def replayed(client: Client, edges: list[dict[str, Any]]) -> Iterator[tuple[str, set[tuple[Any, ...]]]]:
    """What a client holds after each transaction, as docs/drift.md says to follow the feed."""
    held: Held = {}

    def keep(one: dict[str, Any]) -> None:
        ends = {one["subject"]["key"], one["object"].get("key")}
        held[one["key"], one["validTime"]["from"]] = (one["validTime"]["to"], ends)

    for place, edge in enumerate(edges):
        node = edge["node"]
        if node["kind"] == "IDENTITY":
            for name in [name for name, (_, ends) in held.items() if ends & set(node["members"])]:
                del held[name]
            for one in about(client, node["key"], node["at"]):
                keep(one)
        elif node["kind"] == "OPENED":
            keep(node["statement"])
        else:
            held.pop((node["statement"]["key"], node["statement"]["validTime"]["from"]), None)
        if place + 1 == len(edges) or edges[place + 1]["node"]["at"] != node["at"]:
            yield node["at"], {(*name, to) for name, (to, _) in held.items()}


def test_a_client_that_replays_the_feed_holds_every_snapshot(client: Client) -> None:
    story(client)
    whole = """query($at: DateTime!) { asOf(validAt: "2000-01-01T00:00:00Z", recordedAt: $at) {
      statements(filter: {validDuring: {}}, first: 100) { edges { node { key validTime { from to } } } } } }"""
    edges = pulled(client, first=3)
    assert {edge["node"]["kind"] for edge in edges} == {"OPENED", "CLOSED", "IDENTITY"}
    for at, held in replayed(client, edges):
        nodes = [edge["node"] for edge in client.ok(whole, at=at)["asOf"]["statements"]["edges"]]
        assert held == {(node["key"], node["validTime"]["from"], node["validTime"]["to"]) for node in nodes}, at
