"""What one request knows: the graph, its namespace, one `now`, and the basis that its unpinned snapshots share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from api.credentials import LOCAL, Access, Grant
from api.health import backlog_health
from api.identity import Pin
from api.limits import Spending
from api.watches import Watches
from graph.facade import Graph, Snapshot
from graph.views import Basis, ComponentHealth
from ontology.instant import Instant
from workers.ingestion import Ingestion

if TYPE_CHECKING:
    from workers.embedding import Embedding


@dataclass(slots=True)
class Context:
    """One request.

    `latest` is the last transaction that the request has seen: all snapshots of one request without `recordedAt` stand on it.
    A mutation moves it on. `predicates` holds what the schema has made of predicates already. `trace` names the request in the log,
    up to the commit of what it handed in. `operation` is the type of what ran, once it is known.
    """

    graph: Graph
    ingestion: Ingestion
    namespace: str
    now: Instant
    request_id: str = "-"
    grant: Grant = LOCAL
    latest: int | None = None
    predicates: dict[str, object] = field(default_factory=dict)
    spending: Spending = field(default_factory=Spending)
    embedding: Embedding | None = None
    trace: str | None = None
    watches: Watches = field(default_factory=Watches)
    operation: str | None = None

    @property
    def actor(self) -> str:
        """The name that its transactions bear."""
        return self.grant.actor

    def require(self, access: Access) -> None:
        """Raises Forbidden where the caller may do less."""
        self.grant.check_access(access)

    def health(self) -> list[ComponentHealth]:
        """The state of every part; what makes the vectors is one where an embedder is chosen, the broker and workers where there is one."""
        parts = self.graph.health()
        if self.embedding is not None:
            degraded = self.embedding.degraded
            parts.append(ComponentHealth("embedding", degraded is None, degraded))
        pipeline = self.ingestion.pipeline
        return [*parts, *pipeline.dispatch.health(), backlog_health(self.graph.backlog, pipeline, self.now)]

    def scrubbed(self, text: str | None) -> str | None:
        """A reason or a key that a client gives, without secrets: it is stored."""
        return None if text is None else self.ingestion.shown(text)

    def spend(self, field: str) -> None:
        """Count the resolving of a costly field. Raises QueryTooComplex where it is one too many for one operation."""
        self.spending.spend(field)

    def snapshot(
        self, *, valid_at: Instant | None = None, recorded_at: Instant | None = None, evidence_until: Instant | None = None
    ) -> Snapshot:
        """A snapshot; a missing axis is the present of this request."""
        snapshot = self.graph.snapshot(
            self.namespace,
            valid_at=valid_at,
            recorded_at=recorded_at,
            evidence_until=evidence_until,
            transaction=self.latest if recorded_at is None else None,
            now=self.now,
        )
        if recorded_at is None:
            self.latest = snapshot.basis.transaction
        return snapshot

    def pinned(self, pin: Pin) -> Snapshot:
        """The snapshot that an ID or cursor names."""
        return self.graph.snapshot(
            self.namespace, valid_at=pin.valid_at, evidence_until=pin.evidence_until, transaction=pin.transaction, now=self.now
        )

    def committed(self, now: Instant) -> None:
        """After a mutation: what is read next sees it."""
        self.latest, self.now = None, max(now, self.now)


class Later:
    """A snapshot on a known basis that is opened when something is asked of it: of many that stand on a page few are."""

    def __init__(self, basis: Basis, open: Callable[[], Snapshot]) -> None:
        self.basis = basis
        self._open = open
        self._opened: Snapshot | None = None

    @property
    def snapshot(self) -> Snapshot:
        """This, as what it stands for."""
        return cast(Snapshot, self)

    def __getattr__(self, name: str) -> Any:
        if self._opened is None:
            self._opened = self._open()
        return getattr(self._opened, name)


@dataclass(slots=True)
class Scope:
    """The snapshot that a sub-tree stands on. `given` names the arguments of `asOf` that were stated; IDs name the basis where any was."""

    context: Context
    snapshot: Snapshot
    given: frozenset[str] = frozenset()

    @property
    def basis(self) -> Basis:
        """The basis of the snapshot."""
        return self.snapshot.basis

    @property
    def pin(self) -> Pin:
        """The basis as IDs and cursors name it."""
        basis = self.snapshot.basis
        return Pin(basis.valid_at, basis.transaction, basis.evidence_until)

    @property
    def id_pin(self) -> Pin | None:
        """The basis where IDs name it."""
        return self.pin if self.given else None
