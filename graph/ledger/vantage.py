"""One basis of a comparison: what holds on it, and what its entities are on the basis that is compared with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from graph.belief.identity import IDENTITY
from graph.ledger.details import Describer
from graph.ledger.identity import Identity
from graph.ledger.rectangles import Rectangle
from graph.ledger.told import Resolution
from graph.views import Basis

ASKED_SINGLY = 5
"""Times that the rectangles of a resolution are gone through before they are sorted by where they stand."""


class Vantage:
    """A basis, read through who is who on another one (`through`), the last of the comparison.

    A statement is one of an entity of its own basis, by that one's key; the key is then read as it is on the other. So a join is no
    difference, what is told apart is one, and it does not matter under which of its keys a statement is stored.
    """

    def __init__(self, describer: Describer, basis: Basis, resolution: Resolution, through: Identity) -> None:
        self.describer = describer
        self.basis = basis
        self.resolution = resolution
        self.identity = describer.identity
        self.through = through
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
