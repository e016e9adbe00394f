"""Whom a transaction joined or parted: the entities of then, each with all keys that what is held of them may bear."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Select, Table, bindparam, or_, select, union

from graph.ledger.identity import Identity
from graph.ledger.schema import components, denotations, statements
from graph.ledger.standing import standing


def _moved(table: Table, *columns: str) -> list[Select[Any]]:
    mine = table.c.namespace == bindparam("namespace")
    return [
        select(table.c[name].label("key")).where(mine, table.c[end] == bindparam("transaction"))
        for name in columns
        for end in ("tx_from", "tx_to")
    ]


_TOUCHED = union(*_moved(components, "member", "root"), *_moved(denotations, "key", "target"))
_SPOKEN_OF = (
    select(statements.c.row)
    .where(or_(statements.c.subject == bindparam("key"), statements.c.object == bindparam("key")), standing(statements))
    .limit(1)
)


def changed_entities(connection: Connection, namespace: str, transaction: int, before: Identity, now: Identity) -> dict[str, set[str]]:
    """The keys, as of a transaction, of the entities that it changed, each with all keys that denote it now or did before.

    `before` and `now` are who was who at the transaction before it and at this one. Handled in the order of their keys, with all that
    is held of any of its keys dropped and the entity read again, no entity drops what was read of another: the least key of several
    is that of the entity, and a name that denotes it in some episodes only is named where nothing else is said of it.
    """
    touched: set[str] = set(connection.scalars(_TOUCHED, {"namespace": namespace, "transaction": transaction}))
    for identity in (before, now):
        identity.load(touched)
    entities = {now.root(key) for key in touched}
    for identity in (before, now):
        identity.load(entities)
    found: dict[str, set[str]] = {}
    for entity in sorted(entities):
        members = {*now.members(entity)}
        if before.root(entity) == entity:
            members |= before.members(entity)
        names = {name for identity in (before, now) for member in members for name in identity.sources(member)} - members
        now.load(names)
        found[entity] = members | {name for name in names if _denotes_nothing_else(connection, now, name, transaction)}
    return found


def _denotes_nothing_else(connection: Connection, now: Identity, name: str, transaction: int) -> bool:
    """Whether a name is no other entity's, and no statement is held of it by itself."""
    return now.root(name) == name and connection.scalar(_SPOKEN_OF, {"key": name, "transaction": transaction}) is None
