"""Sweep: all maximal intervals in which values hold, in one pass over the breakpoints of a contest.

Near O(n log n): between two breakpoints only the strongest group of claims can hold, so only its values are looked at. The
rules are those of `graph.belief.weighing`, which reads one instant.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import groupby
from typing import Generic, TypeVar

from graph.belief.items import Atom, Strength
from graph.belief.weighing import Begun, Contest
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant

Key = tuple[Instant, int, Instant]
K = TypeVar("K", Key, Strength)


@dataclass(slots=True)
class Piece:
    """`[start, end)` in which a value holds, carried by `winners` (empty where claims attest it)."""

    start: Instant
    end: Instant
    winners: tuple[Atom, ...]


class _Groups(Generic[K]):
    """Atoms grouped by key, with the greatest key at hand: a heap whose stale entries are dropped when met."""

    def __init__(self) -> None:
        self._members: dict[K, list[Atom]] = {}
        self._heap: list[_Greatest[K]] = []

    def add(self, key: K, atom: Atom) -> None:
        members = self._members.setdefault(key, [])
        if not members:
            heappush(self._heap, _Greatest(key))
        members.append(atom)

    def remove(self, key: K, atom: Atom) -> None:
        self._members[key].remove(atom)

    def top(self) -> tuple[K, list[Atom]] | None:
        while self._heap:
            members = self._members[self._heap[0].key]
            if members:
                return self._heap[0].key, members
            del self._members[heappop(self._heap).key]
        return None


@dataclass(frozen=True, slots=True)
class _Greatest(Generic[K]):
    key: K

    def __lt__(self, other: _Greatest[K]) -> bool:
        return self.key > other.key


class _Side:
    """The claims of one side at the sweep's instant."""

    def __init__(self) -> None:
        self.attesting: _Groups[Strength] = _Groups()
        self.live: _Groups[Key] = _Groups()
        self.alive: dict[str, int] = {}
        self.ended: Key | None = None
        self.ended_of: dict[str, Key] = {}

    def begin(self, begun: Begun) -> None:
        self.live.add(begun.key, begun.atom)
        self.alive[begun.atom.value] = self.alive.get(begun.atom.value, 0) + 1

    def finish(self, begun: Begun) -> None:
        atom = begun.atom
        self.live.remove(begun.key, atom)
        self.alive[atom.value] -= 1
        if not self.alive[atom.value]:
            del self.alive[atom.value]
        if not atom.patch:
            self.ended = max(self.ended, begun.key) if self.ended else begun.key
            before = self.ended_of.get(atom.value)
            self.ended_of[atom.value] = max(before, begun.key) if before else begun.key


_BEGIN, _ATTEST, _CEASE, _FINISH, _MARK = range(5)


def sweep(scene: Contest) -> dict[str, list[Piece]]:
    """The pieces of every value, in order of time, adjacent ones of one value with other winners still apart."""
    if len(scene.fors) == 1 and not scene.shadows and not any(scene.against.values()):
        return _alone(scene.fors[0])
    return _Sweep(scene).run()


def _alone(begun: Begun) -> dict[str, list[Piece]]:
    """A single claim holds from its start to its end."""
    atom = begun.atom
    span = atom.attested()
    whole = span is not None and span == (begun.start, atom.end - 1)
    return {atom.value: [Piece(begun.start, atom.end, () if whole else (atom,))]}


