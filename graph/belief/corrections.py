"""Corrections: which claims a correction masks and what stands in their place.

They act over the set in (said, place) order, so they may arrive before what they correct.
"""

from __future__ import annotations

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
    """What stands of one value, and whose words that is."""

    told: list[_Told] = field(default_factory=list)
    tops: list[_Voice] = field(default_factory=list)

    def add(self, told: list[_Told], tops: list[_Voice]) -> None:
        """Join more to it; the longer list stays, the shorter is copied."""
        longer, shorter = (self.told, told) if len(self.told) >= len(told) else (told, self.told)
        longer.extend(shorter)
        self.told = longer
        self.tops.extend(tops)


class _Scene:
    """What stands while corrections act: by value what is affirmed, apart what is denied."""

    def __init__(self, traits: Traits) -> None:
        self.traits = traits
        self.affirmed: dict[str, _Standing] = defaultdict(_Standing)
        self.denied = _Standing()
        self.masked: dict[str, Claim] = {}

    def act(self, together: list[Claim]) -> None:
        """Claims with one (said, place): corrections act at once on what stood before, the others join it after."""
        corrections = [claim for claim in together if claim.kind is ClaimKind.CORRECTION]
        made: list[tuple[list[_Told], list[_Voice]]] = []
        if len(corrections) == 1 and _takes_all(corrections[0], self.traits):
            made.append(self._taken_over(corrections[0]))
        elif corrections:
            made += [([(item, voice)], [voice]) for item, voice in self._acted(corrections)]
        for claim in together:
            if claim.kind is not ClaimKind.CORRECTION:
                item, voice = self._own(_item(claim, self.traits))
                made.append(([(item, voice)], [voice]))
        for told, tops in made:
            if told:
                by = tops[0].claim
                (self.affirmed[by.object] if by.polarity else self.denied).add(told, tops)

    def items(self) -> list[Item]:
        """All that stands, as the word of who has it now."""
        return [_as_told(item, voice) for standing in (*self.affirmed.values(), self.denied) for item, voice in standing.told]

    @staticmethod
    def _own(item: Item) -> _Told:
        return item, _Voice(item.claim, item.additive)

    def _taken_over(self, correction: Claim) -> tuple[list[_Told], list[_Voice]]:
        """What stands of a value, as the word of a correction that masks all of it and states no bounds."""
        hit = self.affirmed.pop(correction.replaces or correction.object, None)
        if hit is None or not hit.told:
            item, voice = self._own(_item(correction, self.traits))
            return [(item, voice)], [voice]
        voice = _Voice(correction, correction.additive)
        for top in hit.tops:
            self.masked[top.claim.id] = correction
            top.over = voice
        return hit.told, [voice]

    def _acted(self, corrections: list[Claim]) -> list[_Told]:
        """What corrections that act at once make of what stands; what they mask stands no more."""
        gone: set[int] = set()
        yielded: list[_Told] = []
        for correction in corrections:
            standing = self.affirmed[correction.replaces or correction.object]
            hit = _masked(standing.told, correction, self.traits)
            for item, voice in hit:
                self.masked[voice.last()[0].claim.id] = correction
                gone.add(id(item))
            if not hit:
                yielded.append(self._own(_item(correction, self.traits)))
            stood = (_yield(correction, _as_told(item, voice), self.traits) for item, voice in hit)
            yielded += [self._own(item) for item in _distinct(item for item in stood if item is not None)]
        for wrong in {correction.replaces or correction.object for correction in corrections}:
            left = [told for told in self.affirmed[wrong].told if id(told[0]) not in gone]
            tops = {id(top): top for top, _ in (voice.last() for _, voice in left)}
            self.affirmed[wrong] = _Standing(left, list(tops.values()))
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


def _masked(stands: list[_Told], correction: Claim, traits: Traits) -> list[_Told]:
    start, end = correction.valid_from, correction.valid_to
    if _takes_all(correction, traits) or not stands:
        return list(stands)
    spans = [(*_interval(pair[0], traits), pair) for pair in stands]
    if start is not None and end is not None:
        last = UNBOUNDED_FUTURE if is_open(end) else end_bounds(end)[1]
        return [pair for item_start, item_end, pair in spans if item_start <= last and start.lo <= item_end]
    if start is not None:
        distances = [abs(item_start - start.lo) for item_start, _, _ in spans]
    else:
        assert end is not None
        stated = end_bounds(end)[1]
        distances = [abs((pair[0].base_said if until == UNBOUNDED_FUTURE else until) - stated) for _, until, pair in spans]
    nearest = min(distances)
    return [pair for distance, pair in zip(distances, stands, strict=True) if distance == nearest]


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
