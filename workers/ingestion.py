"""The way of an episode into the graph: scrub, scan, extract in another process, record."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import BoundedSemaphore, Event, Thread
from time import time_ns

from graph.facade import Graph
from graph.views import Receipt, Rehearsal, StatedClaim
from ontology.claim import ClaimDraft
from ontology.edtf import parse_edtf
from ontology.episode import EpisodeDraft, Turn
from ontology.errors import InvalidInput, Overloaded
from ontology.instant import UNBOUNDED_PAST, Instant, zone_named
from ontology.names import checked_content
from workers.cleaning import Clean, Cleaner, Scrubber, Threats
from workers.pool import ExtractionPool, Findings, Left
from workers.processes import ATTEMPTS

logger = logging.getLogger(__name__)

WAITING = 16
"""How many callers may wait for an extraction at a time; fewer than the threads that answer, so that queries always find one."""

BATCH = 50
"""Accepted episodes that are taken up at a time."""


def said_at(episode: EpisodeDraft) -> Instant:
    """The reference for relative dates: the first instant of the stated time, else now. Raises InvalidInput with its path."""
    try:
        zone = zone_named(episode.time_zone)
    except InvalidInput as failure:
        raise failure.under("timeZone") from failure
    if episode.said_at is None:
        return time_ns() // 1000
    try:
        said = parse_edtf(episode.said_at, zone=zone).lo
    except InvalidInput as failure:
        raise failure.under("saidAt") from failure
    if said == UNBOUNDED_PAST:
        raise InvalidInput("something is said at a time, not at '..'", path=("saidAt",), reason="UNPARSEABLE")
    return said


def turn_of(episode: EpisodeDraft, said: Instant) -> Turn:
    """What extraction reads of an episode."""
    about = episode.metadata.get("about")
    return Turn(
        id=episode.external_id or "",
        text=episode.content,
        said=said,
        speaker=episode.speaker,
        addressee=episode.addressee,
        time_zone=episode.time_zone,
        project=episode.project,
        about=about if isinstance(about, str) and about.strip() else None,
    )


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """A dry run: the episode as it would be stored, what that would do, and the pieces of its text that make no claim."""

    clean: Clean
    rehearsal: Rehearsal
    dropped: Sequence[Left]


class Ingestion:
    """Records episodes. Every method blocks its thread, none the event loop. `start` takes up what an earlier process left pending."""

    def __init__(self, graph: Graph, pool: ExtractionPool, scrubber: Scrubber, scan: Callable[[str], Threats]) -> None:
        self._graph = graph
        self.pool = pool
        self._cleaner = Cleaner(scrubber, scan)
        self._turnstile = BoundedSemaphore(WAITING)
        self._work = Event()
        self._closing = Event()
        self._thread = Thread(target=self._follow, name="backlog", daemon=True)

    def start(self) -> None:
        """Begin to extract accepted episodes in the background."""
        self._work.set()
        self._thread.start()

    def close(self) -> None:
        """Stop; what is pending stays on disk for the next start."""
        self._closing.set()
        self._work.set()
        if self._thread.is_alive():
            self._thread.join()
        self.pool.close()

    def clean(self, episode: EpisodeDraft) -> Clean:
        """The episode without secrets, scanned. Raises InvalidInput."""
        return self._cleaner.episode(episode)

    def ingest(self, namespace: str, episode: EpisodeDraft, *, actor: str = "local", idempotency_key: str | None = None) -> Receipt:
        """Record an episode with what extraction finds in it; its statements are believed when this returns.

        Where extraction fails the episode is on disk as PENDING, to be tried again. Raises InvalidInput, and Overloaded where
        too many callers wait already.
        """
        checked_content(episode.content)
        said = said_at(episode)
        clean = self.clean(episode)
        if clean.quarantine or not clean.episode.speech:
            return self._record(namespace, clean, [], extractor="none", actor=actor, idempotency_key=idempotency_key)
        with self._passing("try again, or send it with wait: false"):
            try:
                extractor, claims = self.pool.extract([turn_of(clean.episode, said)])
            except Exception:
                logger.exception("extraction failed; the episode is kept as PENDING")
                return self._keep(namespace, clean, actor, idempotency_key)
        return self._record(namespace, clean, claims[0], extractor=extractor, actor=actor, idempotency_key=idempotency_key)

    def accept(self, namespace: str, episode: EpisodeDraft, *, actor: str = "local", idempotency_key: str | None = None) -> Receipt:
        """Put an episode on disk as PENDING and return; the background extracts it. Raises InvalidInput."""
        checked_content(episode.content)
        said_at(episode)
        clean = self.clean(episode)
        if clean.quarantine:
            return self._record(namespace, clean, [], extractor="none", actor=actor, idempotency_key=idempotency_key)
        return self._keep(namespace, clean, actor, idempotency_key)

    def state(
        self,
        namespace: str,
        episode: EpisodeDraft,
        claims: Sequence[StatedClaim],
        *,
        drop_bad_dates: bool,
        actor: str = "local",
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Record an episode with the statements that the client states, all without secrets. Raises as `Graph.record_stated`."""
        said_at(episode)
        clean = self.clean(episode).episode
        stated = [self._cleaner.stated(claim) for claim in claims]
        return self._graph.record_stated(
            namespace, clean, stated, drop_bad_dates=drop_bad_dates, actor=actor, idempotency_key=idempotency_key
        )

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

    @contextmanager
    def _passing(self, advice: str) -> Iterator[None]:
        """One of the few that may wait for an extraction. Raises Overloaded where there are too many."""
        if not self._turnstile.acquire(blocking=False):
            raise Overloaded(f"{WAITING} episodes are being extracted already; {advice}", retry_after=2)
        try:
            yield
        finally:
            self._turnstile.release()

    def _keep(self, namespace: str, clean: Clean, actor: str, idempotency_key: str | None) -> Receipt:
        receipt = self._graph.accept(namespace, [(clean.episode, clean.flags)], actor=actor, idempotency_key=idempotency_key)[0]
        self._work.set()
        return receipt

    def _record(
        self, namespace: str, clean: Clean, claims: Sequence[ClaimDraft], *, extractor: str, actor: str, idempotency_key: str | None
    ) -> Receipt:
        episodes = [(clean.episode, claims, clean.flags)]
        quarantined = [clean.quarantine]
        return self._graph.record_extracted(
            namespace, episodes, extractor=extractor, actor=actor, quarantined=quarantined, idempotency_key=idempotency_key
        )[0]

    def _follow(self) -> None:
        """The background: extract what is pending until there is nothing, then wait for more."""
        failures: Counter[str] = Counter()
        while not self._closing.is_set():
            self._work.wait()
            self._work.clear()
            try:
                while not self._closing.is_set() and self._take_up(failures):
                    pass
            except Exception:
                logger.exception("the backlog cannot be worked off; trying again")
                if not self._closing.wait(5):
                    self._work.set()

    def _take_up(self, failures: Counter[str]) -> bool:
        """Extract and commit one batch of pending episodes; False where there is none.

        What fails ATTEMPTS times stays pending and is left alone until the next start.
        """
        left_alone = {key for key, count in failures.items() if count >= ATTEMPTS}
        pending = self._graph.pending(BATCH + len(left_alone))
        waiting = [each for each in pending if each.key not in left_alone]
        for each in waiting:
            if self._closing.is_set():
                return False
            try:
                extractor, claims = self.pool.extract([turn_of(each.draft, each.said)]) if each.draft.speech else ("none", [[]])
                self._graph.record_extracted(each.namespace, [(each.draft, claims[0], each.flags)], extractor=extractor)
            except Exception:
                if self._closing.is_set():
                    return False
                failures[each.key] += 1
                logger.exception("extraction of the pending episode %s failed (%d of %d)", each.key, failures[each.key], ATTEMPTS)
        return bool(waiting)
