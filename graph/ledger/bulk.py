"""Writing many rows of one table: straight through the driver, since preparing each row costs more than storing it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Insert, Table, insert

FEW = 20
"""Up to so many rows the ordinary way is as fast."""


class BulkInsert:
    """Inserts rows into a table whose columns need no conversion (no JSON). Rows must all have the same names."""

    def __init__(self, table: Table) -> None:
        self._insert: Insert = insert(table)

    def __call__(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert the rows."""
        if not rows:
            return
        if len(rows) <= FEW:
            connection.execute(self._insert, rows)
            return
        compiled = self._insert.compile(dialect=connection.dialect, column_keys=list(rows[0]))
        names = compiled.positiontup
        if names is None:
            connection.exec_driver_sql(str(compiled), [dict(row) for row in rows])
        else:
            connection.exec_driver_sql(str(compiled), list(map(itemgetter(*names), rows)))
