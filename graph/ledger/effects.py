"""What a transaction did to the statements: which of them began to be believed, and which it ended."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, or_, select

from graph.ledger.rectangles import COLUMNS, Rectangle, rectangle
from graph.ledger.schema import statements

_BY = (
    select(*COLUMNS)
    .where(
        statements.c.namespace == bindparam("namespace"),
        or_(statements.c.tx_from == bindparam("transaction"), statements.c.tx_to == bindparam("transaction")),
    )
    .order_by(statements.c.row)
)


@dataclass(frozen=True, slots=True)
class Effects:
    """Rectangles that a transaction opened, but for those that it only ended, and those that it ended.

    Ended: no longer believed, and then as it stood, or now with an end, and then as it stands.
    """

    opened: tuple[Rectangle, ...]
    closed: tuple[Rectangle, ...]


def effects_of(connection: Connection, namespace: str, transaction: int) -> Effects:
    """The effects of a transaction, each in the order of rows."""
    values = {"namespace": namespace, "transaction": transaction}
    rows = [rectangle(row) for row in connection.execute(_BY, values)]
    opened = [row for row in rows if row.tx_from == transaction]
    ended: list[Rectangle] = []
    for gone in (row for row in rows if row.tx_to == transaction):
        kept = [row for row in opened if row.proposition == gone.proposition and row.v_from < gone.v_to and gone.v_from < row.v_to]
        ended += [row for row in kept if row.v_to < gone.v_to] if kept else [gone]
    ended = list(dict.fromkeys(ended))
    apart = set(ended)
    return Effects(tuple(row for row in opened if row not in apart), tuple(ended))
