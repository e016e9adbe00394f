"""Predicates that texts or clients coined, and how much they are used: what to declare next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

from sqlalchemy import Connection, and_, func, select, true

from graph.ledger.chunks import among, rows_among
from graph.ledger.details import Describer
from graph.ledger.rectangles import COLUMNS, Rectangle, read_as, rectangle
from graph.ledger.schema import claims, episodes, statements
from graph.ledger.selection import TOLD_IN
from graph.ledger.standing import believed_at
from graph.views import Basis, UndeclaredPredicate
from ontology.vocabulary import Vocabulary

EXAMPLES = 3
_QUOTE = func.substr(episodes.c.content, claims.c.start + 1, claims.c.end - claims.c.start)


class Undeclared:
    """The undeclared predicates of one basis."""

    def __init__(self, basis: Basis, vocabulary: Vocabulary) -> None:
        self._basis = basis
        self._vocabulary = vocabulary
        said = true() if basis.evidence_until is None else claims.c.said <= basis.evidence_until
        self._counted = and_(claims.c.namespace == basis.namespace, believed_at(claims, basis.transaction), said)

    def used(self, describer: Describer, least: int) -> list[UndeclaredPredicate]:
        """Those of at least so many claims in the set (candidates count), most used first, ties by name."""
        number = func.count()
        query = (
            select(claims.c.predicate, number.label("claims"), func.count(func.distinct(claims.c.subject)).label("subjects"))
            .where(self._counted)
            .group_by(claims.c.predicate)
            .having(number >= least)
            .order_by(number.desc(), claims.c.predicate)
        )
        connection = describer.connection
        rows = [row for row in connection.execute(query) if row.predicate not in self._vocabulary.predicates]
        names = [row.predicate for row in rows]
        several, quotes = self._several(describer, names), self._quotes(connection, names)
        return [
            UndeclaredPredicate(row.predicate, row.claims, row.subjects, several.get(row.predicate, 0), tuple(quotes[row.predicate]))
            for row in rows
        ]

    def _several(self, describer: Describer, names: Collection[str]) -> dict[str, int]:
        """How many subjects have more than one value that holds, by predicate."""
        values: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        for row in self._held(describer, names):
            if row.polarity and row.holds(self._basis.valid_at):
                values[row.predicate, row.subject, row.qualifier].add(row.object)
        subjects: dict[str, set[str]] = defaultdict(set)
        for (predicate, subject, _), objects in values.items():
            if len(objects) > 1:
                subjects[predicate].add(subject)
        return {predicate: len(found) for predicate, found in subjects.items()}

    def _held(self, describer: Describer, names: Collection[str]) -> Iterable[Rectangle]:
        at, mine = self._basis.valid_at, statements.c.namespace == self._basis.namespace
        holding = and_(mine, believed_at(statements, self._basis.transaction), statements.c.v_from <= at, statements.c.v_to > at)
        query = select(*COLUMNS).where(among(statements.c.predicate), holding)
        rows = list(map(rectangle, rows_among(describer.rows, query, names)))
        describer.identity.load({key for row in rows for key in (row.subject, row.object)})
        return [read_as(describer.identity, row) for row in rows]

    def _quotes(self, connection: Connection, names: Collection[str]) -> dict[str, list[str]]:
        """Some of the newest different quotes, by predicate."""
        newest = func.max(claims.c.said)
        told = (
            select(claims.c.predicate, _QUOTE.label("quote"), newest.label("said"))
            .join(episodes, TOLD_IN)
            .where(among(claims.c.predicate), self._counted, claims.c.end > claims.c.start)
            .group_by(claims.c.predicate, _QUOTE)
        ).subquery()
        place = func.row_number().over(partition_by=told.c.predicate, order_by=(told.c.said.desc(), told.c.quote)).label("place")
        ranked = select(told.c.predicate, told.c.quote, place).where(func.length(told.c.quote) > 0).subquery()
        query = select(ranked).where(ranked.c.place <= EXAMPLES).order_by(ranked.c.predicate, ranked.c.place)
        found: dict[str, list[str]] = defaultdict(list)
        for row in rows_among(connection, query, names):
            found[row.predicate].append(row.quote)
        return found
