"""What readers have looked up of who is who, kept between reads: identity at a transaction never changes afterwards."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from threading import RLock

from sqlalchemy import Connection, bindparam, select, union

from graph.ledger.identity import KnownIdentity
from graph.ledger.schema import OPEN, components, denotations

EPOCHS = 16
"""Most stretches of transactions, of all namespaces, of which look-ups are kept."""
MOST_KEYS = 100_000
"""Most keys that are kept of one; some 30 MB."""

_CHANGES = union(
    *(
        select(column.label("tx")).where(
            table.c.namespace == bindparam("namespace"), column > bindparam("after"), column <= bindparam("upto"), column < OPEN
        )
        for table in (components, denotations)
        for column in (table.c.tx_from, table.c.tx_to)
    )
)


class IdentityCache:
    """Look-ups by the transaction that last changed who is who. Thread-safe."""

    def __init__(self) -> None:
        self._lock = RLock()
        # Of each namespace the transactions that changed who is who, and up to which they are known.
        self._changes: dict[str, tuple[list[int], int]] = {}
        self._kept: OrderedDict[tuple[str, int], KnownIdentity] = OrderedDict()

    def changes(self, connection: Connection, namespace: str, transaction: int) -> Sequence[int]:
        """The transactions that changed who is who: all up to a committed one, and maybe later ones, oldest first."""
        with self._lock:
            changes, upto = self._changes.get(namespace, ([], 0))
            if transaction > upto:
                values = {"namespace": namespace, "after": upto, "upto": transaction}
                # A new list: whoever was given the last one still reads it.
                changes = [*changes, *sorted(connection.scalars(_CHANGES, values))]
                self._changes[namespace] = changes, transaction
            return changes

    def at(self, connection: Connection, namespace: str, transaction: int) -> KnownIdentity:
        """What is known at a committed transaction; to be extended by whoever looks up more."""
        with self._lock:
            changes = self.changes(connection, namespace, transaction)
            place = bisect_right(changes, transaction)
            if place == 0:
                return KnownIdentity(empty=True)
            name = (namespace, changes[place - 1])
            known = self._kept.pop(name, None)
            if known is None or len(known.keys) > MOST_KEYS:
                known = KnownIdentity(since=changes[place - 1], kept=True)
            self._kept[name] = known
            while len(self._kept) > EPOCHS:
                self._kept.popitem(last=False)
            return known