class _Sweep:
    def __init__(self, scene: Contest) -> None:
        self.resumes = scene.resumes
        self.fors = _Side()
        self.against: dict[str, _Side] = defaultdict(_Side)
        self.shadows: dict[str, list[Atom]] = defaultdict(list)
        self.events: list[tuple[Instant, int, Begun | None, _Side | None]] = [(UNBOUNDED_PAST, _MARK, None, None)]
        self.pieces: dict[str, list[Piece]] = defaultdict(list)
        self.quiet: list[tuple[Instant, Instant]] = []
        self.denied = {value: _union((begun.start, begun.atom.end) for begun in denials) for value, denials in scene.against.items()}
        for shadow in scene.shadows:
            self.shadows[shadow.value].append(shadow)
            self.events.append((shadow.end, _MARK, None, None))
        for begun in scene.fors:
            self._schedule(begun, self.fors)
        for value, denials in scene.against.items():
            for begun in denials:
                self._schedule(begun, self.against[value])

    def _schedule(self, begun: Begun, side: _Side) -> None:
        atom = begun.atom
        self.events.append((begun.start, _BEGIN, begun, side))
        if atom.end != UNBOUNDED_FUTURE:
            self.events.append((atom.end, _FINISH, begun, side))
        span = atom.attested()
        if span is not None:
            self.events.append((span[0], _ATTEST, begun, side))
            if span[1] != UNBOUNDED_FUTURE:
                self.events.append((span[1] + 1, _CEASE, begun, side))

    def run(self) -> dict[str, list[Piece]]:
        """Walk the breakpoints."""
        self.events.sort(key=lambda event: event[:2])
        steps = [(at, list(group)) for at, group in groupby(self.events, key=lambda event: event[0])]
        for place, (at, group) in enumerate(steps):
            for _, what, begun, side in group:
                if begun is None or side is None:
                    continue
                if what == _BEGIN:
                    side.begin(begun)
                elif what == _FINISH:
                    side.finish(begun)
                elif what == _ATTEST:
                    side.attesting.add(begun.atom.strength, begun.atom)
                else:
                    side.attesting.remove(begun.atom.strength, begun.atom)
            self._interval(at, steps[place + 1][0] if place + 1 < len(steps) else UNBOUNDED_FUTURE)
        for value in self.shadows:
            self._shade(value)
        return {value: sorted(pieces, key=lambda piece: piece.start) for value, pieces in self.pieces.items()}

    def _interval(self, start: Instant, end: Instant) -> None:
        attested = self.fors.attesting.top()
        if attested is not None:
            strength, atoms = attested
            for value in {atom.value for atom in atoms}:
                denial = self._denial(value).attesting.top()
                if denial is None or denial[0] <= strength:
                    self._emit(value, start, end, ())
            return
        if not self.fors.alive:
            _extend(self.quiet, start, end)
            return
        self._project(start, end)

    def _denial(self, value: str) -> _Side:
        return self.against.get(value, _NO_DENIALS)

    def _project(self, start: Instant, end: Instant) -> None:
        top = self.fors.live.top()
        assert top is not None
        key, atoms = top
        held = set()
        if self.resumes or self.fors.ended is None or self.fors.ended <= key:
            for value in {atom.value for atom in atoms}:
                if self._carried(value, key):
                    held.add(value)
                    self._emit(value, start, end, tuple(atom for atom in atoms if atom.value == value))
        if len(self.fors.alive) == 1:
            # Only this value's own claims are live, so nothing live stands against its shadow but a denial.
            value = next(iter(self.fors.alive))
            side = self._denial(value)
            if value in self.shadows and value not in held and not side.alive and side.attesting.top() is None:
                shadows = tuple(shadow for shadow in self.shadows[value] if start < shadow.end)
                if shadows:
                    self._emit(value, start, end, shadows)

    def _carried(self, value: str, key: Key) -> bool:
        """Whether a value of the strongest live group stands against its denials and what has ended."""
        side = self._denial(value)
        if side.attesting.top() is not None:
            return False
        denial = side.live.top()
        if denial is not None and denial[0] > key:
            return False
        if self.resumes:
            own = self.fors.ended_of.get(value)
            return own is None or own <= key
        return side.ended is None or side.ended <= key

    def _shade(self, value: str) -> None:
        """A shadow shows where nothing for any value is live or attested, and no denial of its own is."""
        blocked = self.denied.get(value, [])
        for shadow in self.shadows[value]:
            for start, end in _minus(self.quiet, blocked):
                if start < shadow.end:
                    self.pieces[value].append(Piece(start, min(end, shadow.end), (shadow,)))

    def _emit(self, value: str, start: Instant, end: Instant, winners: tuple[Atom, ...]) -> None:
        pieces = self.pieces[value]
        if pieces and pieces[-1].end == start and pieces[-1].winners == winners:
            pieces[-1].end = end
        else:
            pieces.append(Piece(start, end, winners))


_NO_DENIALS = _Side()


def _extend(spans: list[tuple[Instant, Instant]], start: Instant, end: Instant) -> None:
    if spans and spans[-1][1] == start:
        spans[-1] = (spans[-1][0], end)
    else:
        spans.append((start, end))


def _union(spans: Iterable[tuple[Instant, Instant]]) -> list[tuple[Instant, Instant]]:
    merged: list[tuple[Instant, Instant]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def _minus(spans: Iterable[tuple[Instant, Instant]], holes: list[tuple[Instant, Instant]]) -> Iterable[tuple[Instant, Instant]]:
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
