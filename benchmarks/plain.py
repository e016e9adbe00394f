"""The baseline: a bi-temporal table in SQLite as one would write it by hand - one-valued slots, newest wins, no provenance.

It knows neither kinds of claims nor corrections, retractions, order independence or evidence, so it is the floor.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path

OPEN = 2**63 - 1
Fact = tuple[str, str, str, int]
"""Subject, predicate, object, said at (microseconds)."""


class PlainTable:
    """Facts with valid and transaction periods; a newer value ends the older one in valid time."""

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode=WAL")
        self.connection.execute("PRAGMA synchronous=FULL")
        self.connection.execute(
            "CREATE TABLE IF NOT EXISTS facts (subject TEXT, predicate TEXT, object TEXT, v_from INT, v_to INT, tx_from INT, tx_to INT)"
        )
        self.connection.execute("CREATE INDEX IF NOT EXISTS facts_by_slot ON facts (subject, predicate, tx_to)")
        self._transaction = 0

    def record(self, facts: Iterable[Fact]) -> None:
        """Commit facts in one transaction."""
        self._transaction += 1
        run = self.connection.execute
        run("BEGIN IMMEDIATE")
        for subject, predicate, object, said in facts:
            slot = (subject, predicate, OPEN, OPEN)
            last = run("SELECT rowid, object, v_from FROM facts WHERE subject=? AND predicate=? AND tx_to=? AND v_to=?", slot).fetchone()
            if last is not None and last[1] == object:
                continue
            if last is not None:
                run("UPDATE facts SET tx_to=? WHERE rowid=?", (self._transaction, last[0]))
                closed = (subject, predicate, last[1], last[2], said, self._transaction, OPEN)
                run("INSERT INTO facts VALUES (?,?,?,?,?,?,?)", closed)
            run("INSERT INTO facts VALUES (?,?,?,?,?,?,?)", (subject, predicate, object, said, OPEN, self._transaction, OPEN))
        run("COMMIT")

    def record_each(self, batches: Iterable[Iterable[Fact]]) -> None:
        """Commit each batch in a transaction of its own."""
        for batch in batches:
            self.record(batch)

    def slot(self, subject: str, predicate: str, at: int) -> list[tuple[str, int, int]]:
        """Values of a slot at an instant."""
        query = "SELECT object, v_from, v_to FROM facts WHERE subject=? AND predicate=? AND tx_to=? AND v_from<=? AND v_to>?"
        return self.connection.execute(query, (subject, predicate, OPEN, at, at)).fetchall()

    def entity(self, subject: str, at: int) -> list[tuple[str, str, int]]:
        """Predicate, value and start of everything about a subject at an instant."""
        query = (
            "SELECT predicate, object, v_from FROM facts WHERE subject=? AND tx_to=? AND v_from<=? AND v_to>? ORDER BY v_from DESC LIMIT 20"
        )
        return self.connection.execute(query, (subject, OPEN, at, at)).fetchall()

    def timeline(self, subject: str, predicate: str) -> list[tuple[str, int, int]]:
        """A slot over all valid time."""
        query = "SELECT object, v_from, v_to FROM facts WHERE subject=? AND predicate=? AND tx_to=? ORDER BY v_from"
        return self.connection.execute(query, (subject, predicate, OPEN)).fetchall()
