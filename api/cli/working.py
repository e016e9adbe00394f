"""The command that runs a worker."""

from __future__ import annotations

import logging
import os
from typing import Annotated

import typer


def worker(
    queues: Annotated[str, typer.Option(help="What it takes: live, bulk, or both with a comma between.")] = "live,bulk",
    concurrency: Annotated[int | None, typer.Option(min=1, max=256, help="Its processes (default: one for each core).")] = None,
) -> None:
    """Extract and embed for a service, over the Redis of ERSTWHILE_BROKER_URL, until stopped."""
    # Loaded here: no other command wants Celery.
    from api.settings import Settings
    from extraction.hygiene import load_hygiene
    from workers import log_scrubbing
    from workers.broker.settings import read_settings
    from workers.broker.worker import work
    from workers.extracting import SpacyExtractors

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(process)d %(name)s: %(message)s")
    # What it is handed is scrubbed; what libraries log of Redis, of servers and of their own failures is not.
    scrubber = load_hygiene(Settings().hygiene).scrubber(os.urandom(32))
    log_scrubbing.install(lambda text: scrubber.scrub(text).text)
    # A line for each task, which the service tells of better.
    for name in ("celery.worker.strategy", "celery.app.trace"):
        logging.getLogger(name).setLevel(logging.WARNING)
    taken = [name.strip() for name in queues.split(",") if name.strip()]
    raise typer.Exit(work(read_settings(), taken, SpacyExtractors(), processes=concurrency))
