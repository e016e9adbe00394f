"""Erstwhile on the peers' facts: stated through the facade into a folder of its own, embedded, followed by the graph, recalled."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.peers.common import (
    BATCH,
    TOP,
    Fact,
    HashEmbedder,
    Measured,
    batches,
    facts,
    measured,
    now,
    offline,
    report,
    searched,
    since,
)
from graph.facade import Graph
from graph.opening import open_graph
from graph.recall.embedding.choosing import Choice
from graph.views import StatedClaim, StatementView
from ontology.claim import ClaimDraft, ObjectDraft
from ontology.episode import EpisodeDraft
from ontology.loading import load_vocabulary

NAMESPACE = "benchmark"


def write(graph: Graph, batch: Sequence[Fact]) -> int:
    """One episode of the facts' sentences: one durable commit, whose number is returned."""
    said = [f"{fact.said:%Y-%m-%dT%H:%M:%SZ}" for fact in batch]
    claims = [
        StatedClaim(ClaimDraft(fact.subject, fact.predicate, ObjectDraft(fact.object), valid_from=at), quote=fact.sentence)
        for fact, at in zip(batch, said, strict=True)
    ]
    episode = EpisodeDraft("\n".join(fact.sentence for fact in batch), "benchmark", external_id=said[0], said_at=said[-1])
    return graph.record_stated(NAMESPACE, episode, claims).transaction


def embed_all(graph: Graph, embedder: HashEmbedder) -> None:
    """Vectors for all that waits for them."""
    while texts := graph.unembedded():
        graph.record_vectors(texts, embedder.embed_documents(texts))


def recalled(graph: Graph, question: str) -> list[str]:
    """The first statements, as text; a snapshot for every question, as a request has it."""
    found = graph.snapshot(NAMESPACE).recall(question, first=TOP)
    assert not found.degraded, found.degraded
    return [hit.node.text for hit in found.page.items if isinstance(hit.node, StatementView)]


def measure(folder: Path, size: int, search: bool) -> Measured:
    """Written in batches of a size, then searched."""
    graph: Graph = open_graph(folder, load_vocabulary(), embedder=Choice(HashEmbedder.id, HashEmbedder))
    try:
        all_facts = facts()
        started = now()
        last = 0
        for batch in batches(all_facts, size):
            last = write(graph, batch)
        if search:
            embed_all(graph, HashEmbedder())
        graph.await_transaction(last, 60)
        taken = since(started)
        searches = searched(all_facts, lambda question: recalled(graph, question)) if search else None
    finally:
        graph.close()
    name = "Erstwhile, one by one" if size == 1 else f"Erstwhile, batches of {size}"
    note = "resolved, in the ledger and the graph" + (", embedded" if search else "")
    return measured(name, version("erstwhile"), taken, len(all_facts), note, searches)


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("report", type=Path)
    parser.add_argument("--ingest-only", action="store_true", help="neither embed nor search")
    options = parser.parse_args()
    offline()
    rows = []
    for size in (1, BATCH):
        with TemporaryDirectory() as name:
            rows.append(measure(Path(name), size, not options.ingest_only))
    report(options.report, rows)


if __name__ == "__main__":
    main()
