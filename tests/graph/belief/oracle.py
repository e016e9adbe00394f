"""A second resolver, written from the semantics alone: one instant at a time, every claim looked at, nothing kept sorted.

It shares no code with `graph.belief` and exists to disagree with it. Bounds are pairs `(earliest, latest)`; an end is exclusive.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from graph.belief.traits import Traits
from ontology.claim import Claim, ClaimKind
from ontology.edtf import Stated
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant
from ontology.vocabulary import Temporality

Bound = tuple[Instant, Instant]


@dataclass(frozen=True)
class Told:
    """A claim, or what a correction made of one. `start`, `end` None: not stated (for a start: it is read off `first_said`)."""

    value: str
    positive: bool
    kind: ClaimKind
    said: Instant
    place: int
    rank: int
    additive: bool
    start: Bound | None
    end: Bound | None
    first_said: Instant
    reach: Instant | None = None
    """H of the claim that a correction masked; None: compute it."""
    reach_after: Instant | None = None
    """The same for the denial after an END."""
    corrected: bool = False


@dataclass(frozen=True)
class Part:
    """What is weighed. It may begin from `begin`, certainly runs from `certain_from` to before `certain_to`, is over at `over`."""

    value: str
    positive: bool
    additive: bool
    patch: bool
    strength: tuple[int, Instant]
    begin: Instant
    certain_from: Instant
    certain_to: Instant
    over: Instant
    reach: Instant
    attesting: bool = True
    shadow: bool = False
    key: Instant = 0
    """H as it counts between claims of which none attests."""

    def certain(self, at: Instant) -> bool:
        return not self.shadow and self.certain_from <= at < self.certain_to

    def attests(self, at: Instant) -> bool:
        return self.attesting and self.certain(at) and at <= self.reach

    def live(self, at: Instant) -> bool:
        return self.begin <= at and (at < self.over or self.over == UNBOUNDED_FUTURE)


@dataclass(frozen=True)
class Answer:
    """The outcome for a value at an instant; support `attested | projected`, conflict `none | resolved | tied`."""

    holds: bool
    support: str = ""
    conflict: str = ""
    certain: bool = False
    shadow: bool = False


NO = Answer(False)


def _open(stated: Stated | None) -> bool:
    return stated is None or stated.lo == UNBOUNDED_FUTURE


def _holds(stated: Stated, at: Instant) -> bool:
    return stated.lo <= at < max(stated.hi, stated.lo + 1)


def start_bound(stated: Stated, said: Instant, kind: ClaimKind) -> Bound:
    """A start counts from the earliest instant; the granule of a state that contains said ends at said."""
    latest = max(stated.lo, stated.hi - 1)
    speaks_of_now = kind in (ClaimKind.STATE, ClaimKind.END)
    return (stated.lo, said) if speaks_of_now and _holds(stated, said) else (stated.lo, latest)


def end_bound(stated: Stated) -> Bound:
    """An end counts up to the latest instant; an exact one is excluded itself."""
    return (stated.lo, stated.lo) if stated.hi - stated.lo <= 1 else (stated.lo, stated.hi)


def end_of_an_end(stated: Stated | None, said: Instant) -> Bound:
    """The end of an END: said where there is no `to` or its granule contains said."""
    if stated is None or _open(stated):
        return said, said
    return (min(stated.lo, said), said) if _holds(stated, said) else end_bound(stated)


class Oracle:
    """The claims of one unit. Quadratic and worse."""

    def __init__(self, claims: Iterable[Claim], traits: Traits) -> None:
        self.traits = traits
        self.event = traits.temporal is Temporality.EVENT
        self.static = traits.temporal is Temporality.STATIC
        self.told = self._corrected(list(claims))
        self.parts = [part for told in self.told for part in self._parts(told)]
        self._settled: dict[object, list[Part]] = {}

    # -- corrections

    def _told(self, claim: Claim) -> Told:
        kind = ClaimKind.STATE if claim.kind is ClaimKind.CORRECTION else claim.kind
        if self.event and kind is ClaimKind.END:
            kind = ClaimKind.STATE
        to = None if _open(claim.valid_to) else claim.valid_to
        past = claim.valid_from is None and to is not None and end_bound(to)[1] <= claim.said
        if kind is ClaimKind.STATE and past and not self.event and not self.static:
            kind = ClaimKind.END
        start = start_bound(claim.valid_from, claim.said, kind) if claim.valid_from else None
        if self.event and claim.valid_from:
            start = (claim.valid_from.lo, claim.valid_from.last)
        if kind is ClaimKind.END:
            end: Bound | None = end_of_an_end(to, claim.said)
        else:
            end = end_bound(to) if to else None
        return Told(claim.object, claim.polarity, kind, claim.said, claim.place, claim.rank, claim.additive, start, end, claim.said)

    def _corrected(self, claims: list[Claim]) -> list[Told]:
        told = [self._told(claim) for claim in claims if claim.kind is not ClaimKind.CORRECTION]
        corrections = [claim for claim in claims if claim.kind is ClaimKind.CORRECTION]
        for said, place in sorted({(claim.said, claim.place) for claim in corrections}):
            before = [one for one in told if (one.said, one.place) < (said, place)]
            gone: set[int] = set()
            new: list[Told] = []
            for correction in corrections:
                if (correction.said, correction.place) != (said, place):
                    continue
                masked = self._masked(correction, before)
                gone |= {id(one) for one in masked}
                made = [self._made(correction, one) for one in masked] if masked else [self._told(correction)]
                new += [one for one in made if one is not None]
            told = [one for one in told if id(one) not in gone] + new
        return told

    def _own(self, told: Told) -> tuple[Instant, Instant]:
        """The canonical interval."""
        if self.event:
            span = self._event_part(told)
            return span.begin, span.over
        if told.start is not None:
            start = told.start[0]
        else:
            start = UNBOUNDED_PAST if told.kind is ClaimKind.END else told.first_said
        return start, UNBOUNDED_FUTURE if told.end is None else told.end[1]

    def _masked(self, correction: Claim, before: list[Told]) -> list[Told]:
        value = correction.object if correction.replaces is None else correction.replaces
        found = [one for one in before if one.positive and one.value == value]
        start, end = correction.valid_from, correction.valid_to
        if self.static or not found:
            return found
        if start and end:
            low, high = start.lo, end_bound(end)[1]
            return [one for one in found if self._own(one)[0] <= high and low <= self._own(one)[1]]
        if start:
            far = [abs(self._own(one)[0] - start.lo) for one in found]
        elif end:
            ends = [one.first_said if one.end is None and not self.event else self._own(one)[1] for one in found]
            far = [abs(each - end_bound(end)[1]) for each in ends]
        else:
            return found
        return [one for one, distance in zip(found, far, strict=True) if distance == min(far)]

    def _made(self, correction: Claim, masked: Told) -> Told | None:
        made = replace(
            masked,
            value=correction.object,
            positive=correction.polarity,
            said=correction.said,
            place=correction.place,
            rank=correction.rank,
            additive=masked.additive or correction.additive,
            reach=self._reach(masked),
            reach_after=self._reach_after(masked),
            corrected=True,
        )
        if correction.valid_from and self.event:
            made = replace(made, start=(correction.valid_from.lo, correction.valid_from.last))
        elif correction.valid_from:
            made = replace(made, start=start_bound(correction.valid_from, masked.first_said, masked.kind))
        if correction.valid_to and masked.kind is ClaimKind.END:
            made = replace(made, end=end_of_an_end(correction.valid_to, masked.first_said))
        elif correction.valid_to:
            made = replace(made, end=None if _open(correction.valid_to) else end_bound(correction.valid_to))
        if self.static:
            return made
        if not self.event and made.kind is ClaimKind.STATE and made.start is None and made.end and made.end[1] <= masked.first_said:
            made = replace(made, kind=ClaimKind.END, reach_after=masked.first_said)
        start, end = self._own(made)
        return made if start < end else None

    # -- reading one claim

    def _start(self, told: Told) -> Bound:
        if told.start is None and told.kind is ClaimKind.END:
            return UNBOUNDED_PAST, UNBOUNDED_PAST
        return told.start or (told.first_said, told.first_said)

    def _reach(self, told: Told) -> Instant:
        """H: how far the claim (of an END: the span before it) attests."""
        start = self._start(told)
        if told.reach is not None:
            reach = max(told.reach, start[0])
        elif told.kind is ClaimKind.CHANGE and told.end is None:
            # An imprecise start that may already lie behind reaches to said.
            reach = told.first_said if start[0] <= told.first_said <= start[1] else start[1]
        else:
            reach = max(told.first_said, start[0])
        return reach if told.end is None else min(told.end[0], reach)

    def _reach_after(self, told: Told) -> Instant:
        if told.end is None:
            return told.first_said
        return max(told.first_said if told.reach_after is None else told.reach_after, told.end[1])

    def _event_part(self, told: Told) -> Part:
        start, end = told.start, told.end
        if start is not None and start[0] == UNBOUNDED_PAST and end is None:
            start = None
        if start is None and end is None:
            begin, over, sure_from, sure_to = UNBOUNDED_PAST, told.first_said + 1, UNBOUNDED_FUTURE, UNBOUNDED_PAST
        elif start is None:
            assert end is not None
            begin, over, sure_from, sure_to = UNBOUNDED_PAST, end[1], UNBOUNDED_FUTURE, UNBOUNDED_PAST
        elif end is None:
            begin, over, sure_from, sure_to = start[0], start[1] + 1, start[1], start[0] + 1
        else:
            begin, over, sure_from, sure_to = start[0], end[1], start[1], end[0]
        strength = (told.rank, told.said)
        return Part(told.value, told.positive, told.additive, False, strength, begin, sure_from, sure_to, over, over)

    def _parts(self, told: Told) -> list[Part]:
        if self.event:
            return [self._event_part(told)]
        strength = (told.rank, told.said)
        if self.static:
            positive = told.positive and told.kind is not ClaimKind.END
            ever = (UNBOUNDED_PAST, UNBOUNDED_PAST, UNBOUNDED_FUTURE, UNBOUNDED_FUTURE, UNBOUNDED_FUTURE)
            return [Part(told.value, positive, told.additive, False, strength, *ever)]
        start = self._start(told)
        sure_to, over = told.end or (UNBOUNDED_FUTURE, UNBOUNDED_FUTURE)
        span = Part(
            told.value,
            told.positive,
            told.additive,
            told.kind is ClaimKind.PATCH,
            strength,
            start[0],
            start[1],
            sure_to,
            over,
            self._reach(told),
            attesting=not (told.kind is ClaimKind.CHANGE and told.end is None and start[0] != start[1]),
        )
        if told.kind is not ClaimKind.END:
            return [span]
        if told.start is None:
            span = replace(span, begin=UNBOUNDED_PAST, shadow=True, attesting=False)
        after = not told.positive and not told.corrected
        denial = replace(
            span,
            positive=after,
            begin=over,
            certain_from=over,
            certain_to=UNBOUNDED_FUTURE,
            over=UNBOUNDED_FUTURE,
            reach=self._reach_after(told),
            attesting=True,
            shadow=False,
        )
        return [span, denial]

    def _stands_against(self, one: Part, other: Part) -> bool:
        """Whether `other` is a rival or the opposite of `one`."""
        if other.shadow:
            return False
        if other.value == one.value:
            return other.positive != one.positive
        return self.traits.one_valued and one.positive and other.positive and not one.additive and not other.additive

    def _yielding(self, parts: list[Part]) -> list[Part]:
        """An imprecise start counts from just after the last instant of its granule (before its latest) that a rival attests."""
        if self.event or self.static:
            return parts
        found = []
        for part in parts:
            begin = part.begin
            if not part.shadow and part.begin < part.certain_from:
                for other in parts:
                    if not self._stands_against(part, other) or not other.attesting:
                        continue
                    first = other.certain_from
                    last = min(other.reach, other.certain_to - 1, part.certain_from - 1)
                    if first <= last and last >= part.begin:
                        begin = max(begin, last + 1)
            if begin >= part.over and part.over != UNBOUNDED_FUTURE:
                # A rival is attested up to its end: nothing of it is left.
                continue
            # Where H is the start itself, it moves with the start.
            key = max(part.reach, min(begin, part.certain_to)) if part.reach == part.begin else part.reach
            found.append(replace(part, begin=begin, key=key))
        return found

    # -- weighing

    def _universe(self, value: str, positive: bool, *, additive: bool | None) -> list[Part]:
        """What is weighed together, with starts that have yielded. `additive` None: the claims on the value alone.

        False: the plain claims on all values and the denials of each; True: the value's additive claims and its denials.
        """
        if additive is None:
            found = [part for part in self.parts if part.value == value]
        elif additive:
            found = [part for part in self.parts if part.value == value and (part.additive or not part.positive)]
        else:
            found = [part for part in self.parts if not part.additive or not part.positive]
        key = (None if additive is False else value, additive)
        if key not in self._settled:
            self._settled[key] = self._yielding(found)
        return self._settled[key]

    def _alone(self, value: str, positive: bool, at: Instant, *, additive: bool | None) -> Answer:
        found = self._universe(value, positive, additive=additive)
        own = [part for part in found if part.value == value and part.positive == positive]
        against = [part for part in found if part.value == value and part.positive != positive and not part.shadow]
        against += [part for part in found if part.value != value and part.positive and not part.shadow]
        return self._contest(own, against, at)

    def weigh(self, value: str, positive: bool, at: Instant) -> Answer:
        """Whether a value holds, or its denial (`positive` False)."""
        if self.event:
            own = [part for part in self.parts if part.value == value]
            return self._weigh_event([p for p in own if p.positive == positive], [p for p in own if p.positive != positive], at)
        if not positive or not self.traits.one_valued:
            return self._alone(value, positive, at, additive=None)
        plain = self._alone(value, True, at, additive=False)
        additive = self._alone(value, True, at, additive=True)
        both = [answer for answer in (plain, additive) if answer.holds]
        firm = [answer for answer in both if not answer.shadow] or both
        if not firm:
            return NO
        return Answer(
            True,
            "attested" if any(answer.support == "attested" for answer in firm) else "projected",
            min((answer.conflict for answer in firm), key=["none", "resolved", "tied"].index),
            any(answer.certain for answer in firm),
            all(answer.shadow for answer in firm),
        )

    def _weigh_event(self, own: list[Part], opposite: list[Part], at: Instant) -> Answer:
        pros = [part for part in own if part.begin <= at < part.over]
        cons = [part for part in opposite if part.begin <= at < part.over]
        answer = self._strongest(pros, cons, at)
        safe = [part for part in pros if not cons or part.strength >= max(con.strength for con in cons)]
        return replace(answer, certain=answer.holds and any(part.certain(at) for part in safe))

    def _strongest(self, pros: list[Part], cons: list[Part], at: Instant) -> Answer:
        if not pros:
            return NO
        top = max(part.strength for part in pros + cons)
        winners = [part for part in pros if part.strength == top]
        if not winners:
            return NO
        conflict = "tied" if any(part.strength == top for part in cons) else "resolved" if cons else "none"
        return Answer(True, "attested", conflict, any(part.certain(at) for part in winners))

    def _contest(self, own: list[Part], against: list[Part], at: Instant) -> Answer:
        shadows = [part for part in own if part.shadow and at < part.over]
        own = [part for part in own if not part.shadow]
        pros = [part for part in own if part.attests(at)]
        cons = [part for part in against if part.attests(at)]
        if pros or cons:
            return self._strongest(pros, cons, at)
        begun = [(part, True) for part in own if part.begin <= at] + [(part, False) for part in against if part.begin <= at]
        begun = [(part, pro) for part, pro in begun if part.live(at) or not (part.patch or (self.traits.resumes and not pro))]
        rival = max(((part.key, part.strength) for part, pro in begun if not pro), default=None)
        if begun:
            top = max((part.key, part.strength) for part, _ in begun)
            first = [(part, pro) for part, pro in begun if (part.key, part.strength) == top]
            first = [(part, pro) for part, pro in first if part.live(at)] or first
            if first[0][0].live(at):
                winners = [part for part, pro in first if pro]
                if not winners:
                    return NO
                if len(winners) < len(first):
                    conflict = "tied"
                elif any(not pro and part.key == top[0] and part.strength < top[1] for part, pro in begun):
                    conflict = "resolved"
                else:
                    conflict = "none"
                # Certain where any claim for it is that no rival outweighs, not only the strongest.
                safe = [part for part, pro in begun if pro and part.live(at) and (not rival or (part.key, part.strength) >= rival)]
                return Answer(True, "projected", conflict, any(part.certain(at) for part in safe))
        if shadows and not any(part.live(at) for part in against):
            return Answer(True, "projected", "none", False, True)
        return NO

    def values(self) -> list[tuple[str, bool]]:
        """Every value and polarity that something is said of."""
        found: dict[tuple[str, bool], list[Part]] = defaultdict(list)
        for part in self.parts:
            found[part.value, part.positive].append(part)
        return sorted(found)

    def ask(self, value: str, at: Instant) -> str:
        """yes, no or unknown."""
        if self.weigh(value, True, at).holds:
            return "yes"
        if self.weigh(value, False, at).holds:
            return "no"
        if not self.traits.one_valued or any(part.value == value and part.positive and part.additive for part in self.parts):
            return "unknown"
        for other, positive in self.values():
            if positive and other != value:
                answer = self._alone(other, True, at, additive=False)
                if answer.holds and not answer.shadow:
                    return "no"
        return "unknown"
