"""The way of an episode into the graph: scrub, scan, extract in another process, record."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import BoundedSemaphore

from graph.facade import Graph
from graph.views import Receipt, Rehearsal, StatedClaim
from graph.work import Extracted, JobView, Offered, OfferedStatements
from ontology.claim import ClaimDraft
from ontology.episode import EpisodeDraft
from ontology.errors import InvalidInput, Overloaded
from ontology.names import checked_content
from workers.cleaning import Clean, Cleaner, Scrubber, Threats
from workers.dispatching import Dispatch
from workers.meters import Ending, Meters, NoMeters
from workers.pipeline import Pipeline
from workers.pool import ExtractionPool, Findings, Left
from workers.pool_dispatch import PoolDispatch
from workers.tracing import note
from workers.turns import said_at, turn_of

logger = logging.getLogger(__name__)

WAITING = 16
"""How many callers may wait for an extraction at a time; fewer than the threads that answer, so that queries always find one."""

MOST_WAITING = 50_000
"""Accepted episodes that may wait for extraction; above that nothing more is accepted."""

SETTLED_A_SECOND = 100
"""About how many episodes are extracted in a second: by it a refused caller is told when to come again."""

PATIENCE = 5.0
"""Seconds that a caller waits for workers elsewhere before its episode is extracted here."""


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """A dry run: the episode as it would be stored, what that would do, and the pieces of its text that make no claim."""

    clean: Clean
    rehearsal: Rehearsal
    dropped: Sequence[Left]


class Ingestion:
    """Records episodes. Every method blocks its thread, none the event loop. `start` takes up what an earlier process left pending.

    Accepted episodes are extracted through `dispatch`; by default in `pool`, whose processes are `workers`.
    """

    def __init__(
        self,
        graph: Graph,
        pool: ExtractionPool,
        scrubber: Scrubber,
        scan: Callable[[str], Threats],
        *,
        dispatch: Dispatch | None = None,
        meters: Meters | None = None,
        workers: int = 1,
        most_waiting: int = MOST_WAITING,
    ) -> None:
        self._graph = graph
        self.pool = pool
        self._elsewhere = dispatch is not None
        self._meters: Meters = meters or NoMeters()
        self.pipeline = Pipeline(graph.backlog, dispatch or PoolDispatch(pool, workers=workers), meters)
        self._cleaner = Cleaner(scrubber, scan)
        self._turnstile = BoundedSemaphore(WAITING)
        self._most_waiting = most_waiting

    def start(self) -> None:
        """Begin to extract accepted episodes in the background."""
        self.pipeline.start()

    def close(self) -> None:
        """Stop; what is pending stays on disk for the next start."""
        self.pipeline.close()
        self.pool.close()

    def shown(self, text: str) -> str:
        """A message as it may leave the process or be logged: without secrets."""
        return self._cleaner.text(text)

    def clean(self, episode: EpisodeDraft) -> Clean:
        """The episode without secrets, scanned. Raises InvalidInput."""
        return self._cleaner.episode(episode)

    def _cleaned(self, episode: EpisodeDraft) -> Clean:
        """The same of an episode that was handed in; what was replaced is counted."""
        clean = self.clean(episode)
        for rule, number in clean.redactions.items():
            self._meters.redacted(rule, number)
        return clean

    def ingest(
        self,
        namespace: str,
        episode: EpisodeDraft,
        *,
        actor: str = "local",
        idempotency_key: str | None = None,
        trace: str | None = None,
    ) -> Receipt:
        """Record an episode with what extraction finds in it; its statements are believed when this returns.

        Where extraction fails the episode is on disk as PENDING, to be tried again. Raises InvalidInput, and Overloaded where
        too many callers wait already.
        """
        checked_content(episode.content)
        said = said_at(episode)
        clean = self._cleaned(episode)
        if clean.quarantine or not clean.episode.speech:
            return self._record(namespace, clean, [], extractor="none", actor=actor, idempotency_key=idempotency_key, trace=trace)
        if self._elsewhere:
            receipt = self._keep(namespace, clean, actor, idempotency_key, trace)
            return receipt if receipt.transaction else self._awaited(namespace, receipt)
        with self._passing("try again, or send it with wait: false"):
            try:
                extractor, claims = self.pool.extract([turn_of(clean.episode, said)])
            except Exception:
                logger.exception("extraction failed; the episode is kept as PENDING")
                return self._keep(namespace, clean, actor, idempotency_key, trace)
        return self._record(namespace, clean, claims[0], extractor=extractor, actor=actor, idempotency_key=idempotency_key, trace=trace)

    def accept(
        self,
        namespace: str,
        episode: EpisodeDraft,
        *,
        actor: str = "local",
        idempotency_key: str | None = None,
        trace: str | None = None,
    ) -> Receipt:
        """Put an episode on disk as PENDING and return; the background extracts it. Raises InvalidInput, Overloaded."""
        self._admit(1)
        checked_content(episode.content)
        said_at(episode)
        clean = self._cleaned(episode)
        if clean.quarantine:
            return self._record(namespace, clean, [], extractor="none", actor=actor, idempotency_key=idempotency_key, trace=trace)
        return self._keep(namespace, clean, actor, idempotency_key, trace)

    def accept_many(
        self, namespace: str, episodes: Sequence[tuple[EpisodeDraft, str | None]], *, actor: str = "local", trace: str | None = None
    ) -> JobView:
        """Put episodes, each with its idempotency key, on disk as a job and return; the background extracts them.

        Raises InvalidInput for one that is malformed, its path beginning with the index, and Overloaded; nothing is recorded then.
        """
        self._admit(len(episodes))
        offered: list[Offered] = []
        for place, (episode, key) in enumerate(episodes):
            try:
                checked_content(episode.content)
                said_at(episode)
                clean = self._cleaned(episode)
            except InvalidInput as failure:
                raise failure.under(str(place)) from failure
            offered.append(Offered(clean.episode, clean.flags, clean.quarantine, None if key is None else self.shown(key)))
        job = self._graph.jobs.accept(namespace, offered, actor=actor, trace=trace)
        note(logger, "accepted", [trace] * len(offered), job=job.id)
        self._meters.outcome(Ending.DEDUPLICATED, job.progress.deduplicated)
        self._meters.outcome(Ending.QUARANTINED, job.progress.quarantined)
        self.pipeline.wake()
        return job

    def state_many(self, namespace: str, items: Sequence[OfferedStatements], *, actor: str = "local", trace: str | None = None) -> JobView:
        """Record episodes with the statements that the client states, all without secrets, as a job. Raises as `accept_many`."""
        clean: list[OfferedStatements] = []
        for place, item in enumerate(items):
            try:
                said_at(item.draft)
                found = self._cleaned(item.draft)
            except InvalidInput as failure:
                raise failure.under(str(place)) from failure
            key = None if item.idempotency_key is None else self.shown(item.idempotency_key)
            claims = [self._cleaner.stated(claim) for claim in item.claims]
            clean.append(replace(item, draft=found.episode, claims=claims, idempotency_key=key, flags=found.flags))
        job = self._graph.jobs.state(namespace, clean, actor=actor, trace=trace)
        note(logger, "committed", [trace] * len(clean), job=job.id)
        self._meters.outcome(Ending.COMMITTED, job.progress.committed)
        self._meters.outcome(Ending.DEDUPLICATED, job.progress.deduplicated)
        return job

    def cancel(self, namespace: str, id: str, *, actor: str = "local") -> JobView:
        """Give up what still waits of a job. Raises NotFound."""
        waiting = self._graph.jobs.waiting(namespace, id)
        job = self._graph.jobs.cancel(namespace, id, actor=actor)
        self.pipeline.drop(waiting)
        return job

    def retry(self, namespace: str, id: str, *, actor: str = "local", trace: str | None = None) -> JobView:
        """Let the failed episodes of a job wait again. Raises NotFound."""
        job = self._graph.jobs.retry(namespace, id, actor=actor, trace=trace)
        self.pipeline.wake()
        return job

    def release(self, namespace: str, key: str, *, reason: str, actor: str = "local", trace: str | None = None) -> Receipt:
        """Let an episode through that is held back, and extract it.

        The receipt's transaction is that of its extraction, of the release where it is not extracted yet. Raises NotFound, InvalidInput.
        """
        receipt = self._graph.release(namespace, key, reason=self.shown(reason), actor=actor, trace=trace)
        return self._awaited(namespace, receipt)

    def state(
        self,
        namespace: str,
        episode: EpisodeDraft,
        claims: Sequence[StatedClaim],
        *,
        drop_bad_dates: bool,
        actor: str = "local",
        idempotency_key: str | None = None,
        trace: str | None = None,
    ) -> Receipt:
        """Record an episode with the statements that the client states, all without secrets. Raises as `Graph.record_stated`.

        What the threat scan finds is flagged; it holds nothing back, for the client vouches for what it states.
        """
        said_at(episode)
        clean = self._cleaned(episode)
        stated = [self._cleaner.stated(claim) for claim in claims]
        receipt = self._graph.record_stated(
            namespace, clean.episode, stated, clean.flags, drop_bad_dates=drop_bad_dates, actor=actor, idempotency_key=idempotency_key
        )
        note(logger, "committed", [trace], transaction=receipt.transaction)
        return receipt

    def rehearse(self, namespace: str, episode: EpisodeDraft) -> Rehearsed:
        """What `ingest` would do, nothing stored. Raises as it does, and ExtractionFailed."""
        checked_content(episode.content)
        said = said_at(episode)
        clean = self.clean(episode)
        extractor, examined = "none", Findings()
        if not clean.quarantine and clean.episode.speech:
            with self._passing("try again"):
                extractor, found = self.pool.examine([turn_of(clean.episode, said)])
            examined = found[0]
        rehearsal = self._graph.rehearse_extracted(
            namespace, clean.episode, examined.claims, clean.flags, extractor=extractor, quarantined=clean.quarantine
        )
        return Rehearsed(clean, rehearsal, examined.dropped)

    def rehearse_stated(self, namespace: str, episode: EpisodeDraft, claims: Sequence[StatedClaim], *, drop_bad_dates: bool) -> Rehearsed:
        """What `state` would do, nothing stored. Raises as it does."""
        said_at(episode)
        clean = self.clean(episode)
        stated = [self._cleaner.stated(claim) for claim in claims]
        rehearsal = self._graph.rehearse_stated(namespace, clean.episode, stated, drop_bad_dates=drop_bad_dates)
        return Rehearsed(clean, rehearsal, ())

    def _admit(self, number: int) -> None:
        """Raises Overloaded where more would wait than may."""
        waiting = self._graph.backlog.view().waiting
        if waiting + number > self._most_waiting:
            after = max(1, min(60, (waiting + number - self._most_waiting) // SETTLED_A_SECOND))
            raise Overloaded(f"{waiting:,} episodes wait for extraction already; try again in {after} s", retry_after=after)

    def _awaited(self, namespace: str, receipt: Receipt) -> Receipt:
        """The receipt of an episode that waits once it is extracted: elsewhere, or where nobody does it in time here."""
        key = receipt.episode_key

        def settled() -> bool:
            return not self._graph.backlog.waiting_copies(namespace, key)

        if self._elsewhere:
            self.pipeline.wake()
            self.pipeline.wait_until(settled, PATIENCE)
        for each in self._graph.backlog.waiting_copies(namespace, key):
            try:
                with self._passing("it is kept, and extracted later"):
                    extractor, claims = self.pool.extract([turn_of(each.draft, each.said)]) if each.draft.speech else ("none", [[]])
                done = self._graph.backlog.complete([Extracted(each.row, claims[0], extractor)])
                note(logger, "committed", [each.trace] * len(done))
            except Exception:
                logger.exception("extraction failed; the episode is kept as PENDING")
                self.pipeline.wake()
        return replace(receipt, transaction=self._graph.backlog.extracted_in(namespace, key) or receipt.transaction)

    @contextmanager
    def _passing(self, advice: str) -> Iterator[None]:
        """One of the few that may wait for an extraction. Raises Overloaded where there are too many."""
        if not self._turnstile.acquire(blocking=False):
            raise Overloaded(f"{WAITING} episodes are being extracted already; {advice}", retry_after=2)
        try:
            yield
        finally:
            self._turnstile.release()

    def _keep(self, namespace: str, clean: Clean, actor: str, idempotency_key: str | None, trace: str | None) -> Receipt:
        episodes = [(clean.episode, clean.flags)]
        receipt = self._graph.accept(namespace, episodes, actor=actor, idempotency_key=idempotency_key, trace=trace)[0]
        note(logger, "accepted", [trace])
        if receipt.deduplicated:
            self._meters.outcome(Ending.DEDUPLICATED)
        self.pipeline.wake()
        return receipt

    def _record(
        self,
        namespace: str,
        clean: Clean,
        claims: Sequence[ClaimDraft],
        *,
        extractor: str,
        actor: str,
        idempotency_key: str | None,
        trace: str | None,
    ) -> Receipt:
        episodes = [(clean.episode, claims, clean.flags)]
        quarantined = [clean.quarantine]
        receipt = self._graph.record_extracted(
            namespace, episodes, extractor=extractor, actor=actor, quarantined=quarantined, idempotency_key=idempotency_key
        )[0]
        note(logger, "committed", [trace], transaction=receipt.transaction)
        fresh = Ending.QUARANTINED if clean.quarantine else Ending.COMMITTED if claims else Ending.EMPTY
        self._meters.outcome(Ending.DEDUPLICATED if receipt.deduplicated else fresh)
        return receipt
