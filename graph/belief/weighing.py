"""Weighing: does a value hold at an instant? The rules of DESIGN section 2 read straight, for one instant.

This is the reading that explains an answer; `graph.belief.sweep` finds all intervals at once by the same rules, and a
property holds the two together at every breakpoint.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from graph.belief.items import Atom
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant


class Support(StrEnum):
    """Whether evidence covers the instant asked about or it is carried forward."""

    ATTESTED = "ATTESTED"
    PROJECTED = "PROJECTED"


class Conflict(StrEnum):
    """Whether other evidence disagrees."""

    NONE = "NONE"
    RESOLVED = "RESOLVED"
    TIED = "TIED"


class Verdict(StrEnum):
    """What became of a value at an instant."""

    HOLDS = "HOLDS"
    BEATEN = "BEATEN"
    CLIPPED = "CLIPPED"
    NOTHING = "NOTHING"


Key = tuple[Instant, int, Instant]
"""(H, rank, said): what decides between claims of which none attests."""


@dataclass(slots=True, eq=False)
class Begun:
    """An atom and the instant from which it counts, after an imprecise start has yielded to its rivals.

    Where H is the start itself (a scheduled one), it moves with a start that has yielded: else what was attested meanwhile
    would outlast the schedule for good.
    """

    atom: Atom
    start: Instant
    key: Key = field(init=False)

    def __post_init__(self) -> None:
        atom, horizon = self.atom, self.atom.horizon
        if self.start > atom.start and horizon == atom.start:
            horizon = max(horizon, min(self.start, atom.earliest_end))
        self.key = (horizon, *atom.strength)


@dataclass(frozen=True, slots=True)
class Contest:
    """What is weighed together: claims for values that rule each other out, and for each value what denies it alone."""

    fors: Sequence[Begun]
    shadows: Sequence[Atom]
    against: Mapping[str, Sequence[Begun]]
    resumes: bool


@dataclass(frozen=True, slots=True)
class Weighed:
    """The outcome for one value at one instant.

    `winners` are the atoms that carry it where it holds, else those that stand against it. `shadow` marks what is only
    possible; `certain` whether some claim that carries it is certain there.
    """

    verdict: Verdict
    support: Support = Support.PROJECTED
    conflict: Conflict = Conflict.NONE
    certain: bool = False
    shadow: bool = False
    winners: tuple[Atom, ...] = field(default=())

    @property
    def holds(self) -> bool:
        """Whether the value holds."""
        return self.verdict is Verdict.HOLDS


def contest(fors: Iterable[Atom], against: Mapping[str, Sequence[Atom]], *, resumes: bool) -> Contest:
    """Set claims against each other: those for values that rule each other out, and the denials of each."""
    plain = [atom for atom in fors if not atom.shadow]
    shadows = [atom for atom in fors if atom.shadow]
    denials = {value: [atom for atom in atoms if not atom.shadow] for value, atoms in against.items()}
    if all(atom.latest_start <= atom.start for atoms in (plain, *denials.values()) for atom in atoms):
        return Contest(
            [Begun(atom, atom.start) for atom in plain],
            shadows,
            {value: [Begun(atom, atom.start) for atom in atoms] for value, atoms in denials.items()},
            resumes,
        )
    rivals = _Attested(plain)
    by_value: dict[str, list[Atom]] = defaultdict(list)
    for atom in plain:
        by_value[atom.value].append(atom)
    mine = {value: _Attested(by_value[value]) for value in denials}
    theirs = {value: _Attested(atoms) for value, atoms in denials.items()}
    begun = []
    for atom in plain:
        denied = theirs[atom.value].last_before(atom, None) if atom.value in theirs else None
        begun.append(Begun(atom, _yielded(atom, rivals.last_before(atom, atom.value), denied)))
    opposed = {
        value: [Begun(atom, _yielded(atom, mine[value].last_before(atom, None))) for atom in atoms] for value, atoms in denials.items()
    }
    return Contest(_left(begun), shadows, {value: _left(found) for value, found in opposed.items()}, resumes)


def _left(begun: Iterable[Begun]) -> list[Begun]:
    """Without those whose start has yielded up to their end: no instant of them is left, so they neither hold nor clip."""
    return [one for one in begun if one.start < one.atom.end or one.atom.end == UNBOUNDED_FUTURE]


def _yielded(atom: Atom, *rivals: Instant | None) -> Instant:
    """Where an atom counts from: just after the last instant of its imprecise start that a rival certainly attests."""
    return max((last + 1 for last in rivals if last is not None), default=atom.start)


class _Attested:
    """Finds the last instant inside an imprecise start that a rival certainly attests: O(log n) after a sort."""

    def __init__(self, atoms: Iterable[Atom]) -> None:
        spans = sorted((*span, atom.value) for atom in atoms if (span := atom.attested) is not None)
        self._starts = [first for first, _, _ in spans]
        # For each prefix of the spans by start: the two greatest ends that belong to different values.
        self._best: list[tuple[tuple[Instant, str], tuple[Instant, str] | None]] = []
        one: tuple[Instant, str] | None = None
        two: tuple[Instant, str] | None = None
        for _, last, value in spans:
            if one is None or value == one[1]:
                one = max(one, (last, value)) if one else (last, value)
            elif last > one[0]:
                one, two = (last, value), one
            elif two is None or last > two[0]:
                two = (last, value)
            self._best.append((one, two))

    def last_before(self, atom: Atom, own: str | None) -> Instant | None:
        """The last attested instant in [start, latest start) of a value other than `own`; None: there is none."""
        place = bisect_left(self._starts, atom.latest_start)
        if not place:
            return None
        one, two = self._best[place - 1]
        best = one if one[1] != own else two
        if best is None or best[0] < atom.start:
            return None
        return min(best[0], atom.latest_start - 1)


def weigh(scene: Contest, value: str, at: Instant) -> Weighed:
    """Whether `value` holds at an instant, by rules 1 to 3. O(n) in the claims of the contest."""
    against = scene.against.get(value, ())
    attesting: list[Atom] = []
    opposing: list[Atom] = []
    # Told apart in one pass over the claims: of a slot with thousands each is weighed at each of its bounds.
    for begun in scene.fors:
        span = begun.atom.attested
        if span is not None and span[0] <= at <= span[1]:
            (attesting if begun.atom.value == value else opposing).append(begun.atom)
    for begun in against:
        span = begun.atom.attested
        if span is not None and span[0] <= at <= span[1]:
            opposing.append(begun.atom)
    if attesting or opposing:
        return _by_attestation(attesting, opposing)
    begun_by = [begun for begun in scene.fors if begun.start <= at]
    mine_begun = [begun for begun in begun_by if begun.atom.value == value]
    theirs_begun = [begun for begun in begun_by if begun.atom.value != value] + [begun for begun in against if begun.start <= at]
    found = _by_projection(mine_begun, theirs_begun, at, scene.resumes)
    if found.verdict in (Verdict.CLIPPED, Verdict.NOTHING) and not any(begun.atom.live(at) for begun in theirs_begun):
        shadows = tuple(shadow for shadow in scene.shadows if shadow.value == value and at < shadow.end)
        if shadows:
            return Weighed(Verdict.HOLDS, shadow=True, winners=shadows)
    return found


def _by_attestation(attesting: list[Atom], opposing: list[Atom]) -> Weighed:
    best = max(atom.strength for atom in (*attesting, *opposing))
    winners = tuple(atom for atom in attesting if atom.strength == best)
    rivals = tuple(atom for atom in opposing if atom.strength == best)
    if not winners:
        return Weighed(Verdict.BEATEN, Support.ATTESTED, winners=rivals)
    conflict = Conflict.TIED if rivals else Conflict.RESOLVED if opposing else Conflict.NONE
    return Weighed(Verdict.HOLDS, Support.ATTESTED, conflict, certain=True, winners=winners)


def _by_projection(mine: list[Begun], theirs: list[Begun], at: Instant, resumes: bool) -> Weighed:
    def counts(begun: Begun, rival: bool) -> bool:
        return begun.atom.live(at) or not (begun.atom.patch or (rival and resumes))

    mine = [begun for begun in mine if counts(begun, rival=False)]
    theirs = [begun for begun in theirs if counts(begun, rival=True)]
    if not mine and not theirs:
        return Weighed(Verdict.NOTHING)
    best = max(begun.key for begun in (*mine, *theirs))
    won = tuple(begun.atom for begun in mine if begun.key == best and begun.atom.live(at))
    lost = tuple(begun.atom for begun in theirs if begun.key == best and begun.atom.live(at))
    if not won:
        if lost:
            return Weighed(Verdict.BEATEN, winners=lost)
        ended = [begun.atom for begun in (*mine, *theirs) if begun.key == best]
        return Weighed(Verdict.CLIPPED, winners=tuple(ended))
    if lost:
        conflict = Conflict.TIED
    else:
        conflict = Conflict.RESOLVED if any(begun.key[0] == best[0] and begun.key < best for begun in theirs) else Conflict.NONE
    strongest_rival = max((begun.key for begun in theirs), default=(UNBOUNDED_PAST, 0, 0))
    certain = any(begun.atom.certain(at) and begun.atom.live(at) for begun in mine if not theirs or begun.key >= strongest_rival)
    return Weighed(Verdict.HOLDS, Support.PROJECTED, conflict, certain=certain, winners=won)
