"""What SQLite's planner is told of the ledger's indexes: the same in every ledger, so that plans never depend on data.

Without statistics SQLite takes any index to narrow a table of 2^20 rows down to ten with its first column. So for a handful of keys
in one namespace it walks the whole namespace: 600 ms at a million statements. Statistics of the data would tell it, but only of
the day on which they were gathered, and the average of many small namespaces says nothing of the large one.
"""

from __future__ import annotations

from sqlalchemy import Connection, Index

from graph.ledger.schema import metadata

ROWS = 1 << 20
"""Rows of a table: what SQLite takes for granted."""
_WIDE = {"namespace": ROWS >> 5, "tx_to": ROWS >> 5}
"""Rows that share one value of the columns that are no way in: of `tx_to` that is what still stands.

More than a full list of keys finds (`graph.ledger.chunks`), so keys are looked up by key; few enough that the index is taken before the
whole table where there are no keys, for the table may hold many other namespaces.
"""
_NARROW = 32
"""Rows that the further columns of such an index leave: about a transaction's."""

_GATHERED = ("sqlite_stat1", "sqlite_stat4")


def statistics() -> set[tuple[str, str, str]]:
    """Rows of `sqlite_stat1` (table, index, rows of the table and how many share the first columns) for the indexes that begin wide.

    All other indexes stay as SQLite takes them: ten rows for their first column. Layout: sqlite.org/fileformat2.html, section 2.6.
    """
    indexes = (index for table in metadata.tables.values() for index in table.indexes)
    return {(index.table.name, str(index.name), _stat(index)) for index in indexes if index.table is not None and _leading(index) in _WIDE}


def _leading(index: Index) -> str:
    return str(index.columns[0].name)


def _stat(index: Index) -> str:
    # Nor may such an index be used by its later columns alone, once for each namespace.
    return " ".join(map(str, (ROWS, _WIDE[_leading(index)], *[_NARROW] * (len(index.columns) - 1), "noskipscan")))


def fix_plans(connection: Connection) -> None:
    """Write the statistics where the ledger has others, or none; nothing on other databases. Not inside a transaction.

    Connections that are open already go on with what they have read, all others plan by these.
    """
    if connection.dialect.name != "sqlite" or _found(connection) == (statistics(), False):
        return
    connection.rollback()
    connection = connection.execution_options(writes=True)
    try:
        with connection.begin():
            # The table is SQLite's own, and made by this alone.
            connection.exec_driver_sql("ANALYZE sqlite_master")
            for name in _present(connection):
                connection.exec_driver_sql(f"DELETE FROM {name}")  # noqa: S608
            connection.exec_driver_sql("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)", sorted(statistics()))
            # And read by this.
            connection.exec_driver_sql("ANALYZE sqlite_master")
    finally:
        connection.execution_options(writes=False)


def _found(connection: Connection) -> tuple[set[tuple[str, str, str]], bool]:
    """The statistics that there are, and whether there are samples of the data beside them."""
    present = _present(connection)
    if "sqlite_stat1" not in present:
        return set(), False
    found = {(table, index, stat) for table, index, stat in connection.exec_driver_sql("SELECT tbl, idx, stat FROM sqlite_stat1")}
    samples = "sqlite_stat4" in present and connection.exec_driver_sql("SELECT 1 FROM sqlite_stat4 LIMIT 1").first() is not None
    return found, samples


def _present(connection: Connection) -> list[str]:
    tables = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'")
    return [name for (name,) in tables if name in _GATHERED]
