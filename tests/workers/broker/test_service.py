"""A service whose settings name a broker: workers extract and embed for it, and what is written with a dry run stays here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from api.service import Service
from api.settings import Settings
from api.wiring import open_service
from graph.recall.embedding.choosing import EmbedderSettings
from graph.views import StatementFilter
from ontology.episode import EpisodeDraft
from tests.redis_server import RedisServer
from tests.workers.broker.groups import WorkerGroup, until
from tests.workers.broker.hands import KEY, settings_for
from workers.broker.dispatch import RedisDispatch


@pytest.fixture
def service(redis: RedisServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setenv("ERSTWHILE_BROKER_URL", redis.url)
    monkeypatch.setenv("ERSTWHILE_WORKER_KEY", KEY)
    found = open_service(Settings(data=tmp_path / "data", graph_engine="sql"), embedder=EmbedderSettings(embedder="hash"))
    yield found
    found.close()


def test_what_is_ingested_is_extracted_and_embedded_by_workers(service: Service, redis: RedisServer, tmp_path: Path) -> None:
    dispatch = service.ingestion.pipeline.dispatch
    assert isinstance(dispatch, RedisDispatch)
    assert {part.name: part.ok for part in dispatch.health()} == {"broker": True, "workers": False}
    with WorkerGroup(settings_for(redis.url), tmp_path, more={"ERSTWHILE_EMBEDDER": "hash"}):
        service.start()
        drafts = [EpisodeDraft(f"Ada likes Tea{row}", "test", external_id=f"e{row}", said_at="2024-05-01") for row in range(20)]
        # One that somebody waits for, and a job.
        service.ingestion.ingest("default", drafts[0])
        job = service.ingestion.accept_many("default", [(draft, None) for draft in drafts[1:]])
        until(lambda: service.graph.backlog.view().waiting == 0)
        told = service.graph.jobs.job("default", job.id)
        assert told is not None
        assert (told.progress.committed, told.progress.failed) == (19, 0)
        held = service.graph.snapshot("default").statements(StatementFilter(predicates=("likes",)), first=100).items
        assert len(held) == 20
        assert service.embedding is not None
        assert service.embedding.finish(30)
        assert service.graph.unembedded() == []
        # The small extractor read them, not the one of this process.
        claims = service.graph.snapshot("default").claims(StatementFilter(), first=100).items
        assert {claim.evidence.extractor for claim in claims} == {"triples/1"}
