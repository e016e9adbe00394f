"""What is done after the fact: judging claims, extracting again, and rehearsing what a write would do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from sqlalchemy import Connection, Engine, select

from graph.ledger import copies
from graph.ledger.committing import Clock, Commit
from graph.ledger.deliveries import let_through
from graph.ledger.effects import effects_of
from graph.ledger.preparing import PreparedEpisode, Preparer
from graph.ledger.reextracting import reextract
from graph.ledger.rehearsing import rehearsed
from graph.ledger.rejecting import checked_ids, checked_reason, reject, restore
from graph.ledger.schema import labels, things
from graph.ledger.snapshot import LedgerSnapshot
from graph.ledger.stored_identity import StoredIdentity
from graph.ledger.writing import Writer
from graph.views import Basis, ChangeReceipt, PendingEpisode, Receipt, Reextraction, Rehearsal, StatedClaim
from ontology.claim import ClaimDraft
from ontology.episode import EpisodeDraft
from ontology.errors import InvalidInput, NotFound
from ontology.instant import Instant
from ontology.names import Keys, checked_namespace
from ontology.vocabulary import Vocabulary

R = TypeVar("R", ChangeReceipt, Receipt, Reextraction)


class Follower(Protocol):
    """What follows the ledger."""

    def notify(self, transaction: int) -> None: ...


class Reviewing(ABC):
    """Implements its part of `graph.facade.Graph`, on what `graph.service.LedgerGraph` has set up."""

    keys: Keys
    _engine: Engine
    _clock: Clock
    _writer: Writer
    _vocabulary: Vocabulary

    @abstractmethod
    def _notify(self, transaction: int) -> None: ...

    @abstractmethod
    def _vocabulary_at(self, transaction: int) -> Vocabulary: ...

    @abstractmethod
    def snapshot(self, namespace: str) -> LedgerSnapshot:
        """A snapshot of the present."""

    def _preparer(self, namespace: str, now: Instant | None = None) -> Preparer:
        checked_namespace(namespace)
        present = self._clock() if now is None else now
        return Preparer(namespace, self.keys, self._vocabulary, present, lambda key: self._entity_name(namespace, key))

    def _entity_name(self, namespace: str, key: str) -> str | None:
        """What the claims call a key itself, whatever it is joined with."""
        known = select(things.c.row).where(things.c.namespace == namespace, things.c.key == key, things.c.datatype.is_(None))
        own = select(labels.c.value).where(labels.c.thing == key, labels.c.kind == "name", known.exists())
        with self._engine.connect() as connection:
            return connection.execute(own.order_by(labels.c.tx_to.desc(), labels.c["count"].desc(), labels.c.value).limit(1)).scalar()

    # ------------------------------------------------------------ judging

    def reject(self, namespace: str, claims: Sequence[str], *, reason: str, actor: str = "local") -> ChangeReceipt:
        """Declare claims wrong: they stop being evidence until they are restored."""
        ids, why = checked_ids(claims), checked_reason(reason)
        return self._change(namespace, lambda at, commit: reject(at, commit, namespace, ids, why), "reject", actor, why)

    def restore(self, namespace: str, claims: Sequence[str], *, reason: str | None = None, actor: str = "local") -> ChangeReceipt:
        """Take rejections back."""
        ids, why = checked_ids(claims), None if reason is None else checked_reason(reason)
        return self._change(namespace, lambda at, commit: restore(at, commit, namespace, ids), "restore", actor, why)

    def release(self, namespace: str, key: str, *, reason: str, actor: str = "local", trace: str | None = None) -> Receipt:
        """Let an episode through that is held back: it waits for extraction from now on."""
        why = checked_reason(reason)

        def act(connection: Connection, commit: Commit) -> Receipt:
            copy = let_through(connection, namespace, key, commit.number, commit.at, trace)
            if copy is None:
                raise NotFound("there is no such episode in this namespace", id=key)
            commit.needed = copy.status == "QUARANTINED"
            if not commit.needed and copy.tx_released is None:
                raise InvalidInput("this episode is not held back", path=("id",), reason="NOT_QUARANTINED")
            return Receipt(key, not commit.needed, commit.number if commit.needed else copy.tx_released)

        return self._change(namespace, act, "release", actor, why)

    def _change(self, namespace: str, act: Callable[[Connection, Commit], R], kind: str, actor: str, reason: str | None = None) -> R:
        checked_namespace(namespace)
        found = self._writer.change(namespace, self._vocabulary, act, kind=kind, actor=actor, reason=reason)
        self._notify(found.transaction)
        return found

    # ------------------------------------------------------------ extracting again

    def extracted(
        self, namespace: str, *, since: Instant | None = None, source: str | None = None, after: int = 0, limit: int = 100
    ) -> list[PendingEpisode]:
        """Current copies of extracted episodes of speech, in the order of their rows."""
        checked_namespace(namespace)
        with self._engine.connect() as connection:
            return copies.extracted(connection, namespace, since=since, source=source, after=after, limit=limit)

    def reextract(
        self, namespace: str, episode: PendingEpisode, claims: Sequence[ClaimDraft], *, extractor: str, actor: str = "local"
    ) -> Reextraction:
        """Put the claims of an extracted episode in the place of those that it has."""
        # An episode without a stated time was said when the ledger says, not now.
        preparer = self._preparer(namespace, episode.said)
        prepared = preparer.extracted(episode.draft, claims, episode.flags, extractor, "EXTRACTED")
        return self._change(namespace, lambda at, commit: reextract(at, commit, prepared), "reextract", actor)

    # ------------------------------------------------------------ rehearsing

    def rehearse_stated(
        self, namespace: str, episode: EpisodeDraft, claims: Sequence[StatedClaim], *, drop_bad_dates: bool = False
    ) -> Rehearsal:
        """What `record_stated` would do; nothing is stored."""
        return self._rehearse(namespace, self._preparer(namespace).stated(episode, claims, drop_bad_dates=drop_bad_dates))

    def rehearse_extracted(
        self,
        namespace: str,
        episode: EpisodeDraft,
        claims: Sequence[ClaimDraft],
        flags: Sequence[str],
        *,
        extractor: str,
        quarantined: bool = False,
    ) -> Rehearsal:
        """What `record_extracted` would do with one episode; nothing is stored."""
        preparer = self._preparer(namespace)
        status = "QUARANTINED" if quarantined else "EXTRACTED"
        return self._rehearse(namespace, preparer.extracted(episode, [] if quarantined else claims, flags, extractor, status))

    def _rehearse(self, namespace: str, prepared: PreparedEpisode) -> Rehearsal:
        valid_at = self._clock()

        def look(connection: Connection, commit: Commit) -> Rehearsal:
            basis = Basis(namespace, valid_at, commit.at, commit.number)
            return rehearsed(connection, self.keys, self._vocabulary_at, basis, prepared.row["key"], prepared.warnings)

        found = self._writer.rehearse(namespace, prepared, self._vocabulary, look)
        return found if found is not None else Rehearsal((), (), (), prepared.warnings)

    def rehearse_vocabulary(self, vocabulary: Vocabulary) -> dict[str, tuple[int, int]]:
        """How many statements putting a vocabulary in force would open and end, for each namespace that it touches."""

        def look(connection: Connection, namespace: str, transaction: int) -> tuple[int, int]:
            identity = StoredIdentity(connection, self.keys, namespace, vocabulary, transaction)
            effects = effects_of(connection, namespace, transaction, identity)
            return len(effects.opened), len(effects.closed)

        return self._writer.rehearse_in_force(vocabulary, look)
