"""Corrections: which claims a correction masks and what stands in their place.

They act over the set in (said, place) order, so they may arrive before what they correct.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import groupby

from graph.belief.items import Item, Strength, bounds_of, empty, end_bounds, end_of, event_bounds, horizons_of, is_open, reads_as_end
from graph.belief.traits import Traits
from ontology.claim import Claim, ClaimKind
from ontology.edtf import Stated
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant
from ontology.vocabulary import Temporality


@dataclass(slots=True)
class Corrected:
    """The items that stand, and for each masked claim the correction that masked it last."""

    items: list[Item]
    masked: dict[str, Claim] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class _Voice:
    """Whose word an item is, and the correction `over` it that has taken the item over as it stood.

    A correction without bounds changes nothing of what it masks but whose word it is: so it takes over voices, not items, and
    thousands of corrections of thousands of claims stay linear.
    """

    claim: Claim
    additive: bool
    over: _Voice | None = None

    def last(self) -> tuple[_Voice, bool]:
        """The voice that has it now, and whether any on the way there was additive. Shortens the way."""
        way: list[_Voice] = [self]
        while (above := way[-1].over) is not None:
            way.append(above)
        top, additive = way[-1], way[-1].additive
        for voice in reversed(way[:-1]):
            additive = voice.additive = voice.additive or additive
            voice.over = top
        return top, additive


_Told = tuple[Item, _Voice]
"""An item and the voice that it began with; `_Voice.last` tells whose word it is now."""


@dataclass(slots=True)
class _Standing:
    """What stands of one value, and whose words that is.

    `told` by the item's identity; `tops` the voices that have it (None: to be found); `starts` and `ends` (bound, identity) in
    order (None: to be sorted), for corrections that choose by the nearest bound.
    """

    traits: Traits
    told: dict[int, _Told] = field(default_factory=dict)
    tops: list[_Voice] | None = field(default_factory=list)
    starts: list[tuple[Instant, int]] | None = None
    ends: list[tuple[Instant, int]] | None = None

    def add(self, told: _Told) -> None:
        """One more item."""
        item, voice = told
        self.told[id(item)] = told
        if self.tops is not None:
            self.tops.append(voice)
        if self.starts is not None:
            insort(self.starts, (_interval(item, self.traits)[0], id(item)))
        if self.ends is not None:
            insort(self.ends, (_told_end(item, self.traits), id(item)))

    def join(self, told: dict[int, _Told], voice: _Voice) -> None:
        """All of another, now one voice's word. The larger stays, the smaller is copied."""
        larger, smaller = (self.told, told) if len(self.told) >= len(told) else (told, self.told)
        larger.update(smaller)
        self.told, self.starts, self.ends = larger, None, None
        if self.tops is not None:
            self.tops.append(voice)

    def voices(self) -> list[_Voice]:
        """Whose word it is, each once."""
        if self.tops is None:
            self.tops = list({id(top): top for top, _ in (voice.last() for _, voice in self.told.values())}.values())
        return self.tops

    def remove(self, gone: Iterable[int]) -> None:
        """Without what has been masked."""
        for each in gone:
            told = self.told.pop(each, None)
            if told is None:
                continue
            self.tops = None
            if self.starts is not None:
                del self.starts[bisect_left(self.starts, (_interval(told[0], self.traits)[0], each))]
            if self.ends is not None:
                del self.ends[bisect_left(self.ends, (_told_end(told[0], self.traits), each))]

    def masked_by(self, correction: Claim) -> list[_Told]:
        """What a correction masks: all, what its interval touches, or what is nearest to the one bound that it states."""
        start, end = correction.valid_from, correction.valid_to
        if _takes_all(correction, self.traits):
            return list(self.told.values())
        if start is not None and end is not None:
            last = UNBOUNDED_FUTURE if is_open(end) else end_bounds(end)[1]
            spans = ((*_interval(told[0], self.traits), told) for told in self.told.values())
            return [told for item_start, item_end, told in spans if item_start <= last and start.lo <= item_end]
        if start is not None:
            if self.starts is None:
                self.starts = sorted((_interval(item, self.traits)[0], id(item)) for item, _ in self.told.values())
            return [self.told[each] for each in _nearest(self.starts, start.lo)]
        assert end is not None
        if self.ends is None:
            self.ends = sorted((_told_end(item, self.traits), id(item)) for item, _ in self.told.values())
        return [self.told[each] for each in _nearest(self.ends, end_bounds(end)[1])]


