"""Resolutions under said-time limits, kept between reads: at a transaction and a limit the answer never changes afterwards.

Beside each, once somebody asks for them, the tables that follow from it.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock, RLock

from sqlalchemy import Connection, bindparam, func, select

from graph.ledger.details import VocabularyAt
from graph.ledger.identity import KnownIdentity, Visibility
from graph.ledger.known_identity import IdentityCache
from graph.ledger.limited import Limited
from graph.ledger.limiting import Limiting
from graph.ledger.schema import episodes
from graph.ledger.stored_identity import StoredIdentity
from graph.ledger.told import AS_STORED, Resolution, resolved
from graph.ledger.told_identity import ToldIdentity, nothing_told
from ontology.errors import QueryTooComplex
from ontology.instant import Instant
from ontology.names import Keys

MOST_KEPT = 8
"""Most resolutions that are kept, of all namespaces."""
MOST_RECTANGLES = 300_000
"""Most rectangles and keys of theirs altogether, the last asked for aside; some 150 MB."""
MOST_ROWS = 1_000_000
"""Most rows of tables altogether, those of the last asked for aside; some 300 MB."""

_OF = episodes.c.namespace == bindparam("namespace")
_LAST_SAID = select(func.max(episodes.c.said)).where(_OF, episodes.c.said <= bindparam("said_until"))
_ANYTHING_LATER = select(episodes.c.row).where(_OF, episodes.c.said > bindparam("said_until")).limit(1)

Name = tuple[str, int, Instant | None]
"""Namespace, transaction, and when something was last said by the limit: limits between which nothing is said are one."""


@dataclass(slots=True)
class _Entry:
    """One resolution, made by the first who asks; the others wait for its lock. `refused`: why it cannot be made; as of `tables`."""

    lock: RLock = field(default_factory=RLock)
    found: Resolution | None = None
    refused: str | None = None
    tables: Limited | None = None
    refused_tables: str | None = None

    @property
    def size(self) -> int:
        return 0 if self.found is None else len(self.found.gone) + len(self.found.rectangles)

    @property
    def rows(self) -> int:
        return 0 if self.tables is None else self.tables.size


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
        entry = self._entry(connection, namespace, transaction, until)
        return AS_STORED if entry is None else self._found(entry, connection, namespace, transaction, until)

    def tables(self, connection: Connection, namespace: str, transaction: int, until: Instant) -> Limited | None:
        """The tables of a namespace as `at` makes it; None where nothing was said later: then the ledger's are right.

        Raises QueryTooComplex where too much was said later, or the tables would hold too much.
        """
        entry = self._entry(connection, namespace, transaction, until)
        if entry is None:
            return None
        with entry.lock:
            found = self._found(entry, connection, namespace, transaction, until)
            if entry.refused_tables is not None:
                raise QueryTooComplex(entry.refused_tables)
            if entry.tables is None:
                try:
                    entry.tables = self._limited(connection, namespace, transaction, until, found)
                except QueryTooComplex as refusal:
                    entry.refused_tables = refusal.message
                    raise
                self._forget()
            return entry.tables

    def _entry(self, connection: Connection, namespace: str, transaction: int, until: Instant) -> _Entry | None:
        values = {"namespace": namespace, "said_until": until}
        if connection.execute(_ANYTHING_LATER, values).first() is None:
            return None
        name = (namespace, transaction, connection.execute(_LAST_SAID, values).scalar())
        with self._lock:
            entry = self._kept.setdefault(name, _Entry())
            self._kept.move_to_end(name)
        return entry

    def _found(self, entry: _Entry, connection: Connection, namespace: str, transaction: int, until: Instant) -> Resolution:
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
        identity = self._stored(connection, namespace, transaction)
        return resolved(connection, self._keys, self._vocabulary_at(transaction), identity, transaction, until)

    def _limited(self, connection: Connection, namespace: str, transaction: int, until: Instant, found: Resolution) -> Limited:
        of = (connection, self._keys, namespace, self._vocabulary_at(transaction))
        untold = KnownIdentity(empty=True) if nothing_told(connection, namespace) else None
        told = ToldIdentity(*of, Visibility(transaction, until), untold)
        return Limiting(connection, transaction, until, self._stored(connection, namespace, transaction), told, found).tables()

    def _stored(self, connection: Connection, namespace: str, transaction: int) -> StoredIdentity:
        known = self._identities.at(connection, namespace, transaction)
        return StoredIdentity(connection, self._keys, namespace, self._vocabulary_at(transaction), transaction, known)

    def close(self) -> None:
        """Drop all that is kept."""
        with self._lock:
            self._kept.clear()

    def _forget(self) -> None:
        """Drop what was asked for longest ago, as long as it is too much. Who reads tables that are dropped reads on."""
        with self._lock:
            while len(self._kept) > 1 and self._too_much():
                self._kept.popitem(last=False)

    def _too_much(self) -> bool:
        kept = self._kept.values()
        return len(kept) > MOST_KEPT or sum(each.size for each in kept) > MOST_RECTANGLES or sum(each.rows for each in kept) > MOST_ROWS
