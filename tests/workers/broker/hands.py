"""What the tests of the broker share: episodes, a ledger of them, and a worker that runs in the test itself."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from redis import Redis

from extraction.extractor import Extractor
from graph.work import BULK, WaitingEpisode
from ontology.episode import EpisodeDraft
from ontology.vocabulary import Vocabulary
from tests.workers.extracting import TripleExtractor
from workers.broker.celery_app import sending_app
from workers.broker.connection import Keys, owner_client
from workers.broker.dispatch import RedisDispatch
from workers.broker.running import Extractors, Running
from workers.broker.settings import BrokerSettings
from workers.broker.signing import Signer
from workers.broker.tasks import send_task
from workers.dispatching import Kind, Outcome

KEY = "a key of the tests, long"
SAID = 1_700_000_000_000_000
SMALL = Vocabulary("small-1", {}, {})
"""A vocabulary for extractors that read none."""


def settings_for(url: str, **more: Any) -> BrokerSettings:
    """Settings with short times."""
    given: dict[str, Any] = {"broker_url": url, "worker_key": KEY, "broker_timeout": 1.0, **more}
    return BrokerSettings(**given)


def episode(row: int, text: str | None = None, *, queue: str = BULK, starts: int = 0, round: int = 0) -> WaitingEpisode:
    """An episode that waits."""
    draft = EpisodeDraft(f"Ada likes C{row}" if text is None else text, "test", external_id=f"e{row}", speaker="Ada")
    return WaitingEpisode(row, "default", f"key-{row}", "r", SAID, draft, (), queue, starts, round, SAID)


class Ledger:
    """Episodes that wait, as the backlog finds them."""

    def __init__(self, *episodes: WaitingEpisode) -> None:
        self.waiting = {each.row: each for each in episodes}

    def __call__(self, rows: Collection[int]) -> Mapping[int, WaitingEpisode]:
        return {row: self.waiting[row] for row in rows if row in self.waiting}

    @property
    def all(self) -> list[WaitingEpisode]:
        """In the order of their rows."""
        return list(self.waiting.values())

    def note(self, outcomes: Collection[Outcome]) -> None:
        """Count starts, and let what has a result wait no more."""
        for each in outcomes:
            if each.kind is Kind.STARTED and each.row in self.waiting:
                found = self.waiting[each.row]
                self.waiting[each.row] = replace(found, starts=found.starts + 1)
            elif each.kind is Kind.EXTRACTED:
                self.waiting.pop(each.row, None)


def small(vocabulary: Vocabulary) -> Extractor:
    """The extractor of the tests."""
    return TripleExtractor()


class Hand:
    """A worker in the test's own process: takes tasks off a queue one by one."""

    def __init__(self, settings: BrokerSettings, extractors: Extractors = small, *, key: str | None = None, patience: float = 0.3) -> None:
        self.client: Redis = owner_client(settings)
        self.keys = Keys(settings.broker_prefix)
        self.signer = Signer(settings.key if key is None else key.encode())
        app = sending_app(settings)
        self.running = Running(
            self.client,
            self.keys,
            self.signer,
            extractors,
            lambda queue, body, mark: send_task(app, "erstwhile.extract", queue, body, mark),
            stream_high=settings.stream_high,
            clean=lambda text: text.replace("hunter2", "[REDACTED]"),
            patience=patience,
        )

    def take(self, queue: str = BULK) -> tuple[str, str] | None:
        """The body and mark of the next task."""
        message: Any = self.client.rpop(self.keys.queue(queue))
        if message is None:
            return None
        (body, mark), _, _ = json.loads(b64decode(json.loads(message)["body"]))
        return body, mark

    def work(self, queue: str = BULK) -> int:
        """Run all that waits; how many tasks."""
        done = 0
        while (task := self.take(queue)) is not None:
            self.running.run(*task)
            done += 1
        return done

    def waiting(self, queue: str = BULK) -> int:
        """Tasks on a queue."""
        return int(self.client.llen(self.keys.queue(queue)))

    def counts(self) -> dict[str, int]:
        """What workers counted."""
        found: Any = self.client.hgetall(self.keys.counts)
        return {name.decode(): int(number) for name, number in found.items()}


def all_of(dispatch: RedisDispatch, ledger: Ledger | None = None) -> list[Outcome]:
    """All outcomes that have come, settled."""
    found: list[Outcome] = []
    silent = 0
    # Twice: what was of no use is taken off with the next call.
    while silent < 2:
        outcomes = dispatch.receive(64, 0)
        silent = 0 if outcomes else silent + 1
        if ledger is not None:
            ledger.note(outcomes)
        dispatch.settle(outcomes)
        found += outcomes
    return found
