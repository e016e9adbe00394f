"""What a worker's health check asks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.redis_server import RedisServer
from workers.beat import STALE, is_beating

ROOT = Path(__file__).parents[2]


def test_a_touch_counts_for_a_minute(tmp_path: Path) -> None:
    path = tmp_path / "beat"
    assert not is_beating(path, 1000.0)
    path.touch()
    os.utime(path, (1000, 1000))
    assert is_beating(path, 1000.0)
    assert is_beating(path, 1000.0 + STALE)
    assert not is_beating(path, 1000.5 + STALE)


def asked(path: Path | None) -> int:
    environment = {"PATH": os.environ["PATH"], **({} if path is None else {"ERSTWHILE_WORKER_BEAT": str(path)})}
    return subprocess.run([sys.executable, "-m", "workers.beat"], cwd=ROOT, env=environment, check=False).returncode


def test_the_health_check_tells_by_its_status(tmp_path: Path) -> None:
    path = tmp_path / "beat"
    assert asked(path) == 1
    path.touch()
    assert asked(path) == 0
    assert asked(None) == 1


def until(condition: Callable[[], bool], patience: float = 60) -> None:
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.02)


@pytest.mark.deep
def test_a_worker_beats_while_it_is_connected(tmp_path: Path) -> None:
    path = tmp_path / "beat"

    def touched() -> float:
        return path.stat().st_mtime if path.exists() else 0.0

    def still() -> bool:
        before = touched()
        time.sleep(0.3)
        return touched() == before

    with RedisServer(tmp_path / "redis") as redis:
        command = [sys.executable, "-m", "tests.workers.beating", redis.url, str(path)]
        worker = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
        try:
            until(path.exists)
            first = touched()
            until(lambda: touched() > first)
            redis.kill()
            until(still)
            redis.start()
            last = touched()
            until(lambda: touched() > last)
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(60) == 0
            assert not path.exists()
        finally:
            worker.kill()
            worker.wait()