def _nearest(bounds: list[tuple[Instant, int]], at: Instant) -> list[int]:
    """The identities at the least distance from an instant, on both sides."""
    place = bisect_left(bounds, (at, -1))
    beside = [abs(bounds[each][0] - at) for each in (place - 1, place) if 0 <= each < len(bounds)]
    found: list[int] = []
    for bound in sorted({at - min(beside), at + min(beside)}) if beside else []:
        first = bisect_left(bounds, (bound, -1))
        while first < len(bounds) and bounds[first][0] == bound:
            found.append(bounds[first][1])
            first += 1
    return found


class _Scene:
    """What stands while corrections act: by value what is affirmed, apart what is denied."""

    def __init__(self, traits: Traits) -> None:
        self.traits = traits
        self.affirmed: dict[str, _Standing] = defaultdict(lambda: _Standing(traits))
        self.denied = _Standing(traits)
        self.masked: dict[str, Claim] = {}

    def act(self, together: list[Claim]) -> None:
        """Claims with one (said, place): corrections act at once on what stood before, the others join it after."""
        corrections = [claim for claim in together if claim.kind is ClaimKind.CORRECTION]
        made = [_item(claim, self.traits) for claim in together if claim.kind is not ClaimKind.CORRECTION]
        if len(corrections) == 1 and _takes_all(corrections[0], self.traits):
            made += self._taken_over(corrections[0])
        elif corrections:
            made += self._acted(corrections)
        for item in made:
            self._of(item.claim).add((item, _Voice(item.claim, item.additive)))

    def items(self) -> list[Item]:
        """All that stands, as the word of who has it now."""
        return [_as_told(item, voice) for each in (*self.affirmed.values(), self.denied) for item, voice in each.told.values()]

    def _of(self, claim: Claim) -> _Standing:
        return self.affirmed[claim.object] if claim.polarity else self.denied

    def _taken_over(self, correction: Claim) -> list[Item]:
        """Make what stands of a value the word of a correction that masks all of it and states no bounds; else it is a state."""
        hit = self.affirmed.pop(correction.replaces or correction.object, None)
        if hit is None or not hit.told:
            return [_item(correction, self.traits)]
        voice = _Voice(correction, correction.additive)
        for top in hit.voices():
            self.masked[top.claim.id] = correction
            top.over = voice
        self._of(correction).join(hit.told, voice)
        return []

    def _acted(self, corrections: list[Claim]) -> list[Item]:
        """What corrections that act at once make of what stands; what they mask stands no more."""
        gone: dict[str, set[int]] = defaultdict(set)
        yielded: list[Item] = []
        for correction in corrections:
            wrong = correction.replaces or correction.object
            hit = self.affirmed[wrong].masked_by(correction)
            for item, voice in hit:
                self.masked[voice.last()[0].claim.id] = correction
                gone[wrong].add(id(item))
            if not hit:
                yielded.append(_item(correction, self.traits))
            stood = (_yield(correction, _as_told(item, voice), self.traits) for item, voice in hit)
            yielded += _distinct(item for item in stood if item is not None)
        for wrong, items in gone.items():
            self.affirmed[wrong].remove(items)
        return yielded


def apply_corrections(claims: Iterable[Claim], traits: Traits) -> Corrected:
    """The items of a unit's claims. Corrections with equal (said, place) act at once."""
    ordered = sorted(claims, key=lambda claim: (claim.said, claim.place, claim.id))
    if all(claim.kind is not ClaimKind.CORRECTION for claim in ordered):
        return Corrected([_item(claim, traits) for claim in ordered])
    scene = _Scene(traits)
    for _, group in groupby(ordered, key=lambda claim: (claim.said, claim.place)):
        scene.act(list(group))
    return Corrected(scene.items(), scene.masked)


