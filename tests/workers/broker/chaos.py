"""Schedules of deaths: the owner of a ledger, its workers and Redis are killed while episodes go through them."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any, Self

from graph.opening import LEDGER, open_graph
from ontology.loading import load_vocabulary
from tests.canonical import Canonical, canonical_export
from tests.redis_server import RedisServer
from tests.workers.broker.groups import QUICK, ROOT, WorkerGroup, environment, until
from tests.workers.broker.hands import settings_for
from tests.workers.broker.owner import drafts_of
from tests.workers.extracting import TripleExtractor
from workers.broker.settings import BrokerSettings
from workers.extracting import spacy_extractor
from workers.turns import said_at, turn_of

CRASHES = ("settle", "complete", "note_sent", "send", "note_starts")
"""Where the owner ends: after a commit, before one, between sending and noting it, before sending, before counting starts."""


class Owner:
    """The owner of a ledger, started anew whenever it is killed. `settled` and `waiting` are read from its ledger."""

    def __init__(self, settings: BrokerSettings, folder: Path, schedule: Schedule) -> None:
        self._environment = environment(settings)
        turns = [] if schedule.turns is None else [str(schedule.turns)]
        self._command = [sys.executable, "-m", "tests.workers.broker.owner", str(folder), str(schedule.number), str(schedule.seed), *turns]
        self._patience = schedule.patience
        self._ledger = folder / LEDGER
        self._log = folder.parent / "owner.log"
        self._process: subprocess.Popen[bytes] | None = None
        self.starts = 0

    def start(self, crash: str = "") -> None:
        """Start it; `crash` says before which call it ends."""
        self.starts += 1
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, cwd=ROOT, env={**self._environment, "ERSTWHILE_TEST_CRASH": crash}, stdout=log, stderr=log
            )

    def kill(self) -> None:
        """At once."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    @property
    def status(self) -> int | None:
        """How it ended; None while it runs."""
        assert self._process is not None
        return self._process.poll()

    @property
    def log(self) -> str:
        """What it wrote."""
        return self._log.read_text(errors="replace")

    def extracted(self) -> int:
        """Episodes that have their claims."""
        if not self._ledger.exists():
            return 0
        connection = sqlite3.connect(f"file:{self._ledger}?mode=ro", uri=True, timeout=10)
        try:
            (number,) = connection.execute("SELECT count(*) FROM episodes WHERE status = 'EXTRACTED'").fetchone()
            return int(number)
        except sqlite3.OperationalError:
            # Its tables are being made.
            return 0
        finally:
            connection.close()

    def wait_until_extracted(self, number: int) -> None:
        """Until so many are, starting it again where it has ended."""

        def so() -> bool:
            if self.status is not None and self.extracted() < number:
                self.start()
            return self.extracted() >= number

        try:
            until(so, self._patience)
        except AssertionError as failure:
            raise AssertionError(f"{self.extracted()} of {number} episodes\n{self.log[-3000:]}") from failure

    def wait_until_ended(self, *, again: bool = True) -> None:
        """Until it has nothing to do any more; not `again`: or has died."""

        def so() -> bool:
            if again and self.status == -signal.SIGKILL:
                self.start()
            return self.status is not None

        until(so, self._patience)
        assert self.status in ((0,) if again else (0, -signal.SIGKILL)), self.log[-3000:]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.kill()


@dataclass(frozen=True)
class Schedule:
    """`number` episodes through `deaths` deaths: turns of the transcript `turns`, read by the real extractor, else invented ones."""

    number: int
    deaths: int
    seed: int = 0
    patience: float = 60.0
    turns: Path | None = None

    @property
    def times(self) -> dict[str, Any]:
        """Settings under which what is lost comes back soon, and what is slow is not."""
        if self.turns is None:
            # A small window: commits are small, and a death comes between two of them.
            return {**QUICK, "bulk_window": 24, "resend_after": 8.0}
        return {"task_soft_time_limit": 20, "task_time_limit": 25, "visibility_timeout": 30, "restore_interval": 1, "resend_after": 60.0}

    def group(self, settings: BrokerSettings, folder: Path) -> WorkerGroup:
        """A worker."""
        if self.turns is None:
            return WorkerGroup(settings, folder)
        return WorkerGroup(settings, folder, command=("api.cli", "worker", "--concurrency", "1"))

    def deeds(self) -> Iterator[str]:
        """What is done to them, in an order of its own: each kind once before any comes again, the rarer ones of the owner last."""
        random, left = Random(self.seed), self.deaths
        often, rare = ["children", "group", "owner", "restart", "flush", *CRASHES[:2]], list(CRASHES[2:])
        while left > 0:
            yield from [*random.sample(often, len(often)), *random.sample(rare, len(rare))][:left]
            left -= len(often) + len(rare)

    def undisturbed(self, folder: Path) -> Canonical:
        """What the same episodes say when one process reads them, in another order, without a broker."""
        vocabulary = load_vocabulary()
        graph = open_graph(folder, vocabulary, kind="sql")
        drafts = list(drafts_of(self.number, self.seed, self.turns))
        Random(self.seed).shuffle(drafts)
        extractor = TripleExtractor() if self.turns is None else spacy_extractor(vocabulary)
        for start in range(0, self.number, 100):
            part = drafts[start : start + 100]
            turns = [turn_of(each, said_at(each)) for each in part]
            if self.turns is None:
                # Without its pauses the text reads the same.
                turns = [replace(turn, text=turn.text.replace("sleep", "slept")) for turn in turns]
            found = extractor.extract(turns)
            graph.record_extracted("default", [(one, claims, ()) for one, claims in zip(part, found, strict=True)], extractor=extractor.id)
        graph.close()
        return canonical_export(folder)

    def run(self, folder: Path) -> Canonical:
        """What the graph says after all of it: between two deaths some episodes come to their end, so that none is begun in vain again
        and again. Raises AssertionError where they do not.
        """
        random = Random(self.seed)
        with ExitStack() as stack:
            redis = stack.enter_context(RedisServer(folder / "redis", password="of the tests"))
            settings = settings_for(redis.url, **self.times)
            owner = stack.enter_context(Owner(settings, folder / "data", self))
            owner.start()
            groups = [self.group(settings, folder) for _ in range(2)]
            for group in groups:
                stack.callback(group.kill)
                group.start()
            step = self.number // (self.deaths + 1)
            for place, deed in enumerate(self.deeds()):
                owner.wait_until_extracted(min(self.number - 1, max(1 + place * step, owner.extracted() + 1)))
                _do(deed, random, redis, owner, groups)
            owner.wait_until_extracted(self.number)
            owner.wait_until_ended()
        graph = open_graph(folder / "data", load_vocabulary(), kind="sql")
        jobs = graph.jobs.jobs("default", first=100).items
        graph.close()
        found = canonical_export(folder / "data")
        assert sum('"EXTRACTED"' in line for line in found["default"]["episodes"]) == self.number
        assert {(job.progress.pending, job.progress.failed) for job in jobs} == {(0, 0)}
        return found


def _do(deed: str, random: Random, redis: RedisServer, owner: Owner, groups: list[WorkerGroup]) -> None:
    group = random.choice(groups)
    if deed == "children":
        group.kill_children()
    elif deed == "group":
        group.kill()
        group.start()
    elif deed == "owner":
        owner.kill()
        owner.start()
    elif deed == "restart":
        redis.restart(kill=random.random() < 0.5)
    elif deed == "flush":
        redis.flushall()
    else:
        owner.kill()
        owner.start(f"{deed} {random.randrange(1, 4)}")
        owner.wait_until_ended(again=False)
