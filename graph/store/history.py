"""The history of a ledger up to a transaction, whole and by columns: what a graph is loaded from.

A statement takes part in a dozen rows, and none becomes an object of ours: they come from the database some thousands at a time and
leave as Arrow columns. Nodes come before the edges between them.
"""

from __future__ import annotations

from array import array
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import Boolean, ColumnElement, Connection, Integer, Row, Select, select

from graph.ledger.schema import OPEN, components, episodes, statements
from graph.store.endings import Endings, Rectangle
from graph.store.entities import entities
from graph.store.evidence import Evidence
from graph.store.kuzu_schema import arrow
from graph.store.port import EndingRow, Part
from ontology.instant import UNBOUNDED_PAST, Instant

_FETCHED = 10_000
"""Rows that are Python objects at a time."""

_STATEMENT = [
    statements.c[name]
    for name in (
        *("row", "namespace", "proposition", "subject", "predicate", "qualifier", "object", "object_is_literal", "polarity"),
        *("v_from", "v_to", "tx_from", "tx_to", "slot"),
    )
]
_SLOT = [statements.c[name] for name in (*Rectangle._fields, "namespace", "subject", "qualifier")]
_PREDICATE = Rectangle._fields.index("predicate")
_MEMBER = [components.c[name] for name in ("member", "root", "namespace", "tx_from", "tx_to")]
_EPISODE = [episodes.c[name] for name in ("row", "key", "namespace", "said")]

_EDGES_FOR_A_NODE = 5
"""Edges are narrow, and each COPY of them writes all lists anew that it adds to: so they go in by larger parts than nodes."""

Table = tuple[str, Any]
"""Name and rows (Arrow)."""


def read_ahead(parts: Generator[Part, None, None]) -> Iterator[Part]:
    """The same parts, the next one read in a thread while one is written: the database and the graph's engine work side by side."""
    with closing(parts), ThreadPoolExecutor(1, thread_name_prefix="graph-history") as thread:
        coming = thread.submit(next, parts, None)
        while (part := coming.result()) is not None:
            coming = thread.submit(next, parts, None)
            yield part


