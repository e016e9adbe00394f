"""The evidence of slots and propositions on a basis: visible claims, corrections applied, as units of resolution.

Values are positive proposition keys, so that one item serves both slots of an inverse pair or symmetric relation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, bindparam, select

from graph.belief.corrections import apply_corrections
from graph.belief.items import Atom, Item, atoms_of
from graph.belief.lasting import last_attested
from graph.belief.traits import Traits, traits_of
from graph.belief.turning import Turn, Turning, end_of, start_of
from graph.belief.unit import Unit
from graph.belief.walk import Course
from graph.belief.weighing import Conflict, Support, Verdict, Weighed
from graph.ledger.chunks import among, rows_among
from graph.ledger.identity import ClaimRow, Identity, Place, Visibility, place_of
from graph.ledger.schema import claims
from ontology.claim import Claim, ClaimKind
from ontology.edtf import Stated
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant
from ontology.vocabulary import Temporality, Vocabulary

IN_SET = (
    claims.c.believed,
    claims.c.tx_from <= bindparam("transaction"),
    claims.c.tx_to > bindparam("since"),
    claims.c.tx_to > claims.c.tx_from,
)
"""Claims that counted at a transaction, or between two. One that never counted has tx_from = tx_to."""


class Queries:
    """Visible claims by what they are looked up by; of each row these columns.

    Built once: putting a statement together costs more than SQLite needs to answer it.
    """

    def __init__(self, columns: Iterable[ColumnElement[Any]]) -> None:
        visible = select(*columns).where(*IN_SET, claims.c.said <= bindparam("said_until"))
        self.in_slots = visible.where(among(claims.c.slot))
        self.in_inverse_slots = visible.where(among(claims.c.inverse_slot))
        self.on_propositions = visible.where(among(claims.c.proposition))
        self.replacing = visible.where(among(claims.c.replaces_proposition))


class SlotRef(NamedTuple):
    """A slot by its key and what that is a hash of."""

    key: str
    subject: str
    predicate: str
    qualifier: str


class Evidence:
    """Claims loaded so far, closed over corrections: whatever bears on a loaded proposition is loaded too.

    Rows, slots and propositions are in terms of the entities of the basis (`identity`). `arrivals` and `departures` are the
    transactions with which the claims came and went.
    """

    _queries = Queries(claims.c)

    def __init__(self, connection: Connection, vocabulary: Vocabulary, visibility: Visibility, identity: Identity) -> None:
        self._connection = connection
        self._vocabulary = vocabulary
        self._visibility = visibility.values
        self._until = visibility.transaction
        self.said_until = visibility.said_until
        self.identity = identity
        self._traits: dict[str, Traits] = {}
        self._other_sides: dict[str, str] = {}
        self._slots: set[str] = set()
        self._propositions: set[str] = set()
        self.rows: dict[str, ClaimRow] = {}
        self.arrivals: set[int] = set()
        self.departures: set[int] = set()
        self._items: dict[str, list[Item]] | None = None
        self._masked: dict[str, Claim] = {}
        self._told: dict[str, Place] = {}

    def traits(self, predicate: str) -> Traits:
        """Traits of a stored predicate."""
        found = self._traits.get(predicate)
        if found is None:
            found = self._traits[predicate] = traits_of(self._vocabulary.predicate(predicate))
        return found

    def inverse_traits(self, predicate: str) -> Traits:
        """Traits by which the other side's slot is resolved."""
        return self.traits(self.other_side(predicate))

    def other_side(self, predicate: str) -> str:
        """The predicate by which a statement is read from its object."""
        found = self._other_sides.get(predicate)
        if found is None:
            known = self._vocabulary.predicate(predicate)
            found = predicate if known.symmetric or known.inverse is None else known.inverse
            self._other_sides[predicate] = found
        return found

    def load_slots(self, slots: Collection[SlotRef], *, inverse: bool) -> None:
        """Load all claims of slots; `inverse`: also those that stand in them from the other side."""
        wanted = {ref for ref in slots if ref.key not in self._slots}
        if not wanted:
            return
        self._slots |= {ref.key for ref in wanted}
        told = set(self._told_in(wanted))
        self._add(self._rows(self._queries.in_slots, told), lambda row: row.slot in self._slots or row.inverse_slot in self._slots)
        if inverse:
            self._add(
                self._rows(self._queries.in_inverse_slots, told), lambda row: row.slot in self._slots or row.inverse_slot in self._slots
            )

    def _told_in(self, slots: Collection[SlotRef]) -> Iterator[str]:
        self.identity.load({ref.subject for ref in slots})
        for ref in slots:
            if self.identity.trivial or not self.identity.concerns(ref.subject):
                yield ref.key
            else:
                yield from self.identity.slots_told_under(ref.subject, ref.predicate, ref.qualifier)

    def load_propositions(self, places: Collection[Place]) -> None:
        """Load all claims on propositions, and those that correct them or are corrected by them, as far as that goes."""
        wanted = {place.proposition: place for place in places if place.proposition not in self._propositions}
        while wanted:
            self._propositions |= wanted.keys()
            self.identity.load({key for place in wanted.values() for key in (place.subject, place.object)})
            told = {key for place in wanted.values() for key in self.identity.told_under(place)}
            found = [*self._rows(self._queries.on_propositions, told), *self._rows(self._queries.replacing, told)]
            kept = self._add(found, lambda row: row.proposition in self._propositions or row.replaces_proposition in self._propositions)
            linked = [place_of(row) for row in kept] + [place for row in kept if (place := replaced_place(row)) is not None]
            wanted = {place.proposition: place for place in linked if place.proposition not in self._propositions}

    def close(self) -> None:
        """Load what is linked to the loaded claims by corrections across slots."""
        rows = list(self.rows.values())
        linked = [place for row in rows if (place := replaced_place(row)) is not None]
        paired = [place_of(row) for row in rows if row.inverse_slot]
        if not paired:
            loaded = {row.proposition for row in rows}
            linked = [place for place in linked if place.proposition not in loaded]
        self.load_propositions([*linked, *paired])

    def _rows(self, query: Select[Any], keys: Collection[str]) -> Iterable[ClaimRow]:
        return rows_among(self._connection, query, keys, **self._visibility)

    def _add(self, rows: Iterable[ClaimRow], belongs: Callable[[ClaimRow], bool]) -> list[ClaimRow]:
        """Take rows in, as this basis reads them; those whose names denote something else here are left out."""
        found = list(rows)
        if not self.identity.nothing_joined:
            self.identity.load({key for row in found for key in _named(row)})
        if not self.identity.trivial:
            told = {row.row: row for row in found}
            found = [row for row in map(self.identity.settled, found) if belongs(row)]
            for row in found:
                self._note_told(row, told[row.row])
        for row in found:
            self.rows[row.id] = row
            self.arrivals.add(row.tx_from)
            if row.tx_to <= self._until:
                self.departures.add(row.tx_to)
        self._items = None
        return found

    def _note_told(self, row: ClaimRow, told: ClaimRow) -> None:
        place = self.identity.mentioned(told)
        known = self._told.get(row.proposition)
        if known is None or place.proposition < known.proposition:
            self._told[row.proposition] = place

    def told(self, place: Place) -> Place:
        """A proposition under keys by which a claim speaks of it: so it is stored, and stays where it is when what is joined parts."""
        return self._told.get(place.proposition, place)

    def _by_predicate(self) -> Mapping[str, list[Claim]]:
        found: dict[str, list[Claim]] = defaultdict(list)
        for row in self.rows.values():
            found[row.predicate].append(claim_of(row))
        return found

    @property
    def items(self) -> Mapping[str, list[Item]]:
        """Items by the positive proposition that they speak of."""
        if self._items is None:
            self._items, self._masked = defaultdict(list), {}
            for predicate, found in self._by_predicate().items():
                corrected = apply_corrections(found, self.traits(predicate))
                self._masked |= corrected.masked
                for item in corrected.items:
                    self._items[item.value].append(item)
        return self._items

    @property
    def masked(self) -> Mapping[str, Claim]:
        """The correction that masked each masked claim, by the claim's ID."""
        return self._masked if self.items is not None else {}


