"""Snapshots: everything that can be read on one basis. Reading creates nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, Row, and_, or_, select, tuple_

from graph.ledger.chunks import among, rows_among
from graph.ledger.claim_list import ClaimList
from graph.ledger.details import Describer, VocabularyAt
from graph.ledger.directory import Directory, believed_at
from graph.ledger.evidence import ClaimRow
from graph.ledger.rectangles import COLUMNS, Rectangle, places_about, rectangle
from graph.ledger.schema import claims, episodes, statements, things
from graph.ledger.selection import TOLD_IN, Selection, Wanted, asked, position
from graph.ledger.slots import Slots, segments
from graph.ledger.sources import current_copy, episodes_at, status_at, views_of
from graph.ledger.undeclared import Undeclared
from graph.views import (
    AnswerView,
    Basis,
    ClaimView,
    EntityRef,
    EntityView,
    EpisodeView,
    ObjectRef,
    Page,
    Positions,
    StatementFilter,
    StatementView,
    TimelineView,
    UndeclaredPredicate,
    Want,
)
from ontology.episode import EpisodeStatus
from ontology.errors import InvalidInput
from ontology.instant import Instant
from ontology.names import Keys, checked_name, normalise

T = TypeVar("T")
NEIGHBORS = 10_000
Neighbors = Callable[[Basis, str, int, int], list[tuple[str, int]]]
"""(entity key, hops) around an entity: basis, key, depth, limit."""


LOOKED_THROUGH = 200
"""Statements that are looked at together where what they cite decides."""
Matching = Callable[[Connection, Collection[ClaimRow]], set[int]]
"""The rows of those claims that match."""


class LedgerSnapshot:
    """One consistent view of a namespace, read from the ledger; what walks the graph is asked of the projection."""

    def __init__(self, engine: Engine, keys: Keys, vocabulary_at: VocabularyAt, basis: Basis, neighbors: Neighbors) -> None:
        self.basis = basis
        self._engine = engine
        self._keys = keys
        self._vocabulary_at = vocabulary_at
        self._vocabulary = vocabulary_at(basis.transaction)
        self._neighbors = neighbors
        self._selection = Selection(basis, self._vocabulary)
        self._slots = Slots(basis, keys, self._vocabulary)

    @contextmanager
    def _read(self) -> Iterator[Describer]:
        with self._engine.connect() as connection:
            yield Describer(connection, self._keys, self._vocabulary_at, self.basis)

    def _directory(self, connection: Connection) -> Directory:
        return Directory(connection, self.basis.namespace, self.basis.transaction, self.basis.evidence_until)

    def key_of(self, ref: EntityRef) -> str:
        """The key that a reference denotes."""
        return ref.key if ref.key is not None else self._keys.entity(self.basis.namespace, checked_name(ref.name or ""))

    def entity(self, ref: EntityRef) -> EntityView | None:
        """The entity, or None where nothing is known of it on the basis."""
        key = self.key_of(ref)
        with self._engine.connect() as connection:
            return self._directory(connection).entity(key)

    def entities(
        self, *, name: str | None = None, type: str | None = None, first: int = 20, after: Positions | None = None
    ) -> Page[EntityView]:
        """Entities whose name contains `name`, or of a type or one of its kinds, by name."""
        conditions = [
            things.c.namespace == self.basis.namespace,
            things.c.datatype.is_(None),
            believed_at(things, self.basis.transaction),
        ]
        if name is not None:
            conditions.append(things.c.folded.contains(normalise(name), autoescape=True))
        if type is not None:
            kinds = [known for known in self._vocabulary.entity_types if self._vocabulary.is_a(known, type)]
            conditions.append(things.c.type.in_(kinds or [type]))
        if after is not None:
            conditions.append(tuple_(things.c.folded, things.c.key) > tuple_(*after))
        query = select(things.c.key, things.c.folded).where(*conditions).order_by(things.c.folded, things.c.key).limit(first + 1)
        with self._engine.connect() as connection:
            rows = list(connection.execute(query))
            directory = Directory(connection, self.basis.namespace, self.basis.transaction)
            directory.load([row.key for row in rows[:first]])
            views = tuple(view for row in rows[:first] if (view := directory.entity(row.key)) is not None)
        return Page(views, tuple((row.folded, row.key) for row in rows[:first]), len(rows) > first)

    def statements(
        self, filter: StatementFilter, *, first: int = 20, after: Positions | None = None, want: frozenset[Want] = frozenset()
    ) -> Page[StatementView]:
        """Statements that match a filter."""
        return self._page(filter, None, "ANY", first, after, want)

    def statements_about(
        self,
        key: str,
        role: str,
        filter: StatementFilter,
        *,
        first: int = 20,
        after: Positions | None = None,
        want: frozenset[Want] = frozenset(),
    ) -> Page[StatementView]:
        """Statements with an entity as SUBJECT, OBJECT or ANY of both."""
        if self.basis.evidence_until is not None:
            return self._replayed_page(key, role, filter, first, after, want)
        return self._page(filter, key, role, first, after, want)

    def _page(
        self, filter: StatementFilter, entity: str | None, role: str, first: int, after: Positions | None, want: frozenset[Want]
    ) -> Page[StatementView]:
        told = self._selection.told(filter)

        def matching(connection: Connection, cited: Collection[ClaimRow]) -> set[int]:
            query = select(claims.c.row).join(episodes, TOLD_IN).where(among(claims.c.row), *told)
            return {row.row for row in rows_among(connection, query, {claim.row for claim in cited})}

        with self._read() as describer:
            rows = self._select(describer, Wanted(filter, entity, role), after, first + 1, matching if told else None)
            shown = rows[:first]
            swapped = frozenset(row.base for row in shown if self._selection.turned(row, entity, role, filter))
            views = describer.views([_rectangle(row) for row in shown], want, swapped)
        return Page(tuple(views), tuple(position(row) for row in shown), len(rows) > first)

    def _select(
        self, describer: Describer, wanted: Wanted, after: Positions | None, limit: int, matching: Matching | None
    ) -> list[Row[Any]]:
        """The first rows after a position; with `matching` those only that cite a claim that matches."""
        kept: list[Row[Any]] = []
        most = limit if matching is None else LOOKED_THROUGH
        while len(kept) < limit:
            query, values = self._selection.query(wanted, after=after, limit=most)
            rows = list(describer.connection.execute(query, values))
            if matching is None:
                return rows
            cited = describer.cited([_rectangle(row) for row in rows])
            found = matching(describer.connection, [claim for cite in cited.values() for claim in cite.rows])
            kept += [row for row in rows if any(claim.row in found for claim in cited[_rectangle(row)].rows)]
            if len(rows) < most:
                break
            after = position(rows[-1])
        return kept[:limit]

    def _replayed_page(
        self, entity: str, role: str, filter: StatementFilter, first: int, after: Positions | None, want: frozenset[Want]
    ) -> Page[StatementView]:
        """A page of what the evidence said by the limit makes of an entity; filtered and sorted here, as no table holds it."""
        unanswered = (filter.subjects, filter.objects, filter.min_confidence, filter.group, filter.source, filter.speaker)
        if any(value is not None for value in unanswered) or filter.include_invalidated:
            raise InvalidInput(
                "with `evidenceUntil`, statements are filtered by predicates, aspects, polarity and validDuring only",
                path=("filter",),
                reason="UNSUPPORTED_WITH_EVIDENCE_UNTIL",
            )
        with self._read() as describer:
            until = self.basis.evidence_until or 0
            places = places_about(describer.connection, self.basis.namespace, entity, self.basis.transaction, until)
            found = [row for row in self._slots.replay(describer.connection, places) if self._matches(row, entity, role, filter)]
            describer.directory.load({key for row in found for key in (row.subject, row.object)})

            def order(row: Rectangle) -> tuple[Any, ...]:
                names = (_name(describer.directory, row.subject), row.predicate, row.qualifier, _name(describer.directory, row.object))
                return (-row.v_from, *names, row.polarity, row.proposition, row.tx_from)

            found.sort(key=order)
            rest = [row for row in found if after is None or order(row) > (-after[0], *after[1:])]
            shown = rest[:first]
            swapped = frozenset(row.base for row in shown if self._selection.turned(row, entity, role, filter))
            views = describer.views(shown, want, swapped)
            positions = tuple((row.v_from, *order(row)[1:]) for row in shown)
        return Page(tuple(views), positions, len(rest) > first)

    def _matches(self, row: Rectangle, entity: str, role: str, filter: StatementFilter) -> bool:
        start, end = filter.valid_during or (self.basis.valid_at, self.basis.valid_at + 1)
        if not (row.v_from < end and row.v_to > start):
            return False
        if filter.aspects is not None and self._vocabulary.predicate(row.predicate).aspect not in filter.aspects:
            return False
        names = asked(self._vocabulary, filter.predicates) if filter.predicates is not None else None
        if names is not None and row.predicate in names.negated:
            if row.polarity != (filter.polarity is False):
                return False
        elif (names is not None and row.predicate not in names.plain | names.swapped) or (
            filter.polarity is not None and row.polarity != filter.polarity
        ):
            return False
        if role == "ANY":
            return True
        turned = self._selection.turned(row, entity, role, filter)
        return (row.object if (role == "SUBJECT") == turned else row.subject) == entity

    def statement(self, key: str, v_from: Instant, *, swapped: bool = False, want: frozenset[Want] = frozenset()) -> StatementView | None:
        """The statement of a proposition that begins at an instant: believed, else its last version; None where there was none."""
        with self._read() as describer:
            query = select(*COLUMNS).where(
                statements.c.namespace == self.basis.namespace,
                statements.c.proposition == key,
                statements.c.v_from == v_from,
                statements.c.tx_from <= self.basis.transaction,
            )
            row = describer.connection.execute(query.order_by(statements.c.tx_from.desc()).limit(1)).first()
            found = rectangle(row) if row is not None else None
            if self.basis.evidence_until is not None:
                places = self._slots.places_of(describer.connection, key)
                found = next(
                    (r for r in self._slots.replay(describer.connection, places) if r.proposition == key and r.v_from == v_from), None
                )
            if found is None:
                return None
            return describer.views([found], want, frozenset([found.base]) if swapped else frozenset())[0]

    def timeline(self, subject: EntityRef, predicate: str, qualifier: str = "", *, want: frozenset[Want] = frozenset()) -> TimelineView:
        """A slot over all valid time, as known on the basis."""
        canonical = self._vocabulary.canonical(predicate)
        shown_as = predicate if canonical.swapped else canonical.predicate.name
        key = self.key_of(subject)
        qualifier = normalise(qualifier)
        with self._read() as describer:
            rows, swapped = self._slots.rows(describer.connection, key, shown_as, qualifier)
            views = describer.views(rows, want, swapped)
            entity = describer.directory.entity(key)
        return TimelineView(entity, shown_as, qualifier, tuple(segments(views)))

    def ask(
        self, subject: EntityRef, predicate: str, object: ObjectRef, qualifier: str = "", *, want: frozenset[Want] = frozenset()
    ) -> AnswerView:
        """Whether a proposition is the case: yes where it holds, no where it is denied or ruled out, else unknown."""
        key, value = self.key_of(subject), self._object_key(object, predicate)
        with self._read() as describer:
            return self._slots.ask(describer, key, value, predicate, normalise(qualifier), want)

    def _object_key(self, object: ObjectRef, predicate: str) -> str:
        if object.key is not None:
            return object.key
        namespace = self.basis.namespace
        if object.literal is not None:
            return self._keys.literal(namespace, object.literal, object.datatype or "xsd:string")
        name = checked_name(object.name or "", path=("object", "name"))
        datatype = self._vocabulary.predicate(predicate).literal_range
        return self._keys.entity(namespace, name) if datatype is None else self._keys.literal(namespace, name, datatype)

    def episode(self, key: str) -> EpisodeView | None:
        """The current copy of an episode by its key."""
        with self._engine.connect() as connection:
            transaction = self.basis.transaction
            query = episodes_at(transaction).where(
                episodes.c.namespace == self.basis.namespace, episodes.c.key == key, current_copy(transaction)
            )
            views = views_of(connection, list(connection.execute(query)))
            return views[0] if views else None

    def episodes(
        self,
        *,
        group: str | None = None,
        source: str | None = None,
        status: Sequence[EpisodeStatus] | None = None,
        first: int = 20,
        after: Positions | None = None,
    ) -> Page[EpisodeView]:
        """Episodes recorded by the basis, newest said first."""
        transaction = self.basis.transaction
        query = episodes_at(transaction).where(episodes.c.namespace == self.basis.namespace, current_copy(transaction))
        if group is not None:
            query = query.where(episodes.c.grp == group)
        if source is not None:
            query = query.where(episodes.c.source == source)
        if status is not None:
            query = query.where(status_at(transaction).in_([str(one) for one in status]))
        if after is not None:
            query = query.where(or_(episodes.c.said < after[0], and_(episodes.c.said == after[0], episodes.c.key > after[1])))
        with self._engine.connect() as connection:
            rows = list(connection.execute(query.order_by(episodes.c.said.desc(), episodes.c.key).limit(first + 1)))
            views = views_of(connection, rows[:first])
        return Page(tuple(views), tuple((row.said, row.key) for row in rows[:first]), len(rows) > first)

    def episode_statements(
        self, key: str, *, first: int = 20, after: Positions | None = None, want: frozenset[Want] = frozenset()
    ) -> Page[StatementView]:
        """Statements that an episode asserts, of those that hold on the basis."""
        with self._read() as describer:

            def matching(_: Connection, cited: Collection[ClaimRow]) -> set[int]:
                return {claim.row for claim in cited if claim.episode == key}

            rows = self._select(describer, Wanted(StatementFilter(), episode=key), after, first + 1, matching)
            views = describer.views([_rectangle(row) for row in rows[:first]], want)
        return Page(tuple(views), tuple(position(row) for row in rows[:first]), len(rows) > first)

    def claims(
        self,
        filter: StatementFilter,
        *,
        candidate: bool | None = None,
        rejected: bool | None = None,
        first: int = 20,
        after: Positions | None = None,
    ) -> Page[ClaimView]:
        """Claims on the basis, newest said first: those in the set and rejected ones."""
        found = ClaimList(self.basis, self._vocabulary)
        with self._engine.connect() as connection:
            return found.page(connection, filter, candidate=candidate, rejected=rejected, first=first, after=after)

    def undeclared(self, *, least: int = 5) -> list[UndeclaredPredicate]:
        """Undeclared predicates with at least so many claims, most used first."""
        with self._engine.connect() as connection:
            return Undeclared(self.basis, self._vocabulary, self._slots).used(connection, least)

    def neighbors(self, key: str, *, depth: int = 1, first: int = 20, after: Positions | None = None) -> Page[EntityView]:
        """Entities up to `depth` hops away over positive statements that hold, nearest first, then by name."""
        if not 1 <= depth <= 3:
            raise InvalidInput("`depth` is 1 to 3", path=("depth",), reason="OUT_OF_RANGE")
        found = self._neighbors(self.basis, key, depth, NEIGHBORS)
        with self._engine.connect() as connection:
            directory = Directory(connection, self.basis.namespace, self.basis.transaction)
            directory.load([other for other, _ in found])
            placed = sorted((hops, normalise(_name(directory, other)), other) for other, hops in found)
            rest = [place for place in placed if after is None or place > tuple(after)]
            views = tuple(view for _, _, other in rest[:first] if isinstance(view := directory.required(other), EntityView))
        return Page(views, tuple(rest[:first]), len(rest) > first)


def _rectangle(row: Row[Any]) -> Rectangle:
    return rectangle(row[: len(COLUMNS)])


def _name(directory: Directory, key: str) -> str:
    found = directory.required(key)
    return found.name if isinstance(found, EntityView) else found.value
