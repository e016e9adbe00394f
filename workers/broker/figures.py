"""What can be seen of Redis and the workers, for health and metrics."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

from redis import Redis

from graph.views import ComponentHealth
from workers.broker.celery_app import QUEUES
from workers.broker.connection import Keys
from workers.broker.settings import BrokerSettings

_SEEN_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class WorkerSeen:
    """A worker that gave a sign of life in the last seconds."""

    name: str
    queues: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BrokerFigures:
    """`stream`: results that are not settled, `depth`: tasks that wait, by queue, `flying`: episodes handed out by this process.

    `refused` counts results that this process did not believe, `counts` what workers refused and left out. Milliseconds.
    """

    up: bool
    problem: str | None = None
    latency_ms: float | None = None
    stream: int = 0
    depth: Mapping[str, int] = field(default_factory=dict)
    flying: int = 0
    workers: Sequence[WorkerSeen] = ()
    refused: Mapping[str, int] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)

    def with_problem(self, problem: str, refused: Mapping[str, int]) -> BrokerFigures:
        """The same when Redis does not answer."""
        return replace(self, up=False, problem=problem, refused=dict(refused))


SILENT = BrokerFigures(False, "Redis was not asked yet")


def measured(client: Redis, keys: Keys, refused: Mapping[str, int], flying: int) -> BrokerFigures:
    """What stands in Redis now. Raises RedisError."""
    begun = monotonic()
    client.ping()
    latency = (monotonic() - begun) * 1000
    names = sorted(client.scan_iter(match=f"{keys.workers}*", count=_SEEN_AT_ONCE))[:_SEEN_AT_ONCE]
    with client.pipeline(transaction=False) as pipe:
        pipe.xlen(keys.results)
        for queue in QUEUES:
            pipe.llen(keys.queue(queue))
        pipe.hgetall(keys.counts)
        for name in names:
            pipe.get(name)
        stream, *rest = pipe.execute()
    depth = dict(zip(QUEUES, rest, strict=False))
    counts, signs = rest[len(QUEUES)], rest[len(QUEUES) + 1 :]
    seen = (_seen(name.decode(errors="replace").removeprefix(keys.workers), sign) for name, sign in zip(names, signs, strict=True))
    return BrokerFigures(
        True,
        latency_ms=latency,
        stream=stream,
        depth=depth,
        flying=flying,
        workers=tuple(worker for worker in seen if worker is not None),
        refused=dict(refused),
        counts={name.decode(errors="replace"): int(number) for name, number in counts.items()},
    )


def _seen(name: str, sign: bytes | None) -> WorkerSeen | None:
    try:
        told: Any = json.loads(sign or b"")
        return WorkerSeen(name, tuple(queue for queue in QUEUES if queue in told["queues"]))
    except (ValueError, KeyError, TypeError):
        # Gone between the two questions, or no sign of a worker.
        return None


def parts_of(figures: BrokerFigures, settings: BrokerSettings) -> list[ComponentHealth]:
    """Redis and the workers as parts of the service's health."""
    broker = ComponentHealth("broker", figures.up, figures.problem, figures.latency_ms)
    if not figures.up:
        return [broker]
    if figures.stream >= settings.stream_high:
        broker = replace(broker, degraded=f"{figures.stream} results wait to be committed; workers wait until they are")
    served = {queue for worker in figures.workers for queue in worker.queues}
    missing = [queue for queue in QUEUES if queue not in served]
    problem = f"no worker takes {' or '.join(missing)} tasks; episodes wait" if missing else None
    return [broker, ComponentHealth("workers", not missing, problem)]
