"""Conversations through the product: ingested as `serve` would, asked in-process, one namespace each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from api.service import Service
from api.settings import Settings
from api.wiring import open_service
from benchmarks.recall.measures import Measured, measure
from benchmarks.recall.questions import Conversation, Question
from graph.facade import Snapshot
from graph.recall.views import Arm, Fusion, Kind, RecallOptions
from graph.views import EpisodeView
from ontology.episode import EpisodeDraft
from workers.bulk import import_drafts
from workers.sink import LocalSink

DEPTH = 50
"""Hits that are looked at: beyond them a reciprocal rank counts 0."""

WORDS, MEANING, BOTH = (Arm.BM25,), (Arm.VECTOR,), (Arm.VECTOR, Arm.BM25)
WAYS: dict[str, tuple[tuple[Arm, ...], Fusion]] = {
    "BM25": (WORDS, Fusion.CONVEX),
    "vectors": (MEANING, Fusion.CONVEX),
    "convex": (BOTH, Fusion.CONVEX),
    "RRF": (BOTH, Fusion.RRF),
    "BM25 + PageRank": ((*WORDS, Arm.PAGERANK), Fusion.CONVEX),
    "convex + PageRank": ((*BOTH, Arm.PAGERANK), Fusion.CONVEX),
    "RRF + PageRank": ((*BOTH, Arm.PAGERANK), Fusion.RRF),
}
BASELINE, DEFAULT = "BM25", "convex + PageRank"


@contextmanager
def opened(workers: int) -> Iterator[Service]:
    """A service on an empty folder that goes away after."""
    with TemporaryDirectory() as name:
        service = open_service(Settings(data=Path(name), graph_engine="sql", extraction_workers=workers, embedding_workers=0))
        try:
            yield service
        finally:
            service.close()


def ingest(service: Service, namespace: str, turns: Sequence[EpisodeDraft], workers: int) -> Snapshot:
    """Put turns in, and see them with all their vectors. Ends the program where one cannot go in or be embedded."""
    ingestion = service.ingestion
    tally = import_drafts(turns, LocalSink(service.graph, ingestion, ingestion.pool, namespace), threads=workers + 1)
    if tally.failures:
        raise SystemExit(f"{namespace}: {tally.failures[0]}")
    if service.embedding is None:
        raise SystemExit("no embedder is chosen: unset ERSTWHILE_EMBEDDER, or name one")
    snapshot = service.graph.snapshot(namespace)
    assert snapshot.index_version
    if not service.embedding.finish():
        raise SystemExit(f"{namespace}: {service.embedding.degraded}")
    return service.graph.snapshot(namespace)


def ranking(snapshot: Snapshot, text: str, options: RecallOptions, first: int = DEPTH) -> list[str]:
    """The external IDs of the episodes that a question finds, best first. Ends the program where an arm could not be used."""
    found = snapshot.recall(text, options=options, first=first)
    if found.degraded:
        raise SystemExit(f"recall is degraded: {', '.join(found.degraded)}")
    return [hit.node.external_id or "" for hit in found.page.items if isinstance(hit.node, EpisodeView)]


def episodes(
    arms: tuple[Arm, ...] = (*BOTH, Arm.PAGERANK), fusion: Fusion = Fusion.CONVEX, *, superseded_last: bool = True
) -> RecallOptions:
    """The options of a question for episodes."""
    return RecallOptions(arms=arms, fusion=fusion, kinds=(Kind.EPISODE,), superseded_last=superseded_last)


Answers = dict[str, list[tuple[Question, Measured, list[str]]]]
"""For each way the questions with what was measured of their rankings, and these."""


def answers(service: Service, conversations: Sequence[Conversation], workers: int) -> Answers:
    """Ask every question in every way."""
    found: Answers = {way: [] for way in WAYS}
    for conversation in conversations:
        snapshot = ingest(service, conversation.name, conversation.turns, workers)
        for question in conversation.questions:
            for way, (arms, fusion) in WAYS.items():
                ranked = ranking(snapshot, question.text, episodes(arms, fusion))
                found[way].append((question, measure(ranked, question.evidence), ranked))
    return found
