"""Sweep: all maximal intervals in which values hold, in one pass over the breakpoints of a contest.

Near O(n log n): between two breakpoints only the strongest group of claims can hold, and while that group stays, only values
that an event touches are looked at again. The rules are those of `graph.belief.weighing`, which reads one instant.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter, itemgetter

from graph.belief.groups import Side
from graph.belief.items import Atom
from graph.belief.weighing import Begun, Contest, Key
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant

Span = tuple[Instant, Instant]


@dataclass(slots=True)
class Piece:
    """`[start, end)` in which a value holds; `winners` carry it where no claim attests it."""

    start: Instant
    end: Instant
    winners: tuple[Atom, ...]


def sweep(scene: Contest) -> dict[str, list[Piece]]:
    """The pieces of every value, in order of time; adjacent ones of one value may still be apart."""
    if len(scene.fors) == 1 and not scene.shadows:
        begun = scene.fors[0]
        if not any(_meets(begun, other) for other in scene.against.get(begun.atom.value, ())):
            return _alone(begun)
    elif not scene.shadows and not any(scene.against.values()) and all(_is_step(begun) for begun in scene.fors):
        return _succession(scene.fors)
    return Sweep(scene).run()


def _meets(one: Begun, other: Begun) -> bool:
    """Whether the other may stand against any part of this one: by being there with it, or by having outlasted it."""
    return other.key > one.key or (other.start < one.atom.end and one.start < other.atom.end)


def _is_step(begun: Begun) -> bool:
    """Whether a claim is open and attests the instant of its start and no other: most states and changes are so."""
    atom = begun.atom
    return atom.end == UNBOUNDED_FUTURE and atom.attested == (begun.start, begun.start)


def _succession(steps: Iterable[Begun]) -> dict[str, list[Piece]]:
    """Of claims that each attest their start alone, the strongest of the latest start hold until the next start."""
    pieces: dict[str, list[Piece]] = defaultdict(list)
    held: dict[str, tuple[Instant, list[Atom]]] = {}
    for start, group in groupby(sorted(steps, key=attrgetter("start")), key=attrgetter("start")):
        atoms = [begun.atom for begun in group]
        best = max(atom.strength for atom in atoms)
        holding: dict[str, list[Atom]] = defaultdict(list)
        for atom in atoms:
            if atom.strength == best:
                holding[atom.value].append(atom)
        for value in [value for value in held if value not in holding]:
            since, carriers = held.pop(value)
            pieces[value].append(Piece(since, start, tuple(carriers)))
        for value, carriers in holding.items():
            if value in held:
                held[value][1].extend(carriers)
            else:
                held[value] = start, carriers
    for value, (since, carriers) in held.items():
        pieces[value].append(Piece(since, UNBOUNDED_FUTURE, tuple(carriers)))
    return pieces


def _alone(begun: Begun) -> dict[str, list[Piece]]:
    """A single claim that none meets holds from its start to its end."""
    atom = begun.atom
    whole = atom.attested == (begun.start, atom.end - 1)
    return {atom.value: [Piece(begun.start, atom.end, () if whole else (atom,))]}


@dataclass(slots=True)
class _Held:
    """A value that holds from `start` on, and the atoms that have carried it since."""

    start: Instant
    carriers: dict[int, Atom]


_BEGIN, _ATTEST, _CEASE, _FINISH = range(4)
ATTESTED, PROJECTED, QUIET = range(3)
"""By what the values of a step hold: by what attests it, by what is carried forward, or nothing but shadows may."""
_NO_DENIALS = Side()


class Sweep:
    """One walk over the breakpoints of a contest. What `held` says at each step is what holds from its instant on."""

    def __init__(self, scene: Contest, new_side: Callable[[], Side] = Side) -> None:
        self.resumes = scene.resumes
        self.fors = new_side()
        self.against: Mapping[str, Side] = {value: new_side() for value, denials in scene.against.items() if denials}
        self.shadows: dict[str, list[Atom]] = defaultdict(list)
        self.events: list[tuple[Instant, int, Begun, Side]] = []
        self.pieces: dict[str, list[Piece]] = defaultdict(list)
        self.held: dict[str, _Held] = {}
        self.frame: tuple[int, Key | tuple[int, Instant] | None, bool] = (QUIET, None, False)
        # Where nothing but a shadow can hold: for no value is anything live; only the named value's own claims are.
        self.quiet: list[Span] = []
        self.lonely: dict[str, list[Span]] = defaultdict(list)
        self.denied = {value: _union((begun.start, begun.atom.end) for begun in denials) for value, denials in scene.against.items()}
        for shadow in scene.shadows:
            self.shadows[shadow.value].append(shadow)
        for begun in scene.fors:
            self._schedule(begun, self.fors)
        for value, side in self.against.items():
            for begun in scene.against[value]:
                self._schedule(begun, side)

    def _schedule(self, begun: Begun, side: Side) -> None:
        atom = begun.atom
        self.events.append((begun.start, _BEGIN, begun, side))
        if atom.end != UNBOUNDED_FUTURE:
            self.events.append((atom.end, _FINISH, begun, side))
        if atom.attested is not None:
            first, last = atom.attested
            self.events.append((first, _ATTEST, begun, side))
            if last != UNBOUNDED_FUTURE:
                self.events.append((last + 1, _CEASE, begun, side))

    def run(self) -> dict[str, list[Piece]]:
        """Walk the breakpoints."""
        events = self.events
        events.sort(key=itemgetter(0, 1))
        before, place, count = UNBOUNDED_PAST, 0, len(events)
        while place < count:
            at = events[place][0]
            if self.shadows and before < at:
                self._note_quiet(before, at)
            touched: set[str] = set()
            fresh: list[Begun] = []
            while place < count and events[place][0] == at:
                _, what, begun, side = events[place]
                place += 1
                touched.add(begun.atom.value)
                if what == _BEGIN:
                    side.begin(begun)
                    fresh.append(begun)
                elif what == _ATTEST:
                    side.attesting.add(begun.atom.strength, begun.atom)
                elif what == _CEASE:
                    side.attesting.remove(begun.atom.strength, begun.atom)
                else:
                    side.finish(begun)
            self._step(at, touched, fresh)
            before = at
        if self.shadows:
            self._note_quiet(before, UNBOUNDED_FUTURE)
        for value in list(self.held):
            self._close(value, UNBOUNDED_FUTURE)
        for value in self.shadows:
            self._shade(value)
        return dict(self.pieces)

    def _step(self, at: Instant, touched: set[str], fresh: list[Begun]) -> None:
        """What holds from an instant on, after its events. While the strongest group stays, only what was touched may change.

        `fresh` are the claims that have begun at the instant.
        """
        attested, key = self.fors.attesting.top(), None
        if attested is not None:
            frame: tuple[int, Key | tuple[int, Instant] | None, bool] = (ATTESTED, attested, True)
            group = self.fors.attesting.of(attested)
        elif (key := self.fors.live.top()) is not None:
            ended = self.fors.ended
            frame = (PROJECTED, key, self.resumes or ended is None or ended <= key)
            group = self.fors.live.of(key) if frame[2] else {}
        else:
            frame, group = (QUIET, None, False), {}
        changed = frame != self.frame
        if changed:
            self.frame = frame
            touched = {*self.held, *group}
        for value in touched:
            holds = value in group and (
                self._stands(value, attested) if attested is not None else key is not None and self._carried(value, key)
            )
            if not holds:
                if value in self.held:
                    self._close(value, at)
                continue
            known = value in self.held
            if not known:
                self.held[value] = _Held(at, {})
            if attested is None and (changed or not known):
                self.held[value].carriers.update(group[value])
        if attested is None:
            for begun in fresh:
                atom = begun.atom
                if begun.key == key and atom.value in self.held and id(atom) in group.get(atom.value, {}):
                    self.held[atom.value].carriers[id(atom)] = atom

    def _stands(self, value: str, strength: tuple[int, Instant]) -> bool:
        """Whether an attested value of the strongest group stands against its denials."""
        denial = self.against.get(value, _NO_DENIALS).attesting.top()
        return denial is None or denial <= strength

    def _carried(self, value: str, key: Key) -> bool:
        """Whether a value of the strongest live group stands against its denials and what has ended."""
        side = self.against.get(value, _NO_DENIALS)
        if side.attesting.top() is not None:
            return False
        denial = side.live.top()
        if denial is not None and denial > key:
            return False
        if self.resumes:
            own = self.fors.ended_of.get(value)
            return own is None or own <= key
        return side.ended is None or side.ended <= key

    def _close(self, value: str, at: Instant) -> None:
        held = self.held.pop(value)
        if held.start < at:
            self.pieces[value].append(Piece(held.start, at, tuple(held.carriers.values())))

    def _note_quiet(self, start: Instant, end: Instant) -> None:
        """Whether nothing live stands against a shadow since the last breakpoint, its own denials aside."""
        if not self.fors.alive:
            _extend(self.quiet, start, end)
        elif len(self.fors.alive) == 1:
            value = next(iter(self.fors.alive))
            if value in self.shadows and value not in self.held:
                _extend(self.lonely[value], start, end)

    def _shade(self, value: str) -> None:
        """A shadow shows where nothing that is live stands against it and nothing else holds."""
        shadows = sorted(self.shadows[value], key=lambda shadow: shadow.end)
        ends = [shadow.end for shadow in shadows]
        blocked = self.denied.get(value, [])
        for spans in (self.quiet, self.lonely.get(value, [])):
            for start, end in _minus(spans, blocked):
                if start >= ends[-1]:
                    break
                self.pieces[value].append(Piece(start, min(end, ends[-1]), tuple(shadows[bisect_right(ends, start) :])))


def _extend(spans: list[Span], start: Instant, end: Instant) -> None:
    if spans and spans[-1][1] == start:
        spans[-1] = (spans[-1][0], end)
    else:
        spans.append((start, end))


def _union(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def _minus(spans: Iterable[Span], holes: list[Span]) -> Iterable[Span]:
    place = 0
    for start, end in spans:
        while place < len(holes) and holes[place][1] <= start:
            place += 1
        at = place
        while at < len(holes) and holes[at][0] < end:
            if start < holes[at][0]:
                yield start, holes[at][0]
            start = holes[at][1]
            at += 1
        if start < end:
            yield start, end
