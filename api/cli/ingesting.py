"""One import from its start to its end: where it goes, what is remembered of it, how it stops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from sqlite3 import Error as SqliteError
from threading import Event

from api.cli.clocks import LocalClock, RemoteClock
from api.cli.interrupts import stopping
from api.cli.link import LocalLink, RemoteLink, address, is_loopback, linked, linked_to
from api.cli.options import hint
from api.cli.patience import GaveUp, Patience, Stopped
from api.cli.progress import Shown, progress
from api.cli.sending import RemoteSink
from api.cli.sent_jobs import SentJobs
from api.cli.vectors import finish
from api.service import Service
from api.settings import Settings
from workers.bulk import BATCH, Sink, Tally, import_drafts
from workers.counted import total_bytes
from workers.feed import FedSink, Feed
from workers.journal import Clock, Journal
from workers.readers import ReadOptions, ReadReport
from workers.sink import LocalSink
from workers.watching import occasions

JOURNAL = "imports.db"
"""In a data folder."""
SENDERS = 4
"""Batches that are on their way to a server at a time."""


@dataclass(frozen=True, slots=True)
class Import:
    """What is to be done. `to` is the address of a server, None: whoever owns the data folder of the settings. `patience` in seconds."""

    paths: Sequence[Path]
    options: ReadOptions
    settings: Settings
    namespace: str
    workers: int = 2
    to: str | None = None
    wait: bool = True
    watch: bool = False
    fresh: bool = False
    batch: int = 100
    patience: float = 600
    quiet: bool = False


@dataclass(slots=True)
class Imported:
    """What came of it, and the status that the process ends with: 0, or 128 and the signal that stopped it."""

    tally: Tally = field(default_factory=Tally)
    report: ReadReport = field(default_factory=ReadReport)
    status: int = 0


def run(plan: Import, open_service: Callable[[Settings], Service]) -> Imported:
    """Do it. Ctrl-C ends it early, with what was done until then. Raises ErstwhileError where nothing, or nothing more, can be done."""
    with _link(plan, open_service) as link:
        stop, found = Event(), Imported()
        total = 0 if plan.watch else total_bytes(plan.paths)
        with progress(total, quiet=plan.quiet) as shown, stopping(stop, shown.say) as status:
            if isinstance(link, RemoteLink):
                _send(plan, link, found, stop, shown)
            else:
                _commit(plan, link, found, stop, shown)
            ended = status()
        if isinstance(link, LocalLink) and not ended:
            finish(link.service)
    if ended and not plan.watch:
        found.status = ended
        hint("stopped; the same command goes on from here")
    return found


@contextmanager
def _link(plan: Import, open_service: Callable[[Settings], Service]) -> Iterator[RemoteLink | LocalLink]:
    if plan.to is None:
        with linked(plan.settings, plan.namespace, open_service) as link:
            yield link
        return
    if plan.to.startswith("http:") and plan.settings.api_key is not None and not is_loopback(plan.to):
        hint("the API key goes over http, which others on the way can read")
    with linked_to(plan.to, plan.settings, plan.namespace) as remote:
        yield remote


def _commit(plan: Import, link: LocalLink, found: Imported, stop: Event, shown: Shown) -> None:
    """Into the data folder, which this process owns."""
    service = link.service
    if service.embedding is not None:
        service.embedding.start()
    sink = LocalSink(service.graph, service.ingestion, service.ingestion.pool, plan.namespace)
    clock = LocalClock(service.graph, plan.namespace)
    with _journal(plan, plan.settings.data / JOURNAL, clock) as journal:
        for feed in _feeds(plan, found.report, found.tally, journal, stop, shown):
            _take(feed, FedSink(sink, feed), found.tally, shown, threads=plan.workers + 1, batch=BATCH)


def _send(plan: Import, link: RemoteLink, found: Imported, stop: Event, shown: Shown) -> None:
    """To a server."""
    patience = Patience(plan.patience, stop, tell=shown.say)
    jobs = SentJobs(link, patience, stop)
    clock = RemoteClock(link)
    sent = Tally()
    path = plan.settings.data / JOURNAL if plan.to is None else plan.settings.state / "imports" / f"{_name(address(plan.to))}.db"

    def now(outcomes: Tally) -> Tally:
        """What is known now: read here, and told by the jobs."""
        tally = Tally(known=sent.known, failed=sent.failed, failures=list(sent.failures))
        tally.add(outcomes)
        return tally

    try:
        patience.until_answered(clock.last)
        with _journal(plan, path, clock) as journal:
            for feed in _feeds(plan, found.report, sent, journal, stop, shown):
                shown.stage("sending")
                _take(feed, FedSink(RemoteSink(link, patience, jobs), feed), sent, shown, threads=SENDERS, batch=plan.batch)
                if plan.watch:
                    jobs.follow(lambda outcomes: shown.update(now(outcomes)), wait=False)
        shown.stage("the service extracts")
        jobs.follow(lambda outcomes: shown.update(now(outcomes)), wait=plan.wait)
    except Stopped:
        pass
    except GaveUp as failure:
        safe = now(jobs.outcomes())
        count = f"{safe.accepted + safe.held_back:,} episodes of this run are safe there"
        raise GaveUp(f"{failure.message}. {count}; the same command goes on from here") from failure
    finally:
        found.tally = now(jobs.outcomes())


def _take(feed: Feed, sink: Sink, tally: Tally, shown: Shown, *, threads: int, batch: int) -> None:
    import_drafts(feed.items(), sink, threads=threads, batch=batch, progress=shown.update, stop=feed.stop, tally=tally)


def _feeds(plan: Import, report: ReadReport, tally: Tally, journal: Journal | None, stop: Event, shown: Shown) -> Iterator[Feed]:
    """What to read, each time that there is something to read."""
    feed = Feed(plan.paths, plan.options, report, tally, journal=journal, stop=stop, tell=shown.advance, watching=plan.watch)
    rounds: Iterable[None] = occasions(plan.paths, feed, stop) if plan.watch else (None,)
    for _ in rounds:
        yield feed
        if plan.watch and journal is not None:
            journal.flush()


@contextmanager
def _journal(plan: Import, path: Path, clock: Clock) -> Iterator[Journal | None]:
    """What earlier runs have done; None, which is told, where it cannot be kept."""
    try:
        journal = Journal(path, plan.namespace, clock)
    except (OSError, SqliteError) as failure:
        hint(f"{path} cannot be written, so that running this again reads and sends everything again ({failure})")
        yield None
        return
    try:
        if plan.fresh:
            journal.forget()
        yield journal
    finally:
        journal.close()
        if journal.problem is not None:
            hint(f"{path} could not be kept to the end ({journal.problem}), so that running this again reads and sends more again")


def _name(url: str) -> str:
    return blake2b(url.encode(), digest_size=16).hexdigest()
