"""Pages of statements that are chosen among the columns of a survey: the filter of the contract, the order, the views."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph.ledger.citing import citing
from graph.ledger.columns import Columns, Flag, Int, sortable
from graph.ledger.details import Describer
from graph.ledger.footing import Footing
from graph.ledger.rectangles import Rectangle
from graph.ledger.selection import Selection, Wanted, asked
from graph.views import Page, Positions, StatementFilter, StatementView, Want
from ontology.errors import InvalidInput
from ontology.vocabulary import Vocabulary

LOOKED_THROUGH = 200
"""Statements that are looked at together where what they cite decides."""


def checked(filter: StatementFilter) -> StatementFilter:
    """The filter; InvalidInput where it asks for another time than the basis."""
    for given, name in ((filter.valid_during is not None, "validDuring"), (filter.include_invalidated, "includeInvalidated")):
        if given:
            raise InvalidInput(
                f"`{name}` has no meaning here: this looks at `validAt` of the basis", path=("filter", name), reason="UNSUPPORTED"
            )
    return filter


class Listing:
    """What one request asks of the statements of a survey."""

    def __init__(self, footing: Footing, describer: Describer, columns: Columns, filter: StatementFilter) -> None:
        self.footing = footing
        self.describer = describer
        self.columns = columns
        self.wanted = footing.wanted(describer, checked(filter), None, "ANY")
        self._told = Selection.told(filter)

    @property
    def asks_evidence(self) -> bool:
        """Whether the filter asks for something that only the claims tell."""
        return bool(self._told)

    def matching(self) -> Flag:
        """The rows that match the filter, but for what it asks of their evidence."""
        return matching(self.columns, self.wanted, self.footing.vocabulary)

    def page(
        self, rows: Int, by: Sequence[NDArray[np.uint64]], first: int, after: Positions | None, want: frozenset[Want]
    ) -> Page[StatementView]:
        """A page of some rows. `by`: what goes before the order of statements, a non-negative number for each of the rows, the
        greatest first; it begins the positions.
        """
        columns, before = self.columns, len(by)
        if not self._told:
            near = _near(by[0] if by else columns.v_from[rows], first + 1, None if after is None else after[0])
            rows, by = rows[near], [key[near] for key in by]
        # As they are compared: downwards, and of unsigned numbers so that none is too great.
        falling = [~key for key in by]
        place = {row: number for number, row in enumerate(rows.tolist())}
        ordered = columns.in_order(rows, by=falling)

        def position(row: int) -> tuple[Any, ...]:
            return (*(int(key[place[row]]) for key in by), *columns.position(row))

        def order(position: Sequence[Any]) -> tuple[Any, ...]:
            return (*(-value for value in position[:before]), *sortable(position[before:]))

        start = 0 if after is None else bisect_right(ordered, order(after), key=lambda row: order(position(int(row))))
        found = self._told_of(ordered[start:], first + 1)
        shown = found[:first]
        turned = frozenset(row.base for _, row in shown if self.footing.selection.turned(row, self.wanted))
        views = self.describer.views([row for _, row in shown], want, turned, sided=self.wanted.sided)
        return Page(tuple(views), tuple(position(row) for row, _ in shown), len(found) > first)

    def _told_of(self, rows: Int, most: int) -> list[tuple[int, Rectangle]]:
        """The first of some rows whose evidence matches the filter, with their rectangles."""
        found: list[tuple[int, Rectangle]] = []
        step = LOOKED_THROUGH if self._told else most
        for start in range(0, len(rows), step):
            part = rows[start : start + step].tolist()
            stored = self.columns.rectangles(self.describer, part, self.footing.basis.transaction)
            told = self.told(stored)
            found += [(row, each) for row, each in zip(part, stored, strict=True) if told is None or each in told]
            if len(found) >= most:
                break
        return found[:most]

    def told(self, rows: Sequence[Rectangle]) -> set[Rectangle] | None:
        """Those of some rectangles that cite a claim that matches the filter; None: it asks nothing of claims."""
        if not self._told:
            return None
        return citing(self.describer, rows, self._told)


def matching(columns: Columns, wanted: Wanted, vocabulary: Vocabulary) -> Flag:
    """The rows that match a filter, as `Selection` chooses them, but for what it asks of their evidence."""
    filter, known = wanted.filter, columns.predicates.of

    def of(names: Sequence[str] | frozenset[str]) -> Flag:
        numbers = [known[name] for name in names if name in known]
        found: Flag = np.isin(columns.predicate, numbers)
        return found

    found: Flag = np.ones(len(columns), bool)
    if filter.aspects is not None:
        # Of an undeclared predicate the aspect is no one's to ask for, as in `Selection`.
        found &= of([name for name, each in vocabulary.predicates.items() if each.aspect in filter.aspects])
    stated = found if filter.polarity is None else found & (columns.positive == filter.polarity)
    if filter.predicates is None:
        found = stated
        turned = of([name for name in known if vocabulary.predicate(name).symmetric])
        swapped = np.zeros(len(columns), bool)
    else:
        names = asked(vocabulary, filter.predicates)
        # An antonym is the same slot with the other polarity.
        denied = found & of(names.negated) & (columns.positive == (filter.polarity is False))
        swapped = of(names.swapped)
        found = (stated & of(names.plain)) | denied
        turned = swapped | of([name for name in names.names if vocabulary.predicate(name).symmetric])
    if filter.subjects is not None or filter.objects is not None:
        straight, other = (
            _in(columns, one, filter.subjects) & _in(columns, two, filter.objects)
            for one, two in ((columns.subject, columns.object), (columns.object, columns.subject))
        )
        found &= (straight & ~swapped) | (other & turned)
    return found


def _near(keys: NDArray[Any], most: int, after: int | None) -> Int:
    """Where those of some keys stand, the greatest first and in no order, among which the first `most` are that follow a position.

    All that are as great as the last of them are there too: of very many rows few are left to be sorted.
    """
    near = np.flatnonzero(keys <= after) if after is not None else np.arange(len(keys))
    most += int(np.count_nonzero(keys == after)) if after is not None else 0
    if len(near) > most:
        near = near[keys[near] >= np.partition(keys[near], len(near) - most)[len(near) - most]]
    return near


def _in(columns: Columns, things: Any, keys: Sequence[str] | None) -> Flag:
    if keys is None:
        return np.ones(len(columns), bool)
    found: Flag = np.isin(things, [columns.things.of[key] for key in keys if key in columns.things.of])
    return found
