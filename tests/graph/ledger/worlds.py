"""Namespaces with a history, and what of them is compared: by content, as keys differ from one namespace to the next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from sqlalchemy import select

from graph.belief.traits import traits_of
from graph.ledger.evidence import claim_of
from graph.ledger.schema import claims, statements, transactions
from graph.service import LedgerGraph
from graph.views import EntityRef, EntityView, ObjectRef, Receipt, StatedClaim, StatementFilter, StatementView, Want
from ontology.claim import ClaimDraft
from ontology.episode import EpisodeDraft
from ontology.errors import InvalidInput
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant
from ontology.vocabulary import Vocabulary
from tests.graph.belief.oracle import Oracle
from tests.graph.ledger.strategies import Event, Told, Withdrawn

ALWAYS = StatementFilter(valid_during=(UNBOUNDED_PAST, UNBOUNDED_FUTURE))
EVERYTHING = frozenset(Want)
_fresh = count()

Rectangle = tuple[str, bool, Instant, Instant]
"""(positive proposition, polarity, from, to)."""


class World:
    """A namespace of its own in a shared ledger."""

    def __init__(self, graph: LedgerGraph, events: Iterable[Event] = ()) -> None:
        self.graph, self.namespace = graph, f"world-{next(_fresh)}"
        for event in events:
            self.record(event)

    def record(self, event: Event) -> Receipt | None:
        """One event alone. None: it was refused."""
        if isinstance(event, Withdrawn):
            return self.graph.retract(self.namespace, source="chat", external_id=event.external_id, reason=None)
        if not event.stated:
            return self.together([event])[0]
        try:
            return self.graph.record_stated(self.namespace, event.draft, [StatedClaim(claim) for claim in event.claims])
        except InvalidInput:
            return None

    def together(self, told: Sequence[Told]) -> list[Receipt]:
        """Several extracted episodes in one transaction."""
        found: list[tuple[EpisodeDraft, Sequence[ClaimDraft], Sequence[str]]] = [(one.draft, one.claims, ()) for one in told]
        return self.graph.record_extracted(self.namespace, found, extractor="test", quarantined=[one.held for one in told])

    def in_batches(self, events: Sequence[Event], sizes: Iterable[int]) -> None:
        """The events in order, extracted episodes that follow each other together, at most `size` of them."""
        waiting: list[Told] = []
        left = iter(sizes)
        size = next(left, 1)
        for event in events:
            if isinstance(event, Told) and not event.stated:
                waiting.append(event)
            if waiting and (not isinstance(event, Told) or event.stated or len(waiting) >= size):
                self.together(waiting)
                waiting, size = [], next(left, 1)
            if not isinstance(event, Told) or event.stated:
                self.record(event)
        if waiting:
            self.together(waiting)

    def snapshot(self, **basis: Any) -> Any:
        """A snapshot whose present never moves."""
        return self.graph.snapshot(self.namespace, **{"valid_at": 0, **basis})

    def numbers(self) -> list[int]:
        """The transactions of the namespace, oldest first."""
        query = select(transactions.c.number).where(transactions.c.namespace == self.namespace).order_by(transactions.c.number)
        with self.graph._engine.connect() as connection:
            return list(connection.execute(query).scalars())

    def stored(self) -> list[Any]:
        """All rows of statements."""
        with self.graph._engine.connect() as connection:
            return list(connection.execute(select(statements).where(statements.c.namespace == self.namespace).order_by(statements.c.row)))

    def stored_at(self, transaction: int) -> set[Rectangle]:
        """The rectangles believed at a transaction."""
        return {(row.base, row.polarity, row.v_from, row.v_to) for row in self.stored() if row.tx_from <= transaction < row.tx_to}

    def picture(self, **basis: Any) -> dict[str, list[Any]]:
        """What a reader sees, by content."""
        snapshot = self.snapshot(**basis)
        views = pages(lambda after: snapshot.statements(ALWAYS, first=100, after=after, want=frozenset({Want.PROVENANCE})))
        return {
            "statements": [content(view) for view in views],
            "entities": [(one.name, one.type, one.aliases) for one in pages(lambda after: snapshot.entities(first=100, after=after))],
            "episodes": sorted(
                (one.source, one.external_id, one.content or "", one.said_at, one.status, one.speaker or "")
                for one in pages(lambda after: snapshot.episodes(first=100, after=after))
            ),
        }

    def everything(self, transaction: int) -> list[Any]:
        """Every answer on a transaction that the properties look at, whole."""
        snapshot = self.snapshot(transaction=transaction)
        gone = StatementFilter(valid_during=ALWAYS.valid_during, include_invalidated=True)
        found: list[Any] = [
            snapshot.statements(ALWAYS, first=100, want=EVERYTHING),
            snapshot.statements(gone, first=100, want=EVERYTHING),
            snapshot.entities(first=100),
            snapshot.episodes(first=100),
        ]
        slots = {(view.subject.key, view.predicate, view.qualifier) for view in found[0].items}
        found += [snapshot.timeline(EntityRef(key=key), predicate, qualifier) for key, predicate, qualifier in sorted(slots)]
        for view in found[1].items:
            asked = ObjectRef(key=view.object.key)
            found.append(snapshot.ask(EntityRef(key=view.subject.key), view.predicate, asked, view.qualifier))
        return found


def pages(ask: Any) -> list[Any]:
    """All items of all pages."""
    found: list[Any] = []
    after = None
    while True:
        page = ask(after)
        found += page.items
        if not page.has_next:
            return found
        after = page.positions[-1]


def shown(object: Any) -> str:
    """A name or a literal's value."""
    return object.name if isinstance(object, EntityView) else object.value


