"""What differs between two bases, over each transport: causes, IDs, pages and refusals."""

from __future__ import annotations

from typing import Any

from tests.api.clients import Client
from tests.api.stating import state

NODE = """kind cause qualifier subject { id name } predicate { name }
  before { id text object { ... on Entity { name } } provenance { edges { node { externalId } } } }
  after { id text object { ... on Entity { name } } provenance { edges { node { externalId } } } }"""
DIFF = f"""query($from: BasisInput!, $to: BasisInput!, $filter: StatementFilter, $first: Int, $after: String) {{
  diff(from: $from, to: $to, filter: $filter, first: $first, after: $after) {{
    edges {{ cursor node {{ {NODE} }} }} pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} }} }}"""
THEN, LATER = {"validAt": "2023-06-01T00:00:00Z"}, {"validAt": "2024-06-01T00:00:00Z"}


def told(edge: Any) -> tuple[str, ...]:
    node = edge["node"]
    names = ["/".join(each["object"]["name"] for each in node[side]) for side in ("before", "after")]
    return node["cause"], node["kind"], node["subject"]["name"], node["predicate"]["name"], *names


def drifted(client: Client) -> dict[str, Any]:
    """A world that has moved on, and the basis of before a correction."""
    state(client, "1", "2023-01-01", ("Ada", "works_at", "Acme"), ("Ada", "likes", "tea"), ("Bo", "likes", "tea"))
    known = {"recordedAt": client.ok("{ asOf { basis { recordedAt } } }")["asOf"]["basis"]["recordedAt"]}
    state(client, "2", "2024-01-01", ("Ada", "works_at", "Globex"), ("Ada", "likes", "milk"))
    wrong = {"subject": {"name": "Ada"}, "predicate": "works_at", "object": {"name": "Initech"}, "kind": "CORRECTION"}
    state(client, "3", "2024-02-01", statements=[wrong | {"replaces": {"name": "Acme"}}])
    return known


def test_belief_and_world_are_told_apart_with_their_words(client: Client) -> None:
    known = drifted(client)
    edges = client.ok(DIFF, **{"from": THEN | known, "to": LATER})["diff"]["edges"]
    assert [told(edge) for edge in edges] == [
        ("BELIEF", "CHANGED", "Ada", "works_at", "Acme", "Initech"),
        ("WORLD", "ADDED", "Ada", "likes", "", "milk"),
        ("WORLD", "CHANGED", "Ada", "works_at", "Initech", "Globex"),
    ]
    assert [edge["node"]["after"][0]["provenance"]["edges"][0]["node"]["externalId"] for edge in edges] == ["3", "2", "2"]
    assert client.ok(DIFF, **{"from": THEN, "to": THEN})["diff"]["edges"] == []


def test_ids_name_the_basis_of_their_side(client: Client) -> None:
    known = drifted(client)
    belief, _, world = (edge["node"] for edge in client.ok(DIFF, **{"from": THEN | known, "to": LATER})["diff"]["edges"])
    middle = [belief["after"][0]["id"], world["before"][0]["id"]]
    assert middle[0] == middle[1]
    ids = [belief["before"][0]["id"], *middle, world["after"][0]["id"]]
    nodes = client.ok("query($ids: [ID!]!) { nodes(ids: $ids) { id ... on Statement { text } } }", ids=ids)["nodes"]
    assert [node["id"] for node in nodes] == ids
    assert [node["text"] for node in nodes] == [
        each["text"] for each in (*belief["before"], *belief["after"], *world["before"], *world["after"])
    ]


def test_pages_stand_on_both_bases(client: Client) -> None:
    known = drifted(client)
    bases: dict[str, Any] = {"from": THEN | known, "to": {}}
    whole = client.ok(DIFF, **bases)["diff"]["edges"]
    first = client.ok(DIFF, first=1, **bases)["diff"]
    assert first["pageInfo"]["hasNextPage"] and not first["pageInfo"]["hasPreviousPage"]
    state(client, "4", "2024-03-01", ("Ada", "works_at", "Umbrella"), ("Abe", "likes", "tea"))
    second = client.ok(DIFF, first=5, after=first["pageInfo"]["endCursor"], **bases)["diff"]
    assert second["pageInfo"]["hasPreviousPage"] and not second["pageInfo"]["hasNextPage"]
    assert [told(edge) for edge in first["edges"] + second["edges"]] == [told(edge) for edge in whole]
    for other in ({"from": LATER, "to": {}}, {"from": THEN | known, "to": LATER}):
        answer = client.send(DIFF, {**other, "after": first["pageInfo"]["endCursor"]})
        assert answer.codes == ["BAD_USER_INPUT"] and "stands on another basis than" in answer.errors[0]["message"]


def test_a_cursor_of_something_else_is_none_of_a_diff(client: Client) -> None:
    drifted(client)
    statements = "{ asOf { statements { pageInfo { endCursor } } } transactions { pageInfo { endCursor } } }"
    data = client.ok(statements)
    foreign = [data["asOf"]["statements"]["pageInfo"]["endCursor"], data["transactions"]["pageInfo"]["endCursor"], "nonsense"]
    for cursor in foreign:
        assert client.send(DIFF, {"from": THEN, "to": LATER, "after": cursor}).codes == ["BAD_USER_INPUT"]
    mine = client.ok(DIFF, **{"from": THEN, "to": LATER})["diff"]["pageInfo"]["endCursor"]
    assert client.send("query($after: String) { asOf { statements(after: $after) { edges { cursor } } } }", {"after": mine}).codes == [
        "BAD_USER_INPUT"
    ]


def test_a_filter_that_asks_for_a_time_is_refused_by_name(client: Client) -> None:
    for filter, name in (({"validDuring": {}}, "validDuring"), ({"includeInvalidated": True}, "includeInvalidated")):
        (error,) = client.send(DIFF, {"from": THEN, "to": LATER, "filter": filter}).errors
        assert (error["extensions"]["code"], f"`{name}` has no meaning" in error["message"]) == ("BAD_USER_INPUT", True)


def test_a_diff_may_leave_evidence_out(client: Client) -> None:
    drifted(client)
    bases = {"from": LATER | {"evidenceUntil": "2023-06-01T00:00:00Z"}, "to": LATER | {"evidenceUntil": "2024-01-15T00:00:00Z"}}
    assert [told(edge) for edge in client.ok(DIFF, **bases)["diff"]["edges"]] == [
        ("BELIEF", "ADDED", "Ada", "likes", "", "milk"),
        ("BELIEF", "CHANGED", "Ada", "works_at", "Acme", "Globex"),
    ]
    (filtered,) = client.ok(DIFF, filter={"predicates": ["likes"]}, **bases)["diff"]["edges"]
    assert told(filtered)[3] == "likes"


def test_a_query_asks_for_so_many_diffs(client: Client) -> None:
    fields = " ".join(f"d{number}: diff(from: {{}}, to: {{}}) {{ edges {{ cursor }} }}" for number in range(11))
    assert client.send(f"{{ {fields} }}").codes == ["QUERY_TOO_COMPLEX"]
