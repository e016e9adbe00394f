"""Watching folders: when to look at them again."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event

from watchfiles import watch

from workers.feed import REST, Feed

LOOK = 200
"""Milliseconds between looks at `stop` and at what waits."""
LONGEST_REST = 60.0
"""Seconds."""


def occasions(paths: Sequence[Path], feed: Feed, stop: Event) -> Iterator[None]:
    """Once at the start, then whenever something under the paths has changed, or a file that waited is due; ends when `stop` is set.

    A burst of changes is one occasion, and after one that took long comes a rest, so that a large tree does not keep a core busy. Links
    to folders are not followed. Raises OSError where the system allows no watching.
    """
    due, rest_until = True, 0.0
    # Watching begins before the first look: what changes after it is told.
    for changes in watch(
        *paths,
        watch_filter=None,
        stop_event=stop,
        rust_timeout=LOOK,
        yield_on_timeout=True,
        raise_interrupt=False,
        ignore_permission_denied=True,
    ):
        now = time.monotonic()
        due = due or bool(changes) or (feed.wake is not None and now >= feed.wake)
        if due and now >= rest_until:
            due = False
            yield
            ended = time.monotonic()
            rest_until = ended + min(REST * (ended - now), LONGEST_REST)
