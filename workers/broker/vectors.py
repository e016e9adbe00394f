"""The owner's side of embedding by workers: texts go out as a task, their vectors come back on a stream of their own."""

from __future__ import annotations

import logging
from base64 import b64decode
from binascii import Error as BadBase64
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Condition, Event, Lock, Thread
from time import monotonic
from typing import Any
from uuid import uuid4

import numpy as np

from graph.recall.embedding.port import EmbedderUnavailable, Vectors
from graph.work import BULK
from workers.broker.celery_app import EMBED, sending_app
from workers.broker.connection import Keys, owner_client, reaching
from workers.broker.messages import VERSION, Embedded, EmbedTask, Malformed, packed, unpacked
from workers.broker.settings import BrokerSettings
from workers.broker.signing import Forged, Purpose, Signer
from workers.broker.tasks import send_task
from workers.dispatching import DispatchUnavailable

logger = logging.getLogger(__name__)

AT_ONCE = 8
"""Tasks of one process of the service that wait at a time: enough for some workers, and little before the episodes of others."""
CHUNK = 32
"""Texts of a task."""

CLOSED = "the service stops"

_LOOK = 1.0
_PAGE = 16
_LENGTH = 0.01
"""By how much a vector may miss the unit length."""


class TextsFailed(Exception):
    """These texts cannot be embedded together; others can."""


@dataclass(slots=True)
class _Asked:
    number: int
    answer: Embedded | None = None
    failure: EmbedderUnavailable | None = None
    done: Event = field(default_factory=Event)


class RemoteVectors:
    """Has workers embed: `vectors(texts)` is (n, dim), as the embedder's `embed_documents`. Thread-safe; blocks the calling thread only."""

    def __init__(self, settings: BrokerSettings, embedder: str, *, patience: float | None = None) -> None:
        """`embedder` is the ID of the embedder that workers must have; `patience` how many seconds one answer may take."""
        self._embedder = embedder
        self._keys = Keys(settings.broker_prefix)
        self._signer = Signer(settings.key)
        self._client = owner_client(settings)
        self._app = sending_app(settings)
        # The task of a worker that vanished is given to another after the one, and run within the other.
        self._patience = patience or settings.visibility_timeout + settings.task_time_limit
        self._wait = min(_LOOK, settings.broker_timeout / 2)
        self._lock = Lock()
        self._asked: dict[str, _Asked] = {}
        self._work = Condition(self._lock)
        self._closed = False
        self._thread: Thread | None = None
        self.refused: Counter[str] = Counter()

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """The vectors of texts. Raises EmbedderUnavailable, and TextsFailed where it is for the texts."""
        id, asked = uuid4().hex, _Asked(len(texts))
        body = packed(EmbedTask(v=VERSION, id=id, embedder=self._embedder, texts=list(texts)))
        try:
            with self._reaching():
                # Before anybody looks for it.
                self._client.set(self._keys.embedding(id), 0, ex=int(self._patience) + 1)
                self._expect(id, asked)
                send_task(self._app, EMBED, BULK, body, self._signer.mark(Purpose.EMBED, body))
            if not asked.done.wait(self._patience):
                raise EmbedderUnavailable(f"no worker has embedded {len(texts)} texts in {self._patience:.0f} seconds")
            return self._vectors(asked)
        finally:
            with self._lock:
                self._asked.pop(id, None)

    def _expect(self, id: str, asked: _Asked) -> None:
        with self._work:
            if self._closed:
                raise EmbedderUnavailable(CLOSED)
            self._asked[id] = asked
            if self._thread is None:
                self._thread = Thread(target=self._follow, name="vectors", daemon=True)
                self._thread.start()
            self._work.notify_all()

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        if self._closed:
            raise EmbedderUnavailable(CLOSED)
        try:
            with reaching():
                yield
        except DispatchUnavailable as failure:
            raise EmbedderUnavailable(failure.message) from None

    def close(self) -> None:
        """Whoever waits learns that nothing will come."""
        with self._lock:
            self._closed = True
            self._work.notify_all()
        self._fail(CLOSED)
        if self._thread is not None:
            self._thread.join()
        self._app.close()
        self._client.close()

    def _vectors(self, asked: _Asked) -> Vectors:
        if asked.failure is not None:
            raise asked.failure
        answer = asked.answer
        if answer is None or answer.refused:
            raise EmbedderUnavailable(answer.refused if answer else CLOSED)
        if answer.failed:
            raise TextsFailed(answer.failed)
        try:
            data = b64decode(answer.vectors, validate=True)
        except BadBase64:
            raise EmbedderUnavailable("a worker answered with what are no vectors") from None
        if answer.dim == 0 or len(data) != asked.number * answer.dim * 4:
            raise EmbedderUnavailable(f"a worker answered {asked.number} texts with {len(data)} bytes of {answer.dim} dimensions")
        found = np.frombuffer(data, dtype="<f4").reshape(asked.number, answer.dim).astype(np.float32)
        lengths = np.linalg.norm(found.astype(np.float64), axis=1)
        if not np.isfinite(lengths).all() or not ((np.abs(lengths - 1) < _LENGTH) | (lengths == 0)).all():
            raise EmbedderUnavailable("a worker answered with vectors that are not of unit length")
        return found

    # ------------------------------------------------------------ the thread

    def _follow(self) -> None:
        looked = monotonic()
        while self._anything():
            try:
                with reaching():
                    self._read()
                    if monotonic() - looked > _LOOK:
                        looked = monotonic()
                        self._look()
            except DispatchUnavailable as failure:
                self._fail(failure.message)
            except Exception:
                logger.exception("vectors of workers cannot be read")
                self._fail("vectors of workers cannot be read")

    def _anything(self) -> bool:
        """Wait until somebody waits; False at the end."""
        with self._work:
            self._work.wait_for(lambda: self._asked or self._closed)
            return not self._closed

    def _read(self) -> None:
        # What is read is deleted, so that what stands there was not read yet. What nobody asked for any more goes with it.
        answer: Any = self._client.xread({self._keys.vectors: "0-0"}, count=_PAGE, block=max(1, int(self._wait * 1000)))
        for _, entries in answer or []:
            for _, fields in entries:
                self._take(fields)
            self._client.xdel(self._keys.vectors, *(id for id, _ in entries))

    def _take(self, fields: Mapping[bytes, bytes]) -> None:
        try:
            answer = unpacked(Embedded, self._signer.check(Purpose.VECTORS, fields.get(b"body"), fields.get(b"mark")))
        except (Forged, Malformed) as failure:
            self.refused[type(failure).__name__.lower()] += 1
            logger.error("an answer with vectors is refused: it is %s", failure)
            return
        with self._lock:
            asked = self._asked.get(answer.id)
        if asked is not None:
            asked.answer = answer
            asked.done.set()
            self._client.delete(self._keys.embedding(answer.id))

    def _look(self) -> None:
        """Whether Redis still knows what was asked."""
        with self._lock:
            ids = [id for id, asked in self._asked.items() if not asked.done.is_set()]
        if not ids:
            return
        known: Any = self._client.mget([self._keys.embedding(id) for id in ids])
        lost = [id for id, value in zip(ids, known, strict=True) if value is None]
        self._fail("Redis has forgotten which texts were to be embedded", lost)

    def _fail(self, why: str, ids: Sequence[str] | None = None) -> None:
        with self._lock:
            for id, asked in self._asked.items():
                if (ids is None or id in ids) and not asked.done.is_set():
                    asked.failure = EmbedderUnavailable(why)
                    asked.done.set()
