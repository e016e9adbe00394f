"""Stats and Health."""

from __future__ import annotations

from collections.abc import Sequence

import strawberry
from strawberry.types import Info

from api.context import Context
from api.schema.change import cursor_at
from api.schema.support import described
from graph import views


@strawberry.type(description="Counts and sizes.")
class Stats:
    """As `graph.views.StatsView`."""

    episodes: int
    entities: int
    statements: int = strawberry.field(description="Rectangles ever believed.")
    current: int = strawberry.field(description="Statements that hold now.")
    slots: int
    transactions: int
    pending_episodes: int

    @described("Last cursor of `changes`.")
    def cursor(self, info: Info[Context, None]) -> str | None:
        """None before the first change. Looked up where it is asked for."""
        return cursor_at(info.context.graph.changes.last(info.context.namespace))


@strawberry.type
class ComponentHealth:
    """As `graph.views.ComponentHealth`."""

    name: str = strawberry.field(description="Such as `graph`, `ledger`, `index`, `broker`.")
    ok: bool
    degraded: str | None = strawberry.field(description="What it does without, when it runs degraded.")
    latency_ms: float | None


@strawberry.type(description="State of the service.")
class Health:
    """Whether all parts answer."""

    ok: bool
    components: list[ComponentHealth]


def stats(view: views.StatsView) -> Stats:
    """Counts as answered."""
    return Stats(
        episodes=view.episodes,
        entities=view.entities,
        statements=view.statements,
        current=view.current,
        slots=view.slots,
        transactions=view.transactions,
        pending_episodes=view.pending_episodes,
    )


def health(parts: Sequence[views.ComponentHealth]) -> Health:
    """Healthy where every part is."""
    components = [ComponentHealth(name=part.name, ok=part.ok, degraded=part.degraded, latency_ms=part.latency_ms) for part in parts]
    return Health(ok=all(part.ok for part in parts), components=components)
