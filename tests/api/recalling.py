"""Asking recall over GraphQL, and a service whose texts get vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from api.service import Service
from graph.opening import open_graph
from graph.recall.embedding.choosing import EmbedderSettings, choose
from ontology.loading import load_vocabulary
from tests.api.clients import Client
from tests.api.opening import OVERLAY
from tests.workers.extracting import OneSecret, TripleExtractor, scan
from workers.embedding import Embedding
from workers.ingestion import Ingestion
from workers.pool import ExtractionPool

TOLD = "key text subject { name } predicate { name } object { ... on Entity { name } }"
RECALL = f"""query($text: String!, $options: RecallOptions, $filter: StatementFilter, $first: Int, $after: String, $validAt: DateTime,
  $recordedAt: DateTime, $evidenceUntil: DateTime) {{
  asOf(validAt: $validAt, recordedAt: $recordedAt, evidenceUntil: $evidenceUntil) {{ basis {{ recordedAt indexVersion }}
    recall(query: $text, options: $options, filter: $filter, first: $first, after: $after) {{
      edges {{ cursor score path arms {{ arm score rank }}
        node {{ __typename ... on Statement {{ {TOLD} }} ... on Episode {{ key content }} }} }}
      pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} notShown degraded }} }} }}"""
CONTEXT = f"""query($text: String!, $tokenBudget: Int, $options: RecallOptions, $filter: StatementFilter, $validAt: DateTime,
  $recordedAt: DateTime) {{ asOf(validAt: $validAt, recordedAt: $recordedAt) {{
  context(query: $text, tokenBudget: $tokenBudget, options: $options, filter: $filter) {{
    text tokens degraded basis {{ validAt recordedAt indexVersion }} statements {{ {TOLD}
      provenance {{ edges {{ node {{ key }} }} }} history {{ validTime {{ from }} }} }} }} }} }}"""


def open_recalling_service(folder: Path) -> Service:
    """The service of a folder, with the embedder for tests."""
    choice = choose(EmbedderSettings(embedder="hash"))
    assert choice is not None
    graph = open_graph(folder, load_vocabulary(OVERLAY), kind="sql", embedder=choice)
    embedding = Embedding(graph, choice.load, workers=0)
    graph.when_indexed(embedding.notify)
    return Service(graph, Ingestion(graph, ExtractionPool(TripleExtractor), OneSecret(), scan), embedding)


def recalled(client: Client, query: str, **variables: Any) -> dict[str, Any]:
    """The connection."""
    found: dict[str, Any] = client.ok(RECALL, text=query, **variables)["asOf"]["recall"]
    return found


def objects(connection: dict[str, Any]) -> list[str]:
    """What the statements that were found name, in order; of an episode its text."""
    return [edge["node"].get("content") or edge["node"]["object"]["name"] for edge in connection["edges"]]
