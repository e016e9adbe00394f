"""Transcripts in bulk without a broker: read, clean, skip what is known, extract in processes, commit in batches.

Order does not matter to belief, so batches are committed as they come back. Memory is bounded by the batches in flight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from threading import Event
from typing import Protocol, TypeVar

from ontology.errors import ErstwhileError
from workers.readers import Draft, Rejected, StatedEpisode

BATCH = 64
BATCH_BYTES = 2**20
"""A batch ends before its texts are longer than this, in characters: what is in flight stays small whatever is read."""
LOOK = 1.0
"""Seconds after which progress is told though nothing has come back."""
MAX_FAILURES = 10_000
D = TypeVar("D", bound=Draft)


@dataclass(slots=True)
class Tally:
    """Counts of one import: read = accepted + known + held back + refused drafts; `failures` say what and where.

    `empty` are those of the accepted that hold nothing worth keeping, `pending` those of them that a server has yet to extract.
    """

    accepted: int = 0
    known: int = 0
    held_back: int = 0
    failed: int = 0
    claims: int = 0
    empty: int = 0
    pending: int = 0
    failures: list[str] = field(default_factory=list)

    @property
    def done(self) -> int:
        """Episodes and lines that are through."""
        return self.accepted + self.known + self.held_back + self.failed

    def fail(self, where: str, why: str) -> None:
        """Note what could not be taken."""
        self.failed += 1
        if len(self.failures) < MAX_FAILURES:
            self.failures.append(f"{where}: {why}")

    def add(self, other: Tally) -> None:
        """Add the counts of a batch."""
        self.accepted += other.accepted
        self.known += other.known
        self.held_back += other.held_back
        self.failed += other.failed
        self.claims += other.claims
        self.empty += other.empty
        self.pending += other.pending
        self.failures += other.failures[: MAX_FAILURES - len(self.failures)]


class Sink(Protocol):
    """Takes batches of drafts into a graph."""

    def take(self, drafts: Sequence[Draft]) -> Tally:
        """Record a batch and say what became of each. Called from several threads. Raises nothing for a bad draft."""
        ...


def import_drafts(
    items: Iterable[Draft | Rejected],
    sink: Sink,
    *,
    threads: int,
    batch: int = BATCH,
    progress: Callable[[Tally], None] | None = None,
    stop: Event | None = None,
    tally: Tally | None = None,
) -> Tally:
    """Send everything that a reader yields into a sink, `threads` batches at a time; what fails is counted and named.

    Where `stop` is set the batches at hand are the last ones. Counts go to `tally`, also where the sink raises: then `stop` is set, so that
    those beside it give up too.
    """
    tally = Tally() if tally is None else tally
    stop = stop or Event()
    running: set[Future[Tally]] = set()

    def collect(most: int) -> None:
        """Wait until so many are running at most."""
        nonlocal running
        while len(running) > most:
            done, running = wait(running, timeout=LOOK, return_when=FIRST_COMPLETED)
            for future in done:
                tally.add(future.result())
            if progress is not None:
                progress(tally)

    with ThreadPoolExecutor(threads) as executor:
        try:
            for group in _batches(items, batch):
                drafts = []
                for item in group:
                    if isinstance(item, Rejected):
                        where = item.path if item.line is None else f"{item.path}:{item.line}"
                        tally.fail(where, item.message)
                    else:
                        drafts.append(item)
                if stop.is_set():
                    break
                if drafts:
                    running.add(executor.submit(sink.take, drafts))
                collect(threads)
            collect(0)
        except BaseException:
            stop.set()
            for future in running:
                if not future.cancel() and future.exception() is None:
                    tally.add(future.result())
            raise
    if progress is not None:
        progress(tally)
    return tally


def one_by_one(drafts: Sequence[D], take: Callable[[D], Tally]) -> Tally:
    """Take drafts singly, so that one that fails costs itself alone."""
    tally = Tally()
    for draft in drafts:
        try:
            tally.add(take(draft))
        except ErstwhileError as failure:
            tally.fail(place_of(draft), failure.message)
    return tally


def place_of(draft: Draft) -> str:
    """Where a draft came from, for messages."""
    draft = draft.episode if isinstance(draft, StatedEpisode) else draft
    return f"{draft.source} {draft.group or ''}/{draft.external_id or ''}".replace(" /", " ").rstrip("/ ")


def _length(item: Draft | Rejected) -> int:
    """Characters of its text."""
    episode = item.episode if isinstance(item, StatedEpisode) else item
    return 0 if isinstance(episode, Rejected) else len(episode.content)


def _batches(items: Iterable[Draft | Rejected], size: int) -> Iterator[list[Draft | Rejected]]:
    """Groups of up to `size` items whose texts are short enough together."""
    group: list[Draft | Rejected] = []
    length = 0
    for item in items:
        length += _length(item)
        if group and (len(group) == size or length > BATCH_BYTES):
            yield group
            group, length = [], _length(item)
        group.append(item)
    if group:
        yield group
