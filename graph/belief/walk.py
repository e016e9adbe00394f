"""A unit walked forward in time: what becomes of any value at one instant after the other.

The answers are those of `Unit.weigh`, as far as verdict, winners and shadow go, for each of the contests that a value is weighed in.
Reading n claims at q instants takes near O((n + q) log n) where `Unit.weigh` takes O(n q); a property holds the two together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from operator import itemgetter

from graph.belief.groups import Side
from graph.belief.items import Atom
from graph.belief.unit import Unit
from graph.belief.weighing import Begun, Contest, Key, Verdict, Weighed
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant
from ontology.vocabulary import Temporality

_BEGIN, _ATTEST, _CEASE, _FINISH = range(4)


class _Ended:
    """Of claims that have ended those with the greatest key."""

    def __init__(self) -> None:
        self.key: Key | None = None
        self.atoms: list[Atom] = []

    def add(self, begun: Begun) -> None:
        if self.key is None or begun.key > self.key:
            self.key, self.atoms = begun.key, [begun.atom]
        elif begun.key == self.key:
            self.atoms.append(begun.atom)


class _Voices:
    """One side of a contest: what attests, is live or has ended."""

    def __init__(self, begun: Iterable[Begun]) -> None:
        self.side = Side()
        self.ended = _Ended()
        self.ended_of: dict[str, _Ended] = defaultdict(_Ended)
        self._steps: list[tuple[Instant, int, Begun]] = []
        for one in begun:
            atom = one.atom
            self._steps.append((one.start, _BEGIN, one))
            if atom.end != UNBOUNDED_FUTURE:
                self._steps.append((atom.end, _FINISH, one))
            if atom.attested is not None:
                first, last = atom.attested
                self._steps.append((first, _ATTEST, one))
                if last != UNBOUNDED_FUTURE:
                    self._steps.append((last + 1, _CEASE, one))
        self._steps.sort(key=itemgetter(0, 1))
        self._place = 0

    def advance(self, at: Instant) -> None:
        """Go on to an instant."""
        steps = self._steps
        while self._place < len(steps) and steps[self._place][0] <= at:
            _, what, begun = steps[self._place]
            self._place += 1
            if what == _BEGIN:
                self.side.begin(begun)
            elif what == _ATTEST:
                self.side.attesting.add(begun.atom.strength, begun.atom)
            elif what == _CEASE:
                self.side.attesting.remove(begun.atom.strength, begun.atom)
            else:
                self.side.finish(begun)
                if not begun.atom.patch:
                    self.ended.add(begun)
                    self.ended_of[begun.atom.value].add(begun)


_SILENT = _Voices(())


class _Walk:
    """One contest."""

    def __init__(self, scene: Contest) -> None:
        self._scene = scene
        self._shadows: dict[str, list[Atom]] = defaultdict(list)
        for shadow in scene.shadows:
            self._shadows[shadow.value].append(shadow)
        self._at = UNBOUNDED_PAST
        self._begin()

    def _begin(self) -> None:
        self._fors = _Voices(self._scene.fors)
        self._against = {value: _Voices(begun) for value, begun in self._scene.against.items() if begun}

    def _come_to(self, value: str, at: Instant) -> _Voices:
        if at < self._at:
            self._begin()
        self._at = at
        self._fors.advance(at)
        against = self._against.get(value, _SILENT)
        against.advance(at)
        return against

    def live(self, at: Instant) -> Iterator[str]:
        """The values for which a claim is live at an instant."""
        self._come_to("", at)
        yield from self._fors.side.alive

    def weigh(self, value: str, at: Instant) -> Weighed:
        """The outcome of a value at an instant; going back costs a walk from the beginning."""
        against = self._come_to(value, at)
        strengths = [top for voices in (self._fors, against) if (top := voices.side.attesting.top()) is not None]
        if strengths:
            best = max(strengths)
            return _outcome(*_split(value, self._fors.side.attesting.of(best), against.side.attesting.of(best)))
        found = self._projected(value, against)
        if found.verdict in (Verdict.CLIPPED, Verdict.NOTHING) and not self._opposed(value, against):
            shadows = tuple(shadow for shadow in self._shadows.get(value, ()) if at < shadow.end)
            if shadows:
                return Weighed(Verdict.HOLDS, shadow=True, winners=shadows)
        return found

    def _opposed(self, value: str, against: _Voices) -> bool:
        """Whether anything live stands against a value."""
        alive = self._fors.side.alive
        return bool(against.side.alive) or len(alive) > (value in alive)

    def _projected(self, value: str, against: _Voices) -> Weighed:
        # Where the predicate resumes, what has ended of the other side is left out.
        ended = [self._fors.ended_of.get(value)] if self._scene.resumes else [self._fors.ended, against.ended]
        known = [one for one in ended if one is not None and one.key is not None]
        live = (self._fors.side.live, against.side.live)
        keys = [key for key in (*(one.key for one in known), *(groups.top() for groups in live)) if key is not None]
        if not keys:
            return Weighed(Verdict.NOTHING)
        best = max(keys)
        won, lost = _split(value, live[0].of(best), live[1].of(best))
        if won or lost:
            return _outcome(won, lost)
        return Weighed(Verdict.CLIPPED, winners=tuple(atom for one in known if one.key == best for atom in one.atoms))


def _split(value: str, fors: dict[str, dict[int, Atom]], against: dict[str, dict[int, Atom]]) -> tuple[tuple[Atom, ...], tuple[Atom, ...]]:
    """Of the strongest those for a value and those that stand against it."""
    mine = tuple(fors.get(value, {}).values())
    theirs = [atom for other, atoms in fors.items() if other != value for atom in atoms.values()]
    return mine, (*theirs, *(atom for atoms in against.values() for atom in atoms.values()))


def _outcome(won: tuple[Atom, ...], lost: tuple[Atom, ...]) -> Weighed:
    return Weighed(Verdict.HOLDS, winners=won) if won else Weighed(Verdict.BEATEN, winners=lost)


class Course:
    """A unit, read at instants that best come in order of time, and just before them."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self._walks: dict[tuple[int, bool], _Walk] = {}

    def outcomes(self, value: str, positive: bool, at: Instant) -> list[Weighed]:
        """What each contest makes of a value at an instant: it holds where any says so. Events have one, of their own rules."""
        return self._outcomes(value, positive, at, behind=False)

    def just_before(self, value: str, positive: bool, at: Instant) -> list[Weighed]:
        """The same one microsecond before: walked apart, so that comparing both goes forward only."""
        return self._outcomes(value, positive, at - 1, behind=True)

    def _outcomes(self, value: str, positive: bool, at: Instant, *, behind: bool) -> list[Weighed]:
        if self.unit.traits.temporal is Temporality.EVENT:
            return [self.unit.weigh(value, at, polarity=positive)]
        return [self._walk(scene, behind).weigh(value, at) for scene in self.unit.contests(value, positive)]

    def live(self, at: Instant) -> Iterator[str]:
        """The values of a one-valued slot for which a plain claim is live at an instant."""
        return self._walk(self.unit.plain_contest, False).live(at)

    def _walk(self, scene: Contest, behind: bool) -> _Walk:
        found = self._walks.get((id(scene), behind))
        if found is None:
            found = self._walks[id(scene), behind] = _Walk(scene)
        return found
