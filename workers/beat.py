"""A worker's sign of life: a file that its event loop touches while it is connected to the broker.

`python -m workers.beat` says by its exit status whether the last touch is recent. Asking the worker itself would go through the
broker and load Celery each time.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

if TYPE_CHECKING:
    from celery import Celery

PERIOD = 5.0
"""Seconds between two touches."""

STALE = 60.0
"""Seconds without one after which a worker counts as stuck; tasks run in its children and do not hold it up."""


class BeatSettings(BaseSettings):
    """Where a worker shows that it lives."""

    model_config = SettingsConfigDict(env_prefix="ERSTWHILE_", env_ignore_empty=True, extra="ignore", frozen=True)

    worker_beat: Path | None = Field(
        default=None, description="A file that a worker touches every few seconds, for health checks (`python -m workers.beat`)."
    )


def beat(app: Celery, path: Path, period: float = PERIOD) -> None:
    """Have the workers of an app touch the file. Call it where the app is made."""
    from celery import bootsteps

    class Beat(bootsteps.StartStopStep):
        # Started anew with each connection; its timer ends with it.
        requires = ("celery.worker.consumer.connection:Connection",)

        def start(self, parent: Any) -> None:
            path.touch()
            self.timer = parent.timer.call_repeatedly(period, path.touch)

        def stop(self, parent: Any) -> None:
            self.timer.cancel()

        def shutdown(self, parent: Any) -> None:
            path.unlink(missing_ok=True)

    app.steps["consumer"].add(Beat)


def is_beating(path: Path, now: float, stale: float = STALE) -> bool:
    """Whether the file was touched in the last `stale` seconds before `now` (Unix time)."""
    try:
        return now - path.stat().st_mtime <= stale
    except OSError:
        return False


if __name__ == "__main__":
    stated = os.environ.get("ERSTWHILE_WORKER_BEAT")
    sys.exit(0 if stated and is_beating(Path(stated), time.time()) else 1)
