"""Commits: one SQL transaction holds episodes, claims, names and the statements that follow."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from threading import RLock

from sqlalchemy import Engine, func, insert, select

from graph.ledger.committing import Clock, Commit
from graph.ledger.preparing import PreparedEpisode
from graph.ledger.schema import transactions, vocabularies
from graph.views import Receipt
from ontology.instant import Instant
from ontology.names import Keys
from ontology.vocabulary import Vocabulary, restored

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
    ) -> list[Receipt]:
        """Record episodes in one transaction. What is known already commits nothing and answers with the first transaction.

        An `idempotency_key` goes with one episode; IdempotencyConflict where it was used with another one.
        """
        with self._lock, self._engine.begin() as connection:
            commit = Commit(connection, self._keys, vocabulary, namespace, self._clock)
            if idempotency_key is not None:
                commit.claim_key(idempotency_key, prepared[0])
            receipts = commit.record(prepared)
            if commit.needed:
                commit.finish(kind, actor, reason)
            return receipts

    def retract(self, namespace: str, key: str, vocabulary: Vocabulary, *, actor: str, reason: str | None) -> Receipt:
        """Withdraw an episode, for good; it may arrive later. Twice is once: the first transaction answers."""
        with self._lock, self._engine.begin() as connection:
            commit = Commit(connection, self._keys, vocabulary, namespace, self._clock)
            receipt = commit.retract(key, reason)
            if commit.needed:
                commit.finish("retract", actor, reason)
            return receipt

    def put_in_force(self, vocabulary: Vocabulary, changed: Callable[[Vocabulary], Sequence[str]], *, actor: str) -> dict[str, int]:
        """Record the vocabulary where it is a new one, and resolve again what stands on predicates that it changed.

        `changed` names those, compared with the last vocabulary. All at once, for what is recorded is not looked at again: one
        transaction for each namespace that is touched. Answers with these.
        """
        with self._lock, self._engine.begin() as connection:
            last = connection.execute(_LAST_VOCABULARY).first()
            if last is not None and last.version == vocabulary.version:
                return {}
            number = connection.execute(select(func.coalesce(func.max(transactions.c.number), 0))).scalar_one()
            row = {"version": vocabulary.version, "tx_from": number + 1, "content": vocabulary.dumped()}
            connection.execute(insert(vocabularies), row)
            if last is None:
                return {}
            predicates = changed(restored(last.content))
            found = {}
            for namespace in sorted(connection.execute(select(transactions.c.namespace).distinct()).scalars()):
                commit = Commit(connection, self._keys, vocabulary, namespace, self._clock)
                commit.reconsider(predicates)
                if commit.needed:
                    commit.finish("ontology", actor, f"vocabulary {vocabulary.version}")
                    found[namespace] = commit.number
            return found
