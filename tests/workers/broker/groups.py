"""Real workers: each a process group of its own, which tests may kill as they like."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from workers.broker.connection import Keys, owner_client
from workers.broker.settings import BrokerSettings

ROOT = Path(__file__).parents[3]
PATIENCE = 30.0
QUICK = {"task_soft_time_limit": 1, "task_time_limit": 2, "visibility_timeout": 3, "restore_interval": 1}
"""Times after which what is lost comes back soon enough for a test."""


def until(so: Callable[[], bool], patience: float = PATIENCE) -> None:
    """Wait for something."""
    end = time.monotonic() + patience
    while not so():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.02)


def environment(settings: BrokerSettings) -> dict[str, str]:
    """The settings as a process reads them."""
    values = {"BROKER_URL": settings.url, "WORKER_KEY": settings.key.decode()}
    for name in BrokerSettings.model_fields:
        if name not in ("broker_url", "worker_key"):
            values[name.upper()] = str(getattr(settings, name))
    return {**os.environ, **{f"ERSTWHILE_{name}": value for name, value in values.items()}}


class WorkerGroup:
    """A worker with its processes; killed at the end. `log` is what it wrote. `command`: another than that with the small extractor."""

    def __init__(
        self,
        settings: BrokerSettings,
        folder: Path,
        *,
        queues: str = "live,bulk",
        processes: int = 1,
        command: Sequence[str] = (),
        more: Mapping[str, str] | None = None,
    ) -> None:
        self._settings = settings
        self._command = [sys.executable, "-m", *(command or ("tests.workers.broker.process", queues, str(processes)))]
        self._environment = environment(settings) | dict(more or {})
        self._path = folder / f"worker-{time.monotonic_ns()}.log"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        self.wait_until_seen()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.kill()

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The worker itself."""
        assert self._process is not None
        return self._process

    @property
    def log(self) -> str:
        """What it wrote, over all of its starts."""
        return self._path.read_text(errors="replace")

    def start(self) -> None:
        """Start it, and do not wait for it."""
        with self._path.open("ab") as log:
            self._process = subprocess.Popen(self._command, cwd=ROOT, env=self._environment, stdout=log, stderr=log, start_new_session=True)

    def wait_until_seen(self) -> None:
        """Until it takes tasks."""
        client = owner_client(self._settings)
        name = f"{Keys(self._settings.broker_prefix).workers}erstwhile-{self.process.pid}@*"
        until(lambda: bool(client.keys(name)) or self.process.poll() is not None)
        client.close()
        assert self.process.poll() is None, self.log

    def children(self) -> list[int]:
        """The processes that run its tasks."""
        text = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(number) for number in text.split()]

    def kill_children(self) -> None:
        """As when memory runs out."""
        for number in self.children():
            os.kill(number, signal.SIGKILL)

    def kill(self) -> None:
        """All of it at once, as when a machine is gone."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
