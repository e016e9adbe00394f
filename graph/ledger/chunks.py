"""Looking rows up by many keys: in chunks that every database takes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, CompoundSelect, Connection, Row, Select, bindparam

K = TypeVar("K", str, int)

CHUNK = 500
"""Keys in one IN list; SQLite of old took 999 parameters."""


def chunked(keys: Collection[K]) -> Iterator[list[K]]:
    """The keys in lists of at most CHUNK, sorted, so that equal sets make equal queries."""
    ordered = iter(sorted(keys))
    while part := list(islice(ordered, CHUNK)):
        yield part


def among(column: ColumnElement[Any]) -> ColumnElement[bool]:
    """`column IN (:keys)`, for `rows_among`."""
    return column.in_(bindparam("keys", expanding=True))


def rows_among(connection: Connection, query: Select[Any] | CompoundSelect[Any], keys: Collection[K], **values: Any) -> Iterable[Row[Any]]:
    """The rows of a query whose `:keys` are given here, chunk by chunk."""
    for part in chunked(keys):
        # All at once: row by row costs twice as much.
        yield from connection.execute(query, {"keys": part, **values}).all()
