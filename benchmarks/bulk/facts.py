"""Structured facts over HTTP: `assertStatementsBatch` in calls of 1,000 episodes with a statement each."""

from __future__ import annotations

import time
from typing import Any

from benchmarks.bulk.running import Running

STATE = """mutation($input: [AssertStatementsInput!]!) { assertStatementsBatch(input: $input) { __typename
  ... on IngestEpisodesPayload { job { progress { committed } } } ... on Error { code message } } }"""
CALL = 1000
_PREDICATES = ("works_at", "likes", "lives_in")


def _input(number: int) -> dict[str, Any]:
    return {
        "source": "benchmark",
        "externalId": str(number),
        "saidAt": "2024-01-01",
        "statements": [
            {
                "subject": {"name": f"Person {number % 5000}"},
                "predicate": _PREDICATES[number % 3],
                "object": {"name": f"Thing {number * 7 % 9000}"},
            }
        ],
    }


def per_second(service: Running, count: int, *, first: int = 0) -> float:
    """Facts that are committed in a second; `first` is the number of the first one."""
    start = time.perf_counter()
    for call in range(first, first + count, CALL):
        result = service.ask(STATE, input=[_input(number) for number in range(call, call + CALL)])["assertStatementsBatch"]
        if result["__typename"] != "IngestEpisodesPayload" or result["job"]["progress"]["committed"] != CALL:
            raise RuntimeError(str(result)[:300])
    return count / (time.perf_counter() - start)
