"""Boundaries of a slot: where its values change as the basis has it, and the words that say so."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from graph.belief.items import Atom
from graph.belief.turning import Turn, Turning
from graph.drift import BoundaryReason
from graph.ledger.identity import ClaimRow
from graph.ledger.rectangles import Rectangle
from graph.ledger.scenes import Scene
from ontology.errors import QueryTooComplex
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant

MOST = 2_000
"""Most boundaries of one answer."""


@dataclass(frozen=True, slots=True)
class Window:
    """`[start, end)` of valid time."""

    start: Instant
    end: Instant

    def holds(self, at: Instant) -> bool:
        """Whether a boundary may lie at an instant: within the window, and no unbounded start or end."""
        return self.start <= at < self.end and UNBOUNDED_PAST < at < UNBOUNDED_FUTURE


@dataclass(frozen=True, slots=True)
class Boundary:
    """A boundary in rectangles and claims. `transaction`: the one that withdrew it."""

    at: Instant
    reason: BoundaryReason
    rule: str
    before: tuple[Rectangle, ...]
    after: tuple[Rectangle, ...]
    claims: tuple[ClaimRow, ...]
    transaction: int | None = None


class Standing:
    """The believed rectangles of a slot, as what changes together: all of a one-valued slot, else each proposition."""

    def __init__(self, rows: Collection[Rectangle], bases: dict[Rectangle, str], *, one_valued: bool) -> None:
        """`bases` tell on which proposition of the basis each rectangle is."""
        self.bases = bases
        self._one_valued = one_valued
        self.groups: dict[str, list[Rectangle]] = defaultdict(list)
        for row in rows:
            self.groups[self.group_of(row)].append(row)
        self._starts = {group: sorted(row.v_from for row in found) for group, found in self.groups.items()}

    def group_of(self, row: Rectangle) -> str:
        """What a rectangle changes together with."""
        return "" if self._one_valued else self.bases[row]

    def begun_before(self, group: str, at: Instant) -> bool:
        """Whether anything of a group had begun before an instant."""
        return bisect_left(self._starts[group], at) > 0

    def turns(self, window: Window) -> list[tuple[Instant, str]]:
        """Where the rectangles of each group begin and end, in order of time. Raises QueryTooComplex where that is too often."""
        found = {(at, group) for group, rows in self.groups.items() for row in rows for at in (row.v_from, row.v_to) if window.holds(at)}
        checked_number(len(found))
        return sorted(found)

    def around(self, group: str, instants: Sequence[Instant]) -> Iterator[tuple[Instant, list[Rectangle], list[Rectangle]]]:
        """For instants in order the rectangles of a group that hold just before and from each on."""
        before: list[list[Rectangle]] = [[] for _ in instants]
        after: list[list[Rectangle]] = [[] for _ in instants]
        for row in self.groups[group]:
            for place in range(bisect_right(instants, row.v_from), bisect_right(instants, row.v_to)):
                before[place].append(row)
            for place in range(bisect_left(instants, row.v_from), bisect_left(instants, row.v_to)):
                after[place].append(row)
        return zip(instants, before, after, strict=True)


def checked_number(number: int) -> None:
    """Raises QueryTooComplex for more boundaries than one answer holds."""
    if number > MOST:
        raise QueryTooComplex(f"the slot has {number:,} boundaries there; one answer holds {MOST:,}: give a window with `from` and `to`")


def told(scene: Scene, standing: Standing, window: Window) -> list[Boundary]:
    """The boundaries of a slot in a window, each with the words that make it, as `scene` (loaded for its rectangles) has them."""
    instants: dict[str, list[Instant]] = defaultdict(list)
    for at, group in standing.turns(window):
        instants[group].append(at)
    return [_boundary(scene, standing, group, *around) for group, found in instants.items() for around in standing.around(group, found)]


def _boundary(scene: Scene, standing: Standing, group: str, at: Instant, before: list[Rectangle], after: list[Rectangle]) -> Boundary:
    units = scene.units
    begun = [
        (row, turning)
        for row in after
        if row.v_from == at and (turning := units.start_of(scene.read(row).place, row.polarity, at)) is not None
    ]
    ended = [
        (row, turning)
        for row in before
        if row.v_to == at and (turning := units.end_of(scene.read(row).place, row.polarity, at)) is not None
    ]
    kept = any(row.v_from < at and row.polarity for row in after)
    reason, rule = _reason(scene, at, begun, ended)
    if reason is BoundaryReason.STARTED and rule == "first-value":
        rule = "additional" if kept else "after-gap" if standing.begun_before(group, at) else rule
    if not any(row.polarity for row in after) and _clipped(scene, at, ended):
        reason, rule = BoundaryReason.CLIPPED, "bounded-rival"
    decisive: list[Atom] = [atom for _, turning in begun for atom in turning.atoms]
    # Where something begins, that tells more than what is said of the end of what was.
    decisive += [atom for _, turning in ended if not (begun and turning.own) for atom in turning.atoms]
    claims = {atom.made_by.id: scene.evidence.rows[atom.made_by.id] for atom in decisive}
    ordered = sorted(claims.values(), key=lambda claim: (claim.said, claim.episode, claim.place))
    return Boundary(at, reason, rule, tuple(before), tuple(after), tuple(ordered))


Turned = list[tuple[Rectangle, Turning]]
_FIRST = (Turn.CORRECTED, Turn.SUPERSEDED, Turn.CONTRADICTED, Turn.EXPLICIT_END, Turn.CLIPPED)
"""Of several endings at one instant the one that is told."""


def _reason(scene: Scene, at: Instant, begun: Turned, ended: Turned) -> tuple[BoundaryReason, str]:
    for turn in (Turn.RESUMED, Turn.CORRECTED):
        for _, turning in begun:
            if turning.turn is turn:
                return BoundaryReason[turn.name], turning.rule
    denied = [row for row, _ in ended if not row.polarity]
    if begun and len(denied) == len(ended):
        # What had ended begins again: no contradiction.
        again = all(scene.units.told_as_end(scene.read(row).place, False, at) for row in denied)
        if again:
            return BoundaryReason.STARTED, begun[0][1].rule
    # An affirmed value that ends is what the boundary is about.
    affirmed = [each for each in ended if each[0].polarity] or ended
    if affirmed:
        _, turning = min(affirmed, key=lambda each: (_FIRST.index(each[1].turn), each[1].rule))
        return BoundaryReason[turning.turn.name], turning.rule
    return BoundaryReason.STARTED, begun[0][1].rule if begun else "first-value"


def _clipped(scene: Scene, at: Instant, ended: Turned) -> bool:
    """Whether bounded values have ended beside which another would go on, had they not been."""
    bounded = [row for row, turning in ended if row.polarity and turning.own and turning.turn is Turn.EXPLICIT_END]
    return bool(bounded) and len(bounded) == len(ended) and any(scene.units.clipped_beside(scene.read(row).place, at) for row in bounded)
