"""Where values hold against evidence to the contrary: all spans of conflict at once, by the rules of `graph.belief.weighing`.

One walk over the breakpoints, near O(n log n), and only where some claims of two sides can meet: most changes follow each other
without any conflict.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from graph.belief.groups import Groups, Side
from graph.belief.items import Atom
from graph.belief.sweep import ATTESTED, Span, Sweep
from graph.belief.weighing import Begun, Contest, Key
from ontology.instant import Instant

Value = tuple[str, bool]
MOST_COMPARED = 8
"""Pieces of evidence last known of at one instant that are compared with each other before it is left to the weighing."""


def may_oppose(atoms: Iterable[Atom]) -> bool:
    """Whether some pieces of evidence of two sides attest one instant, or were last known of at one: else nothing is contested.

    It looks at them in O(n log n) before anything is weighed; True may be wrong.
    """
    horizons: dict[Instant, list[Atom]] = {}
    spans: list[tuple[Instant, Instant, Value]] = []
    for atom in atoms:
        if atom.shadow:
            continue
        side = atom.value, atom.positive
        others = horizons.setdefault(atom.horizon, [])
        if len(others) > MOST_COMPARED or any(_may_clash(atom, other) for other in others):
            return True
        others.append(atom)
        if atom.horizon == atom.start < atom.latest_start:
            # A schedule that yields was last known of at another instant, which only weighing can tell.
            return True
        if atom.attested is not None:
            spans.append((*atom.attested, side))
    spans.sort()
    # All before have ended before the next begins, but for those of the side of the last.
    until: tuple[Instant, Value] | None = None
    for first, last, side in spans:
        if until is not None and until[1] != side and first <= until[0]:
            return True
        until = (max(last, until[0]), side) if until is not None and until[1] == side else (last, side)
    return False


def _may_clash(one: Atom, other: Atom) -> bool:
    """Whether of two that were last known of at one instant, but of two sides, the stronger is live where the other has begun.

    Of equal ones both have to be live.
    """
    if (one.value, one.positive) == (other.value, other.positive):
        return False
    return one.strength != other.strength or (one.start < other.end and other.start < one.end)


def opposed(scene: Contest) -> Mapping[str, Sequence[Span]]:
    """Of each value of a contest the spans in which it holds, no shadow, and `weigh` finds its conflict TIED or RESOLVED; in order."""
    walk = _Opposing(scene)
    walk.run()
    return walk.spans


class _Attesting(Groups[tuple[int, Instant]]):
    """What attests the sweep's instant, counted by value."""

    def __init__(self) -> None:
        super().__init__()
        self.values: dict[str, int] = defaultdict(int)
        self.count = 0

    def add(self, key: tuple[int, Instant], atom: Atom) -> None:
        super().add(key, atom)
        self.values[atom.value] += 1
        self.count += 1

    def remove(self, key: tuple[int, Instant], atom: Atom) -> None:
        super().remove(key, atom)
        self.values[atom.value] -= 1
        self.count -= 1


class _Tally(Side):
    """The claims of one side, and how many of them were last known of at each instant: as rivals, so without those left out."""

    def __init__(self, resumes: bool) -> None:
        super().__init__()
        self.attesting: _Attesting = _Attesting()
        self._resumes = resumes
        self._at: dict[Instant, int] = defaultdict(int)
        self._with: dict[Key, int] = defaultdict(int)
        self._of: dict[tuple[str, Instant], int] = defaultdict(int)
        self._of_with: dict[tuple[str, Key], int] = defaultdict(int)

    def begin(self, begun: Begun) -> None:
        super().begin(begun)
        self._count(begun, 1)

    def finish(self, begun: Begun) -> None:
        super().finish(begun)
        if begun.atom.patch or self._resumes:
            self._count(begun, -1)

    def _count(self, begun: Begun, by: int) -> None:
        value, key = begun.atom.value, begun.key
        self._at[key[0]] += by
        self._with[key] += by
        self._of[value, key[0]] += by
        self._of_with[value, key] += by

    def beaten(self, key: Key, but: str | None = None) -> bool:
        """Whether some claim with the H of a key has another key; `but`: of another value than this."""
        found = self._at[key[0]] - self._with[key]
        if but is not None:
            found -= self._of[but, key[0]] - self._of_with[but, key]
        return found > 0


class _Opposing(Sweep):
    """A sweep that notes since when what is held has something against it."""

    fors: _Tally
    against: Mapping[str, _Tally]

    def __init__(self, scene: Contest) -> None:
        super().__init__(scene, lambda: _Tally(scene.resumes))
        self.spans: dict[str, list[Span]] = defaultdict(list)
        self._since: dict[str, Instant] = {}

    def _step(self, at: Instant, touched: set[str], fresh: list[Begun]) -> None:
        few, frame = len(self.held) < 2, self.frame
        super()._step(at, touched, fresh)
        # Of several of one group each is tied, whatever else comes and goes.
        all_of_them = few or len(self.held) < 2 or self.frame != frame
        for value in list(self.held) if all_of_them else [value for value in touched if value in self.held]:
            if self._is_opposed(value):
                self._since.setdefault(value, at)
            else:
                self._end(value, at)

    def _is_opposed(self, value: str) -> bool:
        mode, key, _ = self.frame
        denials = self.against.get(value)
        if mode == ATTESTED:
            others = self.fors.attesting.count - self.fors.attesting.values[value]
            return others > 0 or (denials is not None and denials.attesting.count > 0)
        top = self.fors.live.top()
        if top is None or key != top:
            return False
        if len(self.fors.live.of(top)) > 1 or self.fors.beaten(top, but=value):
            return True
        return denials is not None and (denials.live.top() == top or denials.beaten(top))

    def _close(self, value: str, at: Instant) -> None:
        self._end(value, at)
        super()._close(value, at)

    def _end(self, value: str, at: Instant) -> None:
        since = self._since.pop(value, None)
        if since is not None and since < at:
            self.spans[value].append((since, at))


def opposed_events(fors: Sequence[Atom], against: Sequence[Atom]) -> list[Span]:
    """The same for an event: the spans that claims cover, and denials no greater than the best of them."""
    if not fors or not against:
        return []
    mine: Groups[tuple[int, Instant]] = Groups()
    theirs: Groups[tuple[int, Instant]] = Groups()
    spans: list[Span] = []
    since: Instant | None = None
    for at, group in groupby(sorted(_steps(fors, mine, against, theirs), key=itemgetter(0)), key=itemgetter(0)):
        for _, begins, atom, side in group:
            (side.add if begins else side.remove)(atom.strength, atom)
        best, denied = mine.top(), theirs.top()
        contested = best is not None and denied is not None and denied <= best
        if contested and since is None:
            since = at
        elif not contested and since is not None:
            spans.append((since, at))
            since = None
    return spans


_Step = tuple[Instant, bool, Atom, Groups[tuple[int, Instant]]]


def _steps(
    fors: Sequence[Atom], mine: Groups[tuple[int, Instant]], against: Sequence[Atom], theirs: Groups[tuple[int, Instant]]
) -> Iterator[_Step]:
    for atoms, side in ((fors, mine), (against, theirs)):
        for atom in atoms:
            yield atom.start, True, atom, side
            yield atom.end, False, atom, side
