"""What is read of some paths, file by file: passed over where it is acknowledged, followed where it grows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from threading import Event, Lock

from workers.bulk import Sink, Tally
from workers.counted import Passed, counted
from workers.journal import FileState, Journal, digest_of
from workers.readers import Draft, Reader, ReadOptions, ReadReport, Rejected, built_in_readers, read_path
from workers.readers.files import SourceFile

QUIET = 1.0
"""Seconds for which a file that is no JSON Lines must stay as it is before a watch reads it: it may be half written."""
REST = 4.0
"""A file that grows is read again after so many times the seconds that reading it took: a watch takes a fifth of a core at most."""

_Name = tuple[int, int, bytes]


@dataclass(slots=True)
class _File:
    """A file in this run. `read` is the state that was read last, `seen` and `since` how it looked last and since when."""

    read: FileState | None = None
    seen: tuple[int, int] = (0, 0)
    since: float = 0.0
    rest_until: float = 0.0
    told: int = 0
    counts: ReadReport = field(default_factory=ReadReport)


@dataclass(slots=True)
class _Reading:
    """One reading of a file: drafts that are not settled yet, whether it has ended, and whether all of it was taken."""

    state: FileState
    again: bool
    drafts: int = 0
    open: int = 0
    ended: bool = False
    whole: bool = True


class Feed:
    """Reads paths, as often as wanted, each time what is new in them. What the journal knows of whole files is counted in `tally`.

    `journal` (None: nothing is remembered) says what is acknowledged. With `watching` torn last lines and half-written files wait, and
    `wake` is when to look again for their sake (monotonic seconds; None: when something changes).
    """

    def __init__(
        self,
        paths: Sequence[Path],
        options: ReadOptions,
        report: ReadReport,
        tally: Tally,
        *,
        journal: Journal | None = None,
        stop: Event | None = None,
        tell: Callable[[int], None] = lambda count: None,
        watching: bool = False,
        readers: Sequence[Reader] | None = None,
    ) -> None:
        self._paths, self._options, self._report, self._tally = paths, options, report, tally
        self.journal, self.stop, self._tell, self._watching = journal, stop or Event(), tell, watching
        inner = tuple(readers or built_in_readers())
        self._readers: tuple[Reader, ...] = (_Gate(self), *(_Followed(reader, self) for reader in inner))
        self._how = _digest(repr((options, version("erstwhile"), [type(reader).__qualname__ for reader in inner])).encode())
        self._files: dict[_Name, _File] = {}
        self._of: dict[int, tuple[Draft, _Reading]] = {}
        self._lock = Lock()
        self.wake: float | None = None

    def items(self) -> Iterator[Draft | Rejected]:
        """What the paths hold that is new. Ends early where `stop` is set."""
        self.wake = None
        for path in self._paths:
            if not self.stop.is_set():
                yield from read_path(path, self._options, self._report, self._readers)

    def again(self, draft: Draft) -> bool:
        """Whether a draft is of a file that was read before in this run."""
        with self._lock:
            found = self._of.get(id(draft))
        return found is not None and found[1].again

    def settle(self, drafts: Sequence[Draft], safe: bool) -> None:
        """Some drafts are done with: safe at the destination, or not."""
        finished = []
        with self._lock:
            for draft in drafts:
                _, reading = self._of.pop(id(draft), (draft, None))
                if reading is not None:
                    reading.open -= 1
                    reading.whole = reading.whole and safe
                    finished.append(reading)
        for reading in finished:
            self._finish(reading)

    def passes(self, file: SourceFile) -> bool:
        """Whether a file need not be read now."""
        state = self._state(file)
        if state is None:
            return False
        known = self._files.setdefault((state.device, state.inode, state.entry), _File())
        now = time.monotonic()
        if known.seen != (state.size, state.modified):
            known.seen, known.since = (state.size, state.modified), now
        if known.read == state:
            return True
        before = self.journal.drafts_of(state) if known.read is None and self.journal is not None else None
        if before is not None:
            known.read = state
            self._report.skipped["file read before"] += 1
            self._tally.known += before
            self._tell(file.size)
            return True
        return self._watching and self._postponed(file, known, now)

    def read(self, reader: Reader, file: SourceFile, options: ReadOptions) -> Iterator[Draft | Rejected]:
        """The items of one file, each draft noted as one of it."""
        state = self._state(file)
        if state is None:
            # It went away: what opens it says so.
            yield from reader.read(file, options, self._report)
            return
        known = self._files.setdefault((state.device, state.inode, state.entry), _File())
        if known.read is not None and file.size < known.read.size:
            # Other content: what was told of the old one was told of other lines.
            known.told, known.counts = 0, ReadReport()
        reading = _Reading(state, known.read is not None)
        known.read = state
        report, began, last = ReadReport(), time.monotonic(), known.told
        passed = Passed(file.size, (lambda count: None) if reading.again else self._tell)
        torn = self._watching and file.is_lines and not _ends_a_line(file)
        held: Rejected | None = None
        for item in reader.read(counted(file, passed), options, report):
            if self.stop.is_set():
                # What a reader makes of a file that it was not let finish is nothing to go by.
                reading.whole, known.read = False, None
                return
            if not isinstance(item, Rejected):
                with self._lock:
                    reading.drafts += 1
                    reading.open += 1
                    self._of[id(item)] = (item, reading)
                yield item
            else:
                reading.whole = False
                if reading.again and item.line is not None and item.line <= known.told:
                    continue
                if held is not None:
                    yield held
                held = item if torn and item.kind == "json" else None
                if held is None:
                    last = max(last, item.line or 0)
                    yield item
        passed.end()
        known.told = last
        known.rest_until = time.monotonic() + REST * (time.monotonic() - began)
        self._add(report, known.counts)
        known.counts = report
        reading.ended = True
        self._finish(reading)

    def _finish(self, reading: _Reading) -> None:
        if reading.ended and not reading.open and reading.whole and self.journal is not None:
            self.journal.finish(reading.state, reading.drafts)

    def _add(self, report: ReadReport, before: ReadReport) -> None:
        """Count what a reading found that the reading before it had not."""
        self._report.read += max(report.read - before.read, 0)
        self._report.skipped += report.skipped - before.skipped
        self._report.artifacts += report.artifacts - before.artifacts
        self._report.mended += report.mended - before.mended

    def _postponed(self, file: SourceFile, known: _File, now: float) -> bool:
        """Whether a watch waits with a file; then it says when to look again."""
        until = known.rest_until
        if not file.is_lines and time.time() - file.modified / 1_000_000 < QUIET:
            # A file of tomorrow counts as quiet when it has been looked at for so long.
            until = max(until, known.since + QUIET)
        if until <= now:
            return False
        self.wake = until if self.wake is None else min(self.wake, until)
        return True

    def _state(self, file: SourceFile) -> FileState | None:
        try:
            status = file.path.stat()
        except OSError:
            return None
        entry = _digest(file.entry.encode(errors="surrogatepass")) if file.archive is not None else b""
        inode = status.st_ino & (2**63 - 1)
        # Size and time are those that the head was read with, so a write in between is seen the next time.
        modified = status.st_mtime_ns if round(status.st_mtime * 1_000_000) == file.modified else -1
        return FileState(status.st_dev, inode, entry, file.size, modified, _digest(file.head), self._how)


class FedSink:
    """Takes of each batch what is not acknowledged yet into another sink, and notes what becomes of it."""

    def __init__(self, inner: Sink, feed: Feed) -> None:
        self._inner, self._feed = inner, feed

    def take(self, drafts: Sequence[Draft]) -> Tally:
        """Record a batch."""
        journal, safe = self._feed.journal, False
        try:
            if journal is None:
                tally = self._inner.take(drafts)
                safe = tally.failed == 0
                return tally
            digests = [digest_of(draft) for draft in drafts]
            known = journal.known(digests)
            fresh = [(draft, digest) for draft, digest in zip(drafts, digests, strict=True) if digest not in known]
            before = sum(digest in known and not self._feed.again(draft) for draft, digest in zip(drafts, digests, strict=True))
            tally = Tally(known=before)
            if fresh:
                tally.add(self._inner.take([draft for draft, _ in fresh]))
            safe = tally.failed == 0
            if safe:
                journal.acknowledge(digest for _, digest in fresh)
            return tally
        finally:
            self._feed.settle(drafts, safe)


class _Gate:
    """Takes what need not be read, and reads nothing of it."""

    source = "known"

    def __init__(self, feed: Feed) -> None:
        self._feed = feed

    def recognises(self, file: SourceFile) -> bool:
        return bool(file.start) and not file.is_zip and self._feed.passes(file)

    def read(self, file: SourceFile, options: ReadOptions, report: ReadReport) -> Iterator[Draft | Rejected]:
        return iter(())


class _Followed:
    """A reader whose files the feed follows."""

    def __init__(self, inner: Reader, feed: Feed) -> None:
        self._inner, self._feed = inner, feed

    @property
    def source(self) -> str:
        return self._inner.source

    def recognises(self, file: SourceFile) -> bool:
        return self._inner.recognises(file)

    def read(self, file: SourceFile, options: ReadOptions, report: ReadReport) -> Iterator[Draft | Rejected]:
        return self._feed.read(self._inner, file, options)


def _ends_a_line(file: SourceFile) -> bool:
    """Whether the last byte of a file ends a line; a torn write may leave NUL."""
    try:
        with file.path.open("rb") as opened:
            opened.seek(max(file.size - 1, 0))
            return opened.read(1) == b"\n"
    except OSError:
        return True


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()