def _as_told(item: Item, voice: _Voice) -> Item:
    """The item as the word of whoever has it now."""
    top, additive = voice.last()
    if top.claim is item.claim:
        return item
    claim = top.claim
    return replace(
        item,
        claim=claim,
        value=claim.object,
        positive=claim.polarity,
        strength=Strength(claim.rank, claim.said),
        additive=additive,
        corrected=True,
    )


def _takes_all(correction: Claim, traits: Traits) -> bool:
    # Bounds of a static claim do not count, so they choose nothing either.
    return (correction.valid_from is None and correction.valid_to is None) or traits.temporal is Temporality.STATIC


def _distinct(items: Iterable[Item]) -> Iterable[Item]:
    """Without those of one correction that differ in H alone: the greatest H says all that the others do.

    Only where both bounds are exact does nothing else depend on when the masked claim was said.
    """
    found: dict[object, Item] = {}
    for item in items:
        start, end = item.valid_from, item.valid_to
        if item.horizons is None or start is None or end is None or is_open(end) or not (start.exact and end.exact):
            found[id(item)] = item
            continue
        key = (item.kind, item.additive, start.lo, end.lo)
        other = found.get(key)
        if other is None or other.horizons is None:
            found[key] = item
        else:
            span, denial = other.horizons
            other.horizons = max(span, item.horizons[0]), max(denial, item.horizons[1])
    return found.values()


def _item(claim: Claim, traits: Traits) -> Item:
    item = Item(
        claim,
        claim.object,
        claim.polarity,
        # A correction is an item only where it masks nothing.
        ClaimKind.STATE if claim.kind is ClaimKind.CORRECTION else claim.kind,
        claim.valid_from,
        claim.valid_to,
        claim.said,
        Strength(claim.rank, claim.said),
        claim.additive,
    )
    # Settled here, once: what a later correction makes of its bounds does not turn an END back into a state.
    if traits.temporal is Temporality.STATE and item.kind is not ClaimKind.END and reads_as_end(item):
        return replace(item, kind=ClaimKind.END)
    return item


def _interval(item: Item, traits: Traits) -> tuple[Instant, Instant]:
    """Earliest start and latest end."""
    if traits.temporal is Temporality.EVENT:
        bounds = event_bounds(item)
        return bounds.start, bounds.end
    if reads_as_end(item):
        return item.valid_from.lo if item.valid_from else UNBOUNDED_PAST, end_of(item)[1]
    bounds = bounds_of(item)
    return bounds.start, bounds.end


def _told_end(item: Item, traits: Traits) -> Instant:
    """The latest end, by which the nearest is chosen: an open end counts as said."""
    end = _interval(item, traits)[1]
    return item.base_said if end == UNBOUNDED_FUTURE else end


def _yield(correction: Claim, item: Item, traits: Traits) -> Item | None:
    """What stands instead of a masked item; None where the corrected bounds leave no instant."""
    valid_from: Stated | None = correction.valid_from if correction.valid_from is not None else item.valid_from
    valid_to: Stated | None = correction.valid_to if correction.valid_to is not None else item.valid_to
    stood = replace(
        item,
        claim=correction,
        value=correction.object,
        positive=correction.polarity,
        valid_from=valid_from,
        valid_to=valid_to,
        strength=Strength(correction.rank, correction.said),
        additive=item.additive or correction.additive,
        corrected=True,
    )
    if empty(stood, traits):
        return None
    if traits.temporal is not Temporality.STATE:
        return stood
    if reads_as_end(stood):
        stood = replace(stood, kind=ClaimKind.END)
    return replace(stood, horizons=_moved(item, stood))


def _moved(item: Item, stood: Item) -> tuple[Instant, Instant]:
    """H of the masked item, moved into the new bounds."""
    span, denial = item.horizons or horizons_of(item)
    if reads_as_end(stood):
        if not reads_as_end(item):
            return horizons_of(stood)
        earliest_end, end = end_of(stood)
        start = stood.valid_from.lo if stood.valid_from else UNBOUNDED_PAST
        return min(max(span, start), earliest_end), max(denial, end)
    bounds = bounds_of(stood)
    moved = min(max(span, bounds.start), bounds.earliest_end)
    return moved, moved
