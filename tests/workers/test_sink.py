"""The local sink: what readers hand out, in words and stated, is recorded once, however often it is read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from extraction.scrubbing import Scrubber
from extraction.threats import ThreatScanner
from graph.ledger.database import open_database
from graph.service import LedgerGraph
from graph.views import StatedClaim, StatementFilter
from ontology.claim import ClaimDraft, ObjectDraft
from ontology.episode import EpisodeDraft, Turn
from ontology.instant import format_instant
from ontology.loading import load_vocabulary
from tests.graph.ledger.conftest import NoProjection
from tests.workers.extracting import TripleExtractor
from tests.workers.readers.writing import SAMPLES, write_lines
from workers.bulk import Tally, import_drafts
from workers.ingestion import Ingestion
from workers.pool import ExtractionPool
from workers.readers import ReadOptions, StatedEpisode, read_path
from workers.sink import LocalSink

OPTIONS = ReadOptions(date_order="dmy", include_sidechains=True, include_bots=True)


class InProcess:
    """A pool without processes."""

    def extract(self, turns: Sequence[Turn]) -> tuple[str, list[list[ClaimDraft]]]:
        extractor = TripleExtractor()
        return extractor.id, extractor.extract(turns)


@dataclass(frozen=True, slots=True)
class Kept:
    """A graph and what brings text into it."""

    graph: LedgerGraph
    sink: LocalSink

    def take(self, path: Path) -> Tally:
        return import_drafts(read_path(path, OPTIONS), self.sink, threads=1)

    def counts(self) -> tuple[int, int]:
        """Transactions and episodes."""
        snapshot = self.graph.snapshot("n")
        return snapshot.basis.transaction, len(snapshot.episodes(first=1000).items)

    def statements(self) -> set[tuple[str, str, str]]:
        views = self.graph.snapshot("n").statements(StatementFilter(), first=1000).items
        return {(view.subject.name, view.predicate, str(getattr(view.object, "name", ""))) for view in views}


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    graph = LedgerGraph(open_database(f"sqlite:///{tmp_path / 'ledger.db'}"), load_vocabulary(), lambda _: NoProjection())
    pool = cast(ExtractionPool, InProcess())
    ingestion = Ingestion(graph, pool, Scrubber(b"key"), ThreatScanner().scan)
    yield Kept(graph, LocalSink(graph, ingestion, pool, "n"))
    graph.close()


def test_all_samples_twice_add_nothing_the_second_time(kept: Kept) -> None:
    first = kept.take(SAMPLES)
    before = kept.counts()
    again = kept.take(SAMPLES)
    assert first.accepted > 50
    assert (again.accepted, again.known) == (0, first.accepted + first.known)
    assert again.failed == first.failed
    assert kept.counts() == before


def test_a_memory_that_has_grown_adds_what_is_new_and_the_rest_keeps_its_time(kept: Kept, tmp_path: Path) -> None:
    ann = {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["Ann likes tea"]}
    works = {"type": "relation", "from": "Ann", "to": "Acme", "relationType": "works at"}
    path = write_lines(tmp_path / "memory.jsonl", [ann, works])
    os.utime(path, (1_760_000_000, 1_760_000_000))
    assert (kept.take(path).accepted, kept.statements()) == (
        3,
        {("Ann", "is_a", "person"), ("Ann", "likes", "tea"), ("Ann", "works_at", "Acme")},
    )
    write_lines(
        path, [ann | {"observations": ["Ann likes tea", "Ann lives_in Rome"]}, works, works | {"to": "Rome", "relationType": "lovesCity"}]
    )
    os.utime(path, (1_770_000_000, 1_770_000_000))
    grown = kept.take(path)
    assert (grown.accepted, grown.known) == (2, 3)
    assert {("Ann", "lives_in", "Rome"), ("Ann", "loves_city", "Rome")} < kept.statements()
    said = {view.content: format_instant(view.said_at) for view in kept.graph.snapshot("n").episodes(first=10).items}
    assert (said["Ann likes tea"], said["Ann works at Acme"]) == ("2025-10-09T08:53:20Z", "2025-10-09T08:53:20Z")
    assert said["Ann lives_in Rome"] == "2026-02-02T02:40:00Z"


def test_what_is_stated_badly_costs_itself_alone(kept: Kept) -> None:
    def stated(predicate: str, subject: str = "Ann") -> StatedEpisode:
        episode = EpisodeDraft(f"{subject} {predicate}", "test", said_at="2026-01-01", group="a fine place")
        return StatedEpisode(episode, (StatedClaim(ClaimDraft(subject, predicate, ObjectDraft("tea"))),))

    tally = kept.sink.take([stated("likes"), stated("No Predicate"), stated("drinks", " "), stated("drinks")])
    assert (tally.accepted, tally.failed, tally.claims) == (2, 2, 2)
    assert all("a fine place" in failure for failure in tally.failures)
    assert {predicate for _, predicate, _ in kept.statements()} == {"likes", "drinks"}


def test_secrets_in_what_is_stated_are_replaced(kept: Kept, tmp_path: Path) -> None:
    secret = "AKIA" + "Q3EGRUCXZ2WPLVTN"
    lines = [{"type": "relation", "from": "Ann", "to": secret, "relationType": "has_key"}]
    assert kept.take(write_lines(tmp_path / "memory.jsonl", lines)).accepted == 1
    assert not any(secret in file.read_bytes().decode(errors="replace") for file in tmp_path.glob("ledger.db*"))


def test_what_nobody_said_is_kept_without_claims(kept: Kept) -> None:
    draft = EpisodeDraft("Ann likes tea", "test", external_id="1", said_at="2026-01-01", speech=False)
    tally = kept.sink.take([draft])
    assert (tally.accepted, tally.claims, kept.statements()) == (1, 0, set())
