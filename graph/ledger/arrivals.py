"""When the claims of a whole namespace that were said by an instant came and went: between what transactions something was first said.

Read in one go, and resolved nothing: mostly both are one, since most propositions have one claim.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, Select, and_, bindparam, select

from graph.ledger.columns import Int
from graph.ledger.evidence import IN_SET
from graph.ledger.identity import Visibility
from graph.ledger.schema import claims, episodes, transactions
from graph.ledger.told_identity import OF_IDENTITY
from ontology.instant import Instant

_NAMED = (claims.c.subject, claims.c.object, claims.c.replaces_subject, claims.c.replaces_object)
_PLACED = (claims.c.proposition, claims.c.slot, claims.c.inverse_slot, claims.c.replaces_proposition, claims.c.tx_from, claims.c.tx_to)
_SAID = claims.c.said <= bindparam("said_until")


def _told(*columns: Any) -> Select[Any]:
    # By the episodes: of claims alone no index leads to those of a namespace.
    return (
        select(*columns)
        .join_from(episodes, claims, and_(claims.c.episode == episodes.c.key, claims.c.revision == episodes.c.revision))
        .where(episodes.c.namespace == bindparam("namespace"), episodes.c.said <= bindparam("said_until"), *IN_SET)
    )


_ALL, _ALL_NAMED = _told(*_PLACED), _told(*_PLACED, *_NAMED)
# With an end of the range the partial index serves.
_IDENTITY = select(*_NAMED).where(OF_IDENTITY, claims.c.subject >= "", claims.c.namespace == bindparam("namespace"), _SAID, *IN_SET)
_TIMES = select(transactions.c.number, transactions.c.at).where(
    transactions.c.namespace == bindparam("namespace"), transactions.c.number <= bindparam("transaction")
)


@dataclass(frozen=True, slots=True)
class Arrivals:
    """What is known without weighing anything: for each proposition its slots, the first transaction that brought a claim on it, and
    for each proposition and slot the last one that changed its claims. Of what a correction names, or a name that may have come to
    denote something else, nothing is known.
    """

    transaction: int
    slots: Mapping[str, tuple[str, str | None]]
    first: Mapping[str, int]
    last: Mapping[str, int]
    numbers: Int
    times: Int

    def between(self, base: str, *, single: bool, other_single: bool) -> tuple[int, int]:
        """The first and the last transaction with which what is believed of a proposition may have begun to be.

        `single`, `other_single`: its slot, and that of the other side where it has one, has one value at a time.
        """
        first = self.first.get(base)
        if first is None:
            return 0, self.transaction
        slot, inverse = self.slots[base]
        last = self.last[base]
        if single:
            last = max(last, self.last[slot])
        if other_single and inverse is not None:
            last = max(last, self.last[inverse])
        return first, last

    def at(self, numbers: Int) -> Int:
        """When transactions were recorded; 0, before the first, is 1970."""
        found: Int = self.times[np.searchsorted(self.numbers, numbers)]
        return found


def arrivals(connection: Connection, namespace: str, transaction: int, said_until: Instant) -> Arrivals:
    """All claims that ever counted up to a transaction and were said by an instant."""
    values = {"namespace": namespace, **Visibility(transaction, said_until, ever=True).values}
    moved = {key for row in connection.execute(_IDENTITY, values) for key in row if key is not None}
    slots: dict[str, tuple[str, str | None]] = {}
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    unknown: set[str] = set()
    for base, slot, inverse, wrong, begun, ended, *named in _rows(connection, _ALL_NAMED if moved else _ALL, values):
        changed = ended if ended <= transaction else begun
        if base not in first:
            first[base], slots[base] = begun, (slot, inverse)
        elif begun < first[base]:
            first[base] = begun
        for key in (base, slot, inverse):
            if key is not None and last.get(key, 0) < changed:
                last[key] = changed
        if wrong is not None:
            unknown |= {base, wrong}
        if moved and not moved.isdisjoint(named):
            unknown.add(base)
    for base in unknown & first.keys():
        del first[base]
        last |= {key: transaction for key in (base, *slots[base]) if key is not None}
    recorded = _rows(connection, _TIMES, {"namespace": namespace, "transaction": transaction})
    numbers, times = zip((0, 0), *sorted(map(tuple, recorded)), strict=True)
    return Arrivals(transaction, slots, first, last, np.array(numbers, np.int64), np.array(times, np.int64))


def _rows(connection: Connection, query: Select[Any], values: Mapping[str, Any]) -> Iterator[Sequence[Any]]:
    """Rows as the driver has them: of very many, what is done to each counts."""
    cursor: Any = connection.execute(query, values).cursor
    return iter(cursor)
