"""Idempotency keys: the same payload gives the first result again, another one is a conflict."""

from __future__ import annotations

from tests.api.clients import Client
from tests.api.stating import refused, state

INGEST = """mutation($input: EpisodeInput!, $wait: Boolean) { ingestEpisode(input: $input, wait: $wait) { __typename
  ... on IngestEpisodePayload { deduplicated transaction } ... on IdempotencyConflictError { code idempotencyKey }
  ... on InvalidInputError { code path reason } } }"""


def test_a_repeated_assertion_answers_with_the_first_transaction(client: Client) -> None:
    first = state(client, "e1", "2021-01-01", ("alice", "works_at", "Acme"), idempotencyKey="k1")
    again = state(client, "e1", "2021-01-01", ("alice", "works_at", "Acme"), idempotencyKey="k1")
    assert again["deduplicated"]
    assert again["transaction"] == first["transaction"]


def test_a_key_used_with_other_statements_is_a_conflict_and_stores_nothing(client: Client) -> None:
    first = state(client, "e1", "2021-01-01", ("alice", "works_at", "Acme"), idempotencyKey="k1")
    other = refused(client, "e2", "2021-01-01", ("alice", "works_at", "Beta"), idempotencyKey="k1")
    assert (other["__typename"], other["code"]) == ("IdempotencyConflictError", "IDEMPOTENCY_CONFLICT")
    assert client.ok("{ asOf { basis { transaction } } }")["asOf"]["basis"]["transaction"] == first["transaction"]


def test_keys_are_the_namespaces_own(client: Client) -> None:
    state(client, "e1", "2021-01-01", ("alice", "works_at", "Acme"), idempotencyKey="k1")
    other = client.at(f"{client.namespace}-other")
    assert not state(other, "e2", "2021-01-01", ("alice", "works_at", "Beta"), idempotencyKey="k1")["deduplicated"]


def test_ingestion_takes_keys_too(client: Client) -> None:
    episode = {"content": "Alice works_at Acme.", "source": "test", "externalId": "e1", "saidAt": "2021-01-01", "idempotencyKey": "k1"}
    first = client.ok(INGEST, input=episode)["ingestEpisode"]
    again = client.ok(INGEST, input=episode)["ingestEpisode"]
    assert (first["deduplicated"], again["deduplicated"]) == (False, True)
    assert again["transaction"] == first["transaction"]
    for wait in (True, False):
        other = client.ok(INGEST, input={**episode, "externalId": "e2"}, wait=wait)["ingestEpisode"]
        assert (other["__typename"], other["idempotencyKey"]) == ("IdempotencyConflictError", "k1")


def test_a_key_of_no_or_too_many_characters_is_refused(client: Client) -> None:
    for key in ("", "k" * 257):
        found = refused(client, "e1", "2021-01-01", ("alice", "works_at", "Acme"), idempotencyKey=key)
        assert (found["__typename"], found["reason"]) == ("InvalidInputError", "INVALID_KEY")
        assert found["path"] == ["input", "idempotencyKey"]
