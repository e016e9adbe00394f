"""Who is meant: names and keys of things on a basis."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, and_, bindparam, select

from graph.ledger.chunks import among, rows_among
from graph.ledger.schema import labels, things
from graph.views import EntityView, LiteralView


def believed_at(table: Table, transaction: int) -> ColumnElement[bool]:
    """The rows of a versioned table that stand at a transaction."""
    return and_(table.c.tx_from <= transaction, table.c.tx_to > transaction)


def standing(table: Any) -> ColumnElement[bool]:
    """The same for statements built once: the transaction is the parameter `:transaction`."""
    return and_(table.c.tx_from <= bindparam("transaction"), table.c.tx_to > bindparam("transaction"))


_COLUMNS = (things.c.key, things.c.namespace, things.c.datatype, things.c.name, things.c.type)
_THINGS = select(*_COLUMNS).where(among(things.c.key), standing(things))
_NAMES = select(labels.c.thing, labels.c.value).where(among(labels.c.thing), labels.c.kind == "name", standing(labels))
_FORMER = (
    select(*_COLUMNS)
    .where(things.c.key == bindparam("key"), things.c.tx_from <= bindparam("transaction"))
    .order_by(things.c.tx_from.desc())
    .limit(1)
)


class Directory:
    """Views of things on one basis, each looked up once."""

    def __init__(self, connection: Connection, namespace: str, transaction: int) -> None:
        self._connection = connection
        self._namespace = namespace
        self._transaction = transaction
        self._known: dict[str, EntityView | LiteralView] = {}

    def load(self, keys: Collection[str]) -> None:
        """Look things up together."""
        wanted = set(keys) - self._known.keys()
        if not wanted:
            return
        # A key of another namespace is a stranger here.
        known = rows_among(self._connection, _THINGS, wanted, transaction=self._transaction)
        found = [row for row in known if row.namespace == self._namespace]
        others: dict[str, list[str]] = defaultdict(list)
        entities = {row.key for row in found if row.datatype is None}
        for row in rows_among(self._connection, _NAMES, entities, transaction=self._transaction):
            others[row.thing].append(row.value)
        for row in found:
            self._known[row.key] = self._view(row, others.get(row.key, []))

    @staticmethod
    def _view(row: Any, names: list[str]) -> EntityView | LiteralView:
        if row.datatype is not None:
            return LiteralView(row.key, row.name, row.datatype)
        return EntityView(row.key, row.name, row.type, tuple(sorted(name for name in names if name != row.name)))

    def thing(self, key: str) -> EntityView | LiteralView | None:
        """The thing of a key; None where nothing is known of it on the basis."""
        self.load([key])
        return self._known.get(key)

    def entity(self, key: str) -> EntityView | None:
        """The entity of a key; None for a literal or where nothing is known of it on the basis."""
        found = self.thing(key)
        return found if isinstance(found, EntityView) else None

    def required(self, key: str) -> EntityView | LiteralView:
        """The thing of a key that a statement speaks of; one that has lost its last claim since keeps the name that it had."""
        known = self.thing(key)
        if known is None:
            former = self._connection.execute(_FORMER, {"key": key, "transaction": self._transaction}).first()
            known = self._view(former, []) if former is not None else EntityView(key, key)
        return known
