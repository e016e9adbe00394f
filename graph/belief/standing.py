"""What stands of a value while corrections act, whose word it is, and which of it a correction masks."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from dataclasses import dataclass, field

from graph.belief.items import Item, bounds_of, end_bounds, end_of, event_bounds, is_open, reads_as_end
from graph.belief.traits import Traits
from ontology.claim import Claim
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant
from ontology.vocabulary import Temporality


@dataclass(slots=True, eq=False)
class Voice:
    """Whose word an item is, and the correction `over` it that has taken the item over as it stood.

    A correction without bounds changes nothing of what it masks but whose word it is: so it takes over voices, not items, and
    thousands of corrections of thousands of claims stay linear.
    """

    claim: Claim
    additive: bool
    over: Voice | None = None

    def last(self) -> tuple[Voice, bool]:
        """The voice that has it now, and whether any on the way there was additive. Shortens the way."""
        way: list[Voice] = [self]
        while (above := way[-1].over) is not None:
            way.append(above)
        top, additive = way[-1], way[-1].additive
        for voice in reversed(way[:-1]):
            additive = voice.additive = voice.additive or additive
            voice.over = top
        return top, additive


Told = tuple[Item, Voice]
"""An item and the voice that it began with; `Voice.last` tells whose word it is now."""


@dataclass(slots=True)
class Standing:
    """What stands of one value, and whose words that is.

    `told` by the item's identity; `tops` the voices that have it (None: to be found); `starts` and `ends` (bound, identity) in
    order (None: to be sorted), for corrections that choose by the nearest bound.
    """

    traits: Traits
    told: dict[int, Told] = field(default_factory=dict)
    tops: list[Voice] | None = field(default_factory=list)
    starts: list[tuple[Instant, int]] | None = None
    ends: list[tuple[Instant, int]] | None = None

    def add(self, told: Told) -> None:
        """One more item."""
        item, voice = told
        self.told[id(item)] = told
        if self.tops is not None:
            self.tops.append(voice)
        if self.starts is not None:
            insort(self.starts, (interval_of(item, self.traits)[0], id(item)))
        if self.ends is not None:
            insort(self.ends, (_told_end(item, self.traits), id(item)))

    def join(self, told: dict[int, Told], voice: Voice) -> None:
        """All of another, now one voice's word. The larger stays, the smaller is copied."""
        larger, smaller = (self.told, told) if len(self.told) >= len(told) else (told, self.told)
        larger.update(smaller)
        self.told, self.starts, self.ends = larger, None, None
        if self.tops is not None:
            self.tops.append(voice)

    def voices(self) -> list[Voice]:
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
                del self.starts[bisect_left(self.starts, (interval_of(told[0], self.traits)[0], each))]
            if self.ends is not None:
                del self.ends[bisect_left(self.ends, (_told_end(told[0], self.traits), each))]

    def masked_by(self, correction: Claim) -> list[Told]:
        """What a correction masks: all, what its interval touches, or what is nearest to the one bound that it states."""
        start, end = correction.valid_from, correction.valid_to
        if takes_all(correction, self.traits):
            return list(self.told.values())
        if start is not None and end is not None:
            last = UNBOUNDED_FUTURE if is_open(end) else end_bounds(end)[1]
            spans = ((*interval_of(told[0], self.traits), told) for told in self.told.values())
            return [told for item_start, item_end, told in spans if item_start <= last and start.lo <= item_end]
        if start is not None:
            if self.starts is None:
                self.starts = sorted((interval_of(item, self.traits)[0], id(item)) for item, _ in self.told.values())
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


def takes_all(correction: Claim, traits: Traits) -> bool:
    # Bounds of a static claim do not count, so they choose nothing either.
    return (correction.valid_from is None and correction.valid_to is None) or traits.temporal is Temporality.STATIC


def interval_of(item: Item, traits: Traits) -> tuple[Instant, Instant]:
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
    end = interval_of(item, traits)[1]
    return item.base_said if end == UNBOUNDED_FUTURE else end
