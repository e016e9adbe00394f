"""Commits: one SQL transaction holds episodes, claims, names and the statements that follow."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import TypeVar

from sqlalchemy import Connection, Engine, func, insert, select

from graph.belief.identity import IDENTITY
from graph.ledger.committing import Clock, Commit
from graph.ledger.preparing import PreparedEpisode
from graph.ledger.schema import settings, transactions, vocabularies
from graph.views import Receipt
from ontology.instant import Instant
from ontology.names import Keys
from ontology.vocabulary import Predicate, Vocabulary, restored

T = TypeVar("T")

_DERIVED = select(settings.c.name).where(settings.c.name == "identity")
_LAST_VOCABULARY = select(vocabularies).order_by(vocabularies.c.number.desc()).limit(1)


def wall_clock() -> Instant:
    """Microseconds since 1970 by the machine's clock."""
    return time.time_ns() // 1000


class Writer:
    """Commits to the ledger, one at a time."""

    def __init__(self, engine: Engine, keys: Keys, clock: Clock = wall_clock) -> None:
        self._engine = engine.execution_options(writes=True)
        self._keys = keys
        self._clock = clock
        self._lock = RLock()

    def record(
        self,
        namespace: str,
        prepared: Sequence[PreparedEpisode],
        vocabulary: Vocabulary,
        *,
        kind: str,
        actor: str,
        reason: str | None = None,
        idempotency_key: str | None = None,
        trace: str | None = None,
    ) -> list[Receipt]:
        """Record episodes in one transaction. What is known already commits nothing and answers with the first transaction.

        An `idempotency_key` goes with one episode; IdempotencyConflict where it was used with another one.
        """
        with self._lock, self._engine.begin() as connection:
            commit = Commit(connection, self._keys, vocabulary, namespace, self._clock)
            if idempotency_key is not None:
                commit.claim_key(idempotency_key, prepared[0])
            receipts = commit.record(prepared, trace=trace)
            if commit.needed:
                commit.finish(kind, actor, reason)
            return receipts

    def retract(self, namespace: str, key: str, vocabulary: Vocabulary, *, actor: str, reason: str | None) -> Receipt:
        """Withdraw an episode, for good; it may arrive later. Twice is once: the first transaction answers."""

        def withdraw(_: Connection, commit: Commit) -> Receipt:
            return commit.retract(key, reason)

        return self.change(namespace, vocabulary, withdraw, kind="retract", actor=actor, reason=reason)

    def change(
        self, namespace: str, vocabulary: Vocabulary, act: Callable[[Connection, Commit], T], *, kind: str, actor: str, reason: str | None
    ) -> T:
        """Do something in one transaction, recorded where it is `needed`; answers with what `act` does."""
        with self._lock, self._engine.begin() as connection:
            commit = Commit(connection, self._keys, vocabulary, namespace, self._clock)
            found = act(connection, commit)
            if commit.needed:
                commit.finish(kind, actor, reason)
            return found

    def note(self, act: Callable[[Connection], None]) -> None:
        """Write down what is no fact and no belief: how far work has come. No transaction of the ledger is made."""
        with self._lock, self._engine.begin() as connection:
            act(connection)

    def rehearse(
        self, namespace: str, prepared: PreparedEpisode, vocabulary: Vocabulary, look: Callable[[Connection, Commit], T]
    ) -> T | None:
        """Record an episode, look at what came of it, and take all of it back. None: it is known, nothing comes of it."""
        with self._taken_back() as connection:
            commit = Commit(connection, self._keys, vocabulary, namespace, self._clock)
            commit.record([prepared])
            if not commit.needed:
                return None
            commit.finish("rehearsal", "local", None)
            return look(connection, commit)

    def derive_identity(self, vocabulary: Vocabulary, *, actor: str) -> dict[str, int]:
        """Say who is who by the claims of a ledger that is older than joins; once. Answers with a transaction for each namespace."""
        with self._lock, self._engine.begin() as connection:
            if connection.execute(_DERIVED).first() is not None:
                return {}
            connection.execute(insert(settings), {"name": "identity", "value": b"derived"})
            return self._reconsider(connection, vocabulary, [IDENTITY], "identity", actor, "who is who, by what was recorded before")

    def put_in_force(self, vocabulary: Vocabulary, *, actor: str) -> dict[str, int]:
        """Record the vocabulary where it is a new one, and resolve again what stands on predicates that it changed.

        All at once, for what is recorded is not looked at again: one transaction for each namespace that is touched. Answers
        with these.
        """
        with self._lock, self._engine.begin() as connection:
            return self._put(connection, vocabulary, actor)

    def rehearse_in_force(self, vocabulary: Vocabulary, look: Callable[[Connection, str, int], T]) -> dict[str, T]:
        """Put a vocabulary in force, look at the transaction of each namespace that is touched, and take all of it back."""
        with self._taken_back() as connection:
            found = self._put(connection, vocabulary, "local")
            return {namespace: look(connection, namespace, number) for namespace, number in found.items()}

    @contextmanager
    def _taken_back(self) -> Iterator[Connection]:
        """A transaction like that of a commit, of which nothing stays."""
        with self._lock, self._engine.connect() as connection, connection.begin() as transaction:
            try:
                yield connection
            finally:
                transaction.rollback()

    def _put(self, connection: Connection, vocabulary: Vocabulary, actor: str) -> dict[str, int]:
        last = connection.execute(_LAST_VOCABULARY).first()
        if last is not None and last.version == vocabulary.version:
            return {}
        number = connection.execute(select(func.coalesce(func.max(transactions.c.number), 0))).scalar_one()
        row = {"version": vocabulary.version, "tx_from": number + 1, "content": vocabulary.dumped()}
        connection.execute(insert(vocabularies), row)
        if last is None:
            return {}
        predicates = touched_by(restored(last.content), vocabulary)
        return self._reconsider(connection, vocabulary, predicates, "ontology", actor, f"vocabulary {vocabulary.version}")

    def _reconsider(
        self, connection: Connection, vocabulary: Vocabulary, predicates: Sequence[str], kind: str, actor: str, reason: str
    ) -> dict[str, int]:
        """Resolve again what stands on some predicates, in one transaction for each namespace that has any."""
        found = {}
        for namespace in sorted(connection.execute(select(transactions.c.namespace).distinct()).scalars()):
            commit = Commit(connection, self._keys, vocabulary, namespace, self._clock)
            commit.reconsider(predicates)
            if commit.needed:
                commit.finish(kind, actor, reason)
                found[namespace] = commit.number
        return found


def touched_by(before: Vocabulary, after: Vocabulary) -> list[str]:
    """Stored predicates whose traits, or those of their other side, differ."""

    def traits(predicate: Predicate) -> tuple[object, ...]:
        return predicate.cardinality, predicate.temporal, predicate.after_rival, predicate.inverse, predicate.symmetric

    names = before.predicates.keys() | after.predicates.keys()
    differ = [name for name in names if traits(before.predicate(name)) != traits(after.predicate(name))]
    return sorted({words.canonical(name).predicate.name for name in differ for words in (before, after)} | set(differ))
