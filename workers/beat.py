"""A worker's sign of life: a file that its event loop touches while it is connected to the broker (workers/beating.py).

`python -m workers.beat` says by its exit status whether the last touch is recent. Asking the worker itself would go through the
broker and load Celery each time; this loads nothing.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

PERIOD = 5.0
"""Seconds between two touches."""

STALE = 60.0
"""Seconds without one after which a worker counts as stuck; tasks run in its children and do not hold it up."""


def is_beating(path: Path, now: float, stale: float = STALE) -> bool:
    """Whether the file was touched in the last `stale` seconds before `now` (Unix time)."""
    try:
        return now - path.stat().st_mtime <= stale
    except OSError:
        return False


if __name__ == "__main__":
    stated = os.environ.get("ERSTWHILE_WORKER_BEAT")
    sys.exit(0 if stated and is_beating(Path(stated), time.time()) else 1)
