"""The service that the vectors are put to: one of the runner's own, or one at an address."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import yaml

from api.headers import NAMESPACE_HEADER
from benchmarks.bulk.running import running
from benchmarks.vectors.erstwhile import Answer
from benchmarks.vectors.worlds import Failed, Predicate

PATIENCE = 60.0


class OverHttp:
    """A service at an address."""

    def __init__(self, client: httpx.Client, url: str) -> None:
        self._client, self._url = client, url

    def send(self, namespace: str, document: str, variables: Mapping[str, Any]) -> Answer:
        """One operation. Raises Failed where no GraphQL comes back."""
        body, headers = {"query": document, "variables": variables}, {NAMESPACE_HEADER: namespace}
        try:
            found = self._client.post(f"{self._url}/graphql", json=body, headers=headers).json()
        except (httpx.HTTPError, ValueError) as failure:
            raise Failed(f"the service at {self._url} gives no GraphQL: {failure}") from failure
        return Answer(found.get("data"), found.get("errors") or ())


def ontology(predicates: Mapping[str, Predicate]) -> str:
    """The predicates as the vocabulary of a service (`ERSTWHILE_ONTOLOGY`)."""
    traits = {
        each.name: {
            "cardinality": "one" if each.one else "many",
            "temporal": each.temporal,
            **({"afterRival": "resume"} if each.resumes else {}),
        }
        for each in predicates.values()
    }
    return yaml.safe_dump({"predicates": traits})


@contextmanager
def served(predicates: Mapping[str, Predicate], url: str | None = None) -> Iterator[OverHttp]:
    """A service that knows the predicates, in processes of its own; with `url` the one there, which is taken at its word."""
    if url is not None:
        with httpx.Client(timeout=PATIENCE) as client:
            yield OverHttp(client, url.rstrip("/").removesuffix("/graphql"))
        return
    with TemporaryDirectory() as name:
        vocabulary = Path(name) / "vectors.yaml"
        vocabulary.write_text(ontology(predicates), encoding="utf-8")
        with running(Path(name) / "service", workers=1, broker=False, ERSTWHILE_ONTOLOGY=str(vocabulary)) as service:
            yield OverHttp(service.client, service.url)
