"""Following a job on the command line until it ends: a bar at a terminal, else a line for each change."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column

from api.cli import documents
from api.cli.link import Link
from api.cli.rendering import Node
from ontology.errors import NotFound

PAUSE = 0.5
"""Seconds between two looks."""
NAMES = {"committed": "committed", "empty": "empty", "deduplicated": "known", "quarantined": "held back", "failed": "failed"}


def counts(job: Node) -> str:
    """What became of a job's episodes so far: the counts that are not 0."""
    return "  ".join(f"{name} {job['progress'][part]:,}" for part, name in NAMES.items() if job["progress"][part])


def done(job: Node) -> int:
    """How many of its episodes are through."""
    return int(job["progress"]["accepted"] - job["progress"]["pending"])


def watch(link: Link, id: str, *, pause: float = PAUSE) -> Node:
    """The job when it has ended; meanwhile how far it is stands on standard error. Raises NotFound."""
    job = _look(link, id)
    with _shown(job) as show:
        while job["finishedAt"] is None:
            show(job)
            time.sleep(pause)
            job = _look(link, id)
        show(job)
    return job


def _look(link: Link, id: str) -> Node:
    job: Node | None = link.execute(documents.JOB_STATE, {"id": id})["ingestJob"]
    if job is None:
        raise NotFound(f"there is no job {id!r}; `erstwhile jobs` lists them", id=id)
    return job


@contextmanager
def _shown(job: Node) -> Iterator[Callable[[Node], None]]:
    if not sys.stderr.isatty():
        yield _Lines()
        return
    columns = (
        TextColumn("{task.fields[state]}"),
        BarColumn(24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(compact=True),
        # A number that is cut would be another number.
        TextColumn("{task.fields[counts]}", table_column=Column(no_wrap=True, overflow="ellipsis")),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        begun, before = time.monotonic(), done(job)
        task = bar.add_task("", total=job["progress"]["accepted"], completed=before, state=job["state"], rate="", counts="")

        def show(job: Node) -> None:
            elapsed = time.monotonic() - begun
            rate = f"{(done(job) - before) / elapsed:,.0f}/s" if elapsed > 1 else ""
            bar.update(task, completed=done(job), state=job["state"], rate=rate, counts=counts(job))

        yield show


class _Lines:
    """A line for each change."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, job: Node) -> None:
        line = f"{job['state']}  {done(job):,} of {job['progress']['accepted']:,}  {counts(job)}".rstrip()
        if line != self._last:
            self._last = line
            print(line, file=sys.stderr, flush=True)
