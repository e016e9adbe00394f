"""A worker: a process that takes tasks, and the processes of its own that run them."""

from __future__ import annotations

import json
import logging
import os
import socket
from collections.abc import Sequence
from time import time
from typing import Any

from celery import bootsteps, signals
from redis.exceptions import RedisError

from extraction.scrubbing import Scrubber
from ontology.errors import InvalidInput
from workers import log_scrubbing
from workers.beat import PERIOD
from workers.beating import BeatSettings, beat
from workers.broker.celery_app import QUEUES, make_app
from workers.broker.connection import Keys, owner_client, told
from workers.broker.embedding import EmbedderChoice
from workers.broker.running import Extractors
from workers.broker.settings import BrokerSettings
from workers.broker.signing import Forged, Purpose, Signer
from workers.broker.tasks import Process, add_tasks

logger = logging.getLogger(__name__)

NICENESS = 10
"""Of all workers: on a machine that also answers questions, those come first."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "TOKENIZERS_PARALLELISM")
"""What libraries take the number of their threads from."""
SILENT_AFTER = 20
"""Seconds after the last one that a worker counts as gone."""


def chosen_embedder() -> Any:
    """The embedder that the settings of this process choose."""
    # Loaded here: it loads numpy, which must not be there before the worker forks.
    from graph.recall.embedding.choosing import EmbedderSettings, choose

    return choose(EmbedderSettings())


def work(
    settings: BrokerSettings,
    queues: Sequence[str],
    extractors: Extractors,
    *,
    embedder: EmbedderChoice = chosen_embedder,
    processes: int | None = None,
) -> int:
    """Run a worker until it is told to stop (SIGTERM, SIGINT); the exit status. Raises InvalidInput, as `check_key` does.

    Told once it finishes the tasks at hand; told twice (SIGINT, SIGQUIT) it gives them `soft_shutdown` seconds.
    """
    unknown = [name for name in queues if name not in QUEUES]
    if unknown or not queues:
        raise InvalidInput(
            f"there is no queue {', '.join(unknown) or 'without a name'}; there are {' and '.join(QUEUES)}", path=("queues",)
        )
    check_key(settings)
    be_modest()
    app = make_app(settings)
    scrubber = Scrubber(settings.key)

    def clean(text: str) -> str:
        return scrubber.scrub(text).text

    undo = log_scrubbing.install(clean)
    process = Process(app, settings, extractors, embedder, clean)
    add_tasks(app, process)
    name = f"erstwhile-{os.getpid()}@{socket.gethostname()}"
    app.steps["consumer"].add(_sign_of_life(settings, queues, name))
    file = BeatSettings().worker_beat
    if file is not None:
        beat(app, file)

    def warm(**_: object) -> None:
        process.warm()

    signals.worker_process_init.connect(warm)
    try:
        worker: Any = app.Worker(
            hostname=name,
            queues=list(queues),
            concurrency=processes or settings.worker_processes or len(os.sched_getaffinity(0)),
            pool="prefork",
            loglevel="INFO",
            quiet=True,
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
        )
        worker.start()
    finally:
        signals.worker_process_init.disconnect(warm)
        undo()
    return int(worker.exitcode or 0)


def check_key(settings: BrokerSettings) -> None:
    """Raises InvalidInput where the service signs with another key: this worker would refuse each task and keep it from the others."""
    keys = Keys(settings.broker_prefix)
    with owner_client(settings) as client:
        try:
            body, mark = client.hmget(keys.sample, "body", "mark")
        except (RedisError, OSError) as failure:
            logger.warning("%s; the worker waits for it", told(failure))
            return
    if body is None:
        # No service has been here yet.
        return
    try:
        Signer(settings.key).check(Purpose.KEY, body, mark)
    except Forged:
        raise InvalidInput("ERSTWHILE_WORKER_KEY is not the one of the service", path=("WORKER_KEY",)) from None


def be_modest() -> None:
    """Lowest among what runs here, and one thread for each process: there is a process for each core."""
    os.nice(max(0, NICENESS - os.nice(0)))
    for name in THREADS:
        os.environ[name] = "false" if name.startswith("TOKENIZERS") else "1"


def _sign_of_life(settings: BrokerSettings, queues: Sequence[str], name: str) -> type[bootsteps.StartStopStep]:
    client = owner_client(settings)
    key = Keys(settings.broker_prefix).workers + name

    def show() -> None:
        sign = json.dumps({"queues": list(queues), "at": time()})
        try:
            client.set(key, sign, ex=SILENT_AFTER)
        except (RedisError, OSError):
            # The next one says it as well; Celery reports a Redis that is gone.
            logger.debug("no sign of life could be given")

    class SignOfLife(bootsteps.StartStopStep):
        requires = ("celery.worker.consumer.tasks:Tasks",)
        _timer: Any = None

        def start(self, parent: Any) -> None:
            show()
            self._timer = parent.timer.call_repeatedly(PERIOD, show)

        def stop(self, parent: Any) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def shutdown(self, parent: Any) -> None:
            self.stop(parent)
            try:
                client.delete(key)
            except (RedisError, OSError):
                logger.debug("the worker could not take its leave")

    return SignOfLife
