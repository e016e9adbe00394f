"""Slots on a basis: their rectangles, three-valued answers, and the parts of a timeline."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from sqlalchemy import bindparam, or_, select

from graph.belief.identity import IDENTITY
from graph.ledger.chunks import among, rows_among
from graph.ledger.details import Describer
from graph.ledger.identity import Place, place_of
from graph.ledger.rectangles import COLUMNS, Rectangle, moments, rectangle
from graph.ledger.schema import claims, statements
from graph.ledger.standing import standing
from graph.views import AnswerView, Basis, SegmentView, StatementView, Truth, Want
from ontology.claim import ClaimKind
from ontology.instant import Instant
from ontology.names import Keys
from ontology.vocabulary import Vocabulary

_IN_SLOT = select(*COLUMNS).where(statements.c.slot == bindparam("slot"), standing(statements))
_IN_SLOTS = select(*COLUMNS).where(among(statements.c.slot), standing(statements))
_FROM_OTHER_SIDE = select(*COLUMNS).where(among(statements.c.inverse_slot), standing(statements))
_EVER = select(*COLUMNS).where(statements.c.tx_from <= bindparam("transaction"))
_EVER_IN_SLOTS, _EVER_FROM_OTHER_SIDE = _EVER.where(among(statements.c.slot)), _EVER.where(among(statements.c.inverse_slot))
_TOLD = select(claims).where(claims.c.believed)
_TOLD_IN, _TOLD_FROM_OTHER_SIDE = _TOLD.where(among(claims.c.slot)), _TOLD.where(among(claims.c.inverse_slot))


class Slots:
    """The slots of one basis."""

    def __init__(self, basis: Basis, keys: Keys, vocabulary: Vocabulary) -> None:
        self._basis = basis
        self._keys = keys
        self._vocabulary = vocabulary

    def past(self, describer: Describer, places: Collection[Place]) -> list[Rectangle]:
        """Under the said-time limit: rectangles that are believed on the basis, and last known ones that no longer are."""
        return last_known(describer.replay(places))

    def rows(self, describer: Describer, subject: str, predicate: str, qualifier: str) -> tuple[list[Rectangle], frozenset[str]]:
        """Believed rectangles of a slot of an entity, and which of them stand in it from the other side."""
        describer.identity.load([subject])
        paired = self._vocabulary.predicate(predicate)
        if self._basis.evidence_until is not None:
            found = describer.told(self._told_in(describer, subject, predicate, qualifier))
        else:
            found = self._stored_in(describer, subject, predicate, qualifier, paired=paired.symmetric or paired.inverse is not None)
        rows = sorted(found, key=lambda row: (row.v_from, row.proposition))
        return rows, self.from_other_side(describer, rows, subject, predicate)

    def ever(self, describer: Describer, subject: str, predicate: str, qualifier: str) -> list[Rectangle]:
        """Every rectangle of a slot of an entity that was believed at a transaction up to the basis.

        Under a said-time limit none where no claim on the slot ever left the set: to make them costs much, and all stand in words.
        """
        describer.identity.load([subject])
        basis = self._basis
        if basis.evidence_until is not None:
            places = self._told_in(describer, subject, predicate, qualifier)
            until = (basis.transaction, basis.evidence_until)
            known = moments(describer.connection, describer.identity, self._vocabulary, places, *until)
            return describer.replay(places) if known.departures or known.identity else []
        slots = describer.identity.slots_kept_under(subject, predicate, qualifier)
        paired = self._vocabulary.predicate(predicate)
        queries = [_EVER_IN_SLOTS, *([_EVER_FROM_OTHER_SIDE] if paired.symmetric or paired.inverse is not None else [])]
        rows = (row for query in queries for row in rows_among(describer.connection, query, slots, transaction=basis.transaction))
        return list(dict.fromkeys(map(rectangle, rows)))

    def from_other_side(self, describer: Describer, rows: Collection[Rectangle], subject: str, predicate: str) -> frozenset[str]:
        """The propositions of a slot of an entity that stand in it from the other side alone."""
        members = describer.identity.members(subject)
        # One that stands in it from both sides is shown as it is stored.
        return frozenset(row.base for row in rows if not (row.subject in members and row.predicate == predicate))

    def _stored_in(self, describer: Describer, subject: str, predicate: str, qualifier: str, *, paired: bool) -> list[Rectangle]:
        connection, transaction = describer.connection, self._basis.transaction
        slots = describer.identity.slots_kept_under(subject, predicate, qualifier)
        if len(slots) == 1 and not paired:
            return [rectangle(row) for row in connection.execute(_IN_SLOT, {"slot": slots[0], "transaction": transaction})]
        found = {rectangle(row): None for row in rows_among(connection, _IN_SLOTS, slots, transaction=transaction)}
        if paired:
            found |= {rectangle(row): None for row in rows_among(connection, _FROM_OTHER_SIDE, slots, transaction=transaction)}
        return list(found)

    def _told_in(self, describer: Describer, subject: str, predicate: str, qualifier: str) -> Collection[Place]:
        """Where claims on a slot stand, whenever they were recorded."""
        identity = describer.identity
        # Identity claims stand between names, all others between entities.
        names = identity.members(subject) if predicate == IDENTITY else {subject}
        slots = {slot for name in names for slot in identity.slots_told_under(name, predicate, qualifier)}
        told = [row for query in (_TOLD_IN, _TOLD_FROM_OTHER_SIDE) for row in rows_among(describer.connection, query, slots)]
        identity.load({key for row in told for key in (row.subject, row.object)})
        places = {place.proposition: place for place in (place_of(identity.settled(row)) for row in told)}
        # A name that some group uses for the subject stands for another elsewhere, in a slot of its own.
        mine = set(identity.slots_kept_under(subject, predicate, qualifier))
        return [place for place in places.values() if place.slot in mine or place.inverse_slot in mine]

    def ask(self, describer: Describer, subject: str, value: str, predicate: str, qualifier: str, want: frozenset[Want]) -> AnswerView:
        """Whether a proposition is the case, by entity keys: yes where it holds, no where it is denied or ruled out, else unknown."""
        canonical = self._vocabulary.canonical(predicate)
        shown_as = predicate if canonical.swapped else canonical.predicate.name
        at = self._basis.valid_at
        rows, swapped = self.rows(describer, subject, shown_as, qualifier)
        holding = [row for row in rows if row.holds(at)]
        describer.identity.load([value])
        same = describer.identity.members(value)
        mine = [row for row in holding if (row.subject if row.base in swapped else row.object) in same]
        yes = [row for row in mine if row.polarity != canonical.negated]
        no = [row for row in mine if row.polarity == canonical.negated]
        truth = Truth.YES if yes else Truth.NO if no else Truth.UNKNOWN
        said = yes or no
        if not said and not canonical.negated:
            said = self._ruled_out(describer, holding, subject, value, shown_as, qualifier)
            truth = Truth.NO if said else Truth.UNKNOWN
        return AnswerView(truth, tuple(describer.views(said, want, swapped, sided=True)))

    def _ruled_out(
        self,
        describer: Describer,
        holding: Sequence[Rectangle],
        subject: str,
        value: str,
        predicate: str,
        qualifier: str,
    ) -> list[Rectangle]:
        """Statements of other values that leave no room for a value: from either side of a pair."""
        paired = self._vocabulary.predicate(predicate)
        other = predicate if paired.symmetric else paired.inverse
        identity = describer.identity
        one, two = identity.root(subject), identity.root(value)
        asked_about = identity.place(predicate, qualifier, one, two, paired=False)
        asked = {asked_about.proposition, identity.place(predicate, qualifier, two, one, paired=False).proposition}
        if other is not None:
            asked.add(identity.place(other, qualifier, two, one, paired=False).proposition)
        found = self._rivals(describer, holding, identity.slot(one, predicate, qualifier), asked)
        if found or other is None:
            return found
        theirs, _ = self.rows(describer, value, other, qualifier)
        holding = [row for row in theirs if row.holds(self._basis.valid_at)]
        return self._rivals(describer, holding, identity.slot(two, other, qualifier), asked)

    def _rivals(self, describer: Describer, holding: Sequence[Rectangle], slot: str, asked_about: Collection[str]) -> list[Rectangle]:
        """Statements that hold by plain claims in a one-valued slot, unless the value asked about is an additive one."""
        positive = [row for row in holding if row.polarity]
        if not positive:
            return []
        scene = describer.scene(self._basis.transaction, positive)
        found = []
        for stored in positive:
            row = scene.read(stored)
            sides = scene.units.sides(row.place)
            unit = scene.units.unit(sides[0 if row.slot == slot else -1], row.base)
            if unit.traits.one_valued and not any(unit.is_additive(base) for base in asked_about):
                outcome = unit.plain(row.base, self._basis.valid_at)
                if outcome.holds and not outcome.shadow:
                    found.append(stored)
        return found

    def places_of(self, describer: Describer, key: str) -> list[Place]:
        """Where the proposition of a statement's key stands, also where no transaction has believed it."""
        mine = select(claims).where(claims.c.namespace == self._basis.namespace, claims.c.believed)
        stored = select(*COLUMNS).where(statements.c.namespace == self._basis.namespace, statements.c.proposition == key)
        row = describer.connection.execute(stored.limit(1)).first()
        if row is not None:
            return [rectangle(row).place]
        told = describer.connection.execute(mine.where(claims.c.proposition == key).limit(1)).first()
        if told is not None:
            return [place_of(told)]
        # A denial's key is not that of its claims: only theirs can tell, and few deny.
        ending = claims.c.kind.in_([str(ClaimKind.END), str(ClaimKind.CORRECTION)])
        denying = or_(claims.c.polarity.is_(False), ending, claims.c.to_lo.is_not(None))
        for found in describer.connection.execute(mine.where(denying)):
            if self._keys.denial(found.proposition) == key:
                return [place_of(found)]
        if self._basis.evidence_until is not None and not describer.identity.nothing_joined:
            # Names that denote other entities under the limit make propositions that no claim names and no statement was of.
            row = describer.rows.execute(stored.limit(1)).first()
            if row is not None:
                return [rectangle(row).place]
        return []


def last_known(rows: Collection[Rectangle]) -> list[Rectangle]:
    """Of all rectangles that some propositions ever had those that no later one of theirs has taken the place of."""
    beside: dict[str, list[Rectangle]] = defaultdict(list)
    for row in rows:
        beside[row.proposition].append(row)
    return [row for row in rows if not any(_outlives(other, row) for other in beside[row.proposition])]


def _outlives(one: Rectangle, other: Rectangle) -> bool:
    """Whether of one proposition one is what is last known of a stretch of time of which the other told before."""
    return one.v_from < other.v_to and other.v_from < one.v_to and one.tx_to > other.tx_to


def segments(views: Sequence[StatementView]) -> Iterator[SegmentView]:
    """Maximal intervals in which the same statements hold; gaps are absent."""
    points = sorted({at for view in views for at in (view.v_from, view.v_to)})
    starts: dict[Instant, list[StatementView]] = defaultdict(list)
    for view in views:
        starts[view.v_from].append(view)
    holding: list[StatementView] = []
    for start, end in pairwise(points):
        holding = [view for view in holding if view.v_to > start] + starts[start]
        if holding:
            yield SegmentView(start, end, tuple(holding))
