"""How documents and rectangles are read on a basis: of which entities they speak, and so of which propositions.

Where nothing was joined or split everything means what it says. Elsewhere the rows that name such an entity are read anew, and
their edges laid anew; all others stay as they are.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from functools import cached_property
from threading import RLock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graph.belief.identity import IDENTITY
from graph.ledger.identity import Identity, Place
from graph.ledger.told import Resolution
from graph.recall.columns import Bools, Grouped, GroupedView, Ints
from graph.recall.namespace import NOBODY, Indexed, State, base_node, between, episode_node, thing_node

READINGS = 4
"""How many are kept of a namespace."""

Numbered = NDArray[np.int32]
_TOLD = ("subject", "object", "replaced_subject", "replaced_object", "predicate", "qualifier", "paired", "group", "source", "is_split")


class _Meant(NamedTuple):
    """The numbers of what a row speaks of."""

    subject: int
    object: int
    base: int
    slot: int
    inverse_slot: int
    replaced: int = NOBODY


class Reading:
    """Columns of claims and rectangles by what they mean on bases of one identity.

    `rectangles` holds further ones at its end where a said-time limit makes them; those that such a limit takes away are `gone`.
    `moved_claims` and `moved_rectangles` have their edges in `edges` instead of those of the state.
    """

    def __init__(self, indexed: Indexed, state: State) -> None:
        self.indexed = indexed
        self.state = state
        self.claims: dict[str, Numbered] = {
            name: state.claims[name] for name in ("subject", "object", "base", "slot", "inverse_slot", "replaced")
        }
        self.rectangles: dict[str, NDArray[Any]] = {
            name: state.rectangles[name]
            for name in ("subject", "object", "base", "polarity", "predicate", "v_from", "v_to", "tx_from", "tx_to")
        }
        self.gone: Bools | None = None
        self.moved_claims: Bools | None = None
        self.moved_rectangles: Bools | None = None
        self.edges: GroupedView | None = None

    @property
    def places(self) -> int:
        """How many propositions with a polarity may be meant."""
        return 2 * len(self.indexed.bases)

    @cached_property
    def claim_units(self) -> Ints:
        """`2 * base + polarity` of each claim; this and what follows once nothing of the reading changes any more."""
        units: Ints = self.claims["base"].astype(np.int64) * 2 + self.state.claims["polarity"]
        return units

    @cached_property
    def rectangle_units(self) -> Numbered:
        """The same of each rectangle."""
        units: Numbered = self.rectangles["base"].astype(np.int32) * 2 + self.rectangles["polarity"]
        return units

    def tellers(self, units: Ints) -> Ints:
        """The claims on the propositions of some units, ascending: by the edges to the episodes that tell them."""
        nodes = base_node(np.unique(units >> 1))
        views = [self.state.edges] if self.edges is None else [self.state.edges, self.edges]
        reasons = np.concatenate([view.among(nodes, "reason")[1][0] for view in views])
        return np.unique(reasons[reasons % 3 == 1] // 3).astype(np.int64)

    @cached_property
    def ends(self) -> Ints:
        """The claims that tell of an end."""
        return np.flatnonzero(self.state.claims["ends"])


class Readings:
    """The readings of one namespace, kept while they are asked for. Thread-safe."""

    def __init__(self, indexed: Indexed) -> None:
        self._indexed = indexed
        self._lock = RLock()
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._plain: Reading | None = None

    def plain(self, state: State) -> Reading:
        """Everything as it is told."""
        with self._lock:
            if self._plain is None or self._plain.state is not state:
                self._plain = Reading(self._indexed, state)
            return self._plain

    def of(self, state: State, name: Hashable, identity: Callable[[], Identity], resolution: Resolution | None = None) -> Reading:
        """The reading by an identity that has looked up all it knows; `name` is that of all that decides, but for the state.

        Under a said-time limit with what it changes.
        """
        with self._lock:
            kept = self._kept.pop(name, None) or _Kept(self._indexed, identity(), resolution)
            self._kept[name] = kept
            while len(self._kept) > READINGS:
                self._kept.popitem(last=False)
            return kept.upto(state)


class _Kept:
    """A reading that is extended as documents come."""

    def __init__(self, indexed: Indexed, identity: Identity, resolution: Resolution | None) -> None:
        self._indexed = indexed
        self._identity = identity
        self._meant: dict[tuple[Any, ...], _Meant] = {}
        self._edges = Grouped(other=np.int32, reason=np.int32, predicate=np.int32)
        self._claims = self._rectangles = 0
        # Kept with what is made of it: its name is that of the object.
        self._resolution = resolution
        self._told = _numbered(indexed, resolution) if resolution is not None else None
        self._reading: Reading | None = None
        self._told_edges = False

    def upto(self, state: State) -> Reading:
        """The reading of a state."""
        last = self._reading
        if last is not None and (last.state is state or state.claims.size < self._claims or state.rectangles.size < self._rectangles):
            # What came later than an older state counts on no basis that was asked of it.
            return last
        reading = Reading(self._indexed, state)
        concerned = self._concerns(len(self._indexed.things))
        reading.moved_claims = self._read_claims(reading, last, concerned)
        reading.moved_rectangles = self._read_rectangles(reading, last, concerned)
        if self._told is not None:
            self._limit(reading)
        self._edges.settle()
        reading.edges = self._edges.view
        self._reading = reading
        return reading

    def _concerns(self, things: int) -> Bools:
        """Which things are joined or split, or may be meant by what is."""
        flags = np.zeros(things, np.bool_)
        for key in self._identity.concerned():
            number = self._indexed.things.known(key)
            if number is not None and number < things:
                flags[number] = True
        return flags

    def _read_claims(self, reading: Reading, last: Reading | None, concerned: Bools) -> Bools:
        table, start = reading.state.claims, self._claims
        moved = np.zeros(table.size, np.bool_)
        if last is not None and last.moved_claims is not None:
            moved[:start] = last.moved_claims
        named = concerned[table["subject"][start:]] | concerned[table["object"][start:]]
        for name in ("replaced_subject", "replaced_object"):
            number = table[name][start:]
            named |= concerned[number] & (number != NOBODY)
        rows = start + np.flatnonzero(named)
        columns = {name: np.array(values) for name, values in reading.claims.items()} if len(rows) or moved.any() else reading.claims
        if last is not None and moved.any():
            for name, values in columns.items():
                values[:start] = last.claims[name]
        edges = []
        for row in rows:
            meant = self._claim(table, int(row))
            if all(columns[name][row] == value for name, value in meant._asdict().items()):
                continue
            moved[row] = True
            for name, value in meant._asdict().items():
                columns[name][row] = value
            edges += between(
                base_node(meant.base), episode_node(int(table["episode"][row])), int(row) * 3 + 1, int(table["predicate"][row])
            )
        self._edges.entries.append(edges)
        reading.claims = columns
        self._claims = table.size
        return moved

    def _claim(self, table: Any, row: int) -> _Meant:
        told = tuple(int(table[name][row]) for name in _TOLD)
        meant = self._meant.get(told)
        if meant is None:
            subject, object, other_subject, other_object = told[:4]
            meant = self._numbers(self._meant_by(subject, object, told))
            if other_subject != NOBODY:
                meant = meant._replace(replaced=self._indexed.bases.of(self._meant_by(other_subject, other_object, told).proposition))
            self._meant[told] = meant
        return meant

    def _meant_by(self, subject: int, object: int, told: tuple[int, ...]) -> Place:
        indexed = self._indexed
        predicate, qualifier, paired, group, source, is_split = told[4:]
        return self._identity.meant(
            indexed.predicates.names[predicate],
            indexed.qualifiers.names[qualifier],
            indexed.things.names[subject],
            indexed.things.names[object],
            None if group == NOBODY else indexed.groups.names[group],
            indexed.sources.names[source],
            paired=bool(paired),
            split=bool(is_split),
        )

    def _numbers(self, place: Place) -> _Meant:
        indexed = self._indexed
        inverse = NOBODY if place.inverse_slot is None else indexed.slots.of(place.inverse_slot)
        things = indexed.things.of(place.subject), indexed.things.of(place.object)
        return _Meant(*things, indexed.bases.of(place.proposition), indexed.slots.of(place.slot), inverse)

    def _read_rectangles(self, reading: Reading, last: Reading | None, concerned: Bools) -> Bools:
        table, start = reading.state.rectangles, self._rectangles
        moved = np.zeros(table.size, np.bool_)
        if last is not None and last.moved_rectangles is not None:
            moved[:start] = last.moved_rectangles[:start]
        rows = start + np.flatnonzero(concerned[table["subject"][start:]] | concerned[table["object"][start:]])
        changed = ("subject", "object", "base")
        if len(rows) or moved.any():
            reading.rectangles |= {name: np.array(reading.rectangles[name]) for name in changed}
        if last is not None and moved.any():
            for name in changed:
                reading.rectangles[name][:start] = last.rectangles[name][:start]
        edges = []
        for row in rows:
            predicate = int(table["predicate"][row])
            if self._indexed.predicates.names[predicate] == IDENTITY:
                continue
            meant = self._rectangle(table, int(row))
            if all(reading.rectangles[name][row] == getattr(meant, name) for name in changed):
                continue
            moved[row] = True
            for name in changed:
                reading.rectangles[name][row] = getattr(meant, name)
            if table["polarity"][row]:
                edges += between(base_node(meant.base), thing_node(meant.subject), int(row) * 3, predicate)
                if not table["literal"][row]:
                    edges += between(base_node(meant.base), thing_node(meant.object), int(row) * 3, predicate)
        self._edges.entries.append(edges)
        self._rectangles = table.size
        return moved

    def _rectangle(self, table: Any, row: int) -> _Meant:
        told = (NOBODY, *(int(table[name][row]) for name in ("predicate", "qualifier", "subject", "object", "paired")))
        meant = self._meant.get(told)
        if meant is None:
            indexed = self._indexed
            _, predicate, qualifier, subject, object, paired = told
            one, other = (self._identity.root(indexed.things.names[key]) for key in (subject, object))
            names = indexed.predicates.names[predicate], indexed.qualifiers.names[qualifier]
            meant = self._meant[told] = self._numbers(self._identity.place(*names, one, other, paired=bool(paired)))
        return meant

    def _limit(self, reading: Reading) -> None:
        """Take away what the limit does, and add what it makes instead."""
        assert self._told is not None
        gone, added = self._told
        stored = reading.state.rectangles
        flags = np.zeros(len(self._indexed.bases), np.bool_)
        flags[gone] = True
        count = len(added["base"])
        reading.gone = np.concatenate((flags[stored["base"]], np.zeros(count, np.bool_)))
        reading.rectangles = {name: np.concatenate((values, added[name])) for name, values in reading.rectangles.items()}
        # Their reason is a number that no rectangle has: they count whenever the limit is in force.
        reading.moved_rectangles = np.concatenate((np.asarray(reading.moved_rectangles), np.zeros(count, np.bool_)))
        if not self._told_edges:
            edges = []
            names = ("subject", "object", "base", "polarity", "predicate")
            for subject, object, base, polarity, predicate in zip(*(added[name].tolist() for name in names), strict=True):
                if polarity:
                    edges += between(base_node(base), thing_node(subject), ALWAYS, predicate)
                    if object not in self._indexed.literals:
                        edges += between(base_node(base), thing_node(object), ALWAYS, predicate)
            self._edges.entries.append(edges)
            self._told_edges = True


ALWAYS = -1
"""The reason of an edge whose proposition tells whether it is there."""


def _numbered(indexed: Indexed, told: Resolution) -> tuple[Ints, Mapping[str, NDArray[Any]]]:
    """Numbers of the propositions that are gone, and columns of the rectangles that come."""
    gone = [number for key in told.gone if (number := indexed.bases.known(key)) is not None]
    rows = [
        (
            indexed.things.of(row.subject),
            indexed.things.of(row.object),
            indexed.bases.of(row.base),
            row.polarity,
            row.v_from,
            row.v_to,
            row.tx_from,
            row.tx_to,
            indexed.predicates.of(row.predicate),
        )
        for row in told.rectangles
    ]
    names = ("subject", "object", "base", "polarity", "v_from", "v_to", "tx_from", "tx_to", "predicate")
    values = zip(*rows, strict=True) if rows else ((),) * len(names)
    columns = {name: np.array(each, np.bool_ if name == "polarity" else np.int64) for name, each in zip(names, values, strict=True)}
    return np.array(sorted(gone), np.int64), columns
