"""What things were called at every transaction of a stretch, looked up once: a page of changes stands on as many bases as it has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select

from graph.ledger.chunks import among, rows_among
from graph.ledger.schema import labels, things


def _between(table: Any) -> Any:
    return table.c.tx_from <= bindparam("last"), table.c.tx_to > bindparam("first")


_THINGS = select(things.c.key, things.c.namespace, things.c.datatype, things.c.name, things.c.type, things.c.tx_from, things.c.tx_to).where(
    among(things.c.key), *_between(things)
)
_NAMES = select(labels.c.thing, labels.c.kind, labels.c.value, labels.c.tx_from, labels.c.tx_to).where(
    among(labels.c.thing), labels.c.kind.in_(["name", "alias"]), *_between(labels)
)


class NamesBetween:
    """Names of some keys at the transactions from `first` to `last`. Implements `graph.ledger.directory.Names`."""

    def __init__(self, connection: Connection, keys: Collection[str], first: int, last: int) -> None:
        self._things: dict[str, list[Row[Any]]] = defaultdict(list)
        self._labels: dict[str, list[Row[Any]]] = defaultdict(list)
        for row in rows_among(connection, _THINGS, keys, first=first, last=last):
            self._things[row.key].append(row)
        entities = {key for key, rows in self._things.items() if any(row.datatype is None for row in rows)}
        for row in rows_among(connection, _NAMES, entities, first=first, last=last):
            self._labels[row.thing].append(row)

    def things(self, keys: Collection[str], transaction: int) -> Iterable[Row[Any]]:
        """Rows of `things` of some keys at a transaction."""
        return _standing(self._things, keys, transaction)

    def labels(self, keys: Collection[str], transaction: int) -> Iterable[Row[Any]]:
        """Names and aliases of some entities at a transaction."""
        return _standing(self._labels, keys, transaction)


def _standing(found: dict[str, list[Row[Any]]], keys: Collection[str], transaction: int) -> list[Row[Any]]:
    # Sorted as a look-up in chunks is: which of several rows is read last depends on nothing else.
    return [row for key in sorted(keys) for row in found.get(key, ()) if row.tx_from <= transaction < row.tx_to]
