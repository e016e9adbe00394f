"""Jobs over GraphQL."""

from __future__ import annotations

import time
from typing import Any

from tests.api.clients import Client

JOB = """id state kind trace createdAt finishedAt
  progress { accepted committed empty deduplicated quarantined failed pending }"""
FAILURES = """failures(first: $first, after: $after) { edges { cursor node { message attempts episode { externalId } } }
  pageInfo { hasNextPage } }"""
ERRORS = """__typename ... on Error { code message } ... on InvalidInputError { path reason } ... on OverloadedError { retryAfter }
  ... on IdempotencyConflictError { idempotencyKey }"""
INGEST = f"""mutation($input: [EpisodeInput!]!) {{ ingestEpisodes(input: $input) {{ {ERRORS}
  ... on IngestEpisodesPayload {{ job {{ {JOB} }} }} }} }}"""
STATE = f"""mutation($input: [AssertStatementsInput!]!) {{ assertStatementsBatch(input: $input) {{ {ERRORS}
  ... on IngestEpisodesPayload {{ job {{ {JOB} }} }} }} }}"""
CANCEL = f"""mutation($id: ID!) {{ cancelIngestJob(id: $id) {{ __typename ... on Error {{ code }}
  ... on CancelIngestJobPayload {{ job {{ {JOB} }} }} }} }}"""
RETRY = CANCEL.replace("cancelIngestJob", "retryIngestJob")
RELEASE = """mutation($id: ID!, $reason: String!) { releaseEpisode(id: $id, reason: $reason) { __typename
  ... on Error { code message } ... on InvalidInputError { path }
  ... on RetractEpisodePayload { transaction episode { status } restored { object { ... on Entity { name } } } } } }"""
ONE = f"query($id: ID!) {{ ingestJob(id: $id) {{ {JOB} }} node(id: $id) {{ id ... on IngestJob {{ state }} }} }}"
FAILED = f"query($id: ID!, $first: Int, $after: String) {{ ingestJob(id: $id) {{ {FAILURES} }} }}"
LIST = """query($first: Int, $after: String) { ingestJobs(first: $first, after: $after) { edges { cursor node { id } }
  pageInfo { hasNextPage } } }"""
WATCH = f"subscription($id: ID!) {{ ingestJob(id: $id) {{ {JOB} }} }}"
COUNTS = ("accepted", "committed", "empty", "deduplicated", "quarantined", "failed", "pending")


def said(name: str, content: str = "Ada likes tea", **more: Any) -> dict[str, Any]:
    """An episode of a job."""
    return {"content": content, "source": "notes", "externalId": name, "saidAt": "2024-01-01", **more}


def stated(name: str, subject: str = "Ada", predicate: str = "likes", object: str = "tea", **more: Any) -> dict[str, Any]:
    """An episode with one statement."""
    statement = {"subject": {"name": subject}, "predicate": predicate, "object": {"name": object}}
    return {"source": "notes", "externalId": name, "saidAt": "2024-01-01", "statements": [statement], **more}


def handed_in(client: Client, *episodes: dict[str, Any]) -> dict[str, Any]:
    """The job of some episodes."""
    found: dict[str, Any] = client.ok(INGEST, input=list(episodes))["ingestEpisodes"]
    assert found["__typename"] == "IngestEpisodesPayload", found
    job: dict[str, Any] = found["job"]
    return job


def again(client: Client, job: dict[str, Any]) -> dict[str, Any]:
    """The job as it stands now."""
    found: dict[str, Any] = client.ok(ONE, id=job["id"])["ingestJob"]
    return found


def ended(client: Client, job: dict[str, Any], patience: float = 30) -> dict[str, Any]:
    """The job once nothing of it waits."""
    end = time.monotonic() + patience
    while (found := again(client, job))["finishedAt"] is None:
        assert time.monotonic() < end, found
        time.sleep(0.02)
    return found


def counts(job: dict[str, Any]) -> dict[str, int]:
    """The counts of a job that are not 0; they add up."""
    progress = job["progress"]
    parts = ("committed", "deduplicated", "quarantined", "failed", "pending")
    assert progress["accepted"] == sum(progress[part] for part in parts)
    return {name: progress[name] for name in COUNTS if progress[name]}
