"""Stating claims over GraphQL."""

from __future__ import annotations

from typing import Any

from tests.api.clients import Client

ASSERT = """mutation($input: AssertStatementsInput!) { assertStatements(input: $input) { __typename
  ... on AssertStatementsPayload { transaction deduplicated warnings episode { id key externalId status }
    asserted { id object { ... on Entity { name } } provenance { edges { node { externalId } evidence { quote } } } }
    invalidated { object { ... on Entity { name } } invalidation { reason by { object { ... on Entity { name } } } } } }
  ... on InvalidInputError { code message path reason } ... on Error { code message } } }"""


def state(client: Client, episode: str, said: str, *claims: tuple[str, str, str], **more: Any) -> dict[str, Any]:
    """State claims in an episode; the payload."""
    found = refused(client, episode, said, *claims, **more)
    assert found["__typename"] == "AssertStatementsPayload", found
    return found


def refused(client: Client, episode: str, said: str, *claims: tuple[str, str, str], **more: Any) -> dict[str, Any]:
    """The same, where another result may come."""
    statements = [{"subject": {"name": s}, "predicate": p, "object": {"name": o}} for s, p, o in claims]
    input = {"source": "test", "externalId": episode, "saidAt": said, "statements": statements, **more}
    found: dict[str, Any] = client.ok(ASSERT, input=input)["assertStatements"]
    return found
