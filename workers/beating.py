"""Has Celery workers show that they live (workers/beat.py)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from celery import Celery, bootsteps
from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from workers.beat import PERIOD


class BeatSettings(BaseSettings):
    """Where a worker shows that it lives."""

    model_config = SettingsConfigDict(env_prefix="ERSTWHILE_", env_ignore_empty=True, extra="ignore", frozen=True)

    worker_beat: Path | None = Field(
        default=None, description="A file that a worker touches every few seconds, for health checks (`python -m workers.beat`)."
    )


def beat(app: Celery, path: Path, period: float = PERIOD) -> None:
    """Have the workers of an app touch the file every `period` seconds. Call it where the app is made."""

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
