"""Which statements: the filter of the contract as SQL over rectangles, ordered by the names that readers see.

A query is built once for each shape of filter (which parts it has) and then only bound to values: putting it together costs
more than SQLite needs to answer it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Select, and_, bindparam, case, exists, func, not_, or_, select, tuple_, union_all

from graph.belief.identity import IDENTITY
from graph.ledger.rectangles import COLUMNS
from graph.ledger.schema import claims, components, denotations, episodes, statements, things
from graph.ledger.standing import standing
from graph.views import Basis, StatementFilter
from ontology.vocabulary import Vocabulary

# The parts of a position: what orders statements after where they begin.
_POSITION = ("subject_name", "predicate", "qualifier", "object_name", "polarity", "proposition", "tx_from")


@dataclass(frozen=True, slots=True)
class Asked:
    """A filter's predicates in stored form: those asked in their own polarity, and in the other one; of both, those read from the other
    side alone. The antonym of an inverse is `negated` and `swapped`.
    """

    plain: frozenset[str]
    negated: frozenset[str]
    swapped: frozenset[str]

    @property
    def names(self) -> frozenset[str]:
        """All of them."""
        return self.plain | self.negated


def asked(vocabulary: Vocabulary, predicates: Sequence[str]) -> Asked:
    """Fold inverses and antonyms of the predicates that a reader names."""
    plain: set[str] = set()
    negated: set[str] = set()
    sides: dict[bool, set[str]] = {False: set(), True: set()}
    for name in predicates:
        canonical = vocabulary.canonical(name)
        (negated if canonical.negated else plain).add(canonical.predicate.name)
        sides[canonical.swapped].add(canonical.predicate.name)
    return Asked(frozenset(plain), frozenset(negated), frozenset(sides[True] - sides[False]))


TOLD_IN = and_(episodes.c.key == claims.c.episode, episodes.c.revision == claims.c.revision)
"""Joins claims to the copy of the episode that they stand in."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Statements that match a filter: of an entity in a `role` (SUBJECT, OBJECT, ANY), or on some propositions.

    All keys are given under which statements may be stored: `entity` are those of one entity, `bases` those of propositions, the
    filter's `subjects` and `objects` hold all keys of theirs. `joined`: some entities of the namespace may be known by several.
    """

    filter: StatementFilter
    entity: tuple[str, ...] | None = None
    role: str = "ANY"
    bases: tuple[str, ...] | None = None
    joined: bool = False

    @property
    def sided(self) -> bool:
        """Whether it asks for statements from a side."""
        return any(self.sides())

    def sides(self) -> tuple[list[Sequence[str]], list[Sequence[str]]]:
        """The keys of which the subject, and those of which the object, must be one."""
        mine = [] if self.entity is None else [self.entity]
        subjects = [keys for keys in (self.filter.subjects,) if keys is not None] + (mine if self.role == "SUBJECT" else [])
        objects = [keys for keys in (self.filter.objects,) if keys is not None] + (mine if self.role == "OBJECT" else [])
        return list(subjects), list(objects)


@dataclass(frozen=True, slots=True)
class Shape:
    """Which parts a filter has; the values are bound."""

    role: str | None
    several: bool
    bases: bool
    joined: bool
    predicates: bool
    polarity: bool
    aspects: bool
    subjects: bool
    objects: bool
    confidence: bool
    group: bool
    source: bool
    speaker: bool
    during: bool
    invalidated: bool
    after: bool


class Selection:
    """Rectangles on one basis that match a filter."""

    def __init__(self, basis: Basis, vocabulary: Vocabulary) -> None:
        self._basis = basis
        self._vocabulary = vocabulary
        self._symmetric = frozenset(name for name, predicate in vocabulary.predicates.items() if predicate.symmetric)

    def query(self, wanted: Wanted, *, after: Sequence[Any] | None, limit: int) -> tuple[Select[Any], dict[str, Any]]:
        """The query for rectangles with their position, in the order of the contract, and its values."""
        filter, entity, bases = wanted.filter, wanted.entity, wanted.bases
        shape = Shape(
            wanted.role if entity is not None else None,
            entity is not None and len(entity) > 1,
            bases is not None,
            wanted.joined,
            filter.predicates is not None,
            filter.polarity is not None,
            filter.aspects is not None,
            filter.subjects is not None,
            filter.objects is not None,
            filter.min_confidence is not None,
            filter.group is not None,
            filter.source is not None,
            filter.speaker is not None,
            filter.valid_during is not None,
            filter.include_invalidated,
            after is not None,
        )
        names = asked(self._vocabulary, filter.predicates or ())
        start, end = filter.valid_during or (self._basis.valid_at, self._basis.valid_at)
        aspects = filter.aspects or ()
        values = {
            "namespace": self._basis.namespace,
            "transaction": self._basis.transaction,
            "start": start,
            "end": end,
            "entity": entity[0] if entity else None,
            "entities": list(entity or ()),
            "bases": list(bases or ()),
            "straight": list(names.plain),
            "negated": list(names.negated),
            "swapped": list(names.swapped),
            "turned": list(names.swapped | (self._symmetric if filter.predicates is None else self._symmetric & names.names)),
            "symmetric": sorted(self._symmetric - {IDENTITY}),
            "polarity": filter.polarity,
            # An antonym is the same slot with the other polarity: "dislikes" is what denies "likes".
            "denied": filter.polarity is False,
            "of_aspects": [name for name, known in self._vocabulary.predicates.items() if known.aspect in aspects],
            "subjects": list(filter.subjects or ()),
            "objects": list(filter.objects or ()),
            "confidence": filter.min_confidence,
            "group": filter.group,
            "source": filter.source,
            "speaker": filter.speaker,
            "limit": limit,
        }
        if after is not None:
            values |= {"after_start": after[0], **{f"after_{name}": value for name, value in zip(_POSITION, after[1:], strict=True)}}
        built, used = _built(shape)
        return built, {name: value for name, value in values.items() if name in used}

    def turned(self, row: Any, wanted: Wanted) -> bool:
        """Whether a row found is to be shown from its other side."""
        predicates = wanted.filter.predicates
        if predicates is not None and row.predicate in asked(self._vocabulary, predicates).swapped:
            return True
        if row.predicate not in self._symmetric:
            return False
        subjects, objects = wanted.sides()
        return not (all(row.subject in keys for keys in subjects) and all(row.object in keys for keys in objects))

    @staticmethod
    def told(filter: StatementFilter) -> list[ColumnElement[bool]]:
        """What the filter asks of a claim and its episode; one claim must match all of it."""
        asks = ((episodes.c.grp, filter.group), (episodes.c.source, filter.source), (episodes.c.speaker, filter.speaker))
        found: list[ColumnElement[bool]] = [column == value for column, value in asks if value is not None]
        return found if filter.min_confidence is None else [claims.c.confidence >= filter.min_confidence, *found]


def position(row: Any) -> tuple[Any, ...]:
    """The keyset position of a row of `Selection.query`."""
    names = (row.subject_name or "", row.predicate, row.qualifier, row.object_name or "")
    return (row.v_from, *names, row.polarity, row.proposition, row.tx_from)


@lru_cache(maxsize=512)
def _built(shape: Shape) -> tuple[Select[Any], frozenset[str]]:
    """The query of a shape, and the names of its values."""
    subject, object = things.alias(), things.alias()
    named: dict[str, ColumnElement[Any]] = {"subject_name": subject.c.name, "object_name": object.c.name}
    if shape.invalidated:
        # A gone statement may speak of what has no name left: it stands where it stood by the last one.
        named = {"subject_name": _last_name(statements.c.subject), "object_name": _last_name(statements.c.object)}
    if shape.joined:
        folded = (_last_name(key, things.c.folded) for key in (statements.c.subject, statements.c.object))
        named = _by_lesser_name(named, *(folded if shape.invalidated else (subject.c.folded, object.c.folded)))
    query = select(*COLUMNS, *(column.label(name) for name, column in named.items()))
    if not shape.invalidated:
        for table, key in ((subject, statements.c.subject), (object, statements.c.object)):
            query = query.outerjoin(table, and_(table.c.key == key, standing(table)))
    looked_up = _by_thing(shape)
    # Behind a function the namespace cannot be searched for: else SQLite prefers its order by time to the rows looked up.
    namespace = func.coalesce(statements.c.namespace, "") if looked_up or shape.bases else statements.c.namespace
    query = query.where(namespace == bindparam("namespace"), *_in_time(shape), *_by_predicate(shape), *looked_up)
    if shape.bases:
        query = query.where(_among(statements.c.base, "bases"))
    evidence = _by_evidence(shape)
    if evidence:
        counted = and_(
            claims.c.tx_from < claims.c.tx_to,
            claims.c.tx_from <= bindparam("transaction"),
            claims.c.tx_to >= statements.c.tx_from,
        )
        # More than match: `Snapshot` looks at what each statement cites.
        told = exists().where(claims.c.proposition == statements.c.base, claims.c.believed, counted, TOLD_IN, *evidence)
        # Claims on an entity that has several keys may stand under others than its statement.
        query = query.where(or_(told, *_of_several_keys()) if shape.joined else told)
    names = {name: func.coalesce(column, "") for name, column in named.items()}
    place = tuple(names[name] if name in names else statements.c[name] for name in _POSITION)
    if shape.after:
        beyond = tuple_(*place) > tuple_(*(bindparam(f"after_{name}") for name in _POSITION))
        start: BindParameter[int] = bindparam("after_start")
        query = query.where(or_(statements.c.v_from < start, and_(statements.c.v_from == start, beyond)))
    query = query.order_by(statements.c.v_from.desc(), *place).limit(bindparam("limit"))
    return query, frozenset(query.compile().params)


def _by_lesser_name(
    named: dict[str, ColumnElement[Any]], subject: ColumnElement[Any], object: ColumnElement[Any]
) -> dict[str, ColumnElement[Any]]:
    """The names in the order in which a relation is shown: a symmetric one may be stored from either side (`Describer.backwards`)."""
    one, other = (func.coalesce(name, "") for name in named.values())
    symmetric = and_(_among(statements.c.predicate, "symmetric"), not_(statements.c.object_is_literal))
    turned = and_(symmetric, func.coalesce(object, "") < func.coalesce(subject, ""))
    return {"subject_name": case((turned, other), else_=one), "object_name": case((turned, one), else_=other)}


def _in_time(shape: Shape) -> list[ColumnElement[bool]]:
    start: BindParameter[int] = bindparam("start")
    end: BindParameter[int] = bindparam("end")
    inside: ColumnElement[bool] = and_(statements.c.v_from <= end, statements.c.v_to > start)
    if shape.during:
        inside = and_(statements.c.v_from < end, statements.c.v_to > start)
    if not shape.invalidated:
        return [standing(statements), inside]
    over = inside if shape.during else statements.c.v_from <= end
    later = statements.alias()
    replaced = select(later.c.row).where(
        later.c.proposition == statements.c.proposition,
        later.c.tx_from >= statements.c.tx_to,
        later.c.tx_from <= bindparam("transaction"),
        later.c.v_from < statements.c.v_to,
        later.c.v_to > statements.c.v_from,
    )
    gone: ColumnElement[bool] = statements.c.tx_to <= bindparam("transaction")
    if shape.during:
        gone = and_(gone, inside)
    # One row for each last known interval: none that a later one of its proposition overlaps.
    return [statements.c.tx_from <= bindparam("transaction"), or_(over, gone), not_(replaced.exists())]


def _by_predicate(shape: Shape) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if shape.aspects:
        conditions.append(_among(statements.c.predicate, "of_aspects"))
    stated: list[ColumnElement[bool]] = [statements.c.polarity == bindparam("polarity")] if shape.polarity else []
    if not shape.predicates:
        return conditions + stated
    straight = and_(_among(statements.c.predicate, "straight"), *stated)
    denied = and_(_among(statements.c.predicate, "negated"), statements.c.polarity == bindparam("denied"))
    return [*conditions, or_(straight, denied)]


def _by_thing(shape: Shape) -> list[ColumnElement[bool]]:
    """Statements whose subject and object, seen from the side that the filter's predicates ask for, are as wanted.

    Their rows are looked up by subject and by object first: with an OR beside the order by time SQLite would walk all
    statements of the namespace in that order (100 ms at 100,000) rather than the few of the thing.
    """
    found = statements.alias()

    def mine(column: ColumnElement[Any]) -> ColumnElement[bool]:
        one: BindParameter[str] = bindparam("entity")
        return _among(column, "entities") if shape.several else column == one

    def side(subject: ColumnElement[Any], object: ColumnElement[Any]) -> list[ColumnElement[bool]]:
        conditions: list[ColumnElement[bool]] = []
        for column, wanted, name, role in ((subject, shape.subjects, "subjects", "SUBJECT"), (object, shape.objects, "objects", "OBJECT")):
            if wanted:
                conditions.append(_among(column, name))
            if shape.role == role:
                conditions.append(mine(column))
        return conditions

    looked_up: list[ColumnElement[bool]] = []
    if shape.role == "ANY":
        either = (select(found.c.row).where(mine(column)) for column in (found.c.subject, found.c.object))
        looked_up.append(statements.c.row.in_(union_all(*either)))
    straight = side(found.c.subject, found.c.object)
    if straight:
        as_stored = select(found.c.row).where(*straight, not_(_among(found.c.predicate, "swapped")))
        turned = select(found.c.row).where(*side(found.c.object, found.c.subject), _among(found.c.predicate, "turned"))
        looked_up.append(statements.c.row.in_(union_all(as_stored, turned)))
    return looked_up


def _of_several_keys() -> list[ColumnElement[bool]]:
    """Statements of entities that are, or were, joined with others, or of which others' names speak somewhere."""
    sides = (statements.c.subject, statements.c.object)
    return [exists().where(column.in_(sides)) for column in (components.c.member, denotations.c.target, denotations.c.key)]


def _by_evidence(shape: Shape) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if shape.confidence:
        conditions.append(claims.c.confidence >= bindparam("confidence"))
    named = (
        (shape.group, "group", episodes.c.grp),
        (shape.source, "source", episodes.c.source),
        (shape.speaker, "speaker", episodes.c.speaker),
    )
    conditions += [column == bindparam(name) for wanted, name, column in named if wanted]
    return conditions


def _last_name(key: ColumnElement[Any], form: ColumnElement[Any] = things.c.name) -> ColumnElement[Any]:
    known = select(form).where(things.c.key == key, things.c.tx_from <= bindparam("transaction"))
    return known.order_by(things.c.tx_from.desc()).limit(1).scalar_subquery()


def _among(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    return column.in_(bindparam(name, expanding=True))
