"""How the backlog is: whether it is worked off, how long the oldest waits, and what was given up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graph.views import ComponentHealth
from graph.work import Backlog
from ontology.instant import Instant
from workers.meters import Failure, failure_kind

if TYPE_CHECKING:
    from workers.pipeline import Pipeline

TOO_LONG = 600
"""Seconds that the oldest episode may wait before somebody should know."""
_WANTED = (Failure.CANCELLED, Failure.KEY)
"""Kinds of failure that somebody asked for, and nobody need look at."""


def backlog_health(backlog: Backlog, pipeline: Pipeline, now: Instant) -> ComponentHealth:
    """The component `backlog`. It fails while nothing can be worked off; what waits long or was given up degrades it."""
    view = backlog.view()
    found = [pipeline.degraded] if pipeline.degraded is not None else []
    waited = 0 if view.oldest is None else (now - view.oldest) // 1_000_000
    if waited > TOO_LONG:
        found.append(f"episodes that wait for extraction: {view.waiting:,}, the oldest for {waited // 60:,} minutes")
    lost = sum(number for reason, number in backlog.dead_letters().items() if failure_kind(reason) not in _WANTED)
    if lost:
        found.append(f"episodes that could not be extracted and were given up: {lost:,}; `erstwhile jobs` lists them")
    return ComponentHealth("backlog", pipeline.degraded is None, "; ".join(found) or None)
