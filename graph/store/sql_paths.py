"""Paths over the ledger's own tables."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import BindParameter, Connection, bindparam, func, select, union_all

from graph.ledger.chunks import CHUNK, chunked
from graph.ledger.schema import statements
from graph.ledger.standing import standing
from graph.store.path_search import Link, shortest_paths, too_much_to_read
from graph.store.port import GraphBasis
from graph.store.sql_members import who
from graph.store.sql_work import bounded

_LINK = [statements.c[name] for name in Link._fields]
_SIDES = ((statements.c.subject, statements.c.object), (statements.c.object, statements.c.subject))


def _keys(name: str) -> BindParameter[Sequence[str]]:
    return bindparam(name, expanding=True)


_HOLDS = (
    statements.c.namespace == bindparam("namespace"),
    statements.c.v_from <= bindparam("at"),
    statements.c.v_to > bindparam("at"),
    standing(statements),
    statements.c.polarity,
    statements.c.object_is_literal.is_(False),
)
_NEAR = [select(*_LINK).where(near.in_(_keys("keys")), *_HOLDS) for near, _ in _SIDES]
_BETWEEN = [near.where(far.in_(_keys("towards"))) for near, (_, far) in zip(_NEAR, _SIDES, strict=True)]
_TOUCHING, _LEADING = (select(union_all(*queries).subquery()).limit(bindparam("most")) for queries in (_NEAR, _BETWEEN))
_COUNTED = [
    select(near).where(near.in_(_keys("keys")), statements.c.tx_to > bindparam("transaction")).limit(bindparam("most"))
    for near, _ in _SIDES
]
_NUMBER = [select(func.count()).select_from(counted.subquery()) for counted in _COUNTED]


class SqlLinks:
    """Implements Links by the ledger's statements on a basis."""

    def __init__(self, connection: Connection, basis: GraphBasis) -> None:
        self._connection = connection
        self._values: dict[str, Any] = {"namespace": basis.namespace, "at": basis.valid_at, "transaction": basis.transaction}

    def touching(self, keys: Sequence[str], towards: Collection[str] | None, most: int) -> Collection[Link]:
        """Two index seeks for each key."""
        found: set[Link] = set()
        narrow = towards is not None and len(towards) <= CHUNK
        for part in chunked(keys):
            values = self._values | {"keys": part, "most": 2 * (most - len(found))}
            query = _LEADING if narrow else _TOUCHING
            rows = self._connection.execute(query, values | ({"towards": sorted(towards or ())} if narrow else {}))
            found.update(Link(*row) for row in rows.all())
            if len(found) >= most:
                break
        return found

    def number(self, keys: Sequence[str], most: int) -> int:
        """By the indexes alone, whatever holds."""
        counted = 0
        for part in chunked(keys):
            for query in _NUMBER:
                values = {"keys": part, "transaction": self._values["transaction"], "most": most}
                counted += self._connection.scalar(query, values) or 0
            if counted >= most:
                break
        return counted


def paths(connection: Connection, basis: GraphBasis, start: str, end: str, max_hops: int, limit: int) -> list[list[int]]:
    """As `GraphStore.paths`. Raises QueryTooComplex."""
    with bounded(connection, too_much_to_read):
        return shortest_paths(who(connection, basis), start, end, max_hops, limit, SqlLinks(connection, basis))
