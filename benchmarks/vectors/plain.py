"""The baseline: the bi-temporal table that one writes by hand. What is written last wins in its span of valid time (as SQL:2011 has it).

It takes states, changes and bounded spans; an end, and the denial of a state, cut what stands off. It knows no evidence: nothing can be
withdrawn or corrected in it, nothing asked by said time, and it tells neither how sure an answer is nor why something changed.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.plain import OPEN, PlainTable
from benchmarks.vectors.worlds import (
    Basis,
    Boundary,
    CannotAsk,
    Change,
    Claim,
    Difference,
    Operation,
    Predicate,
    Rectangle,
    Refusal,
    Slot,
    Span,
    Value,
    refused,
)

Row = tuple[str, int, int, int, int]
"""Object, valid from and to, transaction from and to."""


class Plain:
    """The adapter of the table."""

    title = "plain SQLite"

    def world(self, predicates: Mapping[str, Predicate]) -> PlainWorld:
        """An empty table."""
        return PlainWorld(predicates)

    def close(self) -> None:
        """Nothing was started."""


class PlainWorld:
    """A table, one transaction for each operation."""

    def __init__(self, predicates: Mapping[str, Predicate]) -> None:
        self._predicates = predicates
        self._folder = TemporaryDirectory()
        self._run = PlainTable(Path(self._folder.name) / "facts.db").connection.execute
        self._number = 0

    def apply(self, operation: Operation) -> Sequence[Refusal]:
        """Write the claims one after the other."""
        if operation.kind != "assert":
            raise CannotAsk(f"to {operation.kind} an episode: a row does not tell where it is from")
        self._number += 1
        refusals = []
        self._run("BEGIN")
        for claim in operation.claims:
            reason = refused(claim)
            if reason is not None:
                refusals.append(Refusal(operation.episode, reason))
            if reason is None or operation.keep_undated:
                self._write(claim, operation)
        self._run("COMMIT")
        return refusals

    def _write(self, claim: Claim, operation: Operation) -> None:
        if claim.kind == "correction":
            raise CannotAsk("a correction: what was written is not told from what was so")
        if claim.additive:
            raise CannotAsk("a value beside another in a slot of one value")
        start = operation.said_at if claim.start is None else claim.start
        end = OPEN if claim.end is None else claim.end
        slot = (claim.subject, _column(claim.predicate, claim.qualifier))
        told_over = claim.kind == "end" or (claim.start is None and end <= operation.said_at)
        if told_over or not claim.affirmed:
            over = claim.end if told_over else start
            if told_over and claim.start is not None:
                self._insert(slot, claim, claim.start, over or operation.said_at)
            self._cut(slot, over or operation.said_at, OPEN, claim.object)
            return
        self._cut(slot, start, end, None if self._predicates[claim.predicate].one else claim.object)
        self._insert(slot, claim, start, end)

    def _insert(self, slot: tuple[str, str], claim: Claim, start: int, end: int) -> None:
        self._run("INSERT INTO facts VALUES (?,?,?,?,?,?,?)", (*slot, claim.object, start, end, self._number, OPEN))

    def _cut(self, slot: tuple[str, str], start: int, end: int, object: str | None) -> None:
        """Take a span of valid time away from what stands in it; of one value, or of all."""
        query = "SELECT rowid, object, v_from, v_to FROM facts WHERE subject=? AND predicate=? AND tx_to=? AND v_from<? AND v_to>?"
        for row, value, v_from, v_to in self._run(query, (*slot, OPEN, end, start)).fetchall():
            if object is not None and value != object:
                continue
            self._run("UPDATE facts SET tx_to=? WHERE rowid=?", (self._number, row))
            for left in ((v_from, min(v_to, start)), (max(v_from, end), v_to)):
                if left[0] < left[1]:
                    self._run("INSERT INTO facts VALUES (?,?,?,?,?,?,?)", (*slot, value, *left, self._number, OPEN))

    def _rows(self, slot: Slot, basis: Basis = Basis()) -> list[Row]:  # noqa: B008
        """What is believed of a slot."""
        if basis.known is not None:
            raise CannotAsk("by said time: it is not kept")
        number = self._number if basis.operations is None else basis.operations
        query = "SELECT object, v_from, v_to, tx_from, tx_to FROM facts WHERE subject=? AND predicate=? AND tx_from<=? AND tx_to>?"
        asked = (slot.subject, _column(slot.predicate, slot.qualifier), number, number)
        return self._run(query + " AND tx_from<tx_to ORDER BY v_from", asked).fetchall()

    def _holding(self, slot: Slot, basis: Basis) -> list[str]:
        return [row[0] for row in self._rows(slot, basis) if basis.valid_at is not None and row[1] <= basis.valid_at < row[2]]

    def as_of(self, slot: Slot, basis: Basis) -> Sequence[Value]:
        """Values alone."""
        return [Value(object) for object in self._holding(slot, basis)]

    def ask(self, slot: Slot, object: str, basis: Basis) -> str:
        """No is what another value rules out; a denial leaves no row, so it is unknown."""
        holding = self._holding(slot, basis)
        if object in holding:
            return "yes"
        return "no" if holding and self._predicates[slot.predicate].one else "unknown"

    def timeline(self, slot: Slot, basis: Basis) -> Sequence[Span]:
        """Where one of the rows begins or ends."""
        rows = self._rows(slot, basis)
        points = sorted({point for row in rows for point in row[1:3]})
        spans = itertools.pairwise(points)
        return [Span(start, end, tuple(row[0] for row in rows if row[1] <= start < row[2])) for start, end in spans]

    def rectangles(self, slot: Slot) -> Sequence[Rectangle]:
        """All rows."""
        query = "SELECT object, v_from, v_to, tx_from, tx_to FROM facts WHERE subject=? AND predicate=? AND tx_from<tx_to"
        rows = self._run(query, (slot.subject, _column(slot.predicate, slot.qualifier))).fetchall()
        return [Rectangle(object, start, end, since, None if until == OPEN else until) for object, start, end, since, until in rows]

    def diff(self, before: Basis, after: Basis) -> Sequence[Difference]:
        """Two queries, compared by slot or by value."""
        found = []
        for subject, column in self._run("SELECT DISTINCT subject, predicate FROM facts").fetchall():
            predicate, _, qualifier = column.partition("\t")
            slot = Slot(subject, predicate, qualifier)
            old, new = (set(self._holding(slot, basis)) for basis in (before, after))
            if old == new:
                continue
            if self._predicates[predicate].one:
                found.append(Difference(subject, predicate, tuple(old), tuple(new)))
            else:
                found += [Difference(subject, predicate, (value,), ()) for value in old - new]
                found += [Difference(subject, predicate, (), (value,)) for value in new - old]
        return found

    def why(self, slot: Slot) -> Sequence[Boundary]:
        """Cannot."""
        raise CannotAsk("why something changed: no evidence is kept")

    def returns(self, slot: Slot) -> int:
        """Values that are there again after others."""
        values = [row[0] for row in self._rows(slot)]
        return sum(value in values[:place] for place, value in enumerate(values) if place and value != values[place - 1])

    def feed(self, after: int) -> Sequence[Change]:
        """Rows by the transactions that wrote and closed them."""
        found = []
        for subject, column, object, start, end, since, until in self._run("SELECT * FROM facts WHERE tx_from<tx_to").fetchall():
            predicate, _, qualifier = column.partition("\t")
            what = (subject, predicate, qualifier, object, start, end)
            found += [Change(since, True, *what)] + ([] if until == OPEN else [Change(until, False, *what)])
        ordered = sorted(found, key=lambda change: (change.operation, change.opened))
        return [change for change in ordered if change.operation > after]

    def between(self, slot: Slot, start: int, end: int) -> Sequence[Span]:
        """Rows that overlap the window."""
        return [Span(row[1], row[2], (row[0],)) for row in self._rows(slot) if row[1] < end and start < row[2]]

    def last_attested(self, slot: Slot, object: str, basis: Basis) -> int:
        """Cannot."""
        raise CannotAsk("when something was last attested: no evidence is kept")

    def close(self) -> None:
        """Delete the file."""
        self._folder.cleanup()


def _column(predicate: str, qualifier: str) -> str:
    """The table has no column for a qualifier."""
    return f"{predicate}\t{qualifier}" if qualifier else predicate
