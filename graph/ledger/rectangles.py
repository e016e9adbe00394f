"""Rectangles on a basis: stored ones, and under a said-time limit those that the remaining evidence makes.

Without a limit the stored rows answer. With one, slots are resolved again from the claims said by it, at each transaction that
changed them, so that t_created is the transaction at which this evidence first said so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from sqlalchemy import Connection, or_, select

from graph.ledger.evidence import Evidence, Place, Units, Visibility
from graph.ledger.schema import OPEN, claims, statements
from ontology.errors import QueryTooComplex
from ontology.instant import Instant
from ontology.names import Keys
from ontology.vocabulary import Vocabulary

REPLAY_BUDGET = 500
"""Most transactions that one answer under a said-time limit resolves again."""


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A proposition holds in `[v_from, v_to)`, believed in `[tx_from, tx_to)`. Named as the columns of `statements`."""

    proposition: str
    base: str
    slot: str
    inverse_slot: str | None
    subject: str
    predicate: str
    qualifier: str
    object: str
    polarity: bool
    v_from: Instant
    v_to: Instant
    tx_from: int
    tx_to: int

    @property
    def place(self) -> Place:
        """Where its proposition stands."""
        return Place(self.base, self.slot, self.inverse_slot, self.predicate)

    def holds(self, at: Instant) -> bool:
        """Whether an instant lies inside."""
        return self.v_from <= at < self.v_to


COLUMNS = (
    statements.c.proposition,
    statements.c.base,
    statements.c.slot,
    statements.c.inverse_slot,
    statements.c.subject,
    statements.c.predicate,
    statements.c.qualifier,
    statements.c.object,
    statements.c.polarity,
    statements.c.v_from,
    statements.c.v_to,
    statements.c.tx_from,
    statements.c.tx_to,
)


def rectangle(row: Iterable[object]) -> Rectangle:
    """A rectangle from a row of COLUMNS."""
    return Rectangle(*row)  # type: ignore[arg-type]


def replayed(
    connection: Connection, keys: Keys, vocabulary: Vocabulary, places: Collection[Place], transaction: int, said_until: Instant
) -> list[Rectangle]:
    """Every rectangle that the claims said by `said_until` have made of some propositions, up to a transaction, oldest first.

    Raises QueryTooComplex where more transactions than the budget changed them.
    """
    ever = Evidence(connection, vocabulary, Visibility(transaction, said_until, ever=True))
    load(ever, places)
    by_place = {place.proposition: place for place in places}
    moments = sorted(ever.moments)
    if len(moments) > REPLAY_BUDGET:
        raise QueryTooComplex(
            f"{len(moments)} transactions changed what this asks about; with `evidenceUntil` at most {REPLAY_BUDGET} are resolved again"
        )
    speaks = {row.proposition: row for row in ever.rows.values()}
    found: list[Rectangle] = []
    current: dict[tuple[str, bool, Instant, Instant], int] = {}
    for moment in moments:
        evidence = Evidence(connection, vocabulary, Visibility(moment, said_until))
        load(evidence, by_place.values())
        units = Units(evidence)
        wanted = {(base, polarity, *span) for base, place in by_place.items() for polarity, spans in units.spans(place) for span in spans}
        for gone in current.keys() - wanted:
            found[current[gone]] = replace(found[current[gone]], tx_to=moment)
            del current[gone]
        for base, polarity, v_from, v_to in sorted(wanted - current.keys()):
            row = speaks[base]
            key = base if polarity else keys.proposition(row.slot, row.object, False)
            current[base, polarity, v_from, v_to] = len(found)
            where = (key, base, row.slot, row.inverse_slot, row.subject, row.predicate, row.qualifier, row.object)
            found.append(Rectangle(*where, polarity, v_from, v_to, moment, OPEN))
    return found


def load(evidence: Evidence, places: Iterable[Place]) -> None:
    """Load what decides about some propositions, both sides of those that have two."""
    places = list(places)
    alone = {place.proposition for place in places if not evidence.traits(place.predicate).one_valued or place.inverse_slot}
    own = {place.slot for place in places if place.inverse_slot is None and evidence.traits(place.predicate).one_valued}
    paired = set()
    for place in places:
        if place.inverse_slot is not None:
            if evidence.traits(place.predicate).one_valued:
                paired.add(place.slot)
            if evidence.inverse_traits(place.predicate).one_valued:
                paired.add(place.inverse_slot)
    evidence.load_slots(own, inverse=False)
    evidence.load_slots(paired, inverse=True)
    evidence.load_propositions(alone)
    evidence.close()


def places_about(connection: Connection, namespace: str, entity: str, transaction: int, said_until: Instant) -> list[Place]:
    """Propositions with an entity as subject or object on which a claim counts at a transaction."""
    query = select(claims.c.proposition, claims.c.slot, claims.c.inverse_slot, claims.c.predicate).distinct()
    query = query.where(
        claims.c.namespace == namespace,
        or_(claims.c.subject == entity, claims.c.object == entity),
        claims.c.believed,
        claims.c.tx_from <= transaction,
        claims.c.said <= said_until,
    )
    return [Place(row.proposition, row.slot, row.inverse_slot, row.predicate) for row in connection.execute(query)]
