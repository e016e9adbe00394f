"""The graph projection as the facade owns it: an engine that is kept up with the ledger, and the ledger for when it is not."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from graph.ledger.details import VocabularyAt
from graph.store.driver import require
from graph.store.feed import Feed
from graph.store.files import GraphFiles
from graph.store.follower import Follower
from graph.store.pattern_plan import Found, Plan
from graph.store.port import GraphBasis, GraphClosed, GraphStore, GraphUnreadable
from graph.store.settings import GraphSettings, Kind
from graph.store.sql_engine import SqlStore
from graph.views import ComponentHealth
from ontology.loading import load_vocabulary

T = TypeVar("T")

log = logging.getLogger(__name__)


def built_in() -> VocabularyAt:
    """The built-in vocabulary, at every transaction."""
    vocabulary = load_vocabulary()
    return lambda _transaction: vocabulary


class GraphProjection:
    """Graph queries over the ledger of `engine`. Thread-safe.

    `kind` is `kuzu` or `ladybug` (files in `folder`, followed by a thread) or `sql` (no files, no thread, neither is loaded);
    default: as the settings say. A basis that the graph has not reached yet is answered by the ledger, so an answer is never
    stale. Which engine answers what was measured (docs/engines.md): look-ups go to the ledger, walks too unless the settings
    say `graph`. `vocabulary_at` gives the vocabulary in force at a transaction; default: the built-in one.

    Raises DataFolderBusy where another process has the files open, LookupError for a ledger without a secret, InvalidInput where the
    engine is not installed or another one is loaded.
    """

    def __init__(
        self,
        engine: Engine,
        folder: Path,
        kind: Kind | None = None,
        *,
        settings: GraphSettings | None = None,
        vocabulary_at: VocabularyAt | None = None,
    ) -> None:
        settings = settings or GraphSettings()
        kind = kind or settings.engine
        if kind not in get_args(Kind):
            raise ValueError(f"{kind!r} is no engine: {', '.join(get_args(Kind))}")
        self.kind = kind
        self._sql = SqlStore(engine)
        self._follower: Follower | None = None
        settings = settings.model_copy(update={"engine": kind})
        self._walks_graph = kind != "sql" and settings.walks == "graph"
        if kind != "sql":
            # Now, not in the thread that follows: who asks for an engine that is not there should hear of it.
            require(kind)
            feed = Feed(engine, vocabulary_at or built_in(), batch_rows=settings.batch_rows, load_rows=settings.load_rows)
            self._follower = Follower(feed, GraphFiles(folder, kind), settings)
            self._follower.start()

    @property
    def watermark(self) -> int:
        """The last transaction that answers can stand on: the graph's, or the ledger's while that answers instead."""
        follower = self._follower
        store = follower.store if follower else None
        return store.watermark() if store is not None else self._sql.watermark()

    def notify(self, transaction: int) -> None:
        """The ledger has committed a transaction. Returns at once."""
        if self._follower is not None:
            self._follower.notify(transaction)

    def catch_up(self) -> None:
        """Follow to the ledger's end before returning."""
        if self._follower is not None:
            self._follower.catch_up()

    def wait_for(self, transaction: int, timeout: float) -> bool:
        """Whether answers can stand on a transaction within `timeout` seconds."""
        if self._follower is not None:
            self._follower.notify(transaction)
            self._follower.wait_for(transaction, timeout)
        return self.watermark >= transaction

    def neighbors(self, basis: GraphBasis, entity: str, depth: int = 1, limit: int = 1_000) -> list[tuple[str, int]]:
        """(entity key, hops) within `depth` hops over positive statements that hold on the basis, nearest first, then by key."""
        if not self._walks_graph:
            return self._sql.neighbors(basis, entity, depth, limit)
        return self._answer(basis.transaction, lambda store: store.neighbors(basis, entity, depth, limit))

    def match(self, basis: GraphBasis, plan: Plan, first: int, after: Sequence[Any] | None = None) -> list[Found]:
        """As `GraphStore.match`."""
        if not self._walks_graph:
            return self._sql.match(basis, plan, first, after)
        return self._answer(basis.transaction, lambda store: store.match(basis, plan, first, after))

    def paths(self, basis: GraphBasis, start: str, end: str, max_hops: int, limit: int) -> list[list[int]]:
        """As `GraphStore.paths`."""
        if not self._walks_graph:
            return self._sql.paths(basis, start, end, max_hops, limit)
        return self._answer(basis.transaction, lambda store: store.paths(basis, start, end, max_hops, limit))

    def statements_in_slot(self, basis: GraphBasis, subject: str, predicate: str, qualifier: str = "") -> list[int]:
        """Row numbers of the statements stored in a slot of an entity that hold on the basis, ascending."""
        return self._sql.statements_in_slot(basis, subject, predicate, qualifier)

    def statements_about(self, basis: GraphBasis, entity: str) -> list[int]:
        """Row numbers of the statements with the entity as subject or object that hold on the basis, ascending."""
        return self._sql.statements_about(basis, entity)

    def _answer(self, transaction: int, ask: Callable[[GraphStore], T]) -> T:
        follower = self._follower
        store = follower.store if follower else None
        if follower is not None and store is not None and store.watermark() >= transaction:
            try:
                return ask(store)
            except GraphClosed:
                log.debug("the graph was closed during a read; the ledger answers it")
            except GraphUnreadable as failure:
                follower.distrust(store, str(failure))
        return ask(self._sql)

    def health(self) -> ComponentHealth:
        """Whether the graph answers, and how fast; `degraded` says why the ledger answers instead, or how far the graph is behind."""
        started = time.perf_counter()
        degraded = self._ask_after() if self._follower is not None else None
        try:
            last = self._sql.watermark()
        except SQLAlchemyError as failure:
            return ComponentHealth("graph", False, f"the ledger does not answer ({failure.__class__.__name__})")
        behind = last - self.watermark
        if degraded is None and behind > 0:
            degraded = f"the graph is {behind} transactions behind; the ledger answers for those"
        return ComponentHealth("graph", degraded is None or behind > 0, degraded, (time.perf_counter() - started) * 1e3)

    def _ask_after(self) -> str | None:
        assert self._follower is not None
        store = self._follower.store
        if store is None:
            return self._follower.degraded
        try:
            store.ping()
        except GraphClosed:
            return self._follower.degraded
        except GraphUnreadable as failure:
            self._follower.distrust(store, str(failure))
            return str(failure)
        return None

    def rebuild(self) -> None:
        """Build the graph anew from the ledger, before returning; the old one answers meanwhile."""
        if self._follower is not None:
            self._follower.rebuild()

    def close(self) -> None:
        """Stop following and release the files. Reads after it are answered by the ledger."""
        if self._follower is not None:
            self._follower.close()
