"""Resolutions under said-time limits, kept between reads: at a transaction and a limit the answer never changes afterwards."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock, RLock

from sqlalchemy import Connection, bindparam, func, select

from graph.ledger.details import VocabularyAt
from graph.ledger.known_identity import IdentityCache
from graph.ledger.schema import episodes
from graph.ledger.stored_identity import StoredIdentity
from graph.ledger.told import AS_STORED, Resolution, resolved
from ontology.errors import QueryTooComplex
from ontology.instant import Instant
from ontology.names import Keys

MOST_KEPT = 8
"""Most resolutions that are kept, of all namespaces."""
MOST_RECTANGLES = 300_000
"""Most rectangles and keys of theirs altogether, the last asked for aside; some 150 MB."""

_OF = episodes.c.namespace == bindparam("namespace")
_LAST_SAID = select(func.max(episodes.c.said)).where(_OF, episodes.c.said <= bindparam("said_until"))
_ANYTHING_LATER = select(episodes.c.row).where(_OF, episodes.c.said > bindparam("said_until")).limit(1)

Name = tuple[str, int, Instant | None]
"""Namespace, transaction, and when something was last said by the limit: limits between which nothing is said are one."""


@dataclass(slots=True)
class _Entry:
    """One resolution, made by the first who asks; the others wait for its lock. `refused`: why it cannot be made."""

    lock: RLock = field(default_factory=RLock)
    found: Resolution | None = None
    refused: str | None = None

    @property
    def size(self) -> int:
        return 0 if self.found is None else len(self.found.gone) + len(self.found.rectangles)


class Resolutions:
    """Resolutions by namespace, transaction and said-time limit. Thread-safe."""

    def __init__(self, keys: Keys, vocabulary_at: VocabularyAt, identities: IdentityCache) -> None:
        self._keys = keys
        self._vocabulary_at = vocabulary_at
        self._identities = identities
        self._lock = Lock()
        self._kept: OrderedDict[Name, _Entry] = OrderedDict()

    def at(self, connection: Connection, namespace: str, transaction: int, until: Instant) -> Resolution:
        """What the claims said by `until` make of a namespace at a committed transaction.

        Raises QueryTooComplex where too much was said later.
        """
        values = {"namespace": namespace, "said_until": until}
        if connection.execute(_ANYTHING_LATER, values).first() is None:
            return AS_STORED
        name = (namespace, transaction, connection.execute(_LAST_SAID, values).scalar())
        with self._lock:
            entry = self._kept.setdefault(name, _Entry())
            self._kept.move_to_end(name)
        with entry.lock:
            if entry.refused is not None:
                raise QueryTooComplex(entry.refused)
            if entry.found is None:
                try:
                    entry.found = self._resolved(connection, namespace, transaction, until)
                except QueryTooComplex as refusal:
                    entry.refused = refusal.message
                    raise
                self._forget()
            return entry.found

    def _resolved(self, connection: Connection, namespace: str, transaction: int, until: Instant) -> Resolution:
        vocabulary = self._vocabulary_at(transaction)
        known = self._identities.at(connection, namespace, transaction)
        identity = StoredIdentity(connection, self._keys, namespace, vocabulary, transaction, known)
        return resolved(connection, self._keys, vocabulary, identity, transaction, until)

    def _forget(self) -> None:
        """Drop what was asked for longest ago, as long as it is too much."""
        with self._lock:
            while len(self._kept) > 1 and (len(self._kept) > MOST_KEPT or sum(each.size for each in self._kept.values()) > MOST_RECTANGLES):
                self._kept.popitem(last=False)