def load_slots(evidence: Evidence, places: Iterable[Place]) -> None:
    """Load the one-valued slots that some propositions stand in, from both sides where they have two."""
    own: set[SlotRef] = set()
    paired: set[SlotRef] = set()
    for place in places:
        into = own if place.inverse_slot is None else paired
        if evidence.traits(place.predicate).one_valued:
            into.add(SlotRef(place.slot, place.subject, place.predicate, place.qualifier))
        if place.inverse_slot is not None and evidence.inverse_traits(place.predicate).one_valued:
            paired.add(SlotRef(place.inverse_slot, place.object, evidence.other_side(place.predicate), place.qualifier))
    evidence.load_slots(own, inverse=False)
    evidence.load_slots(paired, inverse=True)


def _named(row: ClaimRow) -> Iterator[str]:
    """The keys that a claim names."""
    yield row.subject
    if row.datatype is None:
        yield row.object
    if row.replaces_object is not None:
        yield row.replaces_subject
        yield row.replaces_object


def replaced_place(row: ClaimRow) -> Place | None:
    """The place of the proposition that a correction names as wrong; its slots are not told."""
    if row.replaces_proposition is None:
        return None
    # Only where it stands in a pair matters of the other slot.
    return Place(
        row.replaces_proposition, "", row.inverse_slot and "", row.predicate, row.replaces_subject, row.qualifier, row.replaces_object
    )


