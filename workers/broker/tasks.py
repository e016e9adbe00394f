"""The tasks of a worker, and what each of its processes loads for them, once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property

from celery import Celery
from celery.exceptions import Reject, SoftTimeLimitExceeded
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from workers.broker.celery_app import EMBED, EXTRACT
from workers.broker.connection import Keys, told, worker_client
from workers.broker.embedding import EmbedderChoice, EmbeddingTasks
from workers.broker.running import PATIENCE, Extractors, NotNow, Running
from workers.broker.settings import BrokerSettings
from workers.broker.signing import Signer

logger = logging.getLogger(__name__)

HIDDEN = "(signed)"
"""What Celery shows of a task's arguments: it would put text into messages and logs."""


class Process:
    """What a process of a worker has. Nothing of it may be used before the process was forked."""

    def __init__(
        self, app: Celery, settings: BrokerSettings, extractors: Extractors, embedder: EmbedderChoice, clean: Callable[[str], str]
    ) -> None:
        """`clean` takes secrets out of the messages of failures."""
        self._app, self._settings, self._clean = app, settings, clean
        self._extractors, self._embedder = extractors, embedder
        self._keys = Keys(settings.broker_prefix)
        self._signer = Signer(settings.key)

    @cached_property
    def running(self) -> Running:
        """Extracts."""
        return Running(
            worker_client(self._settings),
            self._keys,
            self._signer,
            self._extractors,
            self._again,
            stream_high=self._settings.stream_high,
            clean=self._clean,
            patience=min(PATIENCE, self._settings.task_soft_time_limit / 3),
        )

    @cached_property
    def embedding(self) -> EmbeddingTasks:
        """Embeds."""
        return EmbeddingTasks(worker_client(self._settings), self._keys, self._signer, self._embedder, refuse=self.running.refuse)

    def warm(self) -> None:
        """Load what the first task would wait for."""
        warm: Callable[[], None] | None = getattr(self._extractors, "warm", None)
        if warm is not None:
            warm()

    def _again(self, queue: str, body: bytes, mark: str) -> None:
        send_task(self._app, EXTRACT, queue, body, mark)


def send_task(app: Celery, name: str, queue: str, body: bytes, mark: str) -> None:
    """Put a signed task on a queue. Raises what kombu and redis raise."""
    app.send_task(name, args=[body.decode(), mark], queue=queue, argsrepr=HIDDEN, kwargsrepr="", ignore_result=True)


def add_tasks(app: Celery, process: Process) -> None:
    """Give the application of a worker its tasks. Whatever stands in a message that is not signed is refused by them."""

    @app.task(name=EXTRACT, typing=False, shared=False)
    def extract(*args: object, **_: object) -> None:
        with giving_back():
            process.running.run(*_body_and_mark(args))

    @app.task(name=EMBED, typing=False, shared=False)
    def embed(*args: object, **_: object) -> None:
        with giving_back():
            process.embedding.run(*_body_and_mark(args))


def _body_and_mark(args: tuple[object, ...]) -> tuple[object, object]:
    return (args[0], args[1]) if len(args) == 2 else (None, None)


@contextmanager
def giving_back() -> Iterator[None]:
    """A task that could not do its work goes back to the queue; it is never dropped for a failure of what it stands on."""
    try:
        yield
    except (NotNow, SoftTimeLimitExceeded) as reason:
        raise Reject(type(reason).__name__, requeue=True) from None
    except (RedisError, KombuError, OSError) as failure:
        logger.warning("a task goes back to the queue: %s", told(failure))
        raise Reject(type(failure).__name__, requeue=True) from None
