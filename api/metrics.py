"""What Prometheus reads: figures counted as the work goes, and figures read when it asks.

Names and meanings stand in docs/jobs.md. No label tells of a namespace, of a person, or of what was said.
"""

from __future__ import annotations

import logging
from collections import Counter as Counts
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from time import time_ns
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from workers.meters import Ending, Failure, failure_kind

if TYPE_CHECKING:
    from graph.facade import Graph

logger = logging.getLogger(__name__)

_SIZES = (1, 2, 4, 8, 16, 32, 64)
_COMMITS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
_EXTRACTIONS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)
_REQUESTS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class Figures(Protocol):
    """What a broker tells of itself: results that are not settled, tasks by queue, workers seen lately, results that were not believed."""

    @property
    def up(self) -> bool: ...
    @property
    def stream(self) -> int: ...
    @property
    def depth(self) -> Mapping[str, int]: ...
    @property
    def workers(self) -> Sequence[object]: ...
    @property
    def refused(self) -> Mapping[str, int]: ...


@runtime_checkable
class Brokered(Protocol):
    """A dispatch with a broker behind it."""

    @property
    def figures(self) -> Figures: ...


class Metrics:
    """The figures of one service, in a registry of its own. Implements `workers.meters.Meters`. Thread-safe."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        own = self.registry
        self._sizes = Histogram("erstwhile_batch_results", "Results of one commit.", buckets=_SIZES, registry=own)
        self._commits = Histogram("erstwhile_batch_seconds", "Time of one commit of results.", buckets=_COMMITS, registry=own)
        self._extractions = Histogram(
            "erstwhile_extraction_seconds", "Time of an extractor for one episode.", buckets=_EXTRACTIONS, registry=own
        )
        self._outcomes = Counter("erstwhile_episodes", "Episodes by what became of them.", ["outcome"], registry=own)
        self._failures = Counter("erstwhile_failures", "Episodes that were given up, by the kind of reason.", ["kind"], registry=own)
        self._redactions = Counter("erstwhile_redactions", "Secrets that were replaced, by their rule.", ["rule"], registry=own)
        self._requests = Counter(
            "erstwhile_requests", "HTTP requests to GraphQL, by the type of their operation.", ["operation", "status", "code"], registry=own
        )
        self._times = Histogram(
            "erstwhile_request_seconds", "Time of a query or mutation over HTTP.", ["operation"], buckets=_REQUESTS, registry=own
        )
        # What was never counted is 0 and not missing: an alarm on a rate needs a first value.
        for ending in Ending:
            self._outcomes.labels(ending.value)
        for kind in Failure:
            self._failures.labels(kind.value)

    def batch(self, size: int, seconds: float) -> None:
        """One commit of `size` results that took so long."""
        self._sizes.observe(size)
        self._commits.observe(seconds)

    def extracted(self, seconds: float) -> None:
        """One episode was extracted in so much time of an extractor."""
        self._extractions.observe(seconds)

    def outcome(self, ending: Ending, number: int = 1) -> None:
        """So many episodes ended like this."""
        self._outcomes.labels(ending.value).inc(number)

    def failed(self, reason: str, number: int = 1) -> None:
        """So many episodes were given up for a reason."""
        self._failures.labels(failure_kind(reason).value).inc(number)

    def redacted(self, rule: str, number: int = 1) -> None:
        """A rule replaced so many secrets."""
        self._redactions.labels(rule).inc(number)

    def requested(self, operation: str, status: int, code: str, seconds: float) -> None:
        """An HTTP request was answered: `code` is that of its first error, or OK."""
        self._requests.labels(operation, str(status), code).inc()
        if operation in ("query", "mutation"):
            # What is followed takes as long as it is followed.
            self._times.labels(operation).observe(seconds)

    def watch(self, reader: Collector) -> None:
        """Read figures with `reader` too when Prometheus asks."""
        self.registry.register(reader)

    def text(self) -> bytes:
        """All figures as Prometheus reads them. Reads the ledger: call it from a thread."""
        return generate_latest(self.registry)


class Reader(Collector):
    """Reads what stands in the ledger, in what follows it, and in the broker. A part that fails is left out, and logged."""

    def __init__(self, graph: Graph, dispatch: object, *, now: Callable[[], int] = lambda: time_ns() // 1000) -> None:
        self._graph, self._dispatch, self._now = graph, dispatch, now

    def describe(self) -> Iterable[Metric]:
        """Nothing ahead: registering reads nothing."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """The figures of this moment."""
        for read in (self._backlog, self._dead_letters, self._lags, self._broker):
            try:
                yield from list(read())
            except Exception:
                logger.exception("figures cannot be read")

    def _backlog(self) -> Iterator[Metric]:
        backlog = self._graph.backlog
        view = backlog.view()
        yield _gauge("backlog_episodes", "Episodes that wait for extraction.", {"queue": {"live": 0, "bulk": 0} | backlog.queues()})
        yield _gauge("backlog_sent_episodes", "Of these: handed out to extractors.", view.sent)
        oldest = 0.0 if view.oldest is None else max(0.0, (self._now() - view.oldest) / 1e6)
        yield _gauge("backlog_oldest_seconds", "How long the oldest of them waits; 0 where none does.", oldest)

    def _dead_letters(self) -> Iterator[Metric]:
        kinds: Counts[str] = Counts({kind.value: 0 for kind in Failure})
        for reason, number in self._graph.backlog.dead_letters().items():
            kinds[failure_kind(reason).value] += number
        yield _gauge("dead_letters", "Episodes that are given up now, by the kind of reason.", {"kind": kinds})

    def _lags(self) -> Iterator[Metric]:
        lags = self._graph.lags()
        behind = {"graph": lags.graph, "index": lags.index}
        yield _gauge("lag_transactions", "Transactions of the ledger that are not followed yet.", {"projection": behind})
        yield _gauge("lag_texts", "Texts that wait for their vectors.", lags.texts)

    def _broker(self) -> Iterator[Metric]:
        if not isinstance(self._dispatch, Brokered):
            return
        figures = self._dispatch.figures
        yield _gauge("broker_up", "Whether Redis answers.", int(figures.up))
        yield _gauge("stream_results", "Results on the stream that are not settled.", figures.stream)
        yield _gauge("broker_tasks", "Tasks that wait for a worker.", {"queue": figures.depth})
        yield _gauge("workers", "Workers that gave a sign of life lately.", len(figures.workers))
        yield _gauge("refused_results", "Results that were not believed since the start, by what was wrong.", {"kind": figures.refused})


class Followers(Collector):
    """How many follow what, as `figures` tells it."""

    def __init__(self, figures: Callable[[], Mapping[str, int]]) -> None:
        self._figures = figures

    def describe(self) -> Iterable[Metric]:
        """Nothing ahead."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """The figures of this moment."""
        yield _gauge("followers", "Subscriptions that are open.", {"of": self._figures()})


def _gauge(name: str, told: str, value: float | Mapping[str, Mapping[str, float]]) -> GaugeMetricFamily:
    """A gauge of one value, or of values by one label."""
    if not isinstance(value, Mapping):
        return GaugeMetricFamily(f"erstwhile_{name}", told, value=value)
    ((label, values),) = value.items()
    family = GaugeMetricFamily(f"erstwhile_{name}", told, labels=[label])
    for key, number in values.items():
        family.add_metric([key], number)
    return family
