"""The graph of one data folder: ledger and projection behind the facade."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Engine, and_, bindparam, func, insert, select

from graph.drift import DifferenceView
from graph.facade import Snapshot
from graph.joining import Joining
from graph.ledger.changes import LedgerChanges
from graph.ledger.committing import Clock
from graph.ledger.details import Describer, VocabularyAt
from graph.ledger.differences import Differences
from graph.ledger.effects import effects_of
from graph.ledger.known_identity import IdentityCache
from graph.ledger.patterns import Walks
from graph.ledger.preparing import PreparedEpisode
from graph.ledger.resolutions import Resolutions
from graph.ledger.schema import OPEN, components, episodes, settings, statements, things, transactions, vocabularies
from graph.ledger.snapshot import LedgerSnapshot
from graph.ledger.surveys import Surveys
from graph.ledger.writing import Writer, wall_clock
from graph.recall.feed import Feed
from graph.recall.index import Index
from graph.recall.recalling import Recall
from graph.store.port import GraphBasis
from graph.views import (
    EVERYTHING,
    Basis,
    ComponentHealth,
    Lags,
    Page,
    Positions,
    Receipt,
    StatedClaim,
    StatementFilter,
    StatementView,
    StatsView,
    TransactionView,
    Want,
)
from graph.working import LedgerBacklog, LedgerJobs
from ontology.claim import ClaimDraft
from ontology.episode import EpisodeDraft
from ontology.errors import InvalidInput, NotFound, Overloaded
from ontology.instant import Instant
from ontology.names import Keys, checked_name, checked_namespace
from ontology.vocabulary import Vocabulary, restored

log = logging.getLogger(__name__)


_LAST_BY = (
    select(transactions.c.number, transactions.c.at)
    .where(
        transactions.c.namespace == bindparam("namespace"),
        transactions.c.number <= bindparam("number"),
        transactions.c.at <= bindparam("at"),
    )
    .order_by(transactions.c.number.desc())
    .limit(1)
)


class Projection(Walks, Protocol):
    """The graph projection as the service uses it."""

    def neighbors(self, basis: GraphBasis, entity: str, depth: int, limit: int) -> list[tuple[str, int]]: ...

    def notify(self, transaction: int) -> None: ...

    @property
    def watermark(self) -> int: ...

    def wait_for(self, transaction: int, timeout: float) -> bool: ...

    def health(self) -> ComponentHealth: ...

    def rebuild(self) -> None: ...

    def close(self) -> None: ...


class LedgerGraph(Joining):
    """Implements `graph.facade.Graph`. One process owns a data folder; its threads may share this object."""

    _projection: Projection

    def __init__(
        self,
        engine: Engine,
        vocabulary: Vocabulary,
        projection: Callable[[VocabularyAt], Projection],
        recall: Callable[[Keys, Resolutions], Recall] | None = None,
        *,
        clock: Clock = wall_clock,
    ) -> None:
        """Serve the ledger of an opened database with its projections, and put `vocabulary` in force.

        By default recall finds by words and by the graph.
        """
        self._engine = engine
        self._clock = clock
        self._vocabulary = vocabulary
        self._past: dict[int, Vocabulary] = {}
        self._identities = IdentityCache()
        self._surveys = Surveys(self._identities)
        secret = self._secret()
        self.keys = Keys(secret)
        self.resolutions = Resolutions(self.keys, self._vocabulary_at, self._identities)
        self._differences = Differences(engine, self.keys, self._vocabulary_at, self._identities, self.resolutions)
        # Of the same secret, and yet no key of anything in the ledger.
        self.scrub_key = blake2b(b"scrubbing", key=secret, digest_size=32).digest()
        self._writer = Writer(self._engine, self.keys, clock)
        self.backlog = LedgerBacklog(engine, self._writer, vocabulary, self._preparer, self._notify)
        self.jobs = LedgerJobs(engine, self.keys, self._writer, vocabulary, self._preparer, self._notify, clock)
        self.changes = LedgerChanges(engine, self.keys, self._vocabulary_at, self._identities)
        self._enforce(vocabulary)
        with engine.connect() as connection:
            known = connection.execute(select(vocabularies).order_by(vocabularies.c.number))
            self._vocabularies = [(row.tx_from, row.version, row.number) for row in known]
        self._projection = projection(self._vocabulary_at)
        found = (self.keys, self.resolutions)
        self._recall = recall(*found) if recall is not None else Recall(Index(Feed(engine), None, None), None, self.resolutions)

    def _secret(self) -> bytes:
        with self._engine.execution_options(writes=True).begin() as connection:
            known = connection.execute(select(settings.c.value).where(settings.c.name == "secret")).scalar()
            if known is None:
                known = secrets.token_bytes(32)
                connection.execute(insert(settings), {"name": "secret", "value": known})
            return bytes(known)

    def _enforce(self, vocabulary: Vocabulary) -> None:
        """Record the vocabulary where it is a new one, and resolve again what its changed traits touch."""
        for namespace, number in self._writer.derive_identity(vocabulary, actor="local").items():
            log.info("namespace %s: who is who was read from what was recorded before in transaction %d", namespace, number)
        found = self._writer.put_in_force(vocabulary, actor="local")
        for namespace, number in found.items():
            log.info("namespace %s: resolved again under vocabulary %s in transaction %d", namespace, vocabulary.version, number)

    def vocabulary(self) -> Vocabulary:
        """The vocabulary in force."""
        return self._vocabulary

    def _vocabulary_at(self, transaction: int) -> Vocabulary:
        """The vocabulary that was in force at a transaction."""
        in_force = next((row for row in reversed(self._vocabularies) if row[0] <= max(transaction, 1)), None)
        if in_force is None or in_force[1] == self._vocabulary.version:
            return self._vocabulary
        number = in_force[2]
        if number not in self._past:
            with self._engine.connect() as connection:
                content = connection.execute(select(vocabularies.c.content).where(vocabularies.c.number == number)).scalar_one()
            self._past[number] = restored(content)
        return self._past[number]

    # ------------------------------------------------------------ reading

    def snapshot(
        self,
        namespace: str,
        *,
        valid_at: Instant | None = None,
        recorded_at: Instant | None = None,
        evidence_until: Instant | None = None,
        transaction: int | None = None,
        now: Instant | None = None,
    ) -> LedgerSnapshot:
        """A snapshot on a basis. Without `recorded_at` it stands on the namespace's last transaction."""
        checked_namespace(namespace)
        values = {
            "namespace": namespace,
            "number": transaction if transaction is not None else OPEN,
            "at": recorded_at if recorded_at is not None and transaction is None else OPEN,
        }
        with self._engine.connect() as connection:
            found = connection.execute(_LAST_BY, values).first()
        number, at = (found.number, found.at) if found is not None else (0, 0)
        present = now if now is not None else self._clock()
        basis = Basis(namespace, present if valid_at is None else valid_at, at, number, evidence_until)
        known = (self._identities, self.resolutions, self._surveys, self._recall)
        return LedgerSnapshot(self._engine, self.keys, self._vocabulary_at, basis, self._neighbors, *known, walks=self._projection)

    def diff(
        self,
        start: Snapshot,
        end: Snapshot,
        filter: StatementFilter = EVERYTHING,
        *,
        first: int = 20,
        after: Positions | None = None,
        want: frozenset[Want] = frozenset(),
    ) -> Page[DifferenceView]:
        """What two snapshots of one namespace tell differently."""
        return self._differences.page(start.basis, end.basis, filter, first=first, after=after, want=want)

    def _neighbors(self, basis: Basis, key: str, depth: int, limit: int) -> list[tuple[str, int]]:
        return self._projection.neighbors(GraphBasis(basis.namespace, basis.valid_at, basis.transaction), key, depth, limit)

    def opened_by(self, namespace: str, transaction: int, *, want: frozenset[Want] = frozenset()) -> list[StatementView]:
        """Statements that begin to be believed with a transaction, but for those that it only ended."""
        return self._changed_by(namespace, transaction, want, closed=False)

    def closed_by(self, namespace: str, transaction: int, *, want: frozenset[Want] = frozenset()) -> list[StatementView]:
        """Statements that a transaction ended: no longer believed, or now with an end. Their invalidation is always told."""
        return self._changed_by(namespace, transaction, want | {Want.INVALIDATION}, closed=True)

    def _changed_by(self, namespace: str, transaction: int, want: frozenset[Want], *, closed: bool) -> list[StatementView]:
        basis = self.snapshot(namespace, transaction=transaction).basis
        with self._engine.connect() as connection:
            describer = Describer(connection, self.keys, self._vocabulary_at, basis, self._identities)
            effects = effects_of(connection, namespace, transaction, describer.identity)
            return describer.views(effects.closed if closed else effects.opened, want)

    def transactions(self, namespace: str, *, first: int = 20, after: Positions | None = None) -> Page[TransactionView]:
        """Commits of a namespace, newest first."""
        query = select(transactions).where(transactions.c.namespace == namespace)
        if after is not None:
            query = query.where(transactions.c.number < after[0])
        with self._engine.connect() as connection:
            rows = list(connection.execute(query.order_by(transactions.c.number.desc()).limit(first + 1)))
        views = tuple(TransactionView(row.number, row.at, row.kind, row.actor, row.reason) for row in rows[:first])
        return Page(views, tuple((view.number,) for view in views), len(rows) > first)

    def stats(self, namespace: str) -> StatsView:
        """Counts of a namespace."""
        now = self._clock()
        mine = statements.c.namespace == namespace
        current = and_(mine, statements.c.tx_to == OPEN, statements.c.v_from <= now, statements.c.v_to > now)
        pending = and_(episodes.c.namespace == namespace, episodes.c.status == "PENDING")
        # Of a component only the member counts whose key is the entity's.
        other = select(components.c.row).where(
            components.c.member == things.c.key, components.c.root != things.c.key, components.c.tx_to == OPEN
        )
        entity = and_(things.c.namespace == namespace, things.c.datatype.is_(None), things.c.tx_to == OPEN, ~other.exists())
        counted = (
            select(func.count(func.distinct(episodes.c.key))).where(episodes.c.namespace == namespace),
            select(func.count()).select_from(things).where(entity),
            select(func.count()).select_from(statements).where(mine),
            select(func.count()).select_from(statements).where(current),
            select(func.count(func.distinct(statements.c.slot))).where(mine),
            select(func.count()).select_from(transactions).where(transactions.c.namespace == namespace),
            select(func.count()).select_from(episodes).where(pending),
        )
        with self._engine.connect() as connection:
            return StatsView(*(connection.execute(query).scalar_one() for query in counted))

    def health(self) -> list[ComponentHealth]:
        """Whether ledger, graph and index answer."""
        start = time.perf_counter()
        with self._engine.connect() as connection:
            connection.execute(select(settings.c.name).limit(1)).first()
        ledger = ComponentHealth("ledger", True, None, (time.perf_counter() - start) * 1000)
        return [ledger, self._projection.health(), *self._recall.health()]

    def lags(self) -> Lags:
        """How far behind the ledger is what follows it."""
        with self._engine.connect() as connection:
            last = connection.scalar(select(func.coalesce(func.max(transactions.c.number), 0))) or 0
        index = self._recall.index
        return Lags(max(0, last - self._projection.watermark), max(0, last - index.watermark), index.texts)

    # ------------------------------------------------------------ writing

    def _record(
        self,
        namespace: str,
        prepared: Sequence[PreparedEpisode],
        kind: str,
        actor: str,
        idempotency_key: str | None = None,
        trace: str | None = None,
    ) -> list[Receipt]:
        receipts = self._writer.record(
            namespace, prepared, self._vocabulary, kind=kind, actor=actor, idempotency_key=idempotency_key, trace=trace
        )
        self._notify(max((receipt.transaction for receipt in receipts if not receipt.deduplicated), default=0))
        return receipts

    def _notify(self, transaction: int) -> None:
        """The ledger has this transaction now (0: none)."""
        self._projection.notify(transaction)
        if transaction:
            self._recall.notify()

    def record_stated(
        self,
        namespace: str,
        episode: EpisodeDraft,
        claims: Sequence[StatedClaim],
        flags: Sequence[str] = (),
        *,
        drop_bad_dates: bool = False,
        actor: str = "local",
        idempotency_key: str | None = None,
    ) -> Receipt:
        """One episode with the statements that the client states, in one transaction."""
        prepared = self._preparer(namespace).stated(episode, claims, flags, drop_bad_dates=drop_bad_dates)
        return self._record(namespace, [prepared], "assert", actor, idempotency_key)[0]

    def record_extracted(
        self,
        namespace: str,
        episodes: Sequence[tuple[EpisodeDraft, Sequence[ClaimDraft], Sequence[str]]],
        *,
        extractor: str,
        actor: str = "local",
        quarantined: Sequence[bool] | None = None,
        idempotency_key: str | None = None,
    ) -> list[Receipt]:
        """Episodes with the claims that extraction found, in one transaction. Quarantined ones are kept without claims."""
        preparer = self._preparer(namespace)
        held = quarantined if quarantined is not None else [False] * len(episodes)
        prepared = [
            preparer.extracted(draft, [] if hold else claims, flags, extractor, "QUARANTINED" if hold else "EXTRACTED")
            for (draft, claims, flags), hold in zip(episodes, held, strict=True)
        ]
        return self._record(namespace, prepared, "ingest", actor, idempotency_key)

    def accept(
        self,
        namespace: str,
        episodes: Sequence[tuple[EpisodeDraft, Sequence[str]]],
        *,
        actor: str = "local",
        idempotency_key: str | None = None,
        trace: str | None = None,
    ) -> list[Receipt]:
        """Record episodes as PENDING."""
        preparer = self._preparer(namespace)
        prepared = [preparer.pending(draft, flags) for draft, flags in episodes]
        return self._record(namespace, prepared, "accept", actor, idempotency_key, trace)

    def known(self, namespace: str, drafts: Iterable[EpisodeDraft]) -> list[bool]:
        """Which of the episodes are in the ledger already, as they are."""
        preparer = self._preparer(namespace)
        names = [preparer.key_of(draft) for draft in drafts]
        with self._engine.connect() as connection:
            query = select(episodes.c.key, episodes.c.revision).where(episodes.c.key.in_({key for key, _ in names}))
            found = {(row.key, row.revision) for row in connection.execute(query)}
        return [name in found for name in names]

    def retract(
        self,
        namespace: str,
        *,
        key: str | None = None,
        source: str | None = None,
        external_id: str | None = None,
        reason: str | None,
        actor: str = "local",
    ) -> Receipt:
        """Withdraw an episode by key, or by source and external ID."""
        checked_namespace(namespace)
        if key is None:
            if source is None or external_id is None:
                raise InvalidInput("name the episode by ID, or by source and external ID", path=("ref",), reason="MISSING")
            key = self.keys.digest("episode", namespace, checked_name(source, path=("ref", "source")), "id", external_id)
        else:
            with self._engine.connect() as connection:
                query = select(episodes.c.key).where(episodes.c.namespace == namespace, episodes.c.key == key)
                if connection.execute(query).first() is None:
                    raise NotFound("there is no such episode in this namespace", id=key)
        receipt = self._writer.retract(namespace, key, self._vocabulary, actor=actor, reason=reason)
        self._notify(receipt.transaction)
        return receipt

    def await_transaction(self, number: int, timeout: float = 10.0) -> None:
        """Wait until the projection has followed to a transaction. Raises Overloaded naming its watermark."""
        if not self._projection.wait_for(number, timeout):
            raise Overloaded(f"the graph has followed to transaction {self._projection.watermark}, not yet to {number}")

    def rebuild(self) -> None:
        """Rebuild the projection from the ledger."""
        self._projection.rebuild()

    def rebuild_index(self) -> None:
        """Rebuild the recall index from the ledger."""
        self._recall.index.rebuild()

    def when_indexed(self, call: Callable[[], None]) -> None:
        """Have `call` made, by another thread, when the index has followed the ledger: there may be texts without vectors."""
        self._recall.following.followed = call

    def unembedded(self, limit: int = 256) -> list[str]:
        """Texts of which the index wants vectors, none twice, oldest first."""
        return self._recall.index.unembedded(limit)

    def record_vectors(self, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Keep the vectors that the index' embedder made of some texts."""
        self._recall.index.record_vectors(texts, vectors)

    def close(self) -> None:
        """Release files and connections."""
        self._recall.close()
        self.resolutions.close()
        self._projection.close()
        self._engine.dispose()
