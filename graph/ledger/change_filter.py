"""Which changes: the filter of the contract, asked of a statement as of the transaction that opened or closed it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, select

from graph.ledger.chunks import among, rows_among
from graph.ledger.citing import citing
from graph.ledger.details import Describer
from graph.ledger.rectangles import Rectangle
from graph.ledger.schema import claims, episodes
from graph.ledger.selection import TOLD_IN, Selection, Wanted, asked
from graph.views import StatementFilter
from ontology.vocabulary import Vocabulary


class ChangeFilter:
    """A filter over rectangles at many transactions: who is meant and what predicates mean is that of each."""

    def __init__(self, filter: StatementFilter) -> None:
        self._filter = filter
        self._told = Selection.told(filter)
        self.weighed = 0
        """Of how many statements the evidence has been weighed."""

    def worth_weighing(self, connection: Connection, rows: Collection[Rectangle]) -> set[str] | None:
        """The propositions of some rectangles of which a claim that matches was ever told; None where evidence is not asked for.

        For namespaces in which nobody is joined: elsewhere claims may stand under other keys than their statements.
        """
        if not self._told:
            return None
        query = select(claims.c.proposition).distinct().join(episodes, TOLD_IN).where(among(claims.c.proposition), *self._told)
        return {row.proposition for row in rows_among(connection, query, {row.base for row in rows})}

    @property
    def sided(self) -> bool:
        """Whether it asks for statements from a side."""
        return self._filter.subjects is not None or self._filter.objects is not None

    def among(self, describer: Describer, rows: Sequence[Rectangle]) -> set[Rectangle]:
        """Those of some rectangles that match on a basis."""
        wanted = self._wanted(describer)
        vocabulary, identity = describer.vocabulary, describer.identity
        identity.load({key for row in rows for key in (row.subject, row.object)})
        found = [row for row in rows if self._on_time(row) and self._said_so(row, vocabulary) and _of_whom(row, wanted, vocabulary)]
        return self._cited(describer, found) if self._told else set(found)

    def turned(self, describer: Describer, rows: Collection[Rectangle]) -> frozenset[str]:
        """The propositions of rectangles that are to be shown from their other side."""
        wanted, selection = self._wanted(describer), Selection(describer.basis, describer.vocabulary)
        return frozenset(row.base for row in rows if selection.turned(row, wanted))

    def _wanted(self, describer: Describer) -> Wanted:
        """The filter with all keys of the entities that are named."""
        identity = describer.identity

        def all_keys(keys: Sequence[str] | None) -> tuple[str, ...] | None:
            if keys is None:
                return None
            identity.load(keys)
            return tuple(sorted({member for key in keys for member in identity.members(key)}))

        subjects, objects = all_keys(self._filter.subjects), all_keys(self._filter.objects)
        return Wanted(StatementFilter(subjects=subjects, objects=objects, predicates=self._filter.predicates))

    def _on_time(self, row: Rectangle) -> bool:
        during = self._filter.valid_during
        return during is None or (row.v_from < during[1] and row.v_to > during[0])

    def _said_so(self, row: Rectangle, vocabulary: Vocabulary) -> bool:
        filter = self._filter
        if filter.aspects is not None and vocabulary.predicate(row.predicate).aspect not in filter.aspects:
            return False
        straight = filter.polarity is None or row.polarity == filter.polarity
        if filter.predicates is None:
            return straight
        names = asked(vocabulary, filter.predicates)
        # An antonym is the same slot with the other polarity: "dislikes" is what denies "likes".
        denied = row.predicate in names.negated and row.polarity == (filter.polarity is False)
        return denied or (row.predicate in names.plain and straight)

    def _cited(self, describer: Describer, rows: Sequence[Rectangle]) -> set[Rectangle]:
        """Those that cite a claim which matches."""
        self.weighed += len(rows)
        return citing(describer, rows, self._told)


def _of_whom(row: Rectangle, wanted: Wanted, vocabulary: Vocabulary) -> bool:
    """Whether subject and object, seen from the side that the filter's predicates ask for, are as wanted."""
    subjects, objects = wanted.sides()
    if not subjects and not objects:
        return True
    predicates = wanted.filter.predicates
    names = asked(vocabulary, predicates or ())
    symmetric = vocabulary.predicate(row.predicate).symmetric and (predicates is None or row.predicate in names.names)

    def stands(one: str, other: str) -> bool:
        return all(one in keys for keys in subjects) and all(other in keys for keys in objects)

    if row.predicate not in names.swapped and stands(row.subject, row.object):
        return True
    return (row.predicate in names.swapped or symmetric) and stands(row.object, row.subject)
