"""Every vector over GraphQL, in the given order and in one or two others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from benchmarks.vectors.erstwhile import Answer, Erstwhile
from benchmarks.vectors.reading import Vector, load
from benchmarks.vectors.running import Outcome, put
from tests.api.clients import InProcess

VECTORS = load()
# Its mutation comes with its own feature.
ERASING = {"V18"}


class Within:
    """The schema in-process as a service of the runner."""

    def __init__(self, client: InProcess) -> None:
        self._client = client

    def send(self, namespace: str, document: str, variables: Mapping[str, Any]) -> Answer:
        """One operation."""
        found = self._client.at(namespace).send(document, variables)
        return Answer(found.data, found.errors)


@pytest.mark.parametrize("vector", VECTORS.vectors, ids=lambda vector: vector.id)
def test_vector_over_graphql(vector: Vector, in_process: InProcess) -> None:
    result = put(Erstwhile(Within(in_process)), vector, VECTORS.predicates, 1 if vector.group == "drift" else 2)
    good = {Outcome.RIGHT, Outcome.CANNOT} if vector.id in ERASING else {Outcome.RIGHT}
    wrong = [answered for answered in (result.given, *result.shuffled.values()) if answered.outcome not in good]
    assert wrong == []
