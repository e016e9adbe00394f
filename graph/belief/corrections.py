"""Corrections: which claims a correction masks and what stands in their place.

They act over the set in (said, place) order, so they may arrive before what they correct.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import groupby

from graph.belief.items import Item, Strength, bounds_of, empty, end_of, horizons_of, is_open, reads_as_end
from graph.belief.standing import Standing, Voice, takes_all
from graph.belief.traits import Traits
from ontology.claim import Claim, ClaimKind
from ontology.edtf import Stated
from ontology.instant import UNBOUNDED_PAST, Instant
from ontology.vocabulary import Temporality


@dataclass(slots=True)
class Corrected:
    """The items that stand, and for each masked claim the correction that masked it last."""

    items: list[Item]
    masked: dict[str, Claim] = field(default_factory=dict)


class _Scene:
    """What stands while corrections act: by value what is affirmed, apart what is denied."""

    def __init__(self, traits: Traits) -> None:
        self.traits = traits
        self.affirmed: dict[str, Standing] = defaultdict(lambda: Standing(traits))
        self.denied = Standing(traits)
        self.masked: dict[str, Claim] = {}

    def act(self, together: list[Claim]) -> None:
        """Claims with one (said, place): corrections act at once on what stood before, the others join it after."""
        corrections = [claim for claim in together if claim.kind is ClaimKind.CORRECTION]
        made = [_item(claim, self.traits) for claim in together if claim.kind is not ClaimKind.CORRECTION]
        if len(corrections) == 1 and takes_all(corrections[0], self.traits):
            made += self._taken_over(corrections[0])
        elif corrections:
            made += self._acted(corrections)
        for item in made:
            self._of(item.claim).add((item, Voice(item.claim, item.additive)))

    def items(self) -> list[Item]:
        """All that stands, as the word of who has it now."""
        return [_as_told(item, voice) for each in (*self.affirmed.values(), self.denied) for item, voice in each.told.values()]

    def _of(self, claim: Claim) -> Standing:
        return self.affirmed[claim.object] if claim.polarity else self.denied

    def _taken_over(self, correction: Claim) -> list[Item]:
        """Make what stands of a value the word of a correction that masks all of it and states no bounds; else it is a state."""
        hit = self.affirmed.pop(correction.replaces or correction.object, None)
        if hit is None or not hit.told:
            return [_item(correction, self.traits)]
        voice = Voice(correction, correction.additive)
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
    bearing = {value for claim in ordered if claim.kind is ClaimKind.CORRECTION for value in (claim.object, claim.replaces)}
    if not bearing:
        return Corrected([_item(claim, traits) for claim in ordered])
    # What no correction names stands as it was told, and most is so.
    apart = [_item(claim, traits) for claim in ordered if claim.object not in bearing]
    scene = _Scene(traits)
    named = (claim for claim in ordered if claim.object in bearing)
    for _, group in groupby(named, key=lambda claim: (claim.said, claim.place)):
        scene.act(list(group))
    return Corrected([*apart, *scene.items()], scene.masked)


def _as_told(item: Item, voice: Voice) -> Item:
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
