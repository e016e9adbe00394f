"""What a slot had of other names for as long as they were joined with its subject's: they keep it, and the slot has lost it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlalchemy import bindparam, select

from graph.belief.identity import IDENTITY
from graph.ledger.chunks import among, rows_among
from graph.ledger.details import Describer
from graph.ledger.rectangles import COLUMNS, Rectangle, rectangle
from graph.ledger.schema import components, statements

_MINE = components.alias("mine")
_JOINED = (
    select(
        components.c.member, _MINE.c.tx_from, _MINE.c.tx_to, components.c.tx_from.label("other_from"), components.c.tx_to.label("other_to")
    )
    .join(_MINE, components.c.root == _MINE.c.root)
    .where(among(_MINE.c.member), components.c.tx_from < _MINE.c.tx_to, components.c.tx_to > _MINE.c.tx_from)
    .where(components.c.tx_from <= bindparam("transaction"), _MINE.c.tx_from <= bindparam("transaction"))
)
_EVER = select(*COLUMNS).where(statements.c.tx_from <= bindparam("transaction"))
_IN_SLOTS, _FROM_OTHER_SIDE = (_EVER.where(among(slot)) for slot in (statements.c.slot, statements.c.inverse_slot))


@dataclass(frozen=True, slots=True)
class Borrowed:
    """A rectangle as long as it was the subject's too; `base` is the proposition that it was of the subject, by today's names.

    `turned`: it stands in the slot from the other side.
    """

    row: Rectangle
    base: str
    turned: bool


def borrowed(describer: Describer, transaction: int, subject: str, predicate: str, qualifier: str) -> list[Borrowed]:
    """The rectangles that a slot of an entity had by joins which no longer stand at a transaction."""
    identity = describer.identity
    if identity.nothing_joined or predicate == IDENTITY:
        return []
    stretches: dict[str, set[tuple[int, int]]] = defaultdict(set)
    members = identity.members(subject)
    for row in rows_among(describer.connection, _JOINED, members, transaction=transaction):
        if row.member not in members:
            stretches[row.member].add((max(row.tx_from, row.other_from), min(row.tx_to, row.other_to)))
    slots = {identity.slot(key, predicate, qualifier): key for key in stretches}
    found: list[Borrowed] = []
    for query, turned in ((_IN_SLOTS, False), (_FROM_OTHER_SIDE, True)):
        for each in map(rectangle, rows_among(describer.connection, query, slots, transaction=transaction)):
            key = slots[(each.inverse_slot or "") if turned else each.slot]
            identity.load((each.subject, each.object))
            found += (Borrowed(row, _base(describer, each, subject, turned=turned), turned) for row in _parts(each, stretches[key]))
    return list(dict.fromkeys(found))


def _parts(row: Rectangle, stretches: set[tuple[int, int]]) -> Iterator[Rectangle]:
    for start, end in sorted(stretches):
        if row.tx_from < end and start < row.tx_to:
            yield replace(row, tx_from=max(row.tx_from, start), tx_to=min(row.tx_to, end))


def _base(describer: Describer, row: Rectangle, subject: str, *, turned: bool) -> str:
    identity = describer.identity
    ends = (identity.root(row.subject), subject) if turned else (subject, identity.root(row.object))
    return identity.place(row.predicate, row.qualifier, *ends, paired=row.inverse_slot is not None).proposition
