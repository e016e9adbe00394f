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


_Standing = list[tuple[Item, _Voice]]


def apply_corrections(claims: Iterable[Claim], traits: Traits) -> Corrected:
    """The items of a unit's claims. Corrections with equal (said, place) act at once."""
    ordered = sorted(claims, key=lambda claim: (claim.said, claim.place, claim.id))
    if all(claim.kind is not ClaimKind.CORRECTION for claim in ordered):
        return Corrected([_item(claim, traits) for claim in ordered])
    standing: dict[str, _Standing] = defaultdict(list)
    denials: _Standing = []
    result = Corrected([])
    for _, group in groupby(ordered, key=lambda claim: (claim.said, claim.place)):
        together = list(group)
        yielded: _Standing = []
        corrections = [claim for claim in together if claim.kind is ClaimKind.CORRECTION]
        if len(corrections) == 1 and _takes_all(corrections[0], traits):
            yielded += _taken_over(standing, corrections[0], traits, result)
        elif corrections:
            yielded += _acted(standing, corrections, traits, result)
        yielded += [_own(_item(claim, traits)) for claim in together if claim.kind is not ClaimKind.CORRECTION]
        for item, voice in yielded:
            said_by = voice.claim
            if said_by.polarity:
                standing[said_by.object].append((item, voice))
            else:
                denials.append((item, voice))
    result.items = [_as_told(item, voice) for pairs in (*standing.values(), denials) for item, voice in pairs]
    return result


def _own(item: Item) -> tuple[Item, _Voice]:
    return item, _Voice(item.claim, item.additive)


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


def _taken_over(standing: dict[str, _Standing], correction: Claim, traits: Traits, result: Corrected) -> _Standing:
    """What stands of a value, as the word of a correction that masks all of it and states no bounds."""
    hit = standing.pop(correction.replaces or correction.object, [])
    if not hit:
        return [_own(_item(correction, traits))]
    voice = _Voice(correction, correction.additive)
    for top in {id(top): top for top, _ in (one.last() for _, one in hit)}.values():
        result.masked[top.claim.id] = correction
        top.over = voice
    return [(item, voice) for item, _ in hit]


def _acted(standing: dict[str, _Standing], corrections: list[Claim], traits: Traits, result: Corrected) -> _Standing:
    """What corrections that act at once make of what stands; what they mask stands no more."""
    gone: set[int] = set()
    yielded: _Standing = []
    for correction in corrections:
        wrong = correction.replaces or correction.object
        stands = standing.get(wrong, [])
        hit = _masked(stands, correction, traits)
        for item, voice in hit:
            result.masked[voice.last()[0].claim.id] = correction
            gone.add(id(item))
        if not hit:
            yielded.append(_own(_item(correction, traits)))
        stood = (_yield(correction, _as_told(item, voice), traits) for item, voice in hit)
        yielded += [_own(item) for item in _distinct(item for item in stood if item is not None)]
    for correction in corrections:
        wrong = correction.replaces or correction.object
        standing[wrong] = [pair for pair in standing.get(wrong, []) if id(pair[0]) not in gone]
    return yielded


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


def _masked(stands: _Standing, correction: Claim, traits: Traits) -> _Standing:
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
