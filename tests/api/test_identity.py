"""IDs and cursors, over each transport."""

from __future__ import annotations

from api.identity import pack, unpack
from tests.api.clients import Client
from tests.api.stating import state


def test_ids_name_the_basis_under_an_explicit_as_of_only(client: Client) -> None:
    state(client, "1", "2023-01-01", ("Ada", "works_at", "Acme"))
    parts = 'entity(name: "Ada") { id key statements { edges { node { id key } } } } episodes { edges { node { id key } } }'
    data = client.ok(f'{{ now: asOf {{ {parts} }} then: asOf(validAt: "2023-06-01T00:00:00Z") {{ {parts} }} }}')
    kinds = {
        alias: {
            "Entity": scope["entity"],
            "Statement": scope["entity"]["statements"]["edges"][0]["node"],
            "Episode": scope["episodes"]["edges"][0]["node"],
        }
        for alias, scope in data.items()
    }
    state(client, "2", "2024-01-01", ("Ada", "works_at", "Globex"))
    for kind in ("Entity", "Statement", "Episode"):
        now, then = kinds["now"][kind], kinds["then"][kind]
        assert now["key"] == then["key"]
        assert now["id"] != then["id"]
        for id in (now["id"], then["id"]):
            node = client.ok("query($id: ID!) { node(id: $id) { __typename id } }", id=id)["node"]
            assert node == {"__typename": kind, "id": id}
    # Refetched on its own basis, the statement still has no end.
    ask = "query($id: ID!) { node(id: $id) { ... on Statement { validTime { to } } } }"
    assert client.ok(ask, id=kinds["then"]["Statement"]["id"])["node"]["validTime"]["to"] is None
    entity = client.ok("query($id: ID!) { asOf { entity(id: $id) { name } } }", id=kinds["then"]["Entity"]["id"])["asOf"]["entity"]
    assert entity == {"name": "Ada"}


def test_unknown_and_malformed_ids_are_null(client: Client) -> None:
    ids = ["", "x", "!!!", "WyJlbnRpdHkiLCJ4Il0", "WyJlbnRpdHkiXQ", "W10", "bnVsbA", "WyJzdGF0ZW1lbnQiLCJ4Il0", "é"]
    assert client.ok("query($ids: [ID!]!) { nodes(ids: $ids) { id } }", ids=ids)["nodes"] == [None] * len(ids)
    assert client.ok('query { node(id: "nothing") { id } }')["node"] is None
    assert client.ok('query { asOf { entity(id: "nothing") { id } } }')["asOf"]["entity"] is None
    assert client.send("query($ids: [ID!]!) { nodes(ids: $ids) { id } }", {"ids": ["x"] * 101}).codes == ["BAD_USER_INPUT"]


PAGE = """query($after: String, $first: Int) { asOf { statements(first: $first, after: $after) { edges { cursor node { id
  object { ... on Entity { name } } } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }"""


def test_pages_do_not_shift_when_something_is_recorded_between_them(client: Client) -> None:
    state(client, "1", "2023-01-01", *(("Ada", "likes", f"thing {number}") for number in range(5)))
    seen: list[str] = []
    after, pages = None, 0
    while True:
        page = client.ok(PAGE, first=2, after=after)["asOf"]["statements"]
        seen += [edge["node"]["object"]["name"] for edge in page["edges"]]
        assert page["pageInfo"]["hasPreviousPage"] is (after is not None)
        assert page["pageInfo"]["endCursor"] == page["edges"][-1]["cursor"]
        pages += 1
        if not page["pageInfo"]["hasNextPage"]:
            break
        after = page["pageInfo"]["endCursor"]
        state(client, f"between {pages}", "2024-01-01", ("Ada", "likes", f"newcomer {pages}"))
    assert seen == [f"thing {number}" for number in range(5)]


def test_every_connection_is_paged(client: Client) -> None:
    for number in range(3):
        state(client, str(number), f"2023-01-0{number + 1}", ("Ada", "likes", f"thing {number}"))
    fields = {
        "statements": "asOf { x: statements(first: 1, after: $after)",
        "entities": "asOf { x: entities(first: 1, after: $after)",
        "episodes": "asOf { x: episodes(first: 1, after: $after)",
        "about": 'asOf { entity(name: "Ada") { x: statements(first: 1, after: $after)',
        "transactions": "x: transactions(first: 1, after: $after)",
    }
    for name, field in fields.items():
        closing = "}" * (field.count("{") + 1)
        query = f"query($after: String) {{ {field} {{ edges {{ cursor }} pageInfo {{ hasNextPage endCursor }} }} {closing}"
        after, cursors = None, []
        for _ in range(5):
            found = client.ok(query, after=after)
            while "x" not in found:
                found = next(iter(found.values()))
            cursors += [edge["cursor"] for edge in found["x"]["edges"]]
            after = found["x"]["pageInfo"]["endCursor"]
            if not found["x"]["pageInfo"]["hasNextPage"]:
                break
        assert len(set(cursors)) == len(cursors) == (4 if name == "entities" else 3), name


def test_a_cursor_of_another_kind_or_basis_is_refused(client: Client) -> None:
    state(client, "1", "2023-01-01", *(("Ada", "likes", f"thing {number}") for number in range(3)))
    cursor = client.ok(PAGE, first=1)["asOf"]["statements"]["pageInfo"]["endCursor"]
    other_kind = client.send("query($c: String) { asOf { entities(after: $c) { edges { cursor } } } }", {"c": cursor})
    assert other_kind.codes == ["BAD_USER_INPUT"]
    other_time = 'query($c: String) { asOf(validAt: "2023-05-01T00:00:00Z") { statements(after: $c) { edges { cursor } } } }'
    assert client.send(other_time, {"c": cursor}).codes == ["BAD_USER_INPUT"]
    for wrong in ("nonsense", "W10", "WyJhZnRlcjpzdGF0ZW1lbnRzIixbXSxudWxsXQ"):
        assert client.send(PAGE, {"after": wrong}).codes == ["BAD_USER_INPUT"]
    transactions = client.ok("{ transactions(first: 1) { edges { cursor node { number kind actor } } } }")["transactions"]["edges"]
    assert client.send(PAGE, {"after": transactions[0]["cursor"]}).codes == ["BAD_USER_INPUT"]


def test_an_edited_cursor_is_refused(client: Client) -> None:
    state(client, "1", "2023-01-01", ("Ada", "likes", "tea"))
    cursor = client.ok(PAGE, first=1)["asOf"]["statements"]["edges"][0]["cursor"]
    assert client.ok(PAGE, after=cursor)["asOf"]["statements"]["edges"] == []
    parts = unpack(cursor)
    assert parts is not None
    for edited in (cursor[:-4], pack([parts[0], [], *parts[2:]]), pack([*parts[:2], [0, 1, None], parts[3]]), pack([])):
        assert client.send(PAGE, {"after": edited}).codes == ["BAD_USER_INPUT"]


def test_first_is_1_to_100(client: Client) -> None:
    for first in (0, -1, 101):
        assert client.send(PAGE, {"first": first}).codes == ["BAD_USER_INPUT"]
    assert client.ok(PAGE, first=None)["asOf"]["statements"]["edges"] == []
