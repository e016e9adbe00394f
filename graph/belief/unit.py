"""A unit of resolution: the claims that are weighed together - a slot where it has one value, else a proposition.

`Unit` is the pure function of the set of claims that the whole service stands on: the same claims in any order give the same
intervals.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from graph.belief.corrections import apply_corrections
from graph.belief.events import sweep_event, weigh_event
from graph.belief.items import Atom, Item, atoms_of
from graph.belief.opposed import may_oppose, opposed, opposed_events
from graph.belief.sweep import Piece, Span, sweep
from graph.belief.traits import Traits
from graph.belief.weighing import Conflict, Contest, Support, Verdict, Weighed, contest, weigh
from ontology.claim import Claim
from ontology.instant import Instant
from ontology.vocabulary import Temporality

Value = tuple[str, bool]
"""An object key and a polarity."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A maximal interval in which a value holds: `[start, end)`, and the atoms that carry it without attesting."""

    start: Instant
    end: Instant
    carriers: tuple[Atom, ...]


class Unit:
    """The visible claims of a unit, weighed. Claims of candidates, plans and hypotheticals must not be among them."""

    def __init__(self, claims: Iterable[Claim], traits: Traits, *, items: Iterable[Item] | None = None) -> None:
        """`items` are given where corrections have acted already, over more claims than those of this unit."""
        self.traits = traits
        self.items = tuple(apply_corrections(claims, traits).items if items is None else items)
        self._citations: dict[Value, dict[Instant, list[Atom]]] = {}

    @cached_property
    def atoms(self) -> tuple[Atom, ...]:
        """All pieces of evidence."""
        return tuple(atom for item in self.items for atom in atoms_of(item, self.traits))

    @cached_property
    def _by_value(self) -> Mapping[Value, list[Atom]]:
        found: dict[Value, list[Atom]] = defaultdict(list)
        for atom in self.atoms:
            found[atom.value, atom.positive].append(atom)
        return dict(found)

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """Every (object key, polarity) that a claim speaks of, in order."""
        return tuple(sorted(self._by_value))

    def of(self, value: str, positive: bool) -> list[Atom]:
        """The pieces of evidence for a value of a polarity."""
        return self._by_value.get((value, positive), [])

    @cached_property
    def _plain(self) -> Contest:
        """The contest of a one-valued slot: the plain claims on all values against each other."""
        fors = [atom for atom in self.atoms if atom.positive and not atom.additive]
        denials = {value: atoms for (value, positive), atoms in self._by_value.items() if not positive}
        return contest(fors, denials, resumes=self.traits.resumes)

    def _alone(self, value: str, positive: bool, fors: list[Atom]) -> Contest:
        """A value against what has the other polarity alone."""
        return contest(fors, {value: self.of(value, not positive)}, resumes=self.traits.resumes)

    @cached_property
    def _contests(self) -> Mapping[Value, tuple[Contest, ...]]:
        """Where each value is weighed; it holds where any of its contests says so, plain claims first."""
        found: dict[Value, tuple[Contest, ...]] = {}
        for (value, positive), atoms in self._by_value.items():
            if not positive or not self.traits.one_valued:
                found[value, positive] = (self._alone(value, positive, atoms),)
                continue
            additive = [atom for atom in atoms if atom.additive]
            plain = (self._plain,) if len(additive) < len(atoms) else ()
            found[value, positive] = (*plain, self._alone(value, True, additive)) if additive else plain
        return found

    @cached_property
    def intervals(self) -> Mapping[Value, tuple[Interval, ...]]:
        """Maximal intervals of every value, in order of time."""
        if len(self.atoms) == 1:
            # The commonest unit of all: nothing stands against a single piece of evidence.
            atom = self.atoms[0]
            return {(atom.value, atom.positive): (Interval(atom.start, atom.end, (atom,)),)}
        if self.traits.temporal is Temporality.EVENT:
            pieces = {(v, p): sweep_event(atoms, self.of(v, not p)) for (v, p), atoms in self._by_value.items()}
        else:
            pieces = self._swept()
        return {value: _merged(found) for value, found in pieces.items() if found}

    def _swept(self) -> dict[Value, list[Piece]]:
        pieces: dict[Value, list[Piece]] = {}
        plain: Mapping[str, list[Piece]] | None = None
        for (value, positive), contests in self._contests.items():
            found: list[Piece] = []
            for scene in contests:
                if self.traits.one_valued and positive and scene is self._plain:
                    plain = sweep(scene) if plain is None else plain
                    found += plain.get(value, [])
                else:
                    found += sweep(scene).get(value, [])
            pieces[value, positive] = found
        return pieces

    @cached_property
    def contested(self) -> Mapping[Value, tuple[Span, ...]]:
        """Where each value holds against evidence to the contrary: spans at whose instants `weigh` finds its conflict TIED or RESOLVED."""
        if self.traits.temporal is Temporality.EVENT:
            spans = {(v, p): opposed_events(atoms, self.of(v, not p)) for (v, p), atoms in self._by_value.items()}
            return {value: tuple(found) for value, found in spans.items() if found}
        if not may_oppose(self.atoms):
            return {}
        plain = opposed(self._plain) if self.traits.one_valued else {}
        contested: dict[Value, tuple[Span, ...]] = {}
        for (value, positive), contests in self._contests.items():
            mine = [plain if scene is self._plain else opposed(scene) for scene in contests]
            found = [span for spans in mine for span in spans.get(value, ())]
            if found and len(contests) > 1:
                found = self._contested_in_both(value, found, contests)
            if found:
                contested[value, positive] = tuple(found)
        return contested

    def _contested_in_both(self, value: str, found: list[Span], contests: Iterable[Contest]) -> list[Span]:
        """Of spans in which one contest of a value finds conflict, those in which both together do."""
        held = [(piece.start, piece.end) for scene in contests for piece in sweep(scene).get(value, ())]
        points = sorted({at for span in (*found, *held) for at in span})
        inside = ((a, b) for a, b in pairwise(points) if any(start <= a < end for start, end in found))
        return [(a, b) for a, b in inside if self.weigh(value, a).conflict is not Conflict.NONE]

    def weigh(self, value: str, at: Instant, *, polarity: bool = True) -> Weighed:
        """The outcome for a value at an instant."""
        if self.traits.temporal is Temporality.EVENT:
            return weigh_event(self.of(value, polarity), self.of(value, not polarity), at)
        return _either([weigh(scene, value, at) for scene in self.contests(value, polarity)])

    def contests(self, value: str, positive: bool) -> tuple[Contest, ...]:
        """Where a value is weighed: plain claims first, additive ones apart; of a value without claims its rivals alone."""
        found = self._contests.get((value, positive), ())
        return found or ((self._plain,) if self.traits.one_valued and positive else ())

    @property
    def plain_contest(self) -> Contest:
        """The plain claims of a one-valued slot against each other."""
        return self._plain

    @cached_property
    def corrected(self) -> frozenset[str]:
        """The corrections, by ID, whose words stand in the place of others."""
        return frozenset(item.claim.id for item in self.items if item.corrected)

    @cached_property
    def beginning(self) -> Mapping[Instant, list[Atom]]:
        """The pieces of evidence by where they begin."""
        return _by_bound((atom.start, atom) for atom in self.atoms)

    @cached_property
    def ending(self) -> Mapping[Instant, list[Atom]]:
        """The pieces of evidence by where they end."""
        return _by_bound((atom.end, atom) for atom in self.atoms)

    def plain(self, value: str, at: Instant) -> Weighed:
        """The outcome for a positive value by its plain claims alone."""
        return weigh(self._plain, value, at)

    def is_additive(self, value: str) -> bool:
        """Whether some claim says that the value rules no other out."""
        return any(atom.additive for atom in self.of(value, True))

    def ruled_out_by(self, value: str, at: Instant) -> list[str]:
        """Other values that hold at an instant by plain claims and so say no to this one."""
        if not self.traits.one_valued or self.is_additive(value):
            return []
        others = [other for other, positive in self.values if positive and other != value]
        weighed = ((other, weigh(self._plain, other, at)) for other in others)
        return [other for other, found in weighed if found.holds and not found.shadow]

    def cited(self, value: Value, interval: Interval) -> list[Atom]:
        """The atoms for a value that attest or project an instant of its interval, each once."""
        if value not in self._citations:
            self._citations[value] = self._cite(value)
        return self._citations[value].get(interval.start, [])

    def _cite(self, value: Value) -> dict[Instant, list[Atom]]:
        """For every interval of a value, by its start, the atoms to cite: all at once, for one by one is quadratic."""
        intervals = self.intervals.get(value, ())
        starts, ends = [each.start for each in intervals], [each.end for each in intervals]
        found: list[dict[int, Atom]] = [{} for _ in intervals]
        for place, interval in enumerate(intervals):
            found[place].update((id(atom), atom) for atom in interval.carriers)
        for atom in self._by_value.get(value, []):
            span = (atom.start, atom.end - 1) if self.traits.temporal is Temporality.EVENT else atom.attested
            if span is not None:
                for place in range(bisect_right(ends, span[0]), bisect_right(starts, span[1])):
                    found[place][id(atom)] = atom
        return {start: list(atoms.values()) for start, atoms in zip(starts, found, strict=True)}


