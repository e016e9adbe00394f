"""Which statements: the filter of the contract as SQL over rectangles, ordered by the names that readers see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, exists, func, literal, not_, or_, select, tuple_
from sqlalchemy.orm import aliased

from graph.ledger.rectangles import COLUMNS
from graph.ledger.schema import claims, episodes, statements, things
from graph.views import Basis, StatementFilter
from ontology.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Asked:
    """A filter's predicates in stored form: names, those to read from the other side, and the polarity that each is asked in."""

    plain: frozenset[str]
    negated: frozenset[str]
    swapped: frozenset[str]


def asked(vocabulary: Vocabulary, predicates: Sequence[str]) -> Asked:
    """Fold inverses and antonyms of the predicates that a reader names."""
    plain: set[str] = set()
    negated: set[str] = set()
    swapped: set[str] = set()
    for name in predicates:
        canonical = vocabulary.canonical(name)
        (swapped if canonical.swapped else negated if canonical.negated else plain).add(canonical.predicate.name)
    return Asked(frozenset(plain), frozenset(negated), frozenset(swapped - plain))


TOLD_IN = and_(episodes.c.key == claims.c.episode, episodes.c.revision == claims.c.revision)
"""Joins claims to the copy of the episode that they stand in."""


def _wanted(filter: StatementFilter, entity: str | None, role: str) -> tuple[list[Sequence[str]], list[Sequence[str]]]:
    """The keys of which the subject, and those of which the object, must be one."""
    mine = [] if entity is None else [(entity,)]
    subjects = [keys for keys in (filter.subjects,) if keys is not None] + (mine if role == "SUBJECT" else [])
    objects = [keys for keys in (filter.objects,) if keys is not None] + (mine if role == "OBJECT" else [])
    return list(subjects), list(objects)


