"""Small questions to the ledger that are asked very often: one row or a few by an index, in tens of microseconds.

SQLAlchemy takes .2 ms to bring a statement to the driver, an index seek 10 us. So a look-up is compiled once, and its text goes to
the driver as it is. It stands in no transaction: only for rows that no later commit changes the answer of.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import CompoundSelect, Engine, Select


class Lookup:
    """A query for the driver of one engine."""

    def __init__(self, engine: Engine, query: Select[Any] | CompoundSelect[Any]) -> None:
        compiled = query.compile(engine)
        self._text = str(compiled)
        self._constant = {name: value for name, value in compiled.params.items() if value is not None}
        # The names in the order of their marks, where the driver takes values by place; None where it takes them by name.
        self._places: list[str] | None = getattr(compiled, "positiontup", None)

    def rows(self, cursor: Any, values: dict[str, Any]) -> list[Any]:
        """All rows, as the driver gives them: truth values may be numbers. Raises the driver's errors."""
        given = self._constant | values
        cursor.execute(self._text, given if self._places is None else [given[name] for name in self._places])
        found: list[Any] = cursor.fetchall()
        return found


@contextmanager
def cursor_of(engine: Engine) -> Iterator[Any]:
    """A cursor of a connection of the engine's pool."""
    connection = engine.raw_connection()
    try:
        cursor = connection.cursor()
        try:
            yield cursor
        finally:
            cursor.close()
    finally:
        connection.close()
