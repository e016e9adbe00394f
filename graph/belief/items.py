"""Items: claims after corrections have acted, and the pieces of evidence (`Atom`) that each of them is.

An item keeps the bounds as stated and the said time that they are read against; an atom is one piece that the weighing
compares: where it begins and ends, how far it attests (H), how strong it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from graph.belief.traits import Traits
from ontology.claim import Claim, ClaimKind
from ontology.edtf import Stated
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant
from ontology.vocabulary import Temporality


class Strength(NamedTuple):
    """What decides between claims that attest one instant: trust first, then recency."""

    rank: int
    said: Instant


@dataclass(slots=True, eq=False)
class Atom:
    """One piece of evidence for or against a value.

    It begins somewhere in `[start, latest_start]` and ends in `[earliest_end, end)`; `horizon` is H, the last instant that
    it attests where it is certain. `attests` is false for what attests nothing, `shadow` for what only shows where nothing
    else is known. `made_by` is the claim that says so. `attested` are the first and last instant that it attests: where it is
    certain, up to and including H; None: no instant. Never changed once made (not frozen, which costs more than the weighing).
    """

    value: str
    positive: bool
    start: Instant
    latest_start: Instant
    earliest_end: Instant
    end: Instant
    horizon: Instant
    strength: Strength
    made_by: Claim
    additive: bool = False
    shadow: bool = False
    patch: bool = False
    attests: bool = True
    ending: bool = False
    attested: tuple[Instant, Instant] | None = field(init=False)

    def __post_init__(self) -> None:
        first, last = self.latest_start, min(self.horizon, self.earliest_end - (self.earliest_end != UNBOUNDED_FUTURE))
        self.attested = (first, last) if first <= last and self.attests and not self.shadow else None

    def live(self, at: Instant) -> bool:
        """Open, or `at` lies before its end."""
        return at < self.end or self.end == UNBOUNDED_FUTURE

    def certain(self, at: Instant) -> bool:
        """Whether `at` lies between its latest start and its earliest end."""
        return self.latest_start <= at and (at < self.earliest_end or self.earliest_end == UNBOUNDED_FUTURE)


@dataclass(slots=True, eq=False)
class Item:
    """A claim as it stands after corrections: bounds and kind of what it corrects, said and rank of the correction.

    `base_said` is the said time against which defaults and granules are read. `horizons` are H of the span and of the
    denial that an END makes; for other kinds both are the same.
    """

    claim: Claim
    value: str
    positive: bool
    kind: ClaimKind
    valid_from: Stated | None
    valid_to: Stated | None
    base_said: Instant
    strength: Strength
    additive: bool
    horizons: tuple[Instant, Instant] | None = None
    corrected: bool = False


class Bounds(NamedTuple):
    """Earliest and latest start, earliest and latest end (exclusive)."""

    start: Instant
    latest_start: Instant
    earliest_end: Instant
    end: Instant


def contains(granule: Stated, instant: Instant) -> bool:
    """Whether an instant lies in the granule."""
    return granule.lo <= instant < granule.hi or granule.lo == instant


def end_bounds(stated: Stated) -> tuple[Instant, Instant]:
    """(earliest end, latest end): an exact end is that instant, a granule counts whole."""
    return (stated.lo, stated.lo) if stated.exact else (stated.lo, stated.hi)


def is_open(stated: Stated | None) -> bool:
    """Whether an end is not stated, or stated as unbounded."""
    return stated is None or stated.lo == UNBOUNDED_FUTURE


def reads_as_end(item: Item) -> bool:
    """An END, or a STATE that is told over and has no start."""
    if item.kind is ClaimKind.END:
        return True
    if item.kind is not ClaimKind.STATE or item.valid_from is not None or item.valid_to is None or is_open(item.valid_to):
        return False
    return end_bounds(item.valid_to)[1] <= item.base_said


def end_of(item: Item) -> tuple[Instant, Instant]:
    """(earliest, latest) instant at which what an END tells of ended; the latest is where its denial begins."""
    stated = item.valid_to
    if stated is None or is_open(stated):
        return item.base_said, item.base_said
    if contains(stated, item.base_said):
        return min(stated.lo, item.base_said), item.base_said
    return end_bounds(stated)


def latest_start_of(stated: Stated, item: Item) -> Instant:
    """The last instant of a start. What is so, or was so, when it was said has begun by then."""
    if item.kind in (ClaimKind.STATE, ClaimKind.END) and contains(stated, item.base_said):
        return item.base_said
    return stated.last


def bounds_of(item: Item) -> Bounds:
    """The bounds of an item that is no END: default start is when it was said."""
    stated = item.valid_from
    start = item.base_said if stated is None else stated.lo
    latest_start = start if stated is None else latest_start_of(stated, item)
    if item.valid_to is None or is_open(item.valid_to):
        return Bounds(start, latest_start, UNBOUNDED_FUTURE, UNBOUNDED_FUTURE)
    earliest_end, end = end_bounds(item.valid_to)
    return Bounds(start, latest_start, earliest_end, end)


def horizon_of(item: Item, bounds: Bounds) -> Instant:
    """H of an item that is no END."""
    if bounds.end != UNBOUNDED_FUTURE:
        return min(bounds.earliest_end, max(item.base_said, bounds.start))
    if item.kind is not ClaimKind.CHANGE:
        return max(item.base_said, bounds.start)
    stated = item.valid_from
    if stated is None or stated.exact:
        return bounds.start
    return item.base_said if contains(stated, item.base_said) else stated.last


def horizons_of(item: Item) -> tuple[Instant, Instant]:
    """H of what an item attests, and of the denial that follows where it is an END."""
    if not reads_as_end(item):
        horizon = horizon_of(item, bounds_of(item))
        return horizon, horizon
    earliest_end, end = end_of(item)
    start = item.valid_from.lo if item.valid_from is not None else UNBOUNDED_PAST
    return min(earliest_end, max(item.base_said, start)), max(item.base_said, end)


def event_bounds(item: Item) -> Bounds:
    """Where an event lies: its own granule or bounds; undated, one unknown instant up to when it was said."""
    start, end = item.valid_from, item.valid_to if not is_open(item.valid_to) else None
    if start is None and end is None:
        return Bounds(UNBOUNDED_PAST, item.base_said, UNBOUNDED_PAST, item.base_said + 1)
    if start is None and end is not None:
        latest = end_bounds(end)[1]
        return Bounds(UNBOUNDED_PAST, latest - 1, UNBOUNDED_PAST, latest)
    if start is not None and end is None:
        last = start.last if start.lo != UNBOUNDED_PAST else item.base_said
        return Bounds(start.lo, last, start.lo + 1 if start.exact else start.lo, last + 1)
    assert start is not None and end is not None
    return Bounds(start.lo, start.last, *end_bounds(end))


def empty(item: Item, traits: Traits) -> bool:
    """Whether no instant is left of it, as when a correction moves an end before the start."""
    if traits.temporal is Temporality.STATIC:
        return False
    if traits.temporal is Temporality.EVENT:
        bounds = event_bounds(item)
        return bounds.start >= bounds.end
    if reads_as_end(item):
        return item.valid_from is not None and item.valid_from.lo >= end_of(item)[1]
    bounds = bounds_of(item)
    return bounds.start >= bounds.end


def atoms_of(item: Item, traits: Traits) -> list[Atom]:
    """The pieces of evidence that an item is: one, or for an END the span before and what follows it."""
    if traits.temporal is Temporality.STATIC:
        # Every claim attests all times; an END is a denial.
        positive = item.positive and item.kind is not ClaimKind.END
        always = Bounds(UNBOUNDED_PAST, UNBOUNDED_PAST, UNBOUNDED_FUTURE, UNBOUNDED_FUTURE)
        return [_atom(item, always, UNBOUNDED_FUTURE, positive=positive, ending=item.kind is ClaimKind.END)]
    if traits.temporal is Temporality.EVENT:
        bounds = event_bounds(item)
        return [_atom(item, bounds, bounds.end - 1)]
    if not reads_as_end(item):
        bounds = bounds_of(item)
        horizon = item.horizons[0] if item.horizons else horizon_of(item, bounds)
        imprecise = (
            item.kind is ClaimKind.CHANGE and bounds.end == UNBOUNDED_FUTURE and item.valid_from is not None and not item.valid_from.exact
        )
        return [_atom(item, bounds, horizon, attests=not imprecise)]
    span_horizon, denial_horizon = item.horizons or horizons_of(item)
    earliest_end, end = end_of(item)
    after = _atom(
        item,
        Bounds(end, end, UNBOUNDED_FUTURE, UNBOUNDED_FUTURE),
        denial_horizon,
        # What ends a denial is no denial; but a denial that corrects an END leaves nothing of it.
        positive=not item.positive and not item.corrected,
        ending=True,
    )
    if item.valid_from is None:
        before = _atom(item, Bounds(UNBOUNDED_PAST, end, UNBOUNDED_PAST, end), UNBOUNDED_PAST, shadow=True, attests=False)
    else:
        before = _atom(item, Bounds(item.valid_from.lo, latest_start_of(item.valid_from, item), earliest_end, end), span_horizon)
    return [before, after]


def _atom(
    item: Item,
    bounds: Bounds,
    horizon: Instant,
    *,
    positive: bool | None = None,
    shadow: bool = False,
    attests: bool = True,
    ending: bool = False,
) -> Atom:
    positive = item.positive if positive is None else positive
    return Atom(
        item.value,
        positive,
        bounds.start,
        bounds.latest_start,
        bounds.earliest_end,
        bounds.end,
        horizon,
        item.strength,
        item.claim,
        additive=item.additive and positive,
        shadow=shadow,
        patch=item.kind is ClaimKind.PATCH,
        attests=attests,
        ending=ending,
    )
