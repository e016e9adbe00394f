"""Processes and Redis are killed at will; nothing is lost, nothing doubled, and the graph is that of one process that nobody disturbed."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from graph.opening import LEDGER
from tests.canonical import differences
from tests.redis_server import RedisServer
from tests.workers.broker.chaos import Owner, Schedule
from tests.workers.broker.groups import WorkerGroup, until
from tests.workers.broker.hands import settings_for


def test_two_hundred_episodes_through_every_kind_of_death(tmp_path: Path) -> None:
    schedule = Schedule(200, 7, seed=5)
    # The owner's own deaths: between a commit and its acknowledgement, and before the commit.
    assert set(schedule.deeds()) == {"children", "group", "owner", "restart", "flush", "settle", "complete"}
    assert differences(schedule.undisturbed(tmp_path / "single"), schedule.run(tmp_path)) == []


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(20))
def test_five_hundred_episodes_through_many_deaths(seed: int, tmp_path: Path) -> None:
    schedule = Schedule(500, 20, seed=seed, patience=120)
    assert differences(schedule.undisturbed(tmp_path / "single"), schedule.run(tmp_path)) == []


@pytest.mark.deep
@pytest.mark.parametrize("crash", ["settle 1", "complete 1"])
def test_the_owner_of_the_tests_dies_where_it_is_told_to(crash: str, tmp_path: Path) -> None:
    # Else the schedules above would show less than they say.
    with RedisServer(tmp_path / "redis") as redis:
        settings = settings_for(redis.url)
        with Owner(settings, tmp_path / "data", Schedule(3, 0)) as owner, WorkerGroup(settings, tmp_path):
            owner.start(crash)
            until(lambda: owner.status is not None)
            assert owner.status == -signal.SIGKILL
            assert (tmp_path / "data" / LEDGER).exists()
            if crash == "complete 1":
                assert owner.extracted() == 0
