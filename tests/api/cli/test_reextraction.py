"""`erstwhile reextract`: what changed, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest

from api.cli.reextraction import report, report_lines, run
from api.service import Service
from graph.facade import Graph
from graph.views import PendingEpisode, Reextraction, StatementFilter
from ontology.claim import ClaimDraft
from ontology.episode import EpisodeDraft
from tests.api.cli.faced import Faced
from tests.api.standing_in import StandIn
from tests.api.stating import state
from tests.workers.extracting import OneSecret, scan
from workers.ingestion import Ingestion
from workers.pool import ExtractionPool


class Rereading(StandIn):
    """Two episodes: reading the first again finds the newest claim anew and loses the other and one that nobody knows any more."""

    def extracted(self, namespace: str, *, after: int, **chosen: Any) -> list[PendingEpisode]:
        episodes = [
            PendingEpisode(namespace, "one", 0, EpisodeDraft("Ada works_at Globex", "chat", external_id="1"), row=1),
            PendingEpisode(namespace, "two", 0, EpisodeDraft("fail", "chat", external_id="2"), row=2),
        ]
        return episodes[after:]

    def reextract(self, namespace: str, episode: PendingEpisode, claims: Sequence[ClaimDraft], *, extractor: str) -> Reextraction:
        found = sorted(self.snapshot(namespace).all_claims(StatementFilter()), key=lambda view: -view.said_at)
        return Reextraction(episode.key, 7, (found[0].id,), (found[1].id, "forgotten"), 3)


@pytest.fixture
def changed(faced: Faced, telling: ExtractionPool) -> dict[str, Any]:
    state(faced.client, "1", "2023-01-01", ("Ada", "works_at", "Acme"))
    state(faced.client, "2", "2024-01-01", ("Ada", "works_at", "Globex"))
    graph = cast(Graph, Rereading(faced.graph._graph))
    service = Service(graph, Ingestion(graph, telling, OneSecret(), scan))
    return report(run(service, faced.client.namespace, since=None, source=None, threads=1))


def test_claims_that_came_and_went_are_told_in_words(changed: dict[str, Any]) -> None:
    assert list(report_lines(changed)) == [
        "chat 1, said 1970-01-01T00:00:00Z",
        "  + Ada | works_at | Globex   (confidence 1.00, client)",
        "  - Ada | works_at | Acme   (confidence 1.00, client)",
        "  - forgotten",
        "  chat 2: extraction failed: told to fail",
        "episodes 2  changed 1  added 1  gone 2  kept 3  failed 1",
    ]


def test_the_same_as_json(changed: dict[str, Any]) -> None:
    assert (changed["episodes"], changed["added"], changed["gone"], changed["kept"]) == (2, 1, 2, 3)
    assert (changed["changed"][0]["episode"], changed["changed"][0]["transaction"]) == ("chat 1", 7)


def test_where_a_server_owns_the_folder_what_to_do_is_said(faced: Faced) -> None:
    ran = faced.run("reextract", "--since", "2024")
    assert (ran.status, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert "stop it, run `erstwhile reextract`, then start it again" in ran.err
