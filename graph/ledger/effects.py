"""What a transaction did to the statements: which of them began to be believed, and which it ended."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, or_, select

from graph.ledger.chunks import among, rows_among
from graph.ledger.identity import Identity
from graph.ledger.rectangles import COLUMNS, Rectangle, read_as, rectangle
from graph.ledger.schema import statements
from graph.ledger.standing import standing

_BY = (
    select(*COLUMNS)
    .where(
        statements.c.namespace == bindparam("namespace"),
        or_(statements.c.tx_from == bindparam("transaction"), statements.c.tx_to == bindparam("transaction")),
    )
    .order_by(statements.c.row)
)
_STANDING = select(*COLUMNS).where(among(statements.c.base), standing(statements))


@dataclass(frozen=True, slots=True)
class Effects:
    """Rectangles that a transaction opened, but for those that it only ended, and those that it ended.

    Ended: no longer believed, and then as it stood, or now with an end, and then as it stands.
    """

    opened: tuple[Rectangle, ...]
    closed: tuple[Rectangle, ...]


def effects_of(connection: Connection, namespace: str, transaction: int, identity: Identity) -> Effects:
    """The effects of a transaction, each in the order of rows. `identity` is that of the transaction: a join ends nothing."""
    values = {"namespace": namespace, "transaction": transaction}
    rows = [rectangle(row) for row in connection.execute(_BY, values)]
    identity.load({key for row in rows for key in (row.subject, row.object)})
    said = {row: read_as(identity, row).proposition for row in rows}
    opened = [row for row in rows if row.tx_from == transaction]
    going_on = [*opened, *_beside(connection, identity, [row for row in rows if row.tx_to == transaction], transaction)]
    said |= {row: read_as(identity, row).proposition for row in going_on}
    ended: list[Rectangle] = []
    for gone in (row for row in rows if row.tx_to == transaction):
        kept = [row for row in going_on if said[row] == said[gone] and row.v_from < gone.v_to and gone.v_from < row.v_to]
        shorter = [row for row in kept if row.v_to < gone.v_to]
        cut = [row for row in shorter if row.tx_from == transaction]
        # One that stood beside it before, under another name of its entity, is not what it has become.
        ended += cut if cut or (kept and len(shorter) < len(kept)) else [gone]
    ended = list(dict.fromkeys(ended))
    apart = {*ended, *_covered(rows, said, transaction)}
    return Effects(tuple(row for row in opened if row not in apart), tuple(ended))


def _beside(connection: Connection, identity: Identity, gone: list[Rectangle], transaction: int) -> list[Rectangle]:
    """Believed rectangles of the same propositions that are stored under other keys of their entities, and stay."""
    under = {key for row in gone if (keys := identity.kept_under(identity.here(row.place))) != [row.base] for key in keys}
    return [rectangle(row) for row in rows_among(connection, _STANDING, under, transaction=transaction)]


def _covered(rows: list[Rectangle], said: dict[Rectangle, str], transaction: int) -> list[Rectangle]:
    """Rectangles opened in the place of ones that covered no less: where entities were joined or parted nothing new is believed."""
    gone: dict[str, list[Rectangle]] = defaultdict(list)
    for row in rows:
        if row.tx_to == transaction:
            gone[said[row]].append(row)
    opened = (row for row in rows if row.tx_from == transaction)
    return [
        row
        for row in opened
        if any(other.proposition != row.proposition and other.v_from <= row.v_from and row.v_to <= other.v_to for other in gone[said[row]])
    ]
