"""Which differences a filter chooses: those of which a statement, before or after, matches."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlalchemy import select

from graph.ledger.chunks import among, rows_among
from graph.ledger.citing import citing
from graph.ledger.comparing import Difference
from graph.ledger.rectangles import Rectangle
from graph.ledger.schema import claims, episodes
from graph.ledger.selection import TOLD_IN, Selection, asked
from graph.ledger.vantage import Vantage
from graph.views import StatementFilter
from ontology.vocabulary import Vocabulary


class Chosen:
    """A filter, read by the vocabulary of the last basis.

    Affirmations are compared. Denials are where `polarity` is false, and where a predicate is asked for that is an antonym.
    """

    def __init__(self, filter: StatementFilter, vocabulary: Vocabulary) -> None:
        self.filter = filter
        self.vocabulary = vocabulary
        self.symmetric = frozenset(name for name, known in vocabulary.predicates.items() if known.symmetric)
        self._names = None if filter.predicates is None else asked(vocabulary, filter.predicates)
        self._affirmed = filter.polarity is not False
        self.swapped = frozenset() if self._names is None else self._names.swapped
        self._told = Selection.told(filter)
        aspects = filter.aspects
        named = None if self._names is None else self._names.names
        if aspects is not None:
            of_aspects = frozenset(name for name, known in vocabulary.predicates.items() if known.aspect in aspects)
            named = of_aspects if named is None else named & of_aspects
        self.predicates = named
        """The predicates, in stored form; None: all."""

    @property
    def names_predicates(self) -> bool:
        """Whether it asks for some predicates by name."""
        return self._names is not None

    def compares(self, row: Rectangle) -> bool:
        """Whether a statement is compared at all."""
        if self.predicates is not None and row.predicate not in self.predicates:
            return False
        if self._names is None:
            return row.polarity == self._affirmed
        straight = row.predicate in self._names.plain and row.polarity == self._affirmed
        return straight or (row.predicate in self._names.negated and row.polarity != self._affirmed)

    def of(self, differences: Sequence[Difference], before: Vantage, after: Vantage) -> list[Difference]:
        """Those that it chooses."""
        if self.filter.subjects is not None or self.filter.objects is not None:
            sides = [self._keys(keys, after) for keys in (self.filter.subjects, self.filter.objects)]
            chosen = {
                vantage: {row for row in rows if self._between(row, vantage, *sides)}
                for vantage, rows in _rows(differences, before, after).items()
            }
        else:
            chosen = {vantage: set(rows) for vantage, rows in _rows(differences, before, after).items()}
        if self._told:
            chosen = {vantage: self._told_of(vantage, rows) for vantage, rows in chosen.items()}
        return [each for each in differences if not chosen[before].isdisjoint(each.before) or not chosen[after].isdisjoint(each.after)]

    @staticmethod
    def _keys(keys: Sequence[str] | None, vantage: Vantage) -> frozenset[str] | None:
        """The entities of the last basis that keys denote."""
        if keys is None:
            return None
        vantage.through.load(keys)
        return frozenset(map(vantage.through.root, keys))

    def _between(self, row: Rectangle, vantage: Vantage, subjects: Collection[str] | None, objects: Collection[str] | None) -> bool:
        one, other = vantage.root(row.subject), vantage.root(row.object)

        def match(subject: str, object: str) -> bool:
            return (subjects is None or subject in subjects) and (objects is None or object in objects)

        if row.predicate in self.swapped:
            return match(other, one)
        return match(one, other) or (row.predicate in self.symmetric and match(other, one))

    def _told_of(self, vantage: Vantage, rows: Iterable[Rectangle]) -> set[Rectangle]:
        """Statements that cite a claim which matches."""
        return citing(vantage.describer, self._told_at_all(vantage, list(rows)), self._told)

    def _told_at_all(self, vantage: Vantage, rows: Sequence[Rectangle]) -> list[Rectangle]:
        """Those of which some claim matches, cited or not: to look at what each cites costs more than all the rest of a diff."""
        ever = (claims.c.believed, claims.c.tx_from <= vantage.basis.transaction)
        query = select(claims.c.proposition).distinct().join(episodes, TOLD_IN).where(among(claims.c.proposition), *ever, *self._told)
        told = {row.proposition for row in rows_among(vantage.describer.connection, query, {row.base for row in rows})}
        # Claims on an entity that has several keys may stand under others than its statement.
        concerns = vantage.identity.concerns
        return [row for row in rows if row.base in told or concerns(row.subject) or concerns(row.object)]


def _rows(differences: Sequence[Difference], before: Vantage, after: Vantage) -> Mapping[Vantage, list[Rectangle]]:
    return {
        before: [row for each in differences for row in each.before],
        after: [row for each in differences for row in each.after],
    }
