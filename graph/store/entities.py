"""Which entities and literals begin with which transactions: the feed's Entity nodes.

Nearly all have a row in `things` from the transaction on that first names them. Some keys have statements or belong to an
entity without one: names that every mention uses for somebody else ("Bob" where its only group says that he is Robert).
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, and_, exists, select

from graph.ledger.schema import components, statements, things
from graph.store.port import EntityRow
from graph.store.sql_engine import chunks

_USED = (
    (statements, statements.c.subject),
    (statements, statements.c.object),
    (components, components.c.member),
)
"""Where a key may stand beside `things`; the root of a component is a member of it."""


def entities(connection: Connection, after: int, upto: int) -> list[EntityRow]:
    """Entities and literals that were first named, spoken of or joined in the transactions `(after, upto]`."""
    earlier = things.alias()
    conditions = [
        *(things.c.tx_from > after, things.c.tx_from <= upto),
        ~exists().where(earlier.c.key == things.c.key, earlier.c.row < things.c.row),
    ]
    if after:
        conditions += [~exists().where(column == things.c.key, table.c.tx_from <= after) for table, column in _USED]
    query = select(things.c.key, things.c.namespace, things.c.datatype).where(*conditions).order_by(things.c.row)
    return [EntityRow._make(row) for row in connection.execute(query).all()] + _nameless(connection, after, upto)


def _nameless(connection: Connection, after: int, upto: int) -> list[EntityRow]:
    """The same of keys that nothing has named up to the last of the transactions."""
    found: dict[str, EntityRow] = {}
    for table, column in _USED:
        if after:
            named = exists().where(things.c.key == column, things.c.tx_from <= upto)
            query = select(column, table.c.namespace).distinct().where(_within(table.c.tx_from, after, upto), ~named)
            found |= {key: EntityRow(key, namespace, None) for key, namespace in connection.execute(query)}
            continue
        # Of all: each key is looked up once, not once for each row, and rows are read for those alone that have no name.
        keys = select(column.label("key")).distinct().subquery()
        named = exists().where(things.c.key == keys.c.key, things.c.tx_from <= upto)
        for part in chunks(connection.scalars(select(keys.c.key).where(~named)).all()):
            query = select(column, table.c.namespace).distinct().where(column.in_(part), table.c.tx_from <= upto)
            found |= {key: EntityRow(key, namespace, None) for key, namespace in connection.execute(query)}
    if after:
        for key in _used_by(connection, sorted(found), after):
            del found[key]
    return [found[key] for key in sorted(found)]


def _within(column: ColumnElement[int], after: int, upto: int) -> ColumnElement[bool]:
    return and_(column > after, column <= upto)


def _used_by(connection: Connection, keys: Sequence[str], transaction: int) -> set[str]:
    """Those of the keys that stood somewhere by a transaction."""
    found: set[str] = set()
    for part in chunks(keys):
        for table, column in _USED:
            found.update(connection.scalars(select(column).distinct().where(column.in_(part), table.c.tx_from <= transaction)))
    return found
