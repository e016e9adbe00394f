"""What holds for an `Identity`: its facts by entities, each slot resolved by `Unit`, all else by brute force.

Slots of joined entities are one slot and objects are compared as entities. Of a symmetric relation both sides are one proposition,
also where they are one entity. Identity claims themselves are left out: their statements stand between names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from graph.belief.corrections import apply_corrections
from graph.belief.items import Item
from graph.belief.traits import Traits, traits_of
from graph.belief.unit import Unit
from ontology.claim import Claim, ObjectDraft
from ontology.edtf import parse_edtf
from ontology.instant import UNBOUNDED_FUTURE, Instant
from ontology.names import normalise
from ontology.vocabulary import Vocabulary
from tests.graph.ledger.identity_operations import SAME, Name, Operation, Said, evidence, raw
from tests.graph.ledger.identity_oracle import Entity, Identity, Order

Literal = tuple[str, str]
"""(normalised value, datatype)."""
Thing = Entity | Literal
Span = tuple[Instant, Instant]
Slot = tuple[str, str, Entity]
"""(predicate, qualifier, subject)."""
Row = tuple[Thing, str, str, Thing, bool, Instant, Instant]
"""(subject, predicate, qualifier, object, polarity, from, to), in the stored direction."""


@dataclass(frozen=True)
class Proposition:
    """A fact in its stored direction; of a symmetric one the ends are in the order of their names."""

    subject: Thing
    predicate: str
    qualifier: str
    object: Thing

    @property
    def key(self) -> str:
        """Something to compare in belief."""
        return repr([shown(self.subject), self.predicate, self.qualifier, shown(self.object)])


def shown(thing: Thing) -> object:
    """A thing in an order that is the same in every process."""
    return sorted(thing) if isinstance(thing, frozenset) else thing


class Picture:
    """The answers on one basis: what was done by a transaction, said by an instant."""

    def __init__(self, done: Sequence[Operation], vocabulary: Vocabulary, order: Order, said_until: Instant = UNBOUNDED_FUTURE) -> None:
        self.identity = Identity(evidence(done, vocabulary), vocabulary, order, said_until)
        self._vocabulary = vocabulary
        self.propositions: dict[str, Proposition] = {}
        self._facts: dict[str, list[Claim]] = defaultdict(list)
        for number, said in enumerate(self.identity.claims):
            if said.believed and said.draft.predicate != SAME:
                self._add(str(number), said)

    def _add(self, id: str, said: Said) -> None:
        draft = said.draft
        canonical = self._vocabulary.canonical(draft.predicate)
        wrong = None if draft.replaces is None else self._placed(said, draft.replaces)
        own = self._placed(said, draft.object)
        self.propositions[own.key] = own
        self._facts[own.predicate].append(
            Claim(
                id,
                said.episode,
                said.place,
                "",
                own.key,
                said.said,
                draft.polarity != canonical.negated,
                draft.kind,
                None if draft.valid_from is None else parse_edtf(draft.valid_from, side="from"),
                None if draft.valid_to is None else parse_edtf(draft.valid_to, side="to"),
                said.rank,
                draft.additive,
                None if wrong is None else wrong.key,
            )
        )

    def _placed(self, said: Said, object: ObjectDraft) -> Proposition:
        canonical = self._vocabulary.canonical(said.draft.predicate)
        one: Thing = self.identity.denoted(said.ends[0], said)
        other: Thing
        if object.datatype is None:
            other = self.identity.denoted(raw(object.text), said)
        else:
            other = (normalise(object.text), object.datatype)
        if canonical.swapped or (canonical.predicate.symmetric and object.datatype is None and sorted(other) < sorted(one)):
            one, other = other, one
        return Proposition(one, canonical.predicate.name, normalise(said.draft.qualifier), other)

    # -- slots

    def sides(self, fact: Proposition) -> list[tuple[Slot, Traits]]:
        """The slots that must say so: the subject's, and where there is another side the object's, each by its own traits."""
        known = self._vocabulary.predicate(fact.predicate)
        found = [((fact.predicate, fact.qualifier, fact.subject), traits_of(known))]
        if isinstance(fact.object, frozenset) and (known.symmetric or known.inverse):
            other = known if known.symmetric else self._vocabulary.predicate(known.inverse or "")
            found.append(((other.name, fact.qualifier, fact.object), traits_of(other)))
        return [(slot, traits) for slot, traits in found if isinstance(slot[2], frozenset)]  # type: ignore[misc]

    def members(self, slot: Slot) -> list[Proposition]:
        """All facts that stand in a slot, from either side."""
        return [fact for fact in self.propositions.values() if any(mine == slot for mine, _ in self.sides(fact))]

    @cached_property
    def _items(self) -> list[Item]:
        return [
            item
            for predicate, claims in self._facts.items()
            for item in apply_corrections(claims, traits_of(self._vocabulary.predicate(predicate))).items
        ]

    def units(self, fact: Proposition) -> list[Unit]:
        """What each side weighs: its whole slot where that has one value, else the fact alone."""
        found = []
        for slot, traits in self.sides(fact):
            together = {member.key for member in self.members(slot)} if traits.one_valued else {fact.key}
            found.append(Unit((), traits, items=[item for item in self._items if item.value in together]))
        return found

    def spans(self, fact: Proposition, polarity: bool) -> list[Span]:
        """Where a fact or its denial holds: where all sides say so."""
        found: list[Span] | None = None
        for unit in self.units(fact):
            mine = [(part.start, part.end) for part in unit.intervals.get((fact.key, polarity), ())]
            found = mine if found is None else [(max(a, c), min(b, d)) for a, b in found for c, d in mine if max(a, c) < min(b, d)]
        return sorted(found or [])

    @cached_property
    def held(self) -> dict[tuple[Proposition, bool], list[Span]]:
        """Every fact and denial with its intervals."""
        return {(fact, polarity): self.spans(fact, polarity) for fact in self.propositions.values() for polarity in (True, False)}

    # -- answers

    def statements(self) -> set[Row]:
        """All that holds at some time."""
        return {
            (fact.subject, fact.predicate, fact.qualifier, fact.object, polarity, *span)
            for (fact, polarity), spans in self.held.items()
            for span in spans
        }

    def timeline(self, name: Name, predicate: str, qualifier: str = "") -> list[tuple[Instant, Instant, frozenset[tuple[Thing, bool]]]]:
        """Segments of a slot: from, to, and (value, polarity) of what holds."""
        slot = self._slot(name, predicate, qualifier)
        rows = [
            (span, fact.object if mine == 0 else fact.subject, polarity)
            for (fact, polarity), spans in self.held.items()
            for mine in [next((place for place, (side, _) in enumerate(self.sides(fact)) if side == slot), None)]
            if mine is not None
            for span in spans
        ]
        points = sorted({at for span, _, _ in rows for at in span})
        found = []
        for start, end in pairwise(points):
            values = frozenset((value, polarity) for span, value, polarity in rows if span[0] <= start < span[1])
            if values:
                found.append((start, end, values))
        return found

    def _slot(self, name: Name, predicate: str, qualifier: str) -> Slot:
        canonical = self._vocabulary.canonical(predicate)
        return predicate if canonical.swapped else canonical.predicate.name, qualifier, self.identity.found(name)

    def holds(self, fact: Proposition, polarity: bool, at: Instant) -> bool:
        """Whether a fact or its denial holds at an instant."""
        return any(start <= at < end for start, end in self.held.get((fact, polarity), ()))

    def ask(self, subject: Name, predicate: str, object: Name, at: Instant, qualifier: str = "") -> str:
        """YES where it holds; NO where it is denied, or another value leaves no room on either side; else UNKNOWN."""
        canonical = self._vocabulary.canonical(predicate)
        one, other = self.identity.found(subject), self.identity.found(object)
        if canonical.swapped:
            one, other = other, one
        asked = Proposition(one, canonical.predicate.name, qualifier, other)
        if canonical.predicate.symmetric and sorted(other) < sorted(one):
            asked = Proposition(other, canonical.predicate.name, qualifier, one)
        if self.holds(asked, not canonical.negated, at):
            return "YES"
        if self.holds(asked, canonical.negated, at):
            return "NO"
        if canonical.negated:
            return "UNKNOWN"
        for slot, traits in self.sides(asked):
            if not traits.one_valued:
                continue
            rivals = [fact for fact in self.members(slot) if fact != asked]
            together = {fact.key for fact in self.members(slot)}
            unit = Unit((), traits, items=[item for item in self._items if item.value in together])
            if unit.is_additive(asked.key):
                continue
            for rival in rivals:
                outcome = unit.plain(rival.key, at)
                if outcome.holds and not outcome.shadow and self.holds(rival, True, at):
                    return "NO"
        return "UNKNOWN"
