"""Reading the feed of changes over GraphQL, by pages and as it is followed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.api.clients import Client

PARTS = """kind key transaction at members
  statement { id key validTime { from to } transactionTime { from to } subject { key name } predicate { name }
    object { ... on Entity { key name } ... on Literal { value } } }"""
PULL = f"""query($after: String, $first: Int, $filter: StatementFilter) {{ changes(after: $after, first: $first, filter: $filter) {{
  edges {{ cursor node {{ {PARTS} }} }} pageInfo {{ startCursor endCursor hasNextPage hasPreviousPage }} }} }}"""
FOLLOW = f"""subscription($after: String, $filter: StatementFilter) {{ changes(after: $after, filter: $filter) {{
  cursor node {{ {PARTS} }} }} }}"""
LIST = """query($about: StatementFilter!, $at: DateTime!, $after: String) { asOf(validAt: "2000-01-01T00:00:00Z", recordedAt: $at) {
  statements(filter: $about, first: 100, after: $after) { edges { node { key validTime { from to }
  subject { key } object { ... on Entity { key } } } } pageInfo { hasNextPage endCursor } } } }"""
MERGE = """mutation($ids: [ID!]!) { mergeEntities(ids: $ids) { __typename
  ... on EntityPayload { transaction entity { key } } ... on Error { message } } }"""
Edge = dict[str, Any]


def pulled(client: Client, after: str | None = None, *, first: int = 100, **filter: Any) -> list[Edge]:
    """All edges after a cursor."""
    found: list[Edge] = []
    while True:
        page = client.ok(PULL, after=after, first=first, filter=filter or None)["changes"]
        found += page["edges"]
        if not page["pageInfo"]["hasNextPage"]:
            return found
        after = page["pageInfo"]["endCursor"]


def in_words(edge: Edge) -> str:
    """A change in words."""
    node = edge["node"]
    found = node["statement"]
    if found is None:
        return f"{node['kind']} {node['key']}"
    object = found["object"]
    return f"{node['kind']} {found['subject']['name']} {found['predicate']['name']} {object.get('name') or object.get('value')}"


def about(client: Client, id: str, at: str) -> Iterator[dict[str, Any]]:
    """All statements about an entity as of a time of record, also one that is nobody there."""
    for side in ("subjects", "objects"):
        after, more = None, True
        while more:
            page = client.ok(LIST, about={side: [id], "validDuring": {}}, at=at, after=after)["asOf"]["statements"]
            yield from (edge["node"] for edge in page["edges"])
            after, more = page["pageInfo"]["endCursor"], page["pageInfo"]["hasNextPage"]
