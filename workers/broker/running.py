"""What a worker does with a task of episodes. It opens neither ledger nor graph: the text comes with the task, claims go to the stream."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from time import monotonic, sleep
from typing import TYPE_CHECKING

from celery.exceptions import SoftTimeLimitExceeded
from pydantic import ValidationError
from redis import Redis

from graph.work import MAX_STARTS
from ontology.claim import ClaimDraft
from ontology.vocabulary import Vocabulary
from workers.broker.connection import DAY, Keys
from workers.broker.messages import (
    LARGEST,
    LONGEST_REASON,
    VERSION,
    ClaimMessage,
    ExtractTask,
    Malformed,
    Result,
    TaskEpisode,
    digest_of,
    packed,
    unpacked,
)
from workers.broker.signing import Forged, Purpose, Signer
from workers.broker.vocabularies import received
from workers.dispatching import Kind
from workers.tracing import note

if TYPE_CHECKING:
    from extraction.extractor import Extractor

logger = logging.getLogger(__name__)

Extractors = Callable[[Vocabulary], "Extractor"]
"""Makes the extractor of a vocabulary."""
Again = Callable[[str, bytes, str], None]
"""Puts a task (queue, body, mark) back for any worker."""

PATIENCE = 20.0
"""Seconds that a task waits for room on the stream before it goes back to the queue."""

_LOOK = 0.1
_VOCABULARIES = 2


class NotNow(Exception):
    """The task was not begun; it goes back to the queue."""


class Running:
    """Runs tasks one after the other, in one process of a worker."""

    def __init__(
        self,
        client: Redis,
        keys: Keys,
        signer: Signer,
        extractors: Extractors,
        again: Again,
        *,
        stream_high: int,
        clean: Callable[[str], str] = str,
        patience: float = PATIENCE,
    ) -> None:
        """`clean` takes secrets out of the message of a failure; `patience` is in seconds."""
        self._client, self._keys, self._signer = client, keys, signer
        self._extractors, self._again = extractors, again
        self._stream_high, self._clean, self._patience = stream_high, clean, patience
        self._loaded: dict[str, Extractor] = {}

    def run(self, body: object, mark: object) -> None:
        """Extract the episodes of a task; when this returns each of them is on the stream or back in the queue.

        Raises NotNow, RedisError.
        """
        try:
            task = unpacked(ExtractTask, self._signer.check(Purpose.EXTRACT, body, mark))
        except (Forged, Malformed) as failure:
            self.refuse(f"a task is refused: {failure}")
            return
        self._wait_for_room()
        extractor = self._extractor(task.vocabulary)
        if extractor is None:
            self._count("orphaned", len(task.episodes))
            logger.warning("task %s is left: Redis has lost its vocabulary, and the service will send it again", task.chunk)
            return
        self._run(task, extractor)

    def refuse(self, why: str) -> None:
        """Something is not what it should be."""
        self._count("refused")
        logger.error("%s; is ERSTWHILE_WORKER_KEY the same everywhere?", why)

    def _run(self, task: ExtractTask, extractor: Extractor) -> None:
        fresh, begun = self._looked_up(task)
        if not fresh and len(begun) == 1:
            fresh, begun = begun, []
        # What did not come to its end before may be what ended its process: it takes no neighbours along.
        self._split(task, begun)
        if not fresh:
            return
        started = self._begin(task, fresh)
        try:
            self._extract(task, extractor, started)
        except SoftTimeLimitExceeded:
            if len(started) == 1:
                self._tell([_failed(task, started[0], "extraction took longer than the time limit")])
            else:
                self._split(task, started)

    def _looked_up(self, task: ExtractTask) -> tuple[list[TaskEpisode], list[TaskEpisode]]:
        """Episodes that were never begun, and others, without those that are given up."""
        with self._client.pipeline(transaction=False) as pipe:
            for each in task.episodes:
                pipe.get(self._keys.starts(each.row, each.round))
                pipe.exists(self._keys.dropped(each.row, each.round))
            answers = pipe.execute()
        fresh: list[TaskEpisode] = []
        begun: list[TaskEpisode] = []
        lost: list[Result] = []
        dropped = 0
        for each, counted, given_up in zip(task.episodes, answers[::2], answers[1::2], strict=True):
            known = each.model_copy(update={"begun": max(each.begun, int(counted or 0))})
            if given_up:
                dropped += 1
            elif known.begun >= MAX_STARTS:
                lost.append(_failed(task, known, f"the worker died {known.begun} times while it read this episode"))
            else:
                (begun if known.begun else fresh).append(known)
        if dropped:
            self._count("dropped", dropped)
        self._tell(lost)
        return fresh, begun

    def _split(self, task: ExtractTask, episodes: Iterable[TaskEpisode]) -> None:
        for each in episodes:
            body = packed(task.model_copy(update={"episodes": [each]}))
            self._again(task.queue, body, self._signer.mark(Purpose.EXTRACT, body))

    def _begin(self, task: ExtractTask, episodes: Sequence[TaskEpisode]) -> list[TaskEpisode]:
        """Announce episodes, before they are run."""
        with self._client.pipeline(transaction=False) as pipe:
            for each in episodes:
                pipe.set(self._keys.starts(each.row, each.round), each.begun, nx=True, ex=DAY)
                pipe.incr(self._keys.starts(each.row, each.round))
            counts = pipe.execute()[1::2]
        begun = [each.model_copy(update={"begun": int(count)}) for each, count in zip(episodes, counts, strict=True)]
        self._tell([_result(task, each, Kind.STARTED) for each in begun])
        return begun

    def _extract(self, task: ExtractTask, extractor: Extractor, episodes: Sequence[TaskEpisode]) -> None:
        begun_at = monotonic()
        try:
            found = extractor.extract([each.turn for each in episodes])
        except SoftTimeLimitExceeded:
            raise
        except Exception as failure:
            if len(episodes) > 1:
                logger.warning("%d episodes of task %s cannot be read together; they are read one by one", len(episodes), task.chunk)
                self._one_by_one(task, extractor, episodes)
            else:
                self._tell([_failed(task, episodes[0], self._told(failure))])
            return
        seconds = (monotonic() - begun_at) / len(episodes)
        note(logger, "extracted", (each.trace for each in episodes), seconds=round(monotonic() - begun_at, 3))
        self._tell([self._extracted(task, each, extractor.id, claims, seconds) for each, claims in zip(episodes, found, strict=True)])

    def _one_by_one(self, task: ExtractTask, extractor: Extractor, episodes: Sequence[TaskEpisode]) -> None:
        for place, each in enumerate(episodes):
            try:
                self._extract(task, extractor, [each])
            except SoftTimeLimitExceeded:
                # The time of the task was used up by all of them.
                self._split(task, episodes[place:])
                return

    def _extracted(self, task: ExtractTask, episode: TaskEpisode, extractor: str, claims: Sequence[ClaimDraft], seconds: float) -> Result:
        try:
            said = [ClaimMessage.of(claim, episode.text) for claim in claims]
        except ValidationError:
            return _failed(task, episode, "the result of the extractor is not valid")
        return _result(task, episode, Kind.EXTRACTED, extractor=extractor, seconds=seconds, claims=said)

    def _tell(self, results: Sequence[Result]) -> None:
        """Put results on the stream. They stay until the owner has them: it is never trimmed."""
        if not results:
            return
        with self._client.pipeline(transaction=False) as pipe:
            for each in results:
                body = packed(each)
                if len(body) > LARGEST:
                    body = packed(
                        each.model_copy(update={"kind": Kind.FAILED, "claims": [], "reason": "its result is larger than can be sent"})
                    )
                pipe.xadd(self._keys.results, {"body": body, "mark": self._signer.mark(Purpose.RESULT, body)})
            pipe.execute()

    def _wait_for_room(self) -> None:
        end = monotonic() + self._patience
        # Before the episodes are begun, so that an owner who is away counts as no start in vain.
        while self._client.xlen(self._keys.results) >= self._stream_high:
            if monotonic() >= end:
                raise NotNow
            sleep(_LOOK)

    def _extractor(self, version: str) -> Extractor | None:
        if version not in self._loaded:
            vocabulary = self._vocabulary(version)
            if vocabulary is None:
                return None
            if len(self._loaded) >= _VOCABULARIES:
                self._loaded.pop(next(iter(self._loaded)))
            self._loaded[version] = self._extractors(vocabulary)
        return self._loaded[version]

    def _vocabulary(self, version: str) -> Vocabulary | None:
        found = self._client.hmget(self._keys.vocabulary(version), "body", "mark")
        if found[0] is None:
            return None
        try:
            vocabulary = received(self._signer.check(Purpose.VOCABULARY, *found))
        except Forged as failure:
            self.refuse(f"a vocabulary is refused: {failure}")
            return None
        return vocabulary if vocabulary.version == version else None

    def _count(self, what: str, number: int = 1) -> None:
        self._client.hincrby(self._keys.counts, what, number)

    def _told(self, failure: Exception) -> str:
        return self._clean(f"{type(failure).__name__}: {' '.join(str(failure).split())}")[:LONGEST_REASON]


def _result(
    task: ExtractTask,
    episode: TaskEpisode,
    kind: Kind,
    *,
    extractor: str = "",
    seconds: float = 0.0,
    claims: Sequence[ClaimMessage] = (),
    reason: str = "",
) -> Result:
    return Result(
        v=VERSION,
        kind=kind,
        row=episode.row,
        round=episode.round,
        key=episode.key,
        begun=episode.begun,
        digest=digest_of(episode.text) if kind is Kind.EXTRACTED else "",
        vocabulary=task.vocabulary,
        extractor=extractor,
        seconds=seconds,
        claims=list(claims),
        reason=reason,
    )


def _failed(task: ExtractTask, episode: TaskEpisode, reason: str) -> Result:
    return _result(task, episode, Kind.FAILED, reason=reason)
