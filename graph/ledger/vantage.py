"""One basis of a comparison: what holds on it, and what its entities are on the basis that is compared with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from graph.belief.identity import IDENTITY
from graph.ledger.details import Describer
from graph.ledger.footing import Footing
from graph.ledger.identity import Identity
from graph.ledger.rectangles import Rectangle, read_as
from graph.ledger.told import Resolution


class Vantage:
    """A basis, read through who is who on another one (`through`), the last of the comparison.

    A statement is one of an entity of its own basis, by that one's key; the key is then read as it is on the other. So a join is no
    difference, what is told apart is one, and it does not matter under which of its keys a statement is stored.
    """

    def __init__(self, footing: Footing, describer: Describer, resolution: Resolution, through: Identity) -> None:
        self.describer = describer
        self.basis = footing.basis
        self._slots = footing.slots
        self.resolution = resolution
        self.identity = describer.identity
        self.through = through
        self._by_slot: dict[str, list[Rectangle]] | None = None
        self._by_base: dict[str, list[Rectangle]] = {}

    # ------------------------------------------------------------ what holds

    def holds(self, row: Rectangle) -> bool:
        """Whether a stored rectangle holds here."""
        believed = row.tx_from <= self.basis.transaction < row.tx_to
        return believed and row.v_from <= self.basis.valid_at < row.v_to and row.base not in self.resolution.gone

    def made_in(self, slots: Iterable[str]) -> list[Rectangle]:
        """Rectangles of the resolution in some slots, from either side."""
        by_slot, _ = self._made()
        return [row for slot in slots for row in by_slot.get(slot, ())]

    def made_of(self, bases: Iterable[str]) -> list[Rectangle]:
        """Rectangles of the resolution of some propositions."""
        _, by_base = self._made()
        return [row for base in bases for row in by_base.get(base, ())]

    def _made(self) -> tuple[dict[str, list[Rectangle]], dict[str, list[Rectangle]]]:
        if self._by_slot is None:
            by_slot: dict[str, list[Rectangle]] = defaultdict(list)
            by_base: dict[str, list[Rectangle]] = defaultdict(list)
            for row in self.resolution.rectangles:
                if row.holds(self.basis.valid_at):
                    by_base[row.base].append(row)
                    for slot in {row.slot, row.inverse_slot}:
                        if slot is not None:
                            by_slot[slot].append(row)
            self._by_slot, self._by_base = by_slot, by_base
        return self._by_slot, self._by_base

    def dated(self, rows: Sequence[Rectangle]) -> list[Rectangle]:
        """Rectangles that hold here with the transaction that first said so; under a said-time limit no table tells it.

        Raises QueryTooComplex where too many transactions would have to be resolved again.
        """
        if self.basis.evidence_until is None or not rows:
            return list(rows)
        read = {row: read_as(self.identity, row) for row in rows}
        known = {
            (row.base, row.polarity, row.v_from): row.tx_from
            for row in self._slots.replay(self.describer, [each.place for each in read.values()])
        }
        return [replace(row, tx_from=known.get((each.base, each.polarity, each.v_from), row.tx_from)) for row, each in read.items()]

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
