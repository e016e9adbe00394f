"""Pages of statements that no table holds: filtered and put in order here, by the same rules as `Selection` has in SQL."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, select

from graph.ledger.bulk_evidence import BULK, in_bulk
from graph.ledger.chunks import among, rows_among
from graph.ledger.details import Describer
from graph.ledger.identity import ClaimRow, Identity, Place, Visibility, place_of
from graph.ledger.rectangles import Rectangle
from graph.ledger.schema import claims, statements
from graph.ledger.selection import Selection, Wanted, asked
from graph.ledger.slots import last_known
from graph.ledger.told import Resolution
from graph.ledger.told_identity import EverJoined
from graph.views import EVERYTHING, Basis, EntityView, Page, Positions, StatementView, Want
from ontology.errors import QueryTooComplex
from ontology.vocabulary import Vocabulary

LOOKED_THROUGH = 200
"""Statements that are looked at together where what they cite decides."""
MOST_GATHERED = 2_000
"""Most claims on what is asked about that are resolved for one answer; where there are more, the tables of the namespace answer."""
MOST_REPLAYED = 1_000
"""Most propositions whose past is made again for one answer."""

TOLD_OF_EACH = 10
"""So many claims on each of them, taken together."""

Matching = Callable[[Collection[Rectangle]], set[Rectangle]]
"""Those of some rectangles whose evidence is as it is asked for."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """Statements on one basis under a said-time limit."""

    describer: Describer
    basis: Basis
    vocabulary: Vocabulary
    selection: Selection

    def page(
        self,
        rows: Iterable[Rectangle],
        wanted: Wanted,
        first: int,
        after: Positions | None,
        want: frozenset[Want],
        matching: Matching | None = None,
    ) -> Page[StatementView]:
        """Of some rectangles a page of those that match, in the order of the contract; `matching`: by their evidence too."""
        found = [row for row in rows if self._matches(row, wanted)]
        self.describer.directory.load({key for row in found for key in (row.subject, row.object)})
        placed = sorted(((self._order(row), row) for row in found), key=itemgetter(0))
        start = None if after is None else (-after[0], *after[1:])
        rest = [(place, row) for place, row in placed if start is None or place > start]
        kept = rest if matching is None else self._citing(rest, matching, first + 1)
        shown = kept[:first]
        rows = [row for _, row in shown]
        swapped = frozenset(row.base for row in rows if self.selection.turned(row, wanted))
        views = self.describer.views(rows, want, swapped, sided=wanted.sided)
        return Page(tuple(views), tuple((-place[0], *place[1:]) for place, _ in shown), len(kept) > first)

    def _citing(
        self, rest: Sequence[tuple[tuple[Any, ...], Rectangle]], matching: Matching, most: int
    ) -> list[tuple[tuple[Any, ...], Rectangle]]:
        """The first rows whose evidence matches."""
        kept: list[tuple[tuple[Any, ...], Rectangle]] = []
        for start in range(0, len(rest), LOOKED_THROUGH):
            part = rest[start : start + LOOKED_THROUGH]
            found = matching([row for _, row in part])
            kept += [each for each in part if each[1] in found]
            if len(kept) >= most:
                break
        return kept

    def _order(self, row: Rectangle) -> tuple[Any, ...]:
        one, other = (self._name(key) for key in (row.subject, row.object))
        one, other = (other, one) if self.describer.backwards(row) else (one, other)
        return (-row.v_from, one, row.predicate, row.qualifier, other, row.polarity, row.proposition, row.tx_from)

    def _name(self, key: str) -> str:
        found = self.describer.directory.required(key)
        return found.name if isinstance(found, EntityView) else found.value

    # ------------------------------------------------------------ matching

    def _matches(self, row: Rectangle, wanted: Wanted) -> bool:
        return self._in_time(row, wanted) and self._by_predicate(row, wanted) and self._by_thing(row, wanted)

    def _in_time(self, row: Rectangle, wanted: Wanted) -> bool:
        during = wanted.filter.valid_during
        start, end = during or (self.basis.valid_at, self.basis.valid_at + 1)
        if during is not None or not wanted.filter.include_invalidated:
            return row.v_from < end and row.v_to > start
        return row.v_from < end or row.tx_to <= self.basis.transaction

    def _by_predicate(self, row: Rectangle, wanted: Wanted) -> bool:
        filter = wanted.filter
        if filter.aspects is not None and self.vocabulary.predicate(row.predicate).aspect not in filter.aspects:
            return False
        names = asked(self.vocabulary, filter.predicates) if filter.predicates is not None else None
        # An antonym is the same slot with the other polarity: "dislikes" is what denies "likes".
        if names is not None and row.predicate in names.negated and row.polarity == (filter.polarity is False):
            return True
        plain = names is None or row.predicate in names.plain
        return plain and (filter.polarity is None or row.polarity == filter.polarity)

    def _by_thing(self, row: Rectangle, wanted: Wanted) -> bool:
        if wanted.role == "ANY" and wanted.entity is not None and not {row.subject, row.object} & set(wanted.entity):
            return False
        subjects, objects = wanted.sides()
        if not subjects and not objects:
            return True
        names = asked(self.vocabulary, wanted.filter.predicates or ())
        symmetric = self.vocabulary.predicate(row.predicate).symmetric
        if row.predicate not in names.swapped and _between(row.subject, row.object, subjects, objects):
            return True
        turns = row.predicate in names.swapped or (symmetric and (wanted.filter.predicates is None or row.predicate in names.names))
        return turns and _between(row.object, row.subject, subjects, objects)

    # ------------------------------------------------------------ gathering

    def told(self, wanted: Wanted) -> list[Rectangle] | None:
        """What may match among all that is believed of the things that are named; None where no few are."""
        visible = (*self._said, claims.c.tx_to > self.basis.transaction)
        rows = self._naming(select(*BULK).where(*visible), wanted, MOST_GATHERED)
        return None if rows is None else self.describer.told(self._places(in_bulk(rows)))

    def ever_told(self, wanted: Wanted) -> list[Place]:
        """Propositions that may match and on which a claim said by the limit ever counted.

        Raises QueryTooComplex where they are too many.
        """
        query = select(*BULK).where(*self._said, claims.c.tx_from < claims.c.tx_to)
        if wanted.filter.predicates is not None:
            names = asked(self.vocabulary, wanted.filter.predicates)
            query = query.where(claims.c.predicate.in_(names.names))
        most = TOLD_OF_EACH * MOST_REPLAYED
        ever = self._ever_joined(wanted)
        rows = self._naming(query, wanted, most, ever)
        if rows is None:
            rows = self.describer.connection.execute(query.limit(most + 1)).all()
        told = list(in_bulk(rows[:most]))
        places = list(self._places(told))
        if ever is not None:
            # What a name denotes now it need not always have denoted.
            ever.load({key for row in told for key in (row.subject, row.object)})
            places += [place for moment in sorted(ever.moments) for place in self._places(told, self.describer.identity_at(moment))]
            places = list({place.proposition: place for place in places}.values())
        if len(rows) > most or len(places) > MOST_REPLAYED:
            raise QueryTooComplex(
                f"with `evidenceUntil`, what was believed before is worked out of at most {MOST_REPLAYED:,} propositions; "
                "ask with fewer subjects, objects or predicates"
            )
        return places

    def _ever_joined(self, wanted: Wanted) -> EverJoined | None:
        """Who was ever related with whom by what was said by the limit; None where nobody was."""
        identity, basis = self.describer.identity, self.basis
        if identity.nothing_joined or basis.evidence_until is None:
            return None
        visibility = Visibility(basis.transaction, basis.evidence_until, ever=True)
        found = EverJoined(self.describer.connection, identity.keys, identity.namespace, self.vocabulary, visibility)
        found.load({*(wanted.entity or ()), *(wanted.filter.subjects or ()), *(wanted.filter.objects or ())})
        return found

    def past(self, now: Resolution) -> Resolution:
        """What a resolution under the limit becomes where what was believed before counts too: all that is last known, replayed.

        Raises QueryTooComplex as `ever_told`.
        """
        rows = last_known(self.describer.replay(self.ever_told(Wanted(EVERYTHING))))
        stored = select(statements.c.base).distinct().where(statements.c.namespace == self.basis.namespace)
        return replace(now, gone=frozenset(self.describer.connection.scalars(stored)), rectangles=tuple(rows))

    @property
    def _said(self) -> tuple[ColumnElement[bool], ...]:
        until = claims.c.said <= self.basis.evidence_until
        return claims.c.namespace == self.basis.namespace, claims.c.believed, claims.c.tx_from <= self.basis.transaction, until

    def _places(self, rows: Iterable[ClaimRow], identity: Identity | None = None) -> Collection[Place]:
        identity, rows = identity or self.describer.identity, list(rows)
        identity.load({key for row in rows for key in (row.subject, row.object)})
        return {place.proposition: place for place in (place_of(identity.settled(row)) for row in rows)}.values()

    def _naming(self, query: Select[Any], wanted: Wanted, most: int, ever: EverJoined | None = None) -> Sequence[Row[Any]] | None:
        """The claims that name what is asked about; None where nothing is, or more than so many do."""
        filter, identity = wanted.filter, self.describer.identity
        named = next((keys for keys in (wanted.entity, filter.subjects, filter.objects) if keys is not None), None)
        if named is None:
            return None
        raws = {raw for key in named for raw in (*identity.raws(key), *(ever.members(key) if ever is not None else ()))}
        found: dict[int, Row[Any]] = {}
        for side in (claims.c.subject, claims.c.object):
            limited = query.where(among(side)).limit(most + 1)
            found |= {row.row: row for row in rows_among(self.describer.connection, limited, raws)}
            if len(found) > most:
                return None
        return list(found.values())


def _between(one: str, other: str, subjects: Sequence[Collection[str]], objects: Sequence[Collection[str]]) -> bool:
    return all(one in keys for keys in subjects) and all(other in keys for keys in objects)