def content(view: StatementView) -> tuple[Any, ...]:
    """A statement without what depends on the namespace and the transactions."""
    return (
        view.subject.name,
        view.predicate,
        view.qualifier,
        shown(view.object),
        view.polarity,
        view.v_from,
        view.v_to,
        view.support,
        view.conflict,
        view.certain,
        view.confidence,
        view.last_attested_at,
        view.evidence_count,
        sorted((one.episode.external_id, one.episode.content, one.quote) for one in view.provenance),
    )


@dataclass(frozen=True)
class Side:
    """An oracle that sees what one slot sees of a proposition."""

    oracle: Oracle
    one_valued: bool


class Judge:
    """All visible claims of a namespace resolved by the oracle: corrections over whole predicates, then each slot by its traits."""

    def __init__(self, world: World, vocabulary: Vocabulary, transaction: int, said_until: Instant = UNBOUNDED_FUTURE) -> None:
        query = select(claims).where(
            claims.c.namespace == world.namespace,
            claims.c.believed,
            claims.c.tx_from <= transaction,
            claims.c.tx_to > transaction,
            claims.c.said <= said_until,
        )
        with world.graph._engine.connect() as connection:
            self.rows = list(connection.execute(query))
        self._vocabulary = vocabulary
        self._keys, self._namespace = world.graph.keys, world.namespace
        self._members: dict[str, set[str]] = defaultdict(set)
        self.places: dict[str, Any] = {}
        for row in self.rows:
            self.places[row.proposition] = row
            self._members[row.slot].add(row.proposition)
            if row.inverse_slot:
                self._members[row.inverse_slot].add(row.proposition)
        self._oracles: dict[tuple[str, str | None, str], Oracle] = {}

    def sides(self, proposition: str) -> list[Side]:
        """The slots that must say so."""
        row = self.places[proposition]
        stored = self._vocabulary.predicate(row.predicate)
        pairs = [(row.slot, stored)]
        if row.inverse_slot:
            pairs.append((row.inverse_slot, stored if stored.symmetric else self._vocabulary.predicate(stored.inverse or "")))
        found = []
        for slot, predicate in pairs:
            traits = traits_of(predicate)
            key = (row.predicate, slot if traits.one_valued else None, "" if traits.one_valued else proposition)
            if key not in self._oracles:
                oracle = Oracle([claim_of(one) for one in self.rows if one.predicate == row.predicate], traits)
                members = self._members[slot] if traits.one_valued else {proposition}
                oracle.parts = [part for part in oracle.parts if part.value in members]
                self._oracles[key] = oracle
            found.append(Side(self._oracles[key], traits.one_valued))
        return found

    def holds(self, proposition: str, polarity: bool, at: Instant) -> bool:
        """Whether a proposition holds at an instant."""
        if proposition not in self.places:
            return False
        return all(side.oracle.weigh(proposition, polarity, at).holds for side in self.sides(proposition))

    def ask(self, subject: str, predicate: str, object: str, qualifier: str, at: Instant) -> str:
        """YES, NO or UNKNOWN, of entity keys."""
        canonical = self._vocabulary.canonical(predicate)
        stored = canonical.predicate
        one, two = (object, subject) if canonical.swapped else (subject, object)
        pairs = [(one, two), (two, one)] if stored.symmetric else [(one, two)]
        mine = [
            base
            for base, row in self.places.items()
            if (row.predicate, row.qualifier) == (stored.name, qualifier) and (row.subject, row.object) in pairs
        ]
        wanted = not canonical.negated
        if any(self.holds(base, wanted, at) for base in mine):
            return "YES"
        if any(self.holds(base, not wanted, at) for base in mine):
            return "NO"
        if canonical.negated:
            return "UNKNOWN"
        slots = {self._keys.slot(self._namespace, subject, predicate if canonical.swapped else stored.name, qualifier)}
        if stored.symmetric or stored.inverse:
            other = stored.name if stored.symmetric or canonical.swapped else stored.inverse or ""
            slots.add(self._keys.slot(self._namespace, object, other, qualifier))
        for slot in slots:
            for rival in self._members[slot] - set(mine):
                for side in self._in_slot(rival, slot):
                    additive = any(part.value in mine and part.positive and part.additive for part in side.oracle.parts)
                    plain = side.oracle._alone(rival, True, at, additive=False)
                    if side.one_valued and not additive and plain.holds and not plain.shadow and self.holds(rival, True, at):
                        return "NO"
        return "UNKNOWN"

    def _in_slot(self, proposition: str, slot: str) -> list[Side]:
        row = self.places[proposition]
        return [side for side, key in zip(self.sides(proposition), (row.slot, row.inverse_slot), strict=False) if key == slot]
