"""The baseline: the rectangles of a ledger as one would keep them by hand, in one SQLite table with the indexes that its questions need."""

from __future__ import annotations

import sqlite3
from pathlib import Path

MAKE = """
ATTACH DATABASE '{ledger}' AS ledger;
CREATE TABLE facts (subject TEXT, predicate TEXT, object TEXT, v_from INT, v_to INT, tx_from INT, tx_to INT);
INSERT INTO facts SELECT subject, predicate, object, v_from, v_to, tx_from, tx_to FROM ledger.statements WHERE polarity ORDER BY row;
CREATE INDEX by_slot ON facts (subject, predicate, tx_to);
CREATE INDEX by_object ON facts (object, tx_to);
CREATE INDEX by_start ON facts (v_from);
CREATE INDEX by_end ON facts (v_to);
CREATE INDEX by_opening ON facts (tx_from);
CREATE INDEX by_closing ON facts (tx_to);
ANALYZE;
"""
_HOLDS = "tx_from <= :tx AND tx_to > :tx AND v_from <= :at AND v_to > :at"
_SLOT = f"SELECT object, v_from, v_to FROM facts WHERE subject = :subject AND predicate = :predicate AND {_HOLDS}"
_ENTITY = f"SELECT predicate, object, v_from FROM facts WHERE subject = :subject AND {_HOLDS} ORDER BY v_from DESC LIMIT 20"
_HOP = f"""SELECT object FROM facts WHERE subject = :entity AND {_HOLDS}
UNION SELECT subject FROM facts WHERE object = :entity AND {_HOLDS}"""
_CHANGED = """SELECT DISTINCT subject, predicate FROM facts WHERE v_from > :start AND v_from <= :end AND tx_from <= :tx AND tx_to > :tx
UNION SELECT subject, predicate FROM facts WHERE v_to > :start AND v_to <= :end AND tx_from <= :tx AND tx_to > :tx
ORDER BY subject, predicate LIMIT 20"""
_FEED = """SELECT * FROM (SELECT * FROM facts WHERE tx_from > :after ORDER BY tx_from, rowid LIMIT 100)
UNION ALL SELECT * FROM (SELECT * FROM facts WHERE tx_to > :after AND tx_to < 9223372036854775807 ORDER BY tx_to, rowid LIMIT 100)"""
_MATCH = """SELECT one.subject, two.object FROM facts AS one CROSS JOIN facts AS two ON two.subject = one.subject
WHERE one.object = :object AND one.predicate = :first AND two.predicate = :second
AND one.tx_from <= :tx AND one.tx_to > :tx AND one.v_from <= :at AND one.v_to > :at
AND two.tx_from <= :tx AND two.tx_to > :tx AND two.v_from <= :at AND two.v_to > :at LIMIT 20"""


class PlainRectangles:
    """Rectangles by subject, predicate and object, and the questions that plain SQL answers of them: no evidence, reasons or joins."""

    def __init__(self, path: Path, ledger: Path) -> None:
        """The table at `path`; made from a ledger's statements where it is not there."""
        fresh = not path.exists()
        self.connection = sqlite3.connect(path)
        if fresh:
            self.connection.executescript(MAKE.format(ledger=str(ledger).replace("'", "''")))

    def slot(self, subject: str, predicate: str, at: int, tx: int) -> list[tuple[object, ...]]:
        """Values of a slot at an instant."""
        return self._all(_SLOT, subject=subject, predicate=predicate, at=at, tx=tx)

    def entity(self, subject: str, at: int, tx: int) -> list[tuple[object, ...]]:
        """Twenty values of a subject at an instant, newest first."""
        return self._all(_ENTITY, subject=subject, at=at, tx=tx)

    def two_hops(self, entity: str, at: int, tx: int) -> set[object]:
        """What is at most two facts away."""
        near = {row[0] for row in self._all(_HOP, entity=entity, at=at, tx=tx)}
        return near | {row[0] for each in near for row in self._all(_HOP, entity=each, at=at, tx=tx)} - {entity}

    def changed(self, start: int, end: int, tx: int) -> list[tuple[object, ...]]:
        """Twenty slots with a boundary between two instants, and what each had before and after."""
        found = self._all(_CHANGED, start=start, end=end, tx=tx)
        for subject, predicate in found:
            for at in (start, end):
                self.slot(str(subject), str(predicate), at, tx)
        return found

    def feed(self, after: int) -> list[tuple[object, ...]]:
        """A hundred openings and closings after a transaction."""
        return self._all(_FEED, after=after)

    def match(self, object: str, first: str, second: str, at: int, tx: int) -> list[tuple[object, ...]]:
        """Who has a value of one predicate, and what of another one: twenty of them."""
        return self._all(_MATCH, object=object, first=first, second=second, at=at, tx=tx)

    def _all(self, query: str, **values: object) -> list[tuple[object, ...]]:
        return self.connection.execute(query, values).fetchall()
