"""The owner's side: chunks of waiting episodes to the queues of the workers, outcomes from the stream of results."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from threading import Lock
from time import monotonic
from uuid import uuid4

from graph.views import ComponentHealth
from graph.work import MAX_STARTS, WaitingEpisode
from ontology.vocabulary import Vocabulary
from workers.broker.celery_app import EXTRACT, QUEUES, sending_app
from workers.broker.connection import DAY, Keys, owner_client, reaching
from workers.broker.figures import SILENT, BrokerFigures, measured, parts_of
from workers.broker.flight import Flight
from workers.broker.messages import (
    VERSION,
    ExtractTask,
    Malformed,
    Result,
    TaskEpisode,
    Unfit,
    fitting,
    packed,
    unpacked,
)
from workers.broker.settings import BrokerSettings
from workers.broker.signing import Forged, Purpose, Signer
from workers.broker.stream import Emptied, Fields, ResultStream
from workers.broker.tasks import send_task
from workers.broker.vocabularies import published
from workers.dispatching import DispatchUnavailable, Kind, Outcome
from workers.turns import turn_of

logger = logging.getLogger(__name__)

Texts = Callable[[Collection[int]], Mapping[int, WaitingEpisode]]
"""Those of some episodes that still wait, as the ledger has them: `Backlog.find`."""

A_TASK = 8
"""Episodes that a task may have that was sent before this process began."""
LOOK_EVERY = 2.0
"""Seconds between looks at queues, stream and workers."""

CHECK_EVERY = 0.25
"""Seconds between looks whether Redis has forgotten what it was given, and whether there is room."""


class RedisDispatch:
    """Implements `workers.dispatching.Dispatch` with Celery workers.

    Redis may forget everything at any time: `lost` tells it, and then all that was handed out is to be handed out again.
    Whatever comes back is checked against the ledger (`texts`) before anybody sees it.
    """

    def __init__(self, settings: BrokerSettings, vocabulary: Vocabulary, texts: Texts) -> None:
        """Connects when it is first used. Raises InvalidInput without a broker."""
        self._settings = settings
        self._keys = Keys(settings.broker_prefix)
        self._client = owner_client(settings, self._connected)
        self._app = sending_app(settings)
        self._signer = Signer(settings.key)
        self._vocabulary, self._texts = vocabulary, texts
        self._windows = dict(zip(QUEUES, (settings.live_window, settings.bulk_window), strict=True))
        self._flight = Flight(QUEUES)
        self._stream = ResultStream(self._client, self._keys.results)
        self._refused: Counter[str] = Counter()
        self._run: bytes | None = None
        self._sure = False
        self._checked_at = -CHECK_EVERY
        self._lost = False
        self._closed = False
        self._full: dict[str, tuple[float, bool]] = {}
        self._figures = SILENT
        self._looked = -LOOK_EVERY
        self._lock = Lock()

    @property
    def resend_after(self) -> float | None:
        """Seconds after which what was sent and came to nothing is sent again."""
        return self._settings.resend_after

    @property
    def figures(self) -> BrokerFigures:
        """What was last seen of Redis and the workers; does not wait."""
        with self._lock:
            return self._figures

    def lost(self) -> bool:
        """Whether Redis has forgotten what it was given since this was last asked: all of it is to be sent again.

        Raises DispatchUnavailable.
        """
        with self._reaching():
            self._be_sure()
        lost, self._lost = self._lost, False
        return lost

    def room(self, queue: str) -> int:
        """How many more episodes of a queue are taken now. Raises DispatchUnavailable."""
        free = self._windows[queue] - self._flight.number(queue)
        if free <= 0:
            return 0
        with self._reaching():
            self._be_sure()
            # What would be sent before the loss is known would be sent once more after it.
            return 0 if self._lost or self._is_full(queue) else free

    def _is_full(self, queue: str) -> bool:
        """Whether so much waits in Redis, or for us, that no more should be sent, whatever this process has sent."""
        at, full = self._full.get(queue, (-CHECK_EVERY, False))
        if monotonic() - at < CHECK_EVERY:
            return full
        with self._client.pipeline(transaction=False) as pipe:
            pipe.llen(self._keys.queue(queue))
            pipe.xlen(self._keys.results)
            waiting, told = pipe.execute()
        # What an earlier process sent is known by its tasks alone; each of ours has an episode at least.
        foreign = (waiting - self._flight.number(queue)) * A_TASK
        full = bool(foreign >= self._windows[queue] or told >= self._settings.stream_high)
        self._full[queue] = (monotonic(), full)
        return full

    def send(self, queue: str, chunk: Sequence[WaitingEpisode]) -> None:
        """Put episodes on a queue, as one task. Raises DispatchUnavailable."""
        body = self._task(queue, chunk)
        with self._reaching():
            self._be_sure()
            self._publish()
            send_task(self._app, EXTRACT, queue, body, self._signer.mark(Purpose.EXTRACT, body))
        self._flight.add(queue, chunk)

    def receive(self, limit: int, wait: float) -> list[Outcome]:
        """Up to `limit` outcomes that fit what the ledger has, after at most `wait` seconds. Raises DispatchUnavailable."""
        with self._reaching():
            self._be_sure()
            self._stream.settle()
            try:
                entries = self._stream.read(limit, wait)
            except Emptied:
                self._sure = False
                self._be_sure()
                entries = self._stream.read(limit, 0)
            self._look()
        return self._checked(entries) if entries else []

    def settle(self, outcomes: Sequence[Outcome]) -> None:
        """Take outcomes off the stream. Raises DispatchUnavailable; then it is done with the next call."""
        for each in outcomes:
            if each.kind is not Kind.STARTED:
                self._flight.end(each.row, each.round)
        self._stream.done(each.token for each in outcomes if each.token)
        with self._reaching():
            self._stream.settle()

    def drop(self, episodes: Sequence[WaitingEpisode]) -> None:
        """No worker begins these episodes any more. Raises DispatchUnavailable. Any thread may call it."""
        for each in episodes:
            self._flight.end(each.row)
        if not episodes:
            return
        with self._reaching(), self._client.pipeline(transaction=False) as pipe:
            for each in episodes:
                pipe.set(self._keys.dropped(each.row, each.round), 1, ex=DAY)
            pipe.execute()

    def health(self) -> list[ComponentHealth]:
        """Redis and the workers, as last seen; looks itself only where nobody has looked yet."""
        if self.figures is SILENT and not self._closed:
            try:
                with reaching():
                    self._measure()
            except DispatchUnavailable as failure:
                self._see(SILENT.with_problem(failure.message, self._refused))
        return parts_of(self.figures, self._settings)

    def close(self) -> None:
        """Let go of the connections."""
        self._closed = True
        self._app.close()
        self._client.close()

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        """What Redis and Kombu raise becomes DispatchUnavailable; whether Redis is still the same one is then to be seen."""
        if self._closed:
            raise DispatchUnavailable("the dispatch is closed")
        try:
            with reaching():
                yield
        except DispatchUnavailable as failure:
            self._sure = False
            self._stream.reread()
            self._looked = -LOOK_EVERY
            self._see(SILENT.with_problem(failure.message, self._refused))
            raise

    def _connected(self) -> None:
        self._sure = False

    def _be_sure(self) -> None:
        """See whether Redis has forgotten what it was given, now or by an earlier process: it was emptied, or is another run of it."""
        if self._sure and monotonic() - self._checked_at < CHECK_EVERY:
            return
        if self._sure and self._client.exists(self._keys.alive):
            self._checked_at = monotonic()
            return
        # Tasks with another vocabulary are as good as forgotten: what comes of them is not taken.
        run = f"{self._client.info('server')['run_id']} {self._vocabulary.version}".encode()
        forgotten = self._client.get(self._keys.alive) != run
        self._stream.begin()
        self._client.hset(self._keys.sample, mapping={"body": run, "mark": self._signer.mark(Purpose.KEY, run)})
        self._client.set(self._keys.alive, run)
        if forgotten:
            # No news where this process has handed out nothing yet: Redis keeps nothing when it is started anew.
            level = logging.DEBUG if self._run is None else logging.WARNING
            logger.log(level, "Redis knows nothing of what was handed out; it is handed out again")
            self._flight.end_all()
            self._stream.forget()
            self._full.clear()
            self._lost = True
        self._run, self._sure, self._checked_at = run, True, monotonic()

    def _publish(self) -> None:
        key = self._keys.vocabulary(self._vocabulary.version)
        if not self._client.exists(key):
            body = published(self._vocabulary).encode()
            self._client.hset(key, mapping={"body": body, "mark": self._signer.mark(Purpose.VOCABULARY, body)})

    def _task(self, queue: str, episodes: Sequence[WaitingEpisode]) -> bytes:
        rows = []
        for each in episodes:
            turn = asdict(turn_of(each.draft, each.said))
            rows.append(TaskEpisode(row=each.row, round=each.round, begun=each.starts, key=each.key, trace=each.trace, **turn))
        return packed(
            ExtractTask(
                v=VERSION,
                chunk=uuid4().hex,
                queue=queue,
                vocabulary=self._vocabulary.version,
                episodes=rows,
            )
        )

    def _checked(self, entries: Sequence[tuple[str, Fields]]) -> list[Outcome]:
        read: list[tuple[str, Result]] = []
        bad: set[str] = set()
        refused: list[str] = []
        for id, fields in entries:
            try:
                read.append((id, self._result(fields)))
            except (Forged, Malformed) as failure:
                self._refused[type(failure).__name__.lower()] += 1
                refused.append(str(failure))
                bad.add(id)
        waiting = self._texts({result.row for _, result in read})
        outcomes: list[Outcome] = []
        for id, result in read:
            try:
                found = self._outcomes(id, result, waiting.get(result.row))
            except Unfit as failure:
                self._refused["unfit"] += 1
                refused.append(failure.why)
                found = []
            if not found:
                bad.add(id)
            outcomes += found
        if refused:
            logger.error("%d of %d results are refused, the first because it is %s", len(refused), len(entries), refused[0])
        self._stream.hold(each.token for each in outcomes if each.token)
        self._stream.done(bad)
        return outcomes

    def _result(self, fields: Fields) -> Result:
        return unpacked(Result, self._signer.check(Purpose.RESULT, fields.get(b"body"), fields.get(b"mark")))

    def _outcomes(self, id: str, result: Result, episode: WaitingEpisode | None) -> list[Outcome]:
        """What a result tells; nothing: it is of no use any more. Raises Unfit."""
        if episode is None:
            # Told twice, or given up meanwhile.
            if result.kind is not Kind.STARTED:
                self._flight.end(result.row)
            return []
        if result.key != episode.key:
            raise Unfit("of another episode")
        if result.kind is Kind.EXTRACTED:
            if result.vocabulary != self._vocabulary.version:
                raise Unfit("read with another vocabulary")
            claims = fitting(result, episode.draft.content)
            # What was found in an earlier round counts as well.
            return [Outcome(result.kind, result.row, episode.round, claims, result.extractor, "", result.seconds, id)]
        if result.round != episode.round:
            return []
        told = Outcome(result.kind, result.row, result.round, reason=result.reason, seconds=result.seconds, token=id)
        if result.kind is Kind.STARTED:
            # Else counted before the last process of the service ended.
            return [told] if result.begun > episode.starts else []
        if result.begun < MAX_STARTS:
            return [told]
        # Workers know of starts that nobody was told of: a worker can die between counting and telling.
        return [Outcome(Kind.STARTED, result.row, result.round)] * (MAX_STARTS - episode.starts) + [told]

    def _look(self) -> None:
        if monotonic() - self._looked >= LOOK_EVERY:
            self._measure()
            self._looked = monotonic()

    def _measure(self) -> None:
        self._see(measured(self._client, self._keys, self._refused, self._flight.number()))

    def _see(self, figures: BrokerFigures) -> None:
        with self._lock:
            self._figures = figures