class Selection:
    """Rectangles on one basis that match a filter."""

    def __init__(self, basis: Basis, vocabulary: Vocabulary) -> None:
        self._basis = basis
        self._vocabulary = vocabulary
        self._symmetric = frozenset(name for name, predicate in vocabulary.predicates.items() if predicate.symmetric)

    def believed(self, table: Any) -> ColumnElement[bool]:
        """The versions of a table that stand on the basis."""
        return and_(table.c.tx_from <= self._basis.transaction, table.c.tx_to > self._basis.transaction)

    def placed(self, filter: StatementFilter, entity: str | None, role: str) -> list[ColumnElement[bool]]:
        """Statements whose subject and object, seen from the side that the filter's predicates ask for, are as wanted."""
        if entity is not None and role == "ANY":
            about = or_(statements.c.subject == entity, statements.c.object == entity)
            return [about, *self.placed(filter, None, role)]
        subjects, objects = _wanted(filter, entity, role)
        if not subjects and not objects:
            return []

        def side(subject: Any, object: Any) -> list[ColumnElement[bool]]:
            return [*(subject.in_(keys) for keys in subjects), *(object.in_(keys) for keys in objects)]

        names = asked(self._vocabulary, filter.predicates) if filter.predicates is not None else None
        swapped = names.swapped if names is not None else frozenset()
        turned = swapped | (self._symmetric & names.plain if names is not None else self._symmetric)
        straight = side(statements.c.subject, statements.c.object)
        if swapped:
            straight.append(statements.c.predicate.not_in(swapped))
        if not turned:
            return straight
        return [or_(and_(*straight), and_(*side(statements.c.object, statements.c.subject), statements.c.predicate.in_(turned)))]

    def turned(self, row: Any, entity: str | None, role: str, filter: StatementFilter) -> bool:
        """Whether a row found is to be shown from its other side."""
        if filter.predicates is not None and row.predicate in asked(self._vocabulary, filter.predicates).swapped:
            return True
        if row.predicate not in self._symmetric:
            return False
        subjects, objects = _wanted(filter, entity, role)
        return not (all(row.subject in keys for keys in subjects) and all(row.object in keys for keys in objects))

    def query(self, filter: StatementFilter, *conditions: ColumnElement[bool], after: Sequence[Any] | None, limit: int) -> Select[Any]:
        """Rectangles with their position, in the order of the contract, from after a position on."""
        subject, object = aliased(things), aliased(things)
        names = [subject.c.name, object.c.name]
        if filter.include_invalidated:
            # A gone statement may speak of what has no name left: it stands where it stood by the last one.
            names = [self._last_name(statements.c.subject), self._last_name(statements.c.object)]
        query = select(*COLUMNS, names[0].label("subject_name"), names[1].label("object_name"))
        if not filter.include_invalidated:
            for table, key in ((subject, statements.c.subject), (object, statements.c.object)):
                query = query.outerjoin(table, and_(table.c.key == key, self.believed(table)))
        query = query.where(statements.c.namespace == self._basis.namespace, *conditions, *self._filtered(filter))
        position = (
            _named(names[0]),
            statements.c.predicate,
            statements.c.qualifier,
            _named(names[1]),
            statements.c.polarity,
            statements.c.proposition,
            statements.c.tx_from,
        )
        if after is not None:
            later = tuple_(*position) > tuple_(*(literal(value) for value in after[1:]))
            query = query.where(or_(statements.c.v_from < after[0], and_(statements.c.v_from == after[0], later)))
        return query.order_by(statements.c.v_from.desc(), *position).limit(limit)

    def _filtered(self, filter: StatementFilter) -> list[ColumnElement[bool]]:
        conditions = [*self._in_time(filter), *self._by_predicate(filter)]
        evidence = self.told(filter)
        if evidence:
            # More than match: `Snapshot` looks at what each statement cites.
            conditions.append(
                exists().where(claims.c.proposition == statements.c.base, claims.c.believed, self._counted(), TOLD_IN, *evidence)
            )
        return conditions

    def _last_name(self, key: Any) -> Any:
        known = select(things.c.name).where(things.c.key == key, things.c.tx_from <= self._basis.transaction)
        return known.order_by(things.c.tx_from.desc()).limit(1).scalar_subquery()

    @staticmethod
    def told(filter: StatementFilter) -> list[ColumnElement[bool]]:
        """What the filter asks of a claim and its episode; one claim must match all of it."""
        evidence = []
        if filter.min_confidence is not None:
            evidence.append(claims.c.confidence >= filter.min_confidence)
        for column, value in ((episodes.c.grp, filter.group), (episodes.c.source, filter.source), (episodes.c.speaker, filter.speaker)):
            if value is not None:
                evidence.append(column == value)
        return evidence

    def _counted(self) -> ColumnElement[bool]:
        return and_(claims.c.tx_from < claims.c.tx_to, claims.c.tx_from <= self._basis.transaction, claims.c.tx_to >= statements.c.tx_from)

    def _in_time(self, filter: StatementFilter) -> list[ColumnElement[bool]]:
        at = self._basis.valid_at
        inside: ColumnElement[bool]
        over: ColumnElement[bool]
        if filter.valid_during is not None:
            start, end = filter.valid_during
            inside = and_(statements.c.v_from < end, statements.c.v_to > start)
            over = inside
        else:
            inside = and_(statements.c.v_from <= at, statements.c.v_to > at)
            over = statements.c.v_from <= at
        if not filter.include_invalidated:
            return [self.believed(statements), inside]
        later = statements.alias()
        replaced = select(later.c.row).where(
            later.c.proposition == statements.c.proposition,
            later.c.tx_from >= statements.c.tx_to,
            later.c.tx_from <= self._basis.transaction,
            later.c.v_from < statements.c.v_to,
            later.c.v_to > statements.c.v_from,
        )
        gone: ColumnElement[bool] = statements.c.tx_to <= self._basis.transaction
        if filter.valid_during is not None:
            gone = and_(gone, inside)
        # One row for each last known interval: none that a later one of its proposition overlaps.
        return [statements.c.tx_from <= self._basis.transaction, or_(over, gone), not_(replaced.exists())]

    def _by_predicate(self, filter: StatementFilter) -> list[ColumnElement[bool]]:
        conditions: list[ColumnElement[bool]] = []
        if filter.aspects is not None:
            named = [name for name, predicate in self._vocabulary.predicates.items() if predicate.aspect in filter.aspects]
            conditions.append(statements.c.predicate.in_(named))
        polarity = filter.polarity
        if filter.predicates is None:
            return conditions if polarity is None else [*conditions, statements.c.polarity == polarity]
        names = asked(self._vocabulary, filter.predicates)
        straight: ColumnElement[bool] = statements.c.predicate.in_(names.plain | names.swapped)
        if polarity is not None:
            straight = and_(straight, statements.c.polarity == polarity)
        # An antonym is the same slot with the other polarity: "dislikes" is what denies "likes".
        denied = and_(statements.c.predicate.in_(names.negated), statements.c.polarity == (polarity is False))
        return [*conditions, or_(straight, denied) if names.negated else straight]


def _named(column: Any) -> Any:
    return func.coalesce(column, "")


def position(row: Any) -> tuple[Any, ...]:
    """The keyset position of a row of `Selection.query`."""
    names = (row.subject_name or "", row.predicate, row.qualifier, row.object_name or "")
    return (row.v_from, *names, row.polarity, row.proposition, row.tx_from)
