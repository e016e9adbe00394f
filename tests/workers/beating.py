"""A worker that does nothing but show that it lives: `python -m tests.workers.beating URL FILE`."""

from __future__ import annotations

import sys
from pathlib import Path

from celery import Celery

from workers.beating import beat

if __name__ == "__main__":
    url, path = sys.argv[1:]
    app = Celery("beating", broker=url)
    app.conf.update(broker_connection_retry_on_startup=True, broker_connection_max_retries=None, worker_hijack_root_logger=False)
    beat(app, Path(path), period=0.05)
    app.worker_main(["worker", "--concurrency=1", "--loglevel=ERROR", "--without-gossip", "--without-mingle", "--pool=prefork"])
