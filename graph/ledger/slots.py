"""Slots on a basis: their rectangles, three-valued answers, and the parts of a timeline."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from sqlalchemy import Connection, bindparam, or_, select

from graph.ledger.details import Describer
from graph.ledger.directory import standing
from graph.ledger.evidence import Place
from graph.ledger.rectangles import COLUMNS, Rectangle, rectangle, replayed
from graph.ledger.schema import claims, statements
from graph.views import AnswerView, Basis, SegmentView, StatementView, Truth, Want
from ontology.claim import ClaimKind
from ontology.instant import Instant
from ontology.names import Keys
from ontology.vocabulary import Vocabulary

_IN_SLOT = select(*COLUMNS).where(statements.c.slot == bindparam("slot"), standing(statements))
_IN_PAIRED_SLOT = select(*COLUMNS).where(
    or_(statements.c.slot == bindparam("slot"), statements.c.inverse_slot == bindparam("slot")), standing(statements)
)


class Slots:
    """The slots of one basis."""

    def __init__(self, basis: Basis, keys: Keys, vocabulary: Vocabulary) -> None:
        self._basis = basis
        self._keys = keys
        self._vocabulary = vocabulary

    def replay(self, connection: Connection, places: Sequence[Place]) -> list[Rectangle]:
        """Rectangles that are believed on the basis under its said-time limit."""
        assert self._basis.evidence_until is not None
        rows = replayed(connection, self._keys, self._vocabulary, places, self._basis.transaction, self._basis.evidence_until)
        return [row for row in rows if row.tx_to > self._basis.transaction]

    def rows(self, connection: Connection, subject: str, predicate: str, qualifier: str) -> tuple[list[Rectangle], frozenset[str]]:
        """Believed rectangles of a slot, and which of them stand in it from the other side."""
        slot = self.key(subject, predicate, qualifier)
        paired = self._vocabulary.predicate(predicate)
        if self._basis.evidence_until is None:
            query = _IN_PAIRED_SLOT if paired.symmetric or paired.inverse else _IN_SLOT
            found = connection.execute(query, {"slot": slot, "transaction": self._basis.transaction})
            rows = sorted((rectangle(row) for row in found), key=lambda row: (row.v_from, row.proposition))
        else:
            on = or_(claims.c.slot == slot, claims.c.inverse_slot == slot)
            named = (
                select(claims.c.proposition, claims.c.slot, claims.c.inverse_slot, claims.c.predicate)
                .distinct()
                .where(on, claims.c.believed)
            )
            replayed_now = self.replay(connection, [Place(*row) for row in connection.execute(named)])
            rows = sorted(replayed_now, key=lambda row: (row.v_from, row.proposition))
        return rows, frozenset(row.base for row in rows if row.slot != slot)

    def ask(self, describer: Describer, subject: str, value: str, predicate: str, qualifier: str, want: frozenset[Want]) -> AnswerView:
        """Whether a proposition is the case, by entity keys: yes where it holds, no where it is denied or ruled out, else unknown."""
        canonical = self._vocabulary.canonical(predicate)
        shown_as = predicate if canonical.swapped else canonical.predicate.name
        at = self._basis.valid_at
        rows, swapped = self.rows(describer.connection, subject, shown_as, qualifier)
        holding = [row for row in rows if row.holds(at)]
        mine = [row for row in holding if (row.subject if row.base in swapped else row.object) == value]
        yes = [row for row in mine if row.polarity != canonical.negated]
        no = [row for row in mine if row.polarity == canonical.negated]
        truth = Truth.YES if yes else Truth.NO if no else Truth.UNKNOWN
        said = yes or no
        if not said and not canonical.negated:
            said = self._ruled_out(describer, holding, subject, value, shown_as, qualifier)
            truth = Truth.NO if said else Truth.UNKNOWN
        return AnswerView(truth, tuple(describer.views(said, want, swapped)))

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
        asked_about = [self._proposition(subject, predicate, qualifier, value)]
        if other is not None:
            asked_about.append(self._proposition(value, other, qualifier, subject))
        found = self._rivals(describer, holding, self.key(subject, predicate, qualifier), asked_about)
        if found or other is None:
            return found
        theirs, _ = self.rows(describer.connection, value, other, qualifier)
        holding = [row for row in theirs if row.holds(self._basis.valid_at)]
        return self._rivals(describer, holding, self.key(value, other, qualifier), asked_about)

    def _proposition(self, subject: str, predicate: str, qualifier: str, object: str) -> str:
        return self._keys.proposition(self.key(subject, predicate, qualifier), object, True)

    def key(self, subject: str, predicate: str, qualifier: str) -> str:
        """The key of a slot."""
        return self._keys.slot(self._basis.namespace, subject, predicate, qualifier)

    def _rivals(self, describer: Describer, holding: Sequence[Rectangle], slot: str, asked_about: Sequence[str]) -> list[Rectangle]:
        """Statements that hold by plain claims in a one-valued slot, unless the value asked about is an additive one."""
        positive = [row for row in holding if row.polarity]
        if not positive:
            return []
        units = describer.scene(self._basis.transaction, positive).units
        found = []
        for row in positive:
            sides = units.sides(row.place)
            unit = units.unit(sides[0 if row.slot == slot else -1], row.base)
            if unit.traits.one_valued and not any(unit.is_additive(base) for base in asked_about):
                outcome = unit.plain(row.base, self._basis.valid_at)
                if outcome.holds and not outcome.shadow:
                    found.append(row)
        return found

    def places_of(self, connection: Connection, key: str) -> list[Place]:
        """Where the proposition of a statement's key stands, also where no transaction has believed it."""
        named = select(claims.c.proposition, claims.c.slot, claims.c.inverse_slot, claims.c.predicate).distinct()
        mine = named.where(claims.c.namespace == self._basis.namespace, claims.c.believed)
        stored = select(statements.c.base).where(statements.c.proposition == key)
        row = connection.execute(mine.where(or_(claims.c.proposition == key, claims.c.proposition.in_(stored)))).first()
        if row is not None:
            return [Place(*row)]
        # A denial's key is not that of its claims: only theirs can tell, and few deny.
        ending = claims.c.kind.in_([str(ClaimKind.END), str(ClaimKind.CORRECTION)])
        denying = or_(claims.c.polarity.is_(False), ending, claims.c.to_lo.is_not(None))
        for found in connection.execute(mine.add_columns(claims.c.object).where(denying)):
            if self._keys.proposition(found.slot, found.object, False) == key:
                return [Place(*found[:4])]
        return []


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
