"""What `ingest` shows while it runs and when it is done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from workers.bulk import Tally
from workers.readers import ReadReport


@contextmanager
def progress(shown: bool) -> Iterator[Any]:
    """A progress line with counts and rate; nothing where nobody looks."""
    if not shown:
        yield None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=None)

        def show(tally: Tally) -> None:
            elapsed = bar.tasks[0].elapsed or 0.0
            rate = f"{tally.done / elapsed:,.0f}/s" if elapsed > 1 else ""
            bar.update(task, description=f"{tally.done:,} episodes  accepted {tally.accepted:,}  known {tally.known:,}  {rate}")

        yield show


def summary(tally: Tally, report: ReadReport) -> dict[str, Any]:
    """Counts of an import, as `--json` prints them."""
    return {
        "accepted": tally.accepted,
        "known": tally.known,
        "heldBack": tally.held_back,
        "failed": tally.failed,
        "artifacts": dict(report.artifacts),
        "skipped": dict(report.skipped),
        "mended": dict(report.mended),
        "failures": tally.failures,
    }


def summary_lines(counts: dict[str, Any]) -> Iterator[str]:
    """The same for people; of many failures the first."""
    yield f"accepted {counts['accepted']}  known before {counts['known']}  held back {counts['heldBack']}  failed {counts['failed']}"
    for name, title in (("artifacts", "kept without claims"), ("skipped", "passed over"), ("mended", "mended")):
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(counts[name].items()))
        if kinds:
            yield f"{title} {sum(counts[name].values())}: {kinds}"
    yield from (f"  {failure}" for failure in counts["failures"][:50])
