"""Rectangles on a basis: stored ones, and under a said-time limit those that the remaining evidence makes.

Without a limit the stored rows answer. With one, slots are resolved again from the claims said by it, at each transaction that
changed them, so that t_created is the transaction at which this evidence first said so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from itertools import product

from sqlalchemy import Connection, bindparam, select

from graph.belief.identity import IDENTITY
from graph.ledger.chunks import among, rows_among
from graph.ledger.evidence import Evidence, Units, load_slots
from graph.ledger.identity import Identity, KnownIdentity, Place, Visibility
from graph.ledger.schema import OPEN, statements
from graph.ledger.told_identity import EverJoined
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
        return Place(self.base, self.slot, self.inverse_slot, self.predicate, self.subject, self.qualifier, self.object)

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


_VERSIONS = select(*COLUMNS).where(among(statements.c.base), statements.c.tx_from <= bindparam("transaction"))


def rectangle(row: Iterable[object]) -> Rectangle:
    """A rectangle from a row of COLUMNS."""
    return Rectangle(*row)  # type: ignore[arg-type]


def read_as(identity: Identity, row: Rectangle) -> Rectangle:
    """A rectangle in terms of the entities of a basis. `load` its subject and object before."""
    stored = row.place
    place = identity.here(stored)
    if place is stored:
        return row
    return replace(
        row,
        proposition=place.proposition if row.polarity else identity.keys.denial(place.proposition),
        base=place.proposition,
        slot=place.slot,
        inverse_slot=place.inverse_slot,
        subject=place.subject,
        object=place.object,
    )


def parts_of(identity: Identity, place: Place) -> list[Place]:
    """The propositions under all keys of a proposition's entities, which at another time may have been apart."""
    if place.predicate == IDENTITY:
        return [place]
    pairs = product(sorted(identity.members(place.subject)), sorted(identity.members(place.object)))
    paired = place.inverse_slot is not None
    return [identity.place(place.predicate, place.qualifier, one, other, paired=paired) for one, other in pairs]


def outlived_among(connection: Connection, identity: Identity, rows: Iterable[Rectangle], transaction: int) -> set[Rectangle]:
    """Of rectangles no longer believed those that another outlived which was stored under other keys of the same entities.

    Both tell of one proposition on the basis: the other one's interval is its last known one where they overlap.
    """
    gone = [row for row in rows if row.tx_to <= transaction]
    identity.load({key for row in gone for key in (row.subject, row.object)})
    read = {row: read_as(identity, row) for row in gone}
    under = {key: now.base for now in read.values() for key in identity.kept_under(now.place)}
    beside: dict[tuple[str, bool], list[Rectangle]] = defaultdict(list)
    for found in map(rectangle, rows_among(connection, _VERSIONS, under.keys(), transaction=transaction)):
        beside[under[found.base], found.polarity].append(found)

    def life(row: Rectangle) -> tuple[int, int]:
        return min(row.tx_to, transaction + 1), row.tx_from

    def outlived(row: Rectangle) -> bool:
        return any(
            life(other) > life(row) if (other.v_from, other.v_to) == (row.v_from, row.v_to) else life(other)[0] > row.tx_to
            for other in beside[read[row].base, row.polarity]
            if other.base != row.base and other.v_from < row.v_to and row.v_from < other.v_to
        )

    return {row for row in gone if outlived(row)}


IdentityAt = Callable[[int], Identity]
"""Who is who as of a transaction, under the said-time limit of a basis."""


def replayed(
    connection: Connection,
    keys: Keys,
    vocabulary: Vocabulary,
    places: Collection[Place],
    transaction: int,
    said_until: Instant,
    identity_at: IdentityAt,
) -> list[Rectangle]:
    """Every rectangle that the claims said by `said_until` have made of some propositions, up to a transaction, oldest first.

    Propositions are read through the identity of that transaction: at an earlier one each has the intervals that its parts then
    had. Raises QueryTooComplex where more transactions than the budget changed them.
    """
    identity = identity_at(transaction)
    identity.load({key for place in places for key in (place.subject, place.object)})
    by_place = {place.proposition: place for place in map(identity.here, places)}
    parts = {base: parts_of(identity, place) for base, place in by_place.items()}
    changing = moments(connection, identity, vocabulary, by_place.values(), transaction, said_until)
    numbers = sorted(changing.arrivals | changing.departures | changing.identity)
    if len(numbers) > REPLAY_BUDGET:
        raise QueryTooComplex(
            f"{len(numbers)} transactions changed what this asks about; with `evidenceUntil` at most {REPLAY_BUDGET} are resolved again"
        )
    found: list[Rectangle] = []
    current: dict[tuple[str, bool, Instant, Instant], int] = {}
    for moment in numbers:
        then = identity_at(moment)
        then.load({key for each in parts.values() for place in each for key in (place.subject, place.object)})
        evidence = Evidence(connection, vocabulary, Visibility(moment, said_until), then)
        read = {base: {place.proposition: place for place in map(then.here, each)}.values() for base, each in parts.items()}
        load(evidence, [place for each in read.values() for place in each])
        units = Units(evidence)
        wanted = {
            (base, polarity, *span)
            for base, each in read.items()
            for place in each
            for polarity, spans in units.spans(place)
            for span in spans
        }
        for gone in current.keys() - wanted:
            found[current[gone]] = replace(found[current[gone]], tx_to=moment)
            del current[gone]
        for base, polarity, v_from, v_to in sorted(wanted - current.keys()):
            place = by_place[base]
            key = base if polarity else keys.denial(base)
            current[base, polarity, v_from, v_to] = len(found)
            where = (key, base, place.slot, place.inverse_slot, place.subject, place.predicate, place.qualifier, place.object)
            found.append(Rectangle(*where, polarity, v_from, v_to, moment, OPEN))
    return found


@dataclass(frozen=True, slots=True)
class Moments:
    """The transactions with which what bears on some propositions came into the set, left it, or began to denote something else."""

    arrivals: frozenset[int]
    departures: frozenset[int]
    identity: frozenset[int]


def moments(
    connection: Connection, identity: Identity, vocabulary: Vocabulary, places: Collection[Place], transaction: int, said_until: Instant
) -> Moments:
    """The transactions that may have changed what is believed of some propositions."""
    visibility = Visibility(transaction, said_until, ever=True)
    known = KnownIdentity(empty=True) if identity.nothing_joined else None
    joined = EverJoined(connection, identity.keys, identity.namespace, vocabulary, visibility, known)
    joined.load({key for place in places for key in (place.subject, place.object)})
    ever = Evidence(connection, vocabulary, visibility, joined)
    load(ever, list(map(joined.here, places)))
    return Moments(frozenset(ever.arrivals), frozenset(ever.departures), frozenset(joined.moments))


def load(evidence: Evidence, places: Collection[Place]) -> None:
    """Load what decides about some propositions, both sides of those that have two."""
    load_slots(evidence, places)
    evidence.load_propositions([place for place in places if not evidence.traits(place.predicate).one_valued or place.inverse_slot])
    evidence.close()
