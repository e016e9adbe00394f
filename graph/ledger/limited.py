"""The tables of a namespace at a transaction under a said-time limit, in memory: for readers that search rather than look up.

They have the names and the columns of the ledger's, so that what is built for those reads these. Every row stands at the
transaction and begins with it: when this evidence first said so is not told here (`Describer.replay` tells that of the few that are shown).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any
from uuid import uuid4
from weakref import finalize

from sqlalchemy import Column, Connection, Engine, MetaData, QueuePool, Table, create_engine, insert
from sqlalchemy.schema import CreateIndex, CreateTable

from graph.ledger.schema import claims, components, denotations, episodes, statements, things

_OPENED = 4
"""Connections that are kept open between reads."""

_WHOLE = (statements, things, components, denotations)
# Of what was said as much as filters ask for.
_PARTS = {
    claims: ("row", "proposition", "episode", "revision", "believed", "confidence", "tx_from", "tx_to"),
    episodes: ("key", "revision", "grp", "source", "speaker"),
}
COLUMNS = {table.name: tuple(column.name for column in table.c) for table in _WHOLE} | {
    table.name: names for table, names in _PARTS.items()
}
"""What the rows of each table are made of, in this order."""
_UNUSED = frozenset({"statements_by_opening", "statements_by_closing", "statements_by_slot", "statements_by_inverse_slot"})
"""Indexes by a transaction, which tells no row from another, and by slots, which are resolved from their own claims."""


class Limited:
    """A database of its own, gone when the last that refers to it is. Thread-safe: it is written before anyone reads it, then never."""

    def __init__(self, rows: Iterable[tuple[str, Iterable[Sequence[Any]]]]) -> None:
        """Take rows in, by the name of their table, each with the columns of COLUMNS."""
        name = f"file:limited-{uuid4().hex}?mode=memory&cache=shared"

        def opened() -> sqlite3.Connection:
            connection = sqlite3.connect(name, uri=True, check_same_thread=False, isolation_level=None)
            connection.execute("PRAGMA temp_store=MEMORY")
            return connection

        # It lives as long as a connection to it is open.
        holder = opened()
        # Nothing is ever taken back.
        holder.execute("PRAGMA journal_mode=OFF")
        self._engine = create_engine("sqlite://", creator=opened, poolclass=QueuePool, pool_size=_OPENED, max_overflow=-1)
        finalize(self, _close, self._engine, holder)
        self.size = sum(_fill(holder, self._engine, *each) for each in rows)
        """How many rows it has."""
        with closing(holder.cursor()) as cursor:
            for table in (*_WHOLE, *_PARTS):
                for index in sorted(table.indexes, key=lambda index: index.name or ""):
                    names = {column.name for column in index.columns}
                    if names <= set(COLUMNS[table.name]) and not _by_transaction(index.name or "", names):
                        cursor.execute(str(CreateIndex(index).compile(self._engine)))

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """A connection to it. It stays while this is open, whoever drops it meanwhile."""
        with self._engine.connect() as connection:
            yield connection


def _by_transaction(name: str, columns: set[str]) -> bool:
    return name in _UNUSED or columns <= {"tx_from", "tx_to"}


def _fill(holder: sqlite3.Connection, engine: Engine, name: str, rows: Iterable[Sequence[Any]]) -> int:
    """A table with its rows; answers with how many these are."""
    table = next(each for each in (*_WHOLE, *_PARTS) if each.name == name)
    columns = [Column(each.name, each.type, primary_key=each.primary_key) for each in (table.c[part] for part in COLUMNS[name])]
    narrowed = Table(name, MetaData(), *columns)
    holder.execute(str(CreateTable(narrowed).compile(engine)))
    holder.execute("BEGIN")
    count = holder.executemany(str(insert(narrowed).compile(engine)), rows).rowcount
    holder.execute("COMMIT")
    return max(count, 0)


def _close(engine: Engine, holder: sqlite3.Connection) -> None:
    engine.dispose()
    holder.close()
