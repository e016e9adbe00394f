"""Corrections: which claims a correction masks and what stands in their place.

They act over the set in (said, place) order, so they may arrive before what they correct.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import groupby

from graph.belief.items import Item, Strength, bounds_of, empty, end_of, event_bounds, horizons_of, is_open, reads_as_end
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


def apply_corrections(claims: Iterable[Claim], traits: Traits) -> Corrected:
    """The items of a unit's claims. Corrections with equal (said, place) act at once."""
    ordered = sorted(claims, key=lambda claim: (claim.said, claim.place, claim.id))
    if all(claim.kind is not ClaimKind.CORRECTION for claim in ordered):
        return Corrected([_item(claim, traits) for claim in ordered])
    standing: dict[str, list[Item]] = defaultdict(list)
    denials: list[Item] = []
    result = Corrected([])
    for _, group in groupby(ordered, key=lambda claim: (claim.said, claim.place)):
        together = list(group)
        corrections = [claim for claim in together if claim.kind is ClaimKind.CORRECTION]
        gone: set[int] = set()
        yielded: list[Item] = []
        for correction in corrections:
            wrong = correction.replaces or correction.object
            hit = _masked(standing.get(wrong, []), correction, traits)
            for item in hit:
                result.masked[item.claim.id] = correction
            gone.update(id(item) for item in hit)
            stood = (_yield(correction, item, traits) for item in hit)
            yielded += [item for item in stood if item is not None] if hit else [_item(correction, traits)]
        for correction in corrections:
            wrong = correction.replaces or correction.object
            standing[wrong] = [item for item in standing.get(wrong, []) if id(item) not in gone]
        yielded += [_item(claim, traits) for claim in together if claim.kind is not ClaimKind.CORRECTION]
        for item in yielded:
            if item.positive:
                standing[item.value].append(item)
            else:
                denials.append(item)
    result.items = [item for items in standing.values() for item in items] + denials
    return result


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


def _masked(items: list[Item], correction: Claim, traits: Traits) -> list[Item]:
    start, end = correction.valid_from, correction.valid_to
    # Bounds of a static claim do not count, so they choose nothing either.
    if (start is None and end is None) or traits.temporal is Temporality.STATIC:
        return list(items)
    if start is not None and end is not None:
        last = UNBOUNDED_FUTURE if is_open(end) else (end.lo if end.exact else end.hi)
        spans = [(item, *_interval(item, traits)) for item in items]
        return [item for item, item_start, item_end in spans if item_start <= last and start.lo <= item_end]
    distances: list[tuple[int, Item]] = []
    for item in items:
        own_start, own_end = _interval(item, traits)
        if start is not None:
            distances.append((abs(own_start - start.lo), item))
        else:
            assert end is not None
            own_end = item.base_said if own_end == UNBOUNDED_FUTURE else own_end
            distances.append((abs(own_end - (end.lo if end.exact else end.hi)), item))
    nearest = min((distance for distance, _ in distances), default=0)
    return [item for distance, item in distances if distance == nearest]


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
