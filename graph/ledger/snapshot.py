"""Snapshots: everything that can be read on one basis. Reading creates nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeVar

from sqlalchemy import Engine, Row, and_, or_, select, true, tuple_

from graph.ledger.chunks import among, rows_among
from graph.ledger.citing import citing
from graph.ledger.claim_list import ClaimList
from graph.ledger.details import Describer, VocabularyAt
from graph.ledger.directory import Directory
from graph.ledger.drifting import LedgerDrift
from graph.ledger.footing import Footing
from graph.ledger.gathered import LOOKED_THROUGH, Gathered, Matching
from graph.ledger.identity import Place, place_of
from graph.ledger.known_identity import IdentityCache
from graph.ledger.patterns import LedgerPatterns, Walks
from graph.ledger.rectangles import COLUMNS, Rectangle, outlived_among, rectangle
from graph.ledger.resolutions import Resolutions
from graph.ledger.schema import claims, components, episodes, statements, things
from graph.ledger.selection import Wanted, position
from graph.ledger.slots import segments
from graph.ledger.sources import current_copy, episodes_at, status_at, views_of
from graph.ledger.standing import believed_at, standing
from graph.ledger.surveys import Surveys
from graph.ledger.suspecting import Suspicions
from graph.ledger.undeclared import Undeclared
from graph.recall.context import block, checked_budget, hits_for
from graph.recall.paging import Pager
from graph.recall.recalling import Recall, RecallUnavailable
from graph.recall.views import DEFAULTS, Context, Kind, Recalled, RecallOptions
from graph.store.port import GraphBasis
from graph.store.sql_engine import SqlStore
from graph.views import (
    EVERYTHING,
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
    SuspectedSplit,
    TimelineView,
    UndeclaredPredicate,
    Want,
)
from ontology.episode import EpisodeStatus
from ontology.errors import InvalidInput
from ontology.instant import Instant
from ontology.names import Keys, normalise

T = TypeVar("T")
NEIGHBORS = 10_000
Neighbors = Callable[[Basis, str, int, int], list[tuple[str, int]]]
"""(entity key, hops) around an entity: basis, key, depth, limit."""


_FOLDED = select(things.c.key, things.c.folded).where(among(things.c.key), standing(things))


class LedgerSnapshot:
    """One consistent view of a namespace, read from the ledger; what walks the graph is asked of the projection."""

    def __init__(
        self,
        engine: Engine,
        keys: Keys,
        vocabulary_at: VocabularyAt,
        basis: Basis,
        neighbors: Neighbors,
        identities: IdentityCache,
        resolutions: Resolutions,
        surveys: Surveys,
        recall: Recall | None = None,
        *,
        walks: Walks,
    ) -> None:
        self.basis = basis
        self.footing = Footing(engine, keys, vocabulary_at, basis, identities, resolutions)
        self._surveys = surveys
        self._recall = recall
        self.patterns = LedgerPatterns(self.footing, walks)
        self._engine = engine
        self._keys = keys
        self._vocabulary = self.footing.vocabulary
        self._neighbors = neighbors
        self._selection = self.footing.selection
        self._slots = self.footing.slots
        self._read = self.footing.read
        self._key = self.footing.key

    def key_of(self, ref: EntityRef) -> str:
        """The key that a reference denotes: of the entity that the key or name belongs to on the basis."""
        with self._read() as describer:
            return self._key(describer, ref)

    def entity(self, ref: EntityRef) -> EntityView | None:
        """The entity, or None where nothing is known of it on the basis."""
        with self._read() as describer:
            return describer.directory.entity(self._key(describer, ref))

    def entities(
        self, *, name: str | None = None, type: str | None = None, first: int = 20, after: Positions | None = None
    ) -> Page[EntityView]:
        """Entities one of whose names contains `name`, or of a type or one of its kinds, by name."""
        mine = (things.c.namespace == self.basis.namespace, things.c.datatype.is_(None), believed_at(things, self.basis.transaction))
        joined = believed_at(components, self.basis.transaction)
        # Of a component only the member stands whose key is the entity's.
        other = select(components.c.row).where(components.c.member == things.c.key, components.c.root != things.c.key, joined)
        conditions = [*mine, ~other.exists()]
        if name is not None:
            part = normalise(name)
            member = things.alias()
            named = (
                select(components.c.root)
                .join(member, member.c.key == components.c.member)
                .where(joined, believed_at(member, self.basis.transaction), member.c.own.contains(part, autoescape=True))
            )
            conditions.append(or_(things.c.own.contains(part, autoescape=True), things.c.key.in_(named)))
        if type is not None:
            kinds = [known for known in self._vocabulary.entity_types if self._vocabulary.is_a(known, type)]
            conditions.append(things.c.type.in_(kinds or [type]))
        if after is not None:
            conditions.append(tuple_(things.c.folded, things.c.key) > tuple_(*after))
        query = select(things.c.key, things.c.folded).where(*conditions).order_by(things.c.folded, things.c.key).limit(first + 1)
        with self._read() as describer:
            rows = list(describer.rows.execute(query))
            describer.directory.load([row.key for row in rows[:first]])
            views = tuple(view for row in rows[:first] if (view := describer.directory.entity(row.key)) is not None)
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
        return self._page(filter, key, role, first, after, want)

    def _page(
        self, filter: StatementFilter, entity: str | None, role: str, first: int, after: Positions | None, want: frozenset[Want]
    ) -> Page[StatementView]:
        told = self._selection.told(filter)
        with self._read() as describer:
            matching = partial(citing, describer, told=told) if told else None
            wanted = self.footing.wanted(describer, filter, entity, role)
            gathered = self._gathered(describer, wanted) if self.basis.evidence_until is not None else None
            if gathered is not None:
                return self._pages(describer).page(gathered, wanted, first, after, want, matching)
            rows = self._select(describer, wanted, after, first + 1, matching)
            shown = rows[:first]
            swapped = frozenset(row.base for row in shown if self._selection.turned(row, wanted))
            views = describer.views([_rectangle(row) for row in shown], want, swapped, sided=wanted.sided)
        return Page(tuple(views), tuple(position(row) for row in shown), len(rows) > first)

    def _select(
        self, describer: Describer, wanted: Wanted, after: Positions | None, limit: int, matching: Matching | None
    ) -> list[Row[Any]]:
        """The first rows after a position; with `matching` those only that match."""
        kept: list[Row[Any]] = []
        gone = wanted.filter.include_invalidated and wanted.joined
        # At first no more than are likely to do.
        most = limit if matching is None and not gone else min(2 * limit, LOOKED_THROUGH)
        while len(kept) < limit:
            query, values = self._selection.query(wanted, after=after, limit=most)
            rows = list(describer.rows.execute(query, values))
            looked_at = len(rows)
            after = position(rows[-1]) if rows else after
            if gone:
                outlived = outlived_among(describer.connection, describer.identity, map(_rectangle, rows), self.basis.transaction)
                rows = [row for row in rows if _rectangle(row) not in outlived]
            if matching is not None:
                found = matching([_rectangle(row) for row in rows])
                rows = [row for row in rows if _rectangle(row) in found]
            kept += rows
            if looked_at < most:
                break
            most = limit if matching is None and not gone else LOOKED_THROUGH
        return kept[:limit]

    def _gathered(self, describer: Describer, wanted: Wanted) -> list[Rectangle] | None:
        """Under a said-time limit what may match, where that can be known without looking at all of the namespace; else None."""
        pages = self._pages(describer)
        if wanted.filter.include_invalidated:
            # No table holds what this evidence made believed before.
            return self._slots.past(describer, pages.ever_told(wanted))
        return pages.told(wanted)

    def _pages(self, describer: Describer) -> Gathered:
        return Gathered(describer, self.basis, self._vocabulary, self._selection)

    def statement(
        self, key: str, v_from: Instant, *, swapped: bool = False, closed: bool = False, want: frozenset[Want] = frozenset()
    ) -> StatementView | None:
        """The statement of a proposition that begins at an instant: believed, else its last version; None where there was none.

        `closed`: only one that the transaction of the basis closed.
        """
        with self._read() as describer:
            places = self._slots.places_of(describer, key)
            if not places:
                return None
            describer.identity.load([places[0].subject, places[0].object])
            place = describer.identity.here(places[0])
            if self.basis.evidence_until is not None:
                rows = [row for row in describer.told([place]) if row.v_from == v_from]
                rows = rows or [row for row in describer.replay([place]) if row.v_from == v_from]
            else:
                query = select(*COLUMNS).where(
                    among(statements.c.base), statements.c.v_from == v_from, statements.c.tx_from <= self.basis.transaction
                )
                rows = [rectangle(row) for row in rows_among(describer.connection, query, describer.identity.kept_under(place))]
            # The key of a denial is not that of its proposition: of what stands under that it tells which is meant.
            denied = key in {self._keys.denial(row.base) for row in rows} | {self._keys.denial(place.proposition)}
            mine = [row for row in rows if row.polarity != denied and (not closed or row.tx_to == self.basis.transaction)]
            if not mine:
                return None
            # Of rows under several keys of its entities one may be believed that was there before the last.
            found = max(mine, key=lambda row: (min(row.tx_to, self.basis.transaction + 1), row.tx_from, row.proposition))
            return describer.views([found], want, frozenset([found.base]) if swapped else frozenset(), sided=True)[0]

    def timeline(self, subject: EntityRef, predicate: str, qualifier: str = "", *, want: frozenset[Want] = frozenset()) -> TimelineView:
        """A slot over all valid time, as known on the basis."""
        canonical = self._vocabulary.canonical(predicate)
        shown_as = predicate if canonical.swapped else canonical.predicate.name
        qualifier = normalise(qualifier)
        with self._read() as describer:
            key = self._key(describer, subject)
            rows, swapped = self._slots.rows(describer, key, shown_as, qualifier)
            views = describer.views(rows, want, swapped, sided=True)
            entity = describer.directory.entity(key)
        return TimelineView(entity, shown_as, qualifier, tuple(segments(views)))

    def ask(
        self, subject: EntityRef, predicate: str, object: ObjectRef, qualifier: str = "", *, want: frozenset[Want] = frozenset()
    ) -> AnswerView:
        """Whether a proposition is the case: yes where it holds, no where it is denied or ruled out, else unknown."""
        with self._read() as describer:
            key, value = self._key(describer, subject), self.footing.object_key(describer, object, predicate)
            return self._slots.ask(describer, key, value, predicate, normalise(qualifier), want)

    def episode(self, key: str) -> EpisodeView | None:
        """The current copy of an episode by its key."""
        with self._engine.connect() as connection:
            query = self._episodes().where(episodes.c.key == key)
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
        """Episodes recorded and said by the basis, newest said first."""
        transaction, query = self.basis.transaction, self._episodes()
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

    def _episodes(self) -> Any:
        """The current copies of episodes recorded and said by the basis."""
        transaction, until = self.basis.transaction, self.basis.evidence_until
        query = episodes_at(transaction).where(episodes.c.namespace == self.basis.namespace, current_copy(transaction))
        return query if until is None else query.where(episodes.c.said <= until)

    def episode_statements(
        self, key: str, *, first: int = 20, after: Positions | None = None, want: frozenset[Want] = frozenset()
    ) -> Page[StatementView]:
        """Statements that an episode asserts, of those that hold on the basis."""
        with self._read() as describer:

            def mine(rows: Collection[Rectangle]) -> set[Rectangle]:
                cited = describer.cited(rows)
                return {row for row, cite in cited.items() if any(claim.episode == key for claim in cite.rows)}

            places = self._told_by(describer, key)
            if self.basis.evidence_until is not None:
                return self._pages(describer).page(describer.told(places), Wanted(StatementFilter()), first, after, want, mine)
            bases = tuple(sorted({key for place in places for key in describer.identity.kept_under(place)}))
            rows = self._select(describer, Wanted(StatementFilter(), bases=bases), after, first + 1, mine)
            views = describer.views([_rectangle(row) for row in rows[:first]], want)
        return Page(tuple(views), tuple(position(row) for row in rows[:first]), len(rows) > first)

    def _told_by(self, describer: Describer, episode: str) -> list[Place]:
        """The propositions that the claims of an episode speak of."""
        mine = and_(claims.c.namespace == self.basis.namespace, claims.c.episode == episode, claims.c.believed)
        told = and_(mine, believed_at(claims, self.basis.transaction))
        until = self.basis.evidence_until
        rows = list(describer.connection.execute(select(claims).where(told, true() if until is None else claims.c.said <= until)))
        identity = describer.identity
        identity.load({key for row in rows for key in (row.subject, row.object)})
        return list({place.proposition: place for place in (place_of(identity.settled(row)) for row in rows)}.values())

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
        with self._read() as describer:
            return found.page(describer, filter, candidate=candidate, rejected=rejected, first=first, after=after)

    def suspected_splits(self, key: str) -> tuple[SuspectedSplit, ...]:
        """Signs that an entity is two of one name."""
        with self._read() as describer:
            return Suspicions(self.basis, self._vocabulary).of(describer, key)

    def suspects(self, *, first: int = 20, after: Positions | None = None) -> Page[EntityView]:
        """Entities with suspected splits, by name."""
        with self._read() as describer:
            found = Suspicions(self.basis, self._vocabulary).suspects(describer)
        placed = [((normalise(view.name), view.key), view) for view in found]
        rest = [(place, view) for place, view in placed if after is None or place > tuple(after)]
        return Page(tuple(view for _, view in rest[:first]), tuple(place for place, _ in rest[:first]), len(rest) > first)

    def undeclared(self, *, least: int = 5) -> list[UndeclaredPredicate]:
        """Undeclared predicates with at least so many claims, most used first."""
        with self._read() as describer:
            return Undeclared(self.basis, self._vocabulary).used(describer, least)

    def neighbors(self, key: str, *, depth: int = 1, first: int = 20, after: Positions | None = None) -> Page[EntityView]:
        """Entities up to `depth` hops away over positive statements that hold, nearest first, then by name."""
        if not 1 <= depth <= 3:
            raise InvalidInput("`depth` is 1 to 3", path=("depth",), reason="OUT_OF_RANGE")
        with self._read() as describer:
            if describer.rows is describer.connection:
                found = self._neighbors(self.basis, key, depth, NEIGHBORS)
            else:
                # What follows the ledger knows nothing of a limit.
                at = GraphBasis(self.basis.namespace, self.basis.valid_at, self.basis.transaction)
                found = SqlStore(describer.rows.engine).neighbors(at, key, depth, NEIGHBORS)
            directory = describer.directory
            rest: list[tuple[int, str, str]] = []
            for hops, level in groupby(found, itemgetter(1)):
                if after is not None and hops < after[0]:
                    continue
                keys = [key for key, _ in level]
                at_once = rows_among(describer.rows, _FOLDED, keys, transaction=self.basis.transaction)
                names = {row.key: row.folded for row in at_once}
                placed = sorted((hops, names[key] if key in names else normalise(_name(directory, key)), key) for key in keys)
                rest += [place for place in placed if after is None or place > tuple(after)]
                if len(rest) > first:
                    # Those further away are many, and their names are what costs.
                    break
            directory.load([key for _, _, key in rest[:first]])
            views = tuple(view for _, _, key in rest[:first] if isinstance(view := directory.required(key), EntityView))
        return Page(views, tuple(rest[:first]), len(rest) > first)

    @property
    def drift(self) -> LedgerDrift:
        """What this basis says of change."""
        return LedgerDrift(self.footing, self._surveys)

    @property
    def index_version(self) -> str:
        """Version of the recall index and embedder on this basis; `none` without an index."""
        return "none" if self._recall is None else self._recall.version(self.basis)

    def recall(
        self,
        query: str,
        *,
        options: RecallOptions = DEFAULTS,
        filter: StatementFilter = EVERYTHING,
        first: int = 10,
        after: Positions | None = None,
        want: frozenset[Want] = frozenset(),
    ) -> Recalled:
        """What bears on a question among what holds on this basis, best first."""
        recall = self._recall
        if recall is None:
            raise RecallUnavailable("this graph was opened without a recall index")
        with self._read() as describer:
            ranking = recall.rank(describer, self._keys, self.basis, self._vocabulary, query, options, filter)
            if ranking.admission is None:
                return Recalled(Page((), (), False), 0, ranking.degraded)
            return Pager(recall, describer, self.basis, self._selection, self._slots, filter).page(ranking, first, after, want)

    def context(
        self,
        query: str,
        *,
        token_budget: int = 1500,
        options: RecallOptions = DEFAULTS,
        filter: StatementFilter = EVERYTHING,
        want: frozenset[Want] = frozenset(),
    ) -> Context:
        """What recall finds as a block of text for a prompt."""
        first = hits_for(checked_budget(token_budget))
        if Kind.STATEMENT not in options.kinds:
            raise InvalidInput("a context tells statements: `kinds` has to name them", path=("options", "kinds"), reason="UNSUPPORTED")
        parts = (want - {Want.BARE}) | {Want.PROVENANCE}
        if filter.include_invalidated or filter.valid_during is not None:
            parts |= {Want.INVALIDATION}
        found = self.recall(query, options=replace(options, kinds=(Kind.STATEMENT,)), filter=filter, first=first, want=parts)
        statements = [hit.node for hit in found.page.items if isinstance(hit.node, StatementView)]
        return block(statements, self.basis.valid_at, token_budget, found.degraded)


def _rectangle(row: Row[Any]) -> Rectangle:
    return rectangle(row[: len(COLUMNS)])


def _name(directory: Directory, key: str) -> str:
    found = directory.required(key)
    return found.name if isinstance(found, EntityView) else found.value
