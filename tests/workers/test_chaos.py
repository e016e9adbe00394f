"""Processes and Redis are killed at will; nothing is lost, nothing doubled, and the graph is that of one process that nobody disturbed."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Self

import pytest

from graph.opening import LEDGER, open_graph
from ontology.loading import load_vocabulary
from tests.canonical import Canonical, canonical_export, differences
from tests.redis_server import RedisServer
from tests.workers.broker.groups import QUICK, ROOT, WorkerGroup, environment, until
from tests.workers.broker.hands import settings_for
from tests.workers.broker.owner import talk
from tests.workers.extracting import TripleExtractor
from workers.broker.settings import BrokerSettings
from workers.turns import said_at, turn_of

CRASHES = ("settle", "complete", "note_sent", "send", "note_starts")
"""Where the owner ends: after a commit, before one, between sending and noting it, before sending, before counting starts."""


class Owner:
    """The owner of a ledger, started anew whenever it is killed. `settled` and `waiting` are read from its ledger."""

    def __init__(self, settings: BrokerSettings, folder: Path, number: int, seed: int) -> None:
        self._environment = environment(settings)
        self._command = [sys.executable, "-m", "tests.workers.broker.owner", str(folder), str(number), str(seed)]
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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.kill()


def expected(folder: Path, number: int, seed: int) -> Canonical:
    """The same episodes in one process, in another order, by no broker."""
    graph = open_graph(folder, load_vocabulary(), kind="sql")
    drafts = talk(number, seed)
    Random(seed).shuffle(drafts)
    extractor = TripleExtractor()
    for start in range(0, number, 100):
        part = drafts[start : start + 100]
        # Without its pauses the text reads the same.
        claims = [extractor._claims(turn_of(each, said_at(each)).text.replace("sleep", "slept")) for each in part]
        graph.record_extracted("default", [(one, found, ()) for one, found in zip(part, claims, strict=True)], extractor=extractor.id)
    graph.close()
    return canonical_export(folder)


def deeds(number: int, seed: int) -> Iterator[str]:
    """What is done to them, in an order of its own: each kind once before any comes again."""
    random = Random(seed)
    kinds = ["children", "group", "owner", "restart", "flush", *CRASHES]
    while number > 0:
        yield from random.sample(kinds, min(number, len(kinds)))
        number -= len(kinds)


def run(tmp_path: Path, number: int, deeds_number: int, seed: int, patience: float) -> None:
    """One schedule: between two deeds some episodes come to their end, so that none is begun in vain again and again."""
    random = Random(seed)
    with ExitStack() as stack:
        redis = stack.enter_context(RedisServer(tmp_path / "redis", password="of the tests"))
        settings = settings_for(redis.url, **QUICK, bulk_window=48, resend_after=8.0)
        owner = stack.enter_context(Owner(settings, tmp_path / "data", number, seed))
        owner.start()
        groups = [WorkerGroup(settings, tmp_path) for _ in range(2)]
        for group in groups:
            stack.callback(group.kill)
            group.start()
        step = number // (deeds_number + 1)
        for place, deed in enumerate(deeds(deeds_number, seed)):
            _until_extracted(owner, min(number - 1, 1 + place * step), patience)
            _do(deed, random, redis, owner, groups)
        _until_extracted(owner, number, patience)
        until(lambda: _ended(owner), patience)
        assert owner.status == 0, owner.log[-3000:]
    graph = open_graph(tmp_path / "data", load_vocabulary(), kind="sql")
    jobs = graph.jobs.jobs("default", first=100).items
    graph.close()
    found = canonical_export(tmp_path / "data")
    assert sum('"EXTRACTED"' in line for line in found["default"]["episodes"]) == number
    assert differences(expected(tmp_path / "single", number, seed), found) == []
    assert {job.progress.pending for job in jobs} == {0}
    assert {job.progress.failed for job in jobs} == {0}


def _ended(owner: Owner) -> bool:
    if owner.status == -signal.SIGKILL:
        owner.start()
    return owner.status is not None


def _until_extracted(owner: Owner, number: int, patience: float) -> None:
    def so() -> bool:
        # It ended where it was told to, or when nothing waited.
        if owner.status is not None and owner.extracted() < number:
            owner.start()
        return owner.extracted() >= number

    try:
        until(so, patience)
    except AssertionError:
        pytest.fail(f"{owner.extracted()} of {number} episodes\n{owner.log[-3000:]}")


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


def test_two_hundred_episodes_through_every_kind_of_death(tmp_path: Path) -> None:
    begun = time.monotonic()
    run(tmp_path, 200, 10, seed=5, patience=60)
    # With load beside it, too.
    assert time.monotonic() - begun < 120


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(20))
def test_five_hundred_episodes_through_many_deaths(seed: int, tmp_path: Path) -> None:
    run(tmp_path, 500, 20, seed=seed, patience=120)


def test_the_owner_of_the_tests_dies_where_it_is_told_to(tmp_path: Path) -> None:
    # Else the schedules above would show less than they say.
    with RedisServer(tmp_path / "redis") as redis:
        settings = settings_for(redis.url)
        with Owner(settings, tmp_path / "data", 3, 0) as owner, WorkerGroup(settings, tmp_path):
            owner.start("settle 1")
            until(lambda: owner.status is not None)
            assert owner.status == -signal.SIGKILL
            assert (tmp_path / "data" / LEDGER).exists()
