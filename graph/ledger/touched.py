"""Whose statements may differ between two bases: the subjects of what begins or ends between them, by name.

Only rows with a boundary, or a transaction, between the bases are read; under a said-time limit also those that it sets aside, and
where entities were joined or parted those of these.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, bindparam, or_, select

from graph.drift import Cause
from graph.ledger.chunks import among, rows_among
from graph.ledger.rectangles import COLUMNS, Rectangle, rectangle
from graph.ledger.schema import components, statements, things
from graph.ledger.standing import standing
from graph.ledger.vantage import Vantage
from graph.views import EntityView
from ontology.names import normalise

_MINE = statements.c.namespace == bindparam("namespace")
_ROW = (statements.c.row, statements.c.subject, statements.c.predicate, statements.c.object)


def _inside(column: ColumnElement[Any]) -> ColumnElement[bool]:
    return and_(column > bindparam("low"), column <= bindparam("high"))


_HOLDING = and_(statements.c.v_from <= bindparam("at"), statements.c.v_to > bindparam("at"))
BETWEEN: dict[Cause, tuple[ColumnElement[bool], ColumnElement[bool]]] = {
    Cause.WORLD: (
        and_(_inside(statements.c.v_from), statements.c.v_to > bindparam("high"), standing(statements)),
        and_(_inside(statements.c.v_to), statements.c.v_from <= bindparam("low"), standing(statements)),
    ),
    Cause.BELIEF: (
        and_(_inside(statements.c.tx_from), statements.c.tx_to > bindparam("high"), _HOLDING),
        and_(_inside(statements.c.tx_to), statements.c.tx_from <= bindparam("low"), _HOLDING),
    ),
}
"""What holds at one of two instants (or transactions) alone: it began between them, or ended."""

_NAMED = and_(things.c.key == statements.c.subject, things.c.tx_from <= bindparam("named"), things.c.tx_to > bindparam("named"))
WHOLE = {
    cause: tuple(select(*_ROW, things.c.folded).outerjoin_from(statements, things, _NAMED).where(_MINE, part) for part in parts)
    for cause, parts in BETWEEN.items()
}
"""All rows of a namespace."""
_OF = {
    cause: tuple(
        select(*_ROW, things.c.folded).outerjoin_from(statements, things, _NAMED).where(*of, _MINE, part)
        for part in parts
        for of in (
            (among(statements.c.subject),),
            (among(statements.c.object), statements.c.predicate.in_(bindparam("symmetric", expanding=True))),
        )
    )
    for cause, parts in BETWEEN.items()
}
"""Those of some subjects, and symmetric relations of theirs that are stored from the other side."""
_EITHER = or_(
    and_(statements.c.tx_from <= bindparam("low"), statements.c.tx_to > bindparam("low")),
    and_(statements.c.tx_from <= bindparam("high"), statements.c.tx_to > bindparam("high")),
)
_UNDER = select(statements.c.row, *COLUMNS).where(among(statements.c.base), _HOLDING, _EITHER)
_ABOUT = tuple(select(*_ROW).where(among(column), _MINE, _HOLDING, _EITHER) for column in (statements.c.subject, statements.c.object))
_REJOINED = select(components.c.member).where(
    components.c.namespace == bindparam("namespace"), or_(_inside(components.c.tx_from), _inside(components.c.tx_to))
)
_NAMES = select(things.c.key, things.c.folded, things.c.namespace).where(among(things.c.key), standing(things))


@dataclass(frozen=True, slots=True)
class Sought:
    """What of all is compared: of some predicates or (None) of all, and of these keys alone or (None) of everything."""

    predicates: frozenset[str] | None = None
    keys: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Touched:
    """Subjects by (folded name, key), and for each the rows of `statements`, and rectangles of resolutions, that may differ.

    With each rectangle: whether it is one of the basis before, and of the one after.
    """

    subjects: tuple[tuple[str, str], ...]
    rows: dict[str, list[int]]
    made: dict[str, list[tuple[Rectangle, bool, bool]]]

    @property
    def size(self) -> int:
        """How much there is to keep."""
        return len(self.subjects) + sum(map(len, self.rows.values())) + sum(map(len, self.made.values()))

    def following(self, place: tuple[str, str] | None) -> Iterator[list[tuple[str, str]]]:
        """The subjects from one on, in growing parts."""
        start, size = 0 if place is None else bisect_left(self.subjects, place), 32
        while start < len(self.subjects):
            yield list(self.subjects[start : start + size])
            start, size = start + size, min(2 * size, 512)


class Touching:
    """Collects what may differ between two bases for one cause."""

    def __init__(self, cause: Cause, before: Vantage, after: Vantage, sought: Sought, symmetric: frozenset[str]) -> None:
        self._cause, self._before, self._after = cause, before, after
        self._connection: Connection = after.describer.connection
        self._sought = sought
        self._symmetric = symmetric
        self._names: dict[str, str | None] = {}
        self._rows: dict[str, set[int]] = defaultdict(set)
        self._made: dict[str, list[tuple[Rectangle, bool, bool]]] = defaultdict(list)
        one, other = before.basis, after.basis
        world = cause is Cause.WORLD
        low, high = sorted((one.valid_at, other.valid_at) if world else (one.transaction, other.transaction))
        self._values: dict[str, Any] = {
            "namespace": other.namespace,
            "low": low,
            "high": high,
            "at": other.valid_at,
            "transaction": other.transaction,
            "named": other.transaction,
            "symmetric": sorted(symmetric),
        }

    def collect(self) -> Touched:
        """All of it."""
        if self._values["low"] != self._values["high"]:
            self._bounded()
        if self._cause is Cause.WORLD:
            self._ending(self._after)
        else:
            self._moved()
            self._set_aside()
        names = self._named()
        ordered = tuple(sorted((names[key], key) for key in {*self._rows, *self._made}))
        return Touched(ordered, {key: sorted(rows) for key, rows in self._rows.items()}, dict(self._made))

    # ------------------------------------------------------------ stored rows

    def _bounded(self) -> None:
        """Rows with a boundary, or a transaction, between the bases."""
        for row, subject, predicate, object, folded in self._between():
            if self._sought.predicates is not None and predicate not in self._sought.predicates:
                continue
            self._names[subject] = folded
            self._note(row, subject, predicate, object)

    def _between(self) -> Iterator[tuple[int, str, str, str, str | None]]:
        keys = self._sought.keys
        if keys is None:
            for query in WHOLE[self._cause]:
                # As the driver has them: there may be very many.
                yield from self._connection.execute(query, self._values).cursor.fetchall()
            return
        for query in _OF[self._cause]:
            yield from map(tuple, rows_among(self._connection, query, keys, **self._values))

    def _note(self, row: int, subject: str, predicate: str, object: str) -> None:
        self._rows[subject].add(row)
        if predicate in self._symmetric:
            self._rows[object].add(row)

    def _moved(self) -> None:
        """Rows of names that are no longer joined as they were: they may be another entity's without any boundary."""
        if self._before.plain:
            return
        values = {name: self._values[name] for name in ("namespace", "low", "high")}
        members = set(self._connection.scalars(_REJOINED, values))
        self._before.load(members)
        everyone = {key for member in members for key in self._before.identity.members(member)}
        self._before.load(everyone)
        moved = {key for key in everyone if self._before.moved(key)}
        for query in _ABOUT:
            for row in rows_among(self._connection, query, moved, **self._values):
                self._note(row.row, row.subject, row.predicate, row.object)

    # ------------------------------------------------------------ said-time limits

    def _ending(self, vantage: Vantage) -> None:
        """Rectangles under the limit that hold at one of the instants alone."""
        one, other = self._before.basis.valid_at, self._after.basis.valid_at
        for row in vantage.resolution.rectangles:
            if row.holds(one) != row.holds(other):
                self._note_made(row, before=True, after=True)

    def _set_aside(self) -> None:
        """What a limit of one basis sets aside, or puts in its place, and the other does not."""
        before, after = self._before, self._after
        if before.resolution is after.resolution:
            return
        at = after.basis.valid_at
        stored: dict[int, Rectangle] = {}
        for found in rows_among(self._connection, _UNDER, before.resolution.gone ^ after.resolution.gone, **self._values):
            stored[found.row] = rectangle(found[1:])
        mine, theirs = ([row for row in each.resolution.rectangles if row.holds(at)] for each in (before, after))
        named = {key for row in (*mine, *theirs, *stored.values()) for key in (row.subject, row.object)}
        before.load(named)
        on = [
            {row.proposition for row in (*rows, *filter(vantage.holds, stored.values()))}
            for rows, vantage in ((mine, before), (theirs, after))
        ]
        same = on[0] & on[1]

        def equal(row: Rectangle) -> bool:
            return row.proposition in same and not (before.moved(row.subject) or before.moved(row.object))

        for number, row in stored.items():
            if not equal(row):
                self._note(number, row.subject, row.predicate, row.object)
        for rows, is_before in ((mine, True), (theirs, False)):
            for row in rows:
                if not equal(row):
                    self._note_made(row, before=is_before, after=not is_before)

    def _note_made(self, row: Rectangle, *, before: bool, after: bool) -> None:
        for key in (row.subject, row.object) if row.predicate in self._symmetric else (row.subject,):
            self._made[key].append((row, before, after))

    # ------------------------------------------------------------ names

    def _named(self) -> dict[str, str]:
        """The folded name of each subject, by its key on the last basis; what stood under other keys now stands under that."""
        touched = {*self._rows, *self._made}
        plain = self._before.plain
        if not plain:
            self._before.load(touched)
            self._after.load(touched)
            for key in touched:
                for root in {self._before.root(key), self._after.root(key)} - {key}:
                    self._rows[root] |= self._rows.get(key, set())
                    self._made[root] += self._made.get(key, [])
            roots = {root for key in touched for root in (self._before.root(key), self._after.root(key))}
            for each in (self._rows, self._made):
                for key in touched - roots:
                    each.pop(key, None)
            touched = roots
        limited = self._after.basis.evidence_until is not None
        known = {} if limited or not plain else {key: name for key in touched if (name := self._names.get(key)) is not None}
        rest = touched - known.keys()
        if rest and not limited:
            # Not by the namespace too: SQLite would walk all names of it.
            found = rows_among(self._connection, _NAMES, rest, transaction=self._after.basis.transaction)
            known |= {row.key: row.folded for row in found if row.namespace == self._after.basis.namespace}
            rest -= known.keys()
        return known | folded_names(self._before, self._after, rest)


def folded_names(before: Vantage, after: Vantage, keys: Collection[str]) -> dict[str, str]:
    """The folded names of entities and literals of the last basis, by its words or else by those of the one before."""
    one, other = before.describer.directory, after.describer.directory
    other.load(keys)
    unknown = [key for key in keys if other.thing(key) is None]
    one.load(unknown)
    last = max((before, after), key=lambda each: each.basis.transaction).describer.directory
    found = {}
    for key in keys:
        thing = other.thing(key) or one.thing(key) or last.required(key)
        found[key] = normalise(thing.name if isinstance(thing, EntityView) else thing.value)
    return found