@dataclass(frozen=True, slots=True)
class Side:
    """One slot's view of a proposition: the slot key where it is one-valued, else None (the proposition stands alone)."""

    slot: str | None
    traits: Traits


def claim_of(row: ClaimRow) -> Claim:
    """The claim that belief reads, with proposition keys for objects."""
    return Claim(
        row.id,
        row.episode,
        row.place,
        row.slot,
        row.proposition,
        row.said,
        row.polarity,
        ClaimKind(row.kind),
        None if row.from_lo is None else Stated(row.from_lo, row.from_hi, row.from_text),
        None if row.to_lo is None else Stated(row.to_lo, row.to_hi, row.to_text),
        row.rank,
        row.additive,
        row.replaces_proposition,
    )


Spans = list[tuple[bool, list[tuple[Instant, Instant]]]]
"""For each polarity the intervals in which it holds."""


class Units:
    """Units of resolution over loaded evidence."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._units: dict[tuple[str, Traits], Unit] = {}
        self._courses: dict[int, Course] = {}
        self._in_slot: dict[str, set[str]] = defaultdict(set)
        self._indexed = -1

    def _index(self) -> None:
        """Which propositions stand in which slot."""
        if self._indexed == len(self._evidence.rows):
            return
        self._indexed = len(self._evidence.rows)
        self._units.clear()
        self._courses.clear()
        for row in self._evidence.rows.values():
            self._in_slot[row.slot].add(row.proposition)
            if row.inverse_slot:
                self._in_slot[row.inverse_slot].add(row.proposition)

    def sides(self, place: Place) -> list[Side]:
        """The slots that must say so: the proposition's own, and the other side's where there is one."""
        traits = self._evidence.traits(place.predicate)
        sides = [Side(place.slot if traits.one_valued else None, traits)]
        if place.inverse_slot is not None:
            other = self._evidence.inverse_traits(place.predicate)
            sides.append(Side(place.inverse_slot if other.one_valued else None, other))
        return sides

    def unit(self, side: Side, proposition: str) -> Unit:
        """The unit that resolves a proposition on one side."""
        self._index()
        key = (side.slot or proposition, side.traits)
        known = self._units.get(key)
        if known is None:
            items = self._evidence.items
            members = sorted(self._in_slot[side.slot]) if side.slot else [proposition]
            known = Unit((), side.traits, items=[item for member in members for item in items.get(member, ())])
            self._units[key] = known
        return known

    def course(self, side: Side, proposition: str) -> Course:
        """The unit that resolves a proposition on one side, to be read at one instant after the other."""
        unit = self.unit(side, proposition)
        found = self._courses.get(id(unit))
        if found is None:
            found = self._courses[id(unit)] = Course(unit)
        return found

    def start_of(self, place: Place, polarity: bool, at: Instant) -> Turning | None:
        """What makes a proposition hold from an instant on: of two sides all that did not let it hold before."""
        found = [start_of(self.course(side, place.proposition), place.proposition, polarity, at) for side in self.sides(place)]
        told = [one for one in found if one is not None]
        # Where one side tells of new words, these begin it.
        told.sort(key=lambda one: one.turn is Turn.RESUMED)
        return replace(told[0], atoms=tuple(atom for one in told for atom in one.atoms)) if told else None

    def end_of(self, place: Place, polarity: bool, at: Instant) -> Turning | None:
        """What makes a proposition hold no more from an instant on: of two sides the first that says no."""
        found = (end_of(self.course(side, place.proposition), place.proposition, polarity, at) for side in self.sides(place))
        return next((one for one in found if one is not None), None)

    def told_as_end(self, place: Place, polarity: bool, at: Instant) -> bool:
        """Whether what carries a proposition just before an instant is nothing but words that something has ended."""
        outcomes = (
            found
            for side in self.sides(place)
            for found in self.course(side, place.proposition).just_before(place.proposition, polarity, at)
        )
        winners = [atom for found in outcomes if found.holds for atom in found.winners]
        return bool(winners) and all(atom.ending for atom in winners)

    def clipped_beside(self, place: Place, at: Instant) -> bool:
        """Whether some other value of a one-valued slot would still go on at an instant, had a rival of it not ended."""
        for side in self.sides(place):
            course = self.course(side, place.proposition)
            if course.unit.traits.one_valued and any(
                found.verdict is Verdict.CLIPPED
                for other in course.live(at)
                if other != place.proposition
                for found in course.outcomes(other, True, at)
            ):
                return True
        return False

    def spans(self, place: Place) -> Spans:
        """Maximal intervals in which a proposition and its denial hold: where every side says so."""
        sides = self.sides(place)
        alone = self._alone(sides[0], place.proposition) if len(sides) == 1 else None
        if alone is not None:
            return alone
        found: Spans | None = None
        for side in sides:
            intervals = self.unit(side, place.proposition).intervals
            mine = [
                (polarity, [(interval.start, interval.end) for interval in intervals.get((place.proposition, polarity), ())])
                for polarity in (True, False)
            ]
            found = mine if found is None else [(polarity, _common(a, b)) for (polarity, a), (_, b) in zip(found, mine, strict=True)]
        return found or []

    def _alone(self, side: Side, proposition: str) -> Spans | None:
        """The spans of a single piece of evidence with nothing beside it; None where there is more. As `Unit`, without one."""
        atom = self._sole(side, proposition)
        return None if atom is None else [(atom.positive, [(atom.start, atom.end)]), (not atom.positive, [])]

    def _sole(self, side: Side, proposition: str) -> Atom | None:
        self._index()
        members = self._in_slot[side.slot] if side.slot else (proposition,)
        if len(members) != 1:
            return None
        items = self._evidence.items.get(proposition, ())
        atoms = atoms_of(items[0], side.traits) if len(items) == 1 else ()
        return atoms[0] if len(atoms) == 1 else None

    def sole(self, place: Place) -> Atom | None:
        """The only piece of evidence that bears on a proposition, from the one side that it has; None where there is more."""
        sides = self.sides(place)
        return self._sole(sides[0], place.proposition) if len(sides) == 1 else None

    def both(self, place: Place) -> list[Unit]:
        """The unit of each side of a proposition."""
        return [self.unit(side, place.proposition) for side in self.sides(place)]

    def last_attested(self, place: Place, polarity: bool, start: Instant) -> Instant:
        """When a value that holds from `start` without end was last attested: as `last_attested` of what is cited for that.

        What is only carried has no say in it, unless nothing attests, or attests an instant that lay ahead: mostly nothing need be
        weighed to tell.
        """
        attesting = [
            atom
            for unit in self.both(place)
            for atom in unit.of(place.proposition, polarity)
            if atom.attested is not None and start <= atom.attested[1]
        ]
        last = max((atom.attested[1] for atom in attesting if atom.attested is not None), default=UNBOUNDED_FUTURE)
        if last <= max((atom.made_by.said for atom in attesting), default=UNBOUNDED_PAST):
            return last
        return last_attested(self.cited(place, polarity, start, UNBOUNDED_FUTURE), start, UNBOUNDED_FUTURE)

    def weigh(self, place: Place, at: Instant, polarity: bool) -> Weighed:
        """The outcome for a proposition at an instant; of two sides the first that says no, else what both say together."""
        sides = [self.unit(side, place.proposition) for side in self.sides(place)]
        outcomes = [unit.weigh(place.proposition, at, polarity=polarity) for unit in sides]
        denying = next((found for found in outcomes if not found.holds), None)
        if denying is not None or len(outcomes) == 1:
            return denying or outcomes[0]
        return replace(
            outcomes[0],
            support=Support.ATTESTED if all(found.support is Support.ATTESTED for found in outcomes) else Support.PROJECTED,
            conflict=max((found.conflict for found in outcomes), key=list(Conflict).index),
            certain=all(found.certain for found in outcomes),
            shadow=any(found.shadow for found in outcomes),
        )

    def cited(self, place: Place, polarity: bool, start: Instant, end: Instant) -> list[Atom]:
        """The atoms that attest or project an instant of a rectangle, which may be a part of what one side alone would keep.

        Of equal words told twice that attest no instant only the later ones project; the earlier ones are cited with them, for
        they assert the same.
        """
        found: list[Atom] = []
        for side in self.sides(place):
            unit = self.unit(side, place.proposition)
            value = (place.proposition, polarity)
            for whole in unit.intervals.get(value, ()):
                if whole.start < end and start < whole.end:
                    carriers = {id(atom) for atom in whole.carriers}
                    found += [
                        atom
                        for atom in unit.cited(value, whole)
                        if (id(atom) in carriers and atom.start < end and start < atom.end)
                        or (atom.attested is not None and atom.attested[0] < end and start <= atom.attested[1])
                        or (unit.traits.temporal is Temporality.EVENT and atom.start < end and start < atom.end)
                    ]
                    said = {(atom.start, atom.end, atom.horizon) for atom in found if atom.attested is None}
                    if said:
                        found += [
                            atom
                            for atom in unit.of(*value)
                            if atom.attested is None and not atom.shadow and (atom.start, atom.end, atom.horizon) in said
                        ]
        return found


def _common(one: list[tuple[Instant, Instant]], two: list[tuple[Instant, Instant]]) -> list[tuple[Instant, Instant]]:
    found = []
    i = j = 0
    while i < len(one) and j < len(two):
        start, end = max(one[i][0], two[j][0]), min(one[i][1], two[j][1])
        if start < end:
            found.append((start, end))
        if one[i][1] < two[j][1]:
            i += 1
        else:
            j += 1
    return found