def _by_bound(bounds: Iterable[tuple[Instant, Atom]]) -> Mapping[Instant, list[Atom]]:
    found: dict[Instant, list[Atom]] = defaultdict(list)
    for at, atom in bounds:
        found[at].append(atom)
    return found


def _either(outcomes: list[Weighed]) -> Weighed:
    """A value holds where its plain or its additive claims do."""
    if not outcomes:
        return Weighed(Verdict.NOTHING)
    holding = [found for found in outcomes if found.holds]
    if len(holding) < 2:
        return holding[0] if holding else outcomes[0]
    firm = [found for found in holding if not found.shadow] or holding
    attested = any(found.support is Support.ATTESTED for found in firm)
    return Weighed(
        Verdict.HOLDS,
        Support.ATTESTED if attested else Support.PROJECTED,
        min((found.conflict for found in firm), key=list(Conflict).index),
        any(found.certain for found in firm),
        all(found.shadow for found in firm),
        tuple(atom for found in firm for atom in found.winners),
    )


def _merged(pieces: list[Piece]) -> tuple[Interval, ...]:
    merged: list[Interval] = []
    for piece in sorted(pieces, key=lambda piece: (piece.start, piece.end)):
        last = merged[-1] if merged else None
        if last is not None and piece.start <= last.end:
            merged[-1] = Interval(last.start, max(last.end, piece.end), (*last.carriers, *piece.winners))
        else:
            merged.append(Interval(piece.start, piece.end, piece.winners))
    return tuple(merged)
