"""Questions over several hops on one basis: patterns with variables, and the shortest paths between two entities."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from sqlalchemy import select

from graph.drift import MatchView, PathView, Pattern, Term
from graph.ledger.chunks import among, rows_among
from graph.ledger.details import Describer
from graph.ledger.footing import Footing
from graph.ledger.rectangles import COLUMNS, Rectangle, rectangle
from graph.ledger.schema import statements
from graph.store import sql_paths, sql_patterns
from graph.store.pattern_plan import MOST_STEPS, End, Found, Known, Plan, Step, Variable
from graph.store.port import GraphBasis
from graph.views import EntityRef, ObjectRef, Page, Positions, StatementView, Want
from ontology.echo import echo
from ontology.errors import InvalidInput

MOST_HOPS = 6
MOST_PATHS = 100
"""Paths of one answer; of more the first, by the keys of their propositions in order."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")

_ROWS = select(statements.c.row, *COLUMNS).where(among(statements.c.row))


class Walks(Protocol):
    """What joins and walks: the graph projection."""

    def match(self, basis: GraphBasis, plan: Plan, first: int, after: Sequence[Any] | None = None) -> list[Found]: ...

    def paths(self, basis: GraphBasis, start: str, end: str, max_hops: int, limit: int) -> list[list[int]]: ...


class LedgerPatterns:
    """Implements `graph.drift.Patterns`. Under a said-time limit the tables that stand under it are asked, not what walks."""

    def __init__(self, footing: Footing, walks: Walks) -> None:
        self._footing = footing
        self._walks = walks
        basis = footing.basis
        self._at = GraphBasis(basis.namespace, basis.valid_at, basis.transaction)

    def match(
        self, patterns: Sequence[Pattern], *, first: int = 20, after: Positions | None = None, want: frozenset[Want] = frozenset()
    ) -> Page[MatchView]:
        """The ways in which all patterns hold, by the keys of their propositions in the order of the patterns."""
        if not 1 <= len(patterns) <= MOST_STEPS:
            raise InvalidInput(f"a question has 1 to {MOST_STEPS} patterns, not {len(patterns)}", path=("patterns",), reason="OUT_OF_RANGE")
        if after is not None and len(after) != 2 * len(patterns):
            raise InvalidInput("the cursor is of a question with another number of patterns", path=("after",), reason="INVALID_CURSOR")
        with self._footing.read() as describer:
            plan = Plan(tuple(self._step(describer, place, pattern) for place, pattern in enumerate(patterns)))
            if describer.rows is describer.connection:
                found = self._walks.match(self._at, plan, first + 1, after)
            else:
                found = sql_patterns.match(describer.rows, self._at, plan, first + 1, after)
            views = self._matches(describer, plan, found[:first], want)
        return Page(tuple(views), tuple(match.position for match in found[:first]), len(found) > first)

    def path(self, start: EntityRef, end: EntityRef, *, max_hops: int = 3, want: frozenset[Want] = frozenset()) -> list[PathView]:
        """All shortest paths, at most 100, by the keys of their propositions in order."""
        if not 1 <= max_hops <= MOST_HOPS:
            raise InvalidInput(f"maxHops is 1 to {MOST_HOPS}, not {max_hops}", path=("maxHops",), reason="OUT_OF_RANGE")
        with self._footing.read() as describer:
            ends = self._footing.key(describer, start), self._footing.key(describer, end)
            if describer.rows is describer.connection:
                found = self._walks.paths(self._at, *ends, max_hops, MOST_PATHS)
            else:
                found = sql_paths.paths(describer.rows, self._at, *ends, max_hops, MOST_PATHS)
            told = _rectangles(describer, {row for path in found for row in path})
            views = dict(zip(told, describer.views(list(told.values()), want), strict=True))
        return [PathView(tuple(views[row] for row in path)) for path in found]

    def _step(self, describer: Describer, place: int, pattern: Pattern) -> Step:
        """A pattern in terms of stored statements."""
        at = ("patterns", str(place))
        canonical = self._footing.vocabulary.canonical(pattern.predicate)
        subject = self._end(describer, pattern.subject, None, (*at, "subject"))
        value = self._end(describer, pattern.object, pattern.predicate, (*at, "object"))
        if canonical.swapped:
            subject, value = value, subject
        either = canonical.predicate.symmetric
        return Step(subject, canonical.predicate.name, value, not canonical.negated, canonical.swapped, either)

    def _end(self, describer: Describer, term: Term, predicate: str | None, path: tuple[str, ...]) -> End:
        """One term: of the object of a predicate, or a subject."""
        if sum(value is not None for value in (term.variable, term.key, term.name, term.literal)) != 1:
            raise InvalidInput("a term is exactly one of variable, entity, name and literal", path=path, reason="ONE_OF")
        if term.variable is not None:
            return Variable(_checked(term.variable, (*path, "variable")))
        if predicate is not None:
            return Known(self._footing.object_key(describer, ObjectRef(term.key, term.name, term.literal, term.datatype), predicate))
        if term.literal is not None:
            raise InvalidInput("a literal can only be an object: nothing is said of it", path=(*path, "literal"), reason="LITERAL_SUBJECT")
        return Known(self._footing.key(describer, EntityRef(term.key, term.name)))

    @staticmethod
    def _matches(describer: Describer, plan: Plan, found: Sequence[Found], want: frozenset[Want]) -> list[MatchView]:
        told = _rectangles(describer, {row for match in found for row in match.rows})
        views: dict[tuple[int, bool], StatementView] = {}
        # One statement may be seen from both sides by two matches.
        for turned in (False, True):
            rows = list(dict.fromkeys(row for match in found for row, side in zip(match.rows, match.turned, strict=True) if side == turned))
            shown = [told[row] for row in rows]
            swapped = frozenset(each.base for each in shown) if turned else frozenset[str]()
            views |= zip(((row, turned) for row in rows), describer.views(shown, want, swapped, sided=True), strict=True)
        directory = describer.directory
        directory.load({key for match in found for key in match.keys})
        return [
            MatchView(
                tuple((name, directory.required(key)) for name, key in zip(plan.variables, match.keys, strict=True)),
                tuple(views[seen] for seen in zip(match.rows, match.turned, strict=True)),
            )
            for match in found
        ]


def _checked(name: str, path: tuple[str, ...]) -> str:
    if _VARIABLE.fullmatch(name):
        return name
    told = f"{echo(name, 64)} is no variable: letters, digits and _, not beginning with a digit, at most 64"
    if name.startswith("?"):
        told = f"variables are written without the question mark: {echo(name[1:], 64)}"
    raise InvalidInput(told, path=path, reason="INVALID_VARIABLE")


def _rectangles(describer: Describer, rows: Collection[int]) -> Mapping[int, Rectangle]:
    """Statements by their rows."""
    return {row.row: rectangle(row[1:]) for row in rows_among(describer.rows, _ROWS, rows)}
