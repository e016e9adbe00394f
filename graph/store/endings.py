"""Which rectangle replaces or ends which: the feed's REVISES and INVALIDATED_BY edges.

REVISES leads from a new rectangle to the one of the same proposition that closed with its transaction and overlaps or touches
it. INVALIDATED_BY leads from a rectangle with an end to what takes over at that instant: another value of a one-valued slot
(SUPERSEDED), or the other polarity of the same value (CONTRADICTED). A rectangle that closed unrevised has no later end; it
is ended by what was opened with that transaction and holds where it began, as long as there is evidence for it still
(otherwise it was withdrawn, not replaced).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from sqlalchemy import Column, Connection, select

from graph.ledger.schema import claims, statements
from graph.store.evidence import TELLS_AN_END
from graph.store.port import EndingRow, StatementRow
from graph.store.sql_engine import chunks

_DOUBTFUL = 2_000
"""So many edges are looked after together."""


class Rectangle(NamedTuple):
    """What of a statement decides how it ends."""

    slot: str
    row: int
    proposition: str
    base: str
    predicate: str
    polarity: bool
    v_from: int
    v_to: int
    tx_from: int
    tx_to: int


_COLUMNS = [statements.c[name] for name in Rectangle._fields]

Doubt = tuple[Rectangle, EndingRow]
"""An edge that is one only if there still was evidence for what ended."""

SUPERSEDED = ("SUPERSEDED", "functional-slot")
CONTRADICTED = ("CONTRADICTED", "polarity")


class Endings:
    """Finds the edges that come to be with new statements. An edge belongs to the later-opened of its two rectangles."""

    def __init__(self, one_valued: Callable[[str, int], bool]) -> None:
        self._one_valued = lru_cache(maxsize=10_000)(one_valued)

    def of(self, connection: Connection, opened: Sequence[StatementRow], after: int, upto: int) -> list[EndingRow]:
        """Edges of `opened` (of transactions `(after, upto]`, in order) with each other and with what stood before."""
        if not opened:
            return []
        new = {statement.row for statement in opened}
        rivals: dict[str, bool] = {}
        for statement in opened:
            rivals[statement.slot] = rivals.get(statement.slot, False) or self._one_valued(statement.predicate, statement.tx_from)
        whole = [slot for slot, one in rivals.items() if one]
        alone = dict.fromkeys(statement.base for statement in opened if not rivals[statement.slot])
        groups: dict[str, list[Rectangle]] = defaultdict(list)
        for column, keys in ((statements.c.slot, whole), (statements.c.base, list(alone))):
            for rectangle in _standing(connection, column, keys, after, upto):
                groups[rectangle.slot if column is statements.c.slot else rectangle.base].append(rectangle)
        found: set[EndingRow] = set()
        doubtful: list[Doubt] = []
        for group in groups.values():
            self._of_group(group, new, found, doubtful)
        found.update(self._still_evident(connection, doubtful))
        return sorted(found, key=lambda row: (row.statement, row.by, row.reason or ""))

    def of_all(self, connection: Connection, slots: Iterable[Sequence[Rectangle]]) -> Iterator[EndingRow]:
        """Edges between all statements of a history, given slot by slot."""
        doubtful: list[Doubt] = []
        for slot in slots:
            if len(slot) < 2:
                continue
            found: set[EndingRow] = set()
            for group in self._rivals(slot):
                self._of_group(group, None, found, doubtful)
            yield from found
            if len(doubtful) >= _DOUBTFUL:
                yield from self._still_evident(connection, doubtful)
                doubtful.clear()
        yield from self._still_evident(connection, doubtful)

    def _rivals(self, slot: Sequence[Rectangle]) -> Iterable[Sequence[Rectangle]]:
        if any(self._one_valued(rectangle.predicate, rectangle.tx_from) for rectangle in slot):
            return [slot]
        base = attrgetter("base")
        return [list(group) for _, group in groupby(sorted(slot, key=base), base)]

    def _of_group(self, group: Sequence[Rectangle], new: set[int] | None, found: set[EndingRow], doubtful: list[Doubt]) -> None:
        """Adds the edges of rectangles that may end each other to `found` or `doubtful`: those that the `new` ones make, None for all."""
        revised = set()
        for later, earlier in _revisions(group):
            revised.add(earlier.row)
            if new is None or later.row in new:
                found.add(EndingRow(later.row, earlier.row, None, None))
        for ended, by in _taken_over(group):
            why = self._why(ended, by)
            if why and (new is None or max((ended.tx_from, ended.row), (by.tx_from, by.row))[1] in new):
                found.add(EndingRow(ended.row, by.row, *why))
        for ended, by in _overturned(group, revised):
            why = self._why(ended, by)
            if why and (new is None or by.row in new) and (edge := EndingRow(ended.row, by.row, *why)) not in found:
                doubtful.append((ended, edge))

    def _why(self, ended: Rectangle, by: Rectangle) -> tuple[str, str] | None:
        if ended.base == by.base:
            return CONTRADICTED if ended.polarity != by.polarity else None
        rivals = ended.polarity and by.polarity and self._one_valued(ended.predicate, max(ended.tx_from, by.tx_from))
        return SUPERSEDED if rivals else None

    def _still_evident(self, connection: Connection, doubtful: Sequence[Doubt]) -> set[EndingRow]:
        found: set[EndingRow] = set()
        wanted: dict[str, list[Doubt]] = defaultdict(list)
        for ended, row in doubtful:
            wanted[ended.base].append((ended, row))
        columns = (claims.c.proposition, claims.c.polarity, TELLS_AN_END, claims.c.tx_from, claims.c.tx_to)
        for part in chunks(list(wanted)):
            for proposition, polarity, ends, tx_from, tx_to in connection.execute(
                select(*columns).where(claims.c.proposition.in_(part), claims.c.believed)
            ):
                for ended, row in wanted[proposition]:
                    if tx_from <= ended.tx_to < tx_to and (ends or polarity == ended.polarity):
                        found.add(row)
        return found


def _standing(connection: Connection, column: Column[str], keys: Sequence[str], after: int, upto: int) -> Iterator[Rectangle]:
    """Statements of some slots or on some propositions that were believed at some transaction of `[after, upto]` or closed there."""
    for part in chunks(keys):
        query = select(*_COLUMNS).where(column.in_(part), statements.c.tx_to > after, statements.c.tx_from <= upto)
        yield from map(Rectangle._make, connection.execute(query).all())


def _revisions(group: Iterable[Rectangle]) -> Iterator[tuple[Rectangle, Rectangle]]:
    """(later, earlier) of one proposition: one opened with the transaction that closed the other, overlapping or touching it."""
    closed: dict[tuple[str, int], list[Rectangle]] = defaultdict(list)
    for statement in group:
        closed[statement.proposition, statement.tx_to].append(statement)
    for later in group:
        for earlier in closed.get((later.proposition, later.tx_from), ()):
            if earlier.v_from <= later.v_to and later.v_from <= earlier.v_to:
                yield later, earlier


def _taken_over(group: Iterable[Rectangle]) -> Iterator[tuple[Rectangle, Rectangle]]:
    """(ended, by): one begins to hold where the other ends, and both were believed at one time."""
    beginning: dict[int, list[Rectangle]] = defaultdict(list)
    for statement in group:
        beginning[statement.v_from].append(statement)
    for ended in group:
        for by in beginning.get(ended.v_to, ()):
            if ended.tx_from < by.tx_to and by.tx_from < ended.tx_to:
                yield ended, by


def _overturned(group: Iterable[Rectangle], revised: set[int]) -> Iterator[tuple[Rectangle, Rectangle]]:
    """(ended, by): one closed unrevised with the transaction that opened the other, which holds where it began."""
    opening: dict[int, list[Rectangle]] = defaultdict(list)
    for statement in group:
        opening[statement.tx_from].append(statement)
    for ended in group:
        if ended.row not in revised:
            for by in opening.get(ended.tx_to, ()):
                if by.v_from <= ended.v_from < by.v_to:
                    yield ended, by