class History:
    """Reads one ledger on a connection, `rows` of a table at a time."""

    def __init__(self, connection: Connection, upto: int, rows: int, evidence: Evidence, endings: Endings) -> None:
        self._connection, self._upto, self._rows = connection, upto, rows
        self._edges = rows * _EDGES_FOR_A_NODE
        self._evidence, self._endings = evidence, endings

    def parts(self, at: Instant) -> Generator[Part, None, None]:
        """All of it; `at` is the time of the last transaction. Nothing for a ledger without statements, entities and episodes."""
        for table, rows in self._tables():
            yield Part(self._upto, at, table, rows)

    def _tables(self) -> Iterator[Table]:
        upto = self._upto
        yield from self._of_rows("Entity", entities(self._connection, 0, upto))
        members = select(*_MEMBER).where(components.c.tx_from <= upto).order_by(components.c.row)
        for columns in self._fetched(members):
            yield "MEMBER_OF", arrow("MEMBER_OF", [*columns[:4], self._closed(columns[4])])
        recorded = select(*_EPISODE).where(episodes.c.tx_recorded <= upto).order_by(episodes.c.row)
        for columns in self._fetched(recorded):
            yield "Episode", arrow("Episode", columns)
        endings = _Edges(self._edges)
        yield from self._slots(endings)
        yield from self._statements()
        for columns in self._fetched(self._evidence.query(self._connection, upto), self._edges):
            yield "ASSERTED_IN", arrow("ASSERTED_IN", [*columns[:6], self._closed(columns[6])])
        for assertions in self._evidence.of_mentions(self._connection, upto, self._rows):
            yield from self._of_rows("ASSERTED_IN", assertions)
        yield from endings.tables()

    def _of_rows(self, table: str, rows: Sequence[Sequence[Any]]) -> Iterator[Table]:
        for start in range(0, len(rows), self._rows):
            yield table, arrow(table, list(zip(*rows[start : start + self._rows], strict=True)))

    def _slots(self, endings: _Edges) -> Iterator[Table]:
        """Slots as their first statements have them. Their statements are together here, so how these end each other is found as well."""
        slot, order = statements.c.slot, (statements.c.tx_from, statements.c.row)
        rows = self._tuples(select(*_SLOT).where(statements.c.tx_from <= self._upto).order_by(slot, *order))
        found: list[tuple[str, str, str, str, str]] = []

        def rectangles() -> Iterator[Sequence[Rectangle]]:
            width = len(Rectangle._fields)
            for key, group in groupby(rows, itemgetter(0)):
                one = list(group)
                namespace, subject, qualifier = one[0][width:]
                found.append((key, namespace, subject, one[0][_PREDICATE], qualifier))
                # A statement that is alone in its slot ends none. It is yielded all the same, so that slots go out in parts.
                yield [Rectangle._make(row[:width]) for row in one] if len(one) > 1 else ()

        for ending in self._endings.of_all(self._connection, rectangles()):
            endings.add(ending)
            if len(found) >= self._rows:
                yield from self._of_rows("Slot", found)
                found.clear()
        yield from self._of_rows("Slot", found)

    def _statements(self) -> Iterator[Table]:
        predicates: set[str] = set()
        ends: list[tuple[Any, ...]] = []
        for columns in self._fetched(select(*_STATEMENT).where(statements.c.tx_from <= self._upto).order_by(statements.c.row)):
            row, _, _, subject, predicate, _, value, _, _, v_from, _, _, tx_to, slot = columns
            predicates.update(pc.unique(predicate).to_pylist())
            start = pc.max_element_wise(v_from, UNBOUNDED_PAST + 1)
            yield "Statement", arrow("Statement", [*columns[:9], start, *columns[10:12], self._closed(tx_to)])
            ends.append((row, subject, value, slot))
            if sum(len(part[0]) for part in ends) >= self._edges:
                yield from self._ends(ends)
                ends.clear()
        if ends:
            yield from self._ends(ends)
        yield from self._of_rows("Predicate", [(name,) for name in sorted(predicates)])

    def _ends(self, parts: Sequence[tuple[Any, ...]]) -> Iterator[Table]:
        """The edges of statements to subject, object and slot."""
        row, *others = (pa.concat_arrays(arrays) for arrays in zip(*parts, strict=True))
        for table, end in zip(("SUBJECT", "OBJECT", "IN_SLOT"), others, strict=True):
            yield table, arrow(table, [row, end])

    def _closed(self, tx_to: Any) -> Any:
        """Until when rows stand as seen at the last transaction: what was closed after it is open."""
        return pc.if_else(pc.less_equal(tx_to, pa.scalar(self._upto)), tx_to, OPEN)

    def _read(self, query: Select[Any], at_a_time: int = _FETCHED) -> Iterator[Sequence[Row[Any]]]:
        return self._connection.execute(query.execution_options(yield_per=at_a_time)).partitions()

    def _tuples(self, query: Select[Any]) -> Iterator[Sequence[Any]]:
        """Rows as SQLite's driver has them, a truth as a number: SQLAlchemy's own take as long again."""
        if self._connection.dialect.name != "sqlite":
            yield from chain.from_iterable(self._read(query))
            return
        cursor: Any = self._connection.execute(query).cursor
        while rows := cursor.fetchmany(_FETCHED):
            yield from rows

    def _fetched(self, query: Select[Any], size: int = 0) -> Iterator[list[Any]]:
        """The columns of a query as Arrow arrays, so many rows at a time (0: as of nodes)."""
        size = size or self._rows
        kinds = [_kind(column) for column in query.selected_columns]
        parts: list[list[Any]] = []
        at_a_time = min(size, _FETCHED)
        for rows in self._read(query, at_a_time):
            parts.append([pa.array(column, type=kind) for column, kind in zip(zip(*rows, strict=True), kinds, strict=True)])
            if len(parts) * at_a_time >= size:
                yield [pa.concat_arrays(arrays) for arrays in zip(*parts, strict=True)]
                parts = []
        if parts:
            yield [pa.concat_arrays(arrays) for arrays in zip(*parts, strict=True)]


def _kind(column: ColumnElement[Any]) -> Any:
    if isinstance(column.type, Boolean):
        return pa.bool_()
    return pa.int64() if isinstance(column.type, Integer) else pa.string()


class _Edges:
    """Endings as they were found, to come after the statements: two numbers each, for a history has as many of them as statements."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._found: dict[tuple[str | None, str | None], array[int]] = {}

    def add(self, edge: EndingRow) -> None:
        ends = self._found.setdefault((edge.reason, edge.rule), array("q"))
        ends.append(edge.statement)
        ends.append(edge.by)

    def tables(self) -> Iterator[Table]:
        for (reason, rule), ends in sorted(self._found.items(), key=str):
            pairs = np.frombuffer(ends, dtype=np.int64).reshape(-1, 2)
            for start in range(0, len(pairs), self._rows):
                columns: list[Any] = [np.ascontiguousarray(side) for side in pairs[start : start + self._rows].T]
                if reason is None:
                    yield "REVISES", arrow("REVISES", columns)
                else:
                    count = len(columns[0])
                    yield "INVALIDATED_BY", arrow("INVALIDATED_BY", [*columns, pa.repeat(reason, count), pa.repeat(rule, count)])
