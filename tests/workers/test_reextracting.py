"""Reading again what was said: in pages, ahead of the ledger, and no text takes others down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import pytest

from graph.facade import Graph
from graph.views import PendingEpisode, Reextraction
from ontology.claim import ClaimDraft
from ontology.episode import EpisodeDraft
from ontology.errors import NotFound
from tests.workers.extracting import TripleExtractor
from workers.pool import ExtractionPool
from workers.reextracting import BATCH, reextract


class Ledger:
    """Episodes, and what was put in the place of their claims."""

    def __init__(self, *texts: str) -> None:
        self.episodes = [
            PendingEpisode("n", f"key {row}", 0, EpisodeDraft(text, "test", external_id=str(row)), row=row)
            for row, text in enumerate(texts, 1)
        ]
        self.put: dict[str, list[str]] = {}
        self.asked: list[dict[str, Any]] = []

    def extracted(self, namespace: str, *, after: int, limit: int, **chosen: Any) -> list[PendingEpisode]:
        self.asked.append(chosen)
        return [each for each in self.episodes if each.row > after][:limit]

    def reextract(self, namespace: str, episode: PendingEpisode, claims: Sequence[ClaimDraft], *, extractor: str) -> Reextraction:
        if "gone" in episode.draft.content:
            raise NotFound("the episode is not there any more", id=episode.key)
        self.put[episode.key] = [claim.object.text for claim in claims]
        return Reextraction(episode.key, episode.row, ("a",), (), 0)


@pytest.fixture(scope="module")
def pool() -> Iterator[ExtractionPool]:
    found = ExtractionPool(TripleExtractor, workers=2)
    yield found
    found.close()


@pytest.mark.parametrize("threads", [1, 3])
def test_every_episode_is_read_in_the_order_of_the_ledger(threads: int, pool: ExtractionPool) -> None:
    ledger = Ledger(*(f"Ada likes tea{number}" for number in range(2 * BATCH + 3)))
    found = list(reextract(cast(Graph, ledger), pool, "n", since=5, source="test", threads=threads))
    assert [outcome.episode.row for outcome in found] == list(range(1, 2 * BATCH + 4))
    assert ledger.put["key 7"] == ["tea6"]
    assert all(asked == {"since": 5, "source": "test"} for asked in ledger.asked)


def test_a_text_that_cannot_be_read_keeps_its_claims_and_costs_itself_alone(pool: ExtractionPool) -> None:
    ledger = Ledger("Ada likes tea", "fail", "gone Bo likes jazz", "Cy likes chess")
    found = list(reextract(cast(Graph, ledger), pool, "n"))
    assert [outcome.failure for outcome in found] == [
        None,
        "extraction failed: told to fail",
        "the episode is not there any more",
        None,
    ]
    assert ledger.put == {"key 1": ["tea"], "key 4": ["chess"]}
