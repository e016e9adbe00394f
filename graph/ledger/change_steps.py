"""The changes of one namespace in the order of commits, read by index from a position on, without a memory of what was read before."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from heapq import merge
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, select

from graph.ledger.rectangles import COLUMNS, Rectangle, rectangle
from graph.ledger.schema import OPEN, statements
from graph.views import Positions
from ontology.errors import InvalidInput


class Rank(IntEnum):
    """The order of changes within a transaction. What is erased for good comes behind all others."""

    CLOSED = 0
    OPENED = 1
    IDENTITY = 2


Position = tuple[int, int, int | str]
"""(transaction, rank, row or key)."""


@dataclass(frozen=True, slots=True)
class Step:
    """A change at its place. Of IDENTITY the row is the key of the entity; "" before it is known whose they are."""

    transaction: int
    rank: Rank
    row: int | str
    rectangle: Rectangle | None = None
    members: tuple[str, ...] = ()

    @property
    def position(self) -> Position:
        """Where it stands."""
        return self.transaction, int(self.rank), self.row


def checked(after: Positions) -> Position:
    """A position as this module makes them. Raises InvalidInput for any other."""
    match tuple(after):
        case (int(transaction), (Rank.CLOSED | Rank.OPENED) as rank, int(row)):
            return transaction, int(rank), row
        case (int(transaction), Rank.IDENTITY as rank, str(key)):
            return transaction, int(rank), key
    raise InvalidInput("this is no position in the feed of changes", path=("after",), reason="INVALID_CURSOR")


@dataclass(frozen=True, slots=True)
class Range:
    """How the rows of a rank are read: those of a transaction behind a row, those of later ones, and the last of all."""

    rest: Select[Any]
    later: Select[Any]
    last: Select[Any]
    place: int
    """Of the transaction among the columns."""


def _range(column: Any) -> Range:
    mine = select(statements.c.row, *COLUMNS).where(statements.c.namespace == bindparam("namespace"))
    committed = mine.where(column < OPEN)
    rest = mine.where(column == bindparam("transaction"), statements.c.row > bindparam("row")).order_by(statements.c.row)
    later = committed.where(column > bindparam("transaction")).order_by(column, statements.c.row)
    last = committed.order_by(column.desc(), statements.c.row.desc()).limit(1)
    limit: Any = bindparam("limit")
    return Range(rest.limit(limit), later.limit(limit), last, 1 + COLUMNS.index(column))


RANGES = {Rank.CLOSED: _range(statements.c.tx_to), Rank.OPENED: _range(statements.c.tx_from)}
"""Statements that a transaction closed, and those that it opened."""


def steps(connection: Connection, namespace: str, after: Position | None, identity: Sequence[int], chunk: int) -> Iterator[Step]:
    """The changes after a position. `identity` are the transactions that changed who is who, of which each is one step here.

    Rows are read `chunk` at a time, as they are asked for.
    """
    start = after or (0, -1, 0)
    ranges = (_rows(connection, namespace, rank, *_behind(start, rank), chunk) for rank in RANGES)
    moved = (Step(number, Rank.IDENTITY, "") for number in identity[bisect_left(identity, start[0]) :])
    yield from merge(*ranges, moved, key=lambda step: (step.transaction, step.rank, step.row))


def last_row(connection: Connection, namespace: str, rank: Rank) -> Position | None:
    """The last change of those that stand in rows."""
    found = connection.execute(RANGES[rank].last, {"namespace": namespace}).first()
    return None if found is None else (found[RANGES[rank].place], int(rank), found.row)


def _behind(start: Position, rank: Rank) -> tuple[int, int]:
    """The transaction and the row behind which the rows of a rank are read from a position on."""
    transaction, at, row = start
    if at == rank and isinstance(row, int):
        return transaction, row
    # All of that transaction, or none of it.
    return (transaction - 1, OPEN) if at < rank else (transaction, OPEN)


def _rows(connection: Connection, namespace: str, rank: Rank, transaction: int, row: int, chunk: int) -> Iterator[Step]:
    of = RANGES[rank]
    while True:
        values = {"namespace": namespace, "transaction": transaction}
        found: list[Row[Any]] = []
        if row < OPEN:
            found += connection.execute(of.rest, {**values, "row": row, "limit": chunk}).all()
        if len(found) < chunk:
            found += connection.execute(of.later, {**values, "limit": chunk - len(found)}).all()
        for each in found:
            yield Step(each[of.place], rank, each[0], rectangle(each[1:]))
        if len(found) < chunk:
            return
        transaction, row = found[-1][of.place], found[-1][0]
