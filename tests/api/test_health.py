"""Health of the backlog, the broker and the workers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from api.health import backlog_health
from api.service import Service
from graph.facade import Graph
from graph.views import ComponentHealth
from graph.work import Failed
from tests.api.clients import Client
from tests.api.jobs import CANCEL, ended, handed_in, said
from tests.api.opening import open_test_service
from tests.graph.ledger.test_jobs import offered
from workers.pipeline import Pipeline

HEALTH = "{ health { ok components { name ok degraded } } }"


class Standing:
    """A pipeline that says of itself what it is told."""

    def __init__(self, degraded: str | None = None) -> None:
        self.degraded = degraded


def seen(graph: Graph, after: int = 0, degraded: str | None = None) -> ComponentHealth:
    """The backlog's health some seconds after the oldest began to wait."""
    oldest = graph.backlog.view().oldest or 0
    return backlog_health(graph.backlog, cast("Pipeline", Standing(degraded)), oldest + after * 1_000_000)


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[Graph]:
    """A graph that nothing works on."""
    service = open_test_service(tmp_path)
    yield service.graph
    service.close()


def test_a_backlog_is_well_while_it_waits_not_too_long(graph: Graph) -> None:
    assert seen(graph) == ComponentHealth("backlog", True)
    graph.jobs.accept("n", [offered("one")])
    assert seen(graph, after=600) == ComponentHealth("backlog", True)


def test_a_backlog_whose_oldest_waits_too_long_is_degraded(graph: Graph) -> None:
    graph.jobs.accept("n", [offered("one"), offered("two")])
    part = seen(graph, after=1500)
    assert part == ComponentHealth("backlog", True, "episodes that wait for extraction: 2, the oldest for 25 minutes")


def test_a_backlog_that_cannot_be_worked_off_fails(graph: Graph) -> None:
    assert seen(graph, degraded="Redis does not answer") == ComponentHealth("backlog", False, "Redis does not answer")


def test_dead_letters_are_told_until_they_are_sent_again(graph: Graph) -> None:
    job = graph.jobs.accept("n", [offered("one")])
    (waiting,) = graph.backlog.unsent("bulk", 10)
    graph.backlog.give_up([Failed(waiting.row, "the process that read it died")])
    part = seen(graph)
    assert (part.ok, "given up: 1" in (part.degraded or "")) == (True, True)
    graph.jobs.retry("n", job.id)
    assert seen(graph).degraded is None


def test_a_cancelled_job_leaves_the_backlog_well(graph: Graph) -> None:
    job = graph.jobs.accept("n", [offered("one")])
    graph.jobs.cancel("n", job.id)
    assert seen(graph) == ComponentHealth("backlog", True)


def test_health_names_the_backlog(client: Client) -> None:
    job = ended(client, handed_in(client, said("one")))
    client.ok(CANCEL, id=job["id"])
    found = client.ok(HEALTH)["health"]
    assert "backlog" in {part["name"] for part in found["components"]}
    assert found["ok"]


def test_what_the_dispatch_tells_of_itself_is_part_of_health(client: Client, monkeypatch: pytest.MonkeyPatch, service: Service) -> None:
    told = [ComponentHealth("broker", True, None, 1.0), ComponentHealth("workers", False, "no worker takes bulk tasks; episodes wait")]
    monkeypatch.setattr(service.ingestion.pipeline.dispatch, "health", lambda: told)
    found = client.ok(HEALTH)["health"]
    parts = {part["name"]: part for part in found["components"]}
    assert (parts["broker"]["ok"], parts["workers"]["degraded"]) == (True, "no worker takes bulk tasks; episodes wait")
    assert not found["ok"]
