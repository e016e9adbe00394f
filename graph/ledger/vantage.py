"""One basis of a comparison: what holds on it, and what its entities are on the basis that is compared with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace

from graph.belief.identity import IDENTITY
from graph.ledger.details import Describer
from graph.ledger.footing import Footing
from graph.ledger.identity import Identity
from graph.ledger.rectangles import Rectangle, read_as
from graph.ledger.told import Resolution
from ontology.instant import Instant

ASKED_SINGLY = 5
"""Times that the rectangles of a resolution are gone through before they are sorted by where they stand."""
MOST_DATES = 20_000
"""Most rectangles under said-time limits of which it is kept which transaction first said so; some 10 MB."""

Dates = dict[tuple[str, int, Instant, str, Instant], int]
"""Namespace, transaction, limit, proposition and start, and the transaction. It never changes, so threads may share it."""


class Vantage:
    """A basis, read through who is who on another one (`through`), the last of the comparison.

    A statement is one of an entity of its own basis, by that one's key; the key is then read as it is on the other. So a join is no
    difference, what is told apart is one, and it does not matter under which of its keys a statement is stored.
    """

    def __init__(self, footing: Footing, describer: Describer, resolution: Resolution, through: Identity, dates: Dates) -> None:
        """`dates` is kept between reads."""
        self.describer = describer
        self.basis = footing.basis
        self._slots = footing.slots
        self.resolution = resolution
        self.identity = describer.identity
        self.through = through
        self._dates = dates
        self._asked = 0
        self._under: dict[str, list[Rectangle]] | None = None

    # ------------------------------------------------------------ what holds

    def holds(self, row: Rectangle) -> bool:
        """Whether a stored rectangle holds here."""
        believed = row.tx_from <= self.basis.transaction < row.tx_to
        return believed and row.v_from <= self.basis.valid_at < row.v_to and row.base not in self.resolution.gone

    def made(self, slots: Collection[str], bases: Collection[str]) -> list[Rectangle]:
        """Rectangles of the resolution that hold here in some slots, from either side, or of some propositions."""
        made, at = self.resolution.rectangles, self.basis.valid_at
        if not made or not (slots or bases):
            return []
        self._asked += 1
        if self._asked <= ASKED_SINGLY:
            found = [row for row in made if row.slot in slots or row.base in bases or row.inverse_slot in slots]
            return [row for row in found if row.holds(at)]
        if self._under is None:
            # To sort them costs as much as to go through them some ten times.
            self._under = defaultdict(list)
            for row in made:
                if row.holds(at):
                    for key in {row.base, row.slot, row.inverse_slot or row.slot}:
                        self._under[key].append(row)
        return [row for key in {*slots, *bases} for row in self._under.get(key, ())]

    def dated(self, rows: Sequence[Rectangle]) -> list[Rectangle]:
        """Rectangles that hold here with the transaction that first said so; under a said-time limit no table tells it.

        Raises QueryTooComplex where too many transactions would have to be resolved again.
        """
        if self.basis.evidence_until is None:
            return list(rows)
        read = [read_as(self.identity, row) for row in rows]
        of = (self.basis.namespace, self.basis.transaction, self.basis.evidence_until)
        unknown = [row.place for row in read if (*of, row.proposition, row.v_from) not in self._dates]
        if unknown:
            if len(self._dates) > MOST_DATES:
                self._dates.clear()
            found = self._slots.replay(self.describer, unknown)
            self._dates.update({(*of, row.proposition, row.v_from): row.tx_from for row in found})
        return [
            replace(row, tx_from=self._dates.get((*of, each.proposition, each.v_from), row.tx_from))
            for row, each in zip(rows, read, strict=True)
        ]

    # ------------------------------------------------------------ who is who

    @property
    def plain(self) -> bool:
        """Whether on both bases every name denotes itself."""
        return self.identity.nothing_joined and self.through.nothing_joined

    def load(self, keys: Collection[str]) -> None:
        """Look up what bears on some keys."""
        if self.plain:
            return
        self.identity.load(keys)
        self.through.load({*keys, *map(self.identity.root, keys)})

    def root(self, key: str) -> str:
        """The entity of the other basis that a key of a statement here is read as. `load` it before."""
        return self.through.root(self.identity.root(key))

    def moved(self, key: str) -> bool:
        """Whether a key is read otherwise than on the other basis itself."""
        return self.root(key) != self.through.root(key)

    def keys_of(self, entity: str) -> set[str]:
        """All keys under which statements may be stored here that are read as of an entity."""
        if self.plain:
            return {entity}
        members = self.through.members(entity)
        self.load(members)
        return {key for member in members if self.identity.root(member) == member for key in self.identity.members(member)}

    def kept_under(self, row: Rectangle, subject: str, object: str) -> list[str]:
        """The keys of all propositions here that are read as one between two entities; `row` is stored under one of them."""
        if self.plain or row.predicate == IDENTITY:
            return [row.base]
        return self.identity.stored_between(row.place, self.keys_of(subject), self.keys_of(object))
