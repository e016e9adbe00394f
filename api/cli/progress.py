"""What `ingest` shows while it runs and when it is done."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, DownloadColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from workers.bulk import Tally
from workers.readers import ReadReport

EVERY = 10.0
"""Seconds between two lines where there is no terminal."""


class Shown(Protocol):
    """Where progress goes. Thread-safe."""

    def advance(self, count: int) -> None:
        """So many more bytes were read."""
        ...

    def update(self, tally: Tally) -> None:
        """The counts as they are now."""
        ...

    def stage(self, name: str) -> None:
        """What is done now."""
        ...

    def say(self, text: str | None) -> None:
        """What is waited for; None: nothing any more."""
        ...


@contextmanager
def progress(total: int, *, quiet: bool = False) -> Iterator[Shown]:
    """A bar of `total` bytes on a terminal, else a line on standard error every 10 s; nothing where it is to be quiet."""
    if quiet:
        yield Silent()
    elif sys.stderr.isatty():
        bar = Bar(total)
        with Live(get_renderable=bar.rendered, console=Console(stderr=True), transient=True, refresh_per_second=4):
            yield bar
    else:
        yield Lines(total, lambda line: print(f"erstwhile: {line}", file=sys.stderr, flush=True))


class Silent:
    """Shows nothing."""

    def advance(self, count: int) -> None:
        """Nothing."""

    def update(self, tally: Tally) -> None:
        """Nothing."""

    def stage(self, name: str) -> None:
        """Nothing."""

    def say(self, text: str | None) -> None:
        """Nothing."""


class Bar:
    """A bar with bytes and the time that is left, and the counts below it."""

    def __init__(self, total: int) -> None:
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(24), DownloadColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, TextColumn("left"), TimeRemainingColumn())
        self._task = self._progress.add_task("reading", total=total or None)
        self._began = time.monotonic()
        self._tally = Tally()
        self._said: str | None = None

    def advance(self, count: int) -> None:
        """Move the bar."""
        self._progress.advance(self._task, count)

    def update(self, tally: Tally) -> None:
        """Other counts."""
        self._tally = tally

    def stage(self, name: str) -> None:
        """Another word before the bar."""
        self._progress.update(self._task, description=name)

    def say(self, text: str | None) -> None:
        """A line below the counts."""
        self._said = text

    def rendered(self) -> Group:
        """What the terminal shows."""
        lines = [Text(f"  {counts(self._tally, time.monotonic() - self._began)}")]
        if self._said:
            lines.append(Text(f"  {self._said}", style="yellow"))
        return Group(self._progress, *lines)


class Lines:
    """A line every 10 s, for logs. `now` in seconds."""

    def __init__(self, total: int, write: Callable[[str], None], now: Callable[[], float] = time.monotonic) -> None:
        self._total, self._write, self._now = total, write, now
        self._began = self._last = now()
        self._warned = self._began - EVERY
        self._bytes, self._stage = 0, "reading"

    def advance(self, count: int) -> None:
        """Count."""
        self._bytes += count

    def update(self, tally: Tally) -> None:
        """Write a line where one is due."""
        now = self._now()
        if now - self._last >= EVERY:
            self._last = now
            self._write(f"{self._stage}: {self._read()}{counts(tally, now - self._began)}{self._left(now - self._began)}")

    def stage(self, name: str) -> None:
        """The word that a line begins with."""
        self._stage = name

    def say(self, text: str | None) -> None:
        """Write it, where the last one is long enough ago."""
        if text is not None and self._now() - self._warned >= EVERY:
            self._warned = self._now()
            self._write(text)

    def _read(self) -> str:
        return f"{self._bytes / 1e6:,.1f} of {self._total / 1e6:,.1f} MB  " if self._total else ""

    def _left(self, elapsed: float) -> str:
        if not self._bytes or self._bytes >= self._total:
            return ""
        minutes, seconds = divmod(int(elapsed * (self._total - self._bytes) / self._bytes), 60)
        return f"  about {minutes}:{seconds:02} left"


def counts(tally: Tally, elapsed: float) -> str:
    """Counts by outcome and the rate of what does not wait any more, in one line. `elapsed` in seconds."""
    rate = f" ({(tally.done - tally.pending) / elapsed:,.0f}/s)" if elapsed > 1 else ""
    named = (("accepted", tally.accepted), ("known", tally.known), ("held back", tally.held_back), ("failed", tally.failed))
    waiting = f"  waiting {tally.pending:,}" if tally.pending else ""
    return f"{tally.done:,} episodes{rate}  {'  '.join(f'{name} {count:,}' for name, count in named)}{waiting}"


def summary(tally: Tally, report: ReadReport) -> dict[str, Any]:
    """Counts of an import, as `--json` prints them. `outcomes` are named as those of a job."""
    return {
        "accepted": tally.accepted,
        "known": tally.known,
        "heldBack": tally.held_back,
        "failed": tally.failed,
        "outcomes": {
            "committed": tally.accepted - tally.pending,
            "empty": tally.empty,
            "deduplicated": tally.known,
            "quarantined": tally.held_back,
            "failed": tally.failed,
            "pending": tally.pending,
        },
        "artifacts": dict(report.artifacts),
        "skipped": dict(report.skipped),
        "mended": dict(report.mended),
        "failures": tally.failures,
    }


def summary_lines(counts: dict[str, Any]) -> Iterator[str]:
    """The same for people; of many failures the first."""
    yield f"accepted {counts['accepted']}  known before {counts['known']}  held back {counts['heldBack']}  failed {counts['failed']}"
    outcomes = counts["outcomes"]
    if outcomes["empty"] or outcomes["pending"]:
        waiting = f", {outcomes['pending']} wait to be extracted" if outcomes["pending"] else ""
        yield f"of the accepted {outcomes['empty']} hold nothing worth keeping{waiting}"
    for name, title in (("artifacts", "kept without claims"), ("skipped", "passed over"), ("mended", "mended")):
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(counts[name].items()))
        if kinds:
            yield f"{title} {sum(counts[name].values())}: {kinds}"
    yield from (f"  {failure}" for failure in counts["failures"][:50])
