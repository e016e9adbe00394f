"""Who is who in the ledger's tables: each joined key with the root of its entity."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlalchemy import Connection, bindparam, select

from graph.ledger.chunks import among, rows_among
from graph.ledger.schema import components
from graph.ledger.standing import standing
from graph.store.port import GraphBasis
from graph.store.walk import Apart, Who

_ANY_JOINED = (
    select(components.c.row)
    .where(components.c.namespace == bindparam("namespace"), components.c.tx_from <= bindparam("transaction"))
    .limit(1)
)
_ROOTS = select(components.c.member, components.c.root).where(among(components.c.member), standing(components))
_MEMBERS = select(components.c.member).where(among(components.c.root), standing(components))


class Joined:
    """Implements Who by the ledger's components as of a transaction."""

    def __init__(self, connection: Connection, transaction: int) -> None:
        self._connection, self._transaction = connection, transaction

    def roots(self, keys: Collection[str]) -> Mapping[str, str]:
        """The root of each key that is joined with another."""
        return {row.member: row.root for row in rows_among(self._connection, _ROOTS, keys, transaction=self._transaction)}

    def members(self, roots: Collection[str]) -> set[str]:
        """All keys of some entities."""
        return {*roots, *(row.member for row in rows_among(self._connection, _MEMBERS, roots, transaction=self._transaction))}


def who(connection: Connection, basis: GraphBasis) -> Who:
    """Who is who on a basis: one look-up tells where nobody was joined by then."""
    values = {"namespace": basis.namespace, "transaction": basis.transaction}
    return Apart() if connection.execute(_ANY_JOINED, values).first() is None else Joined(connection, basis.transaction)
