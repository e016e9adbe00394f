"""Real workers that are killed in the middle of what they do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from graph.work import BULK, MAX_STARTS
from ontology.errors import InvalidInput
from tests.redis_server import RedisServer
from tests.workers.broker.groups import QUICK, ROOT, WorkerGroup, until
from tests.workers.broker.hands import SMALL, Hand, Ledger, episode, settings_for
from workers.broker.celery_app import QUEUES
from workers.broker.dispatch import RedisDispatch
from workers.broker.worker import check_key, work
from workers.dispatching import Kind, Outcome


class Owner:
    """Hands out a ledger's episodes and takes what comes."""

    def __init__(self, dispatch: RedisDispatch, ledger: Ledger) -> None:
        self.dispatch, self.ledger = dispatch, ledger
        self.outcomes: list[Outcome] = []

    def take(self) -> None:
        """One batch."""
        found = self.dispatch.receive(64, 0.1)
        self.ledger.note(found)
        self.dispatch.settle(found)
        self.outcomes += found

    def wait(self, kind: Kind, *rows: int) -> None:
        """Until this was told of these."""

        def told() -> bool:
            self.take()
            return set(rows) <= {each.row for each in self.outcomes if each.kind is kind}

        until(told)

    def number(self, kind: Kind, row: int) -> int:
        """How often something was told of an episode."""
        return sum(each.kind is kind and each.row == row for each in self.outcomes)


def owner_of(settings_url: str, ledger: Ledger, **more: int) -> Owner:
    return Owner(RedisDispatch(settings_for(settings_url, **more), SMALL, ledger), ledger)


def test_a_poison_text_ends_after_its_starts_and_blocks_nobody_and_a_killed_process_costs_nothing(
    redis: RedisServer, tmp_path: Path
) -> None:
    marker = tmp_path / "go"
    texts = {3: "Ada likes C3 die always", 5: f"Ada likes C5 wait for {marker}"}
    ledger = Ledger(*(episode(row, texts.get(row)) for row in range(8)))
    owner = owner_of(redis.url, ledger)
    with WorkerGroup(settings_for(redis.url), tmp_path, processes=2) as worker:
        owner.dispatch.send(BULK, [each for each in ledger.all if each.row != 5])
        owner.wait(Kind.EXTRACTED, 0, 1, 2, 4, 6, 7)
        owner.wait(Kind.FAILED, 3)
        owner.dispatch.send(BULK, [ledger.waiting[5]])
        owner.wait(Kind.STARTED, 5)
        worker.kill_children()
        marker.touch()
        owner.wait(Kind.EXTRACTED, 5)
    assert [owner.number(Kind.EXTRACTED, row) for row in range(8)] == [1, 1, 1, 0, 1, 1, 1, 1]
    assert owner.number(Kind.STARTED, 3) == MAX_STARTS
    assert owner.number(Kind.STARTED, 5) == 2
    # Neither is what the texts say.
    assert "likes" not in worker.log
    owner.dispatch.close()


def test_the_task_of_a_worker_that_vanished_is_soon_given_to_another(redis: RedisServer, tmp_path: Path) -> None:
    marker = tmp_path / "go"
    ledger = Ledger(episode(0, f"Ada likes C0 wait for {marker}"), episode(1))
    owner = owner_of(redis.url, ledger, **QUICK)
    settings = settings_for(redis.url, **QUICK)
    with WorkerGroup(settings, tmp_path) as first, WorkerGroup(settings, tmp_path, queues="live") as other:
        owner.dispatch.send(BULK, ledger.all)
        owner.wait(Kind.STARTED, 0)
        first.kill()
        marker.touch()
        killed = time.monotonic()
        with WorkerGroup(settings, tmp_path):
            owner.wait(Kind.EXTRACTED, 0, 1)
        # Celery's own way is a search each 100 seconds.
        assert time.monotonic() - killed < 15
        assert other.process.poll() is None
    assert [owner.number(Kind.EXTRACTED, row) for row in range(2)] == [1, 1]
    owner.dispatch.close()


def test_told_to_stop_it_finishes_the_task_at_hand_and_takes_its_leave(redis: RedisServer, tmp_path: Path) -> None:
    ledger = Ledger(episode(0, "Ada likes C0 sleep 0.7"), episode(1))
    owner = owner_of(redis.url, ledger)
    with WorkerGroup(settings_for(redis.url), tmp_path) as worker:
        assert os.getpriority(os.PRIO_PROCESS, worker.process.pid) >= 10
        owner.dispatch.send(BULK, ledger.all[:1])
        owner.wait(Kind.STARTED, 0)
        owner.dispatch.send(BULK, ledger.all[1:])
        worker.process.send_signal(signal.SIGTERM)
        assert worker.process.wait(20) == 0
        owner.wait(Kind.EXTRACTED, 0)
        hand = Hand(settings_for(redis.url))
        assert hand.waiting() == 1
        assert hand.client.keys(hand.keys.workers + "*") == []
        assert hand.client.zcard("erstwhile:unacked_index") == 0
        hand.client.close()
    assert owner.number(Kind.STARTED, 1) == 0
    owner.dispatch.close()


@pytest.mark.deep
def test_told_twice_to_stop_it_gives_its_task_back_at_once(redis: RedisServer, tmp_path: Path) -> None:
    ledger = Ledger(episode(0, f"wait for {tmp_path / 'never'}"))
    owner = owner_of(redis.url, ledger)
    with WorkerGroup(settings_for(redis.url, soft_shutdown=0.5), tmp_path) as worker:
        owner.dispatch.send(BULK, ledger.all)
        owner.wait(Kind.STARTED, 0)
        worker.process.send_signal(signal.SIGINT)
        until(lambda: "Warm shutdown" in worker.log)
        worker.process.send_signal(signal.SIGINT)
        worker.process.wait(20)
    hand = Hand(settings_for(redis.url))
    assert hand.waiting() == 1
    hand.client.close()
    owner.dispatch.close()


def test_a_worker_loads_nothing_of_ledger_graph_or_parser_before_it_forks() -> None:
    heavy = ("kuzu", "sqlalchemy", "spacy", "numpy", "graph.ledger", "graph.store", "onnxruntime")
    code = f"import sys, workers.broker.worker; print([name for name in {heavy!r} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_a_worker_with_another_key_than_the_service_does_not_begin(redis: RedisServer) -> None:
    settings = settings_for(redis.url)
    # Without a service it may be the right one, and without Redis it waits.
    check_key(settings)
    check_key(settings_for("redis://127.0.0.1:1/0"))
    dispatch = RedisDispatch(settings, SMALL, Ledger())
    dispatch.room(BULK)
    check_key(settings)
    other = settings_for(redis.url, worker_key="another key, just as long")
    with pytest.raises(InvalidInput, match="ERSTWHILE_WORKER_KEY") as failure:
        work(other, ["live"], lambda vocabulary: pytest.fail("not to be made"))
    assert "another" not in failure.value.message
    dispatch.close()


@pytest.mark.parametrize("queues", [["live", "other"], []])
def test_a_queue_that_is_none_is_refused(queues: list[str]) -> None:
    with pytest.raises(InvalidInput, match=" and ".join(QUEUES)):
        work(settings_for("redis://127.0.0.1:1/0"), queues, lambda vocabulary: pytest.fail("not to be made"))
