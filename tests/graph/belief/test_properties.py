"""Properties of the resolver: it agrees with the naive oracle and with itself, whatever the order, spelling or origin of time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from graph.belief.traits import Traits
from graph.belief.unit import Unit, Value
from graph.belief.weighing import Conflict, Weighed
from ontology.claim import Claim, ClaimKind
from ontology.edtf import Stated, exactly, parse_edtf
from ontology.instant import DAY, UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant, format_instant
from tests.graph.belief.oracle import NO, Answer, Oracle
from tests.graph.belief.strategies import INSTANTS, TRAITS, VALUES, units

EVERY_TRAIT = pytest.mark.parametrize("name", TRAITS)
BOTH = [(value, positive) for value in VALUES for positive in (True, False)]
QUICK, DEEP = 20, 4000

Spans = dict[Value, tuple[tuple[Instant, Instant], ...]]
Check = Callable[[list[Claim], Traits, st.DataObject], None]


def examined(check: Check, name: str, count: int, *, unbounded: bool = True, largest: int = 7) -> None:
    """Try a check on random units of the named traits: the same ones in every run, unless there are very many."""
    traits = TRAITS[name]

    @settings(
        max_examples=count,
        derandomize=count <= QUICK,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    @given(units(traits, unbounded=unbounded, largest=largest), st.data())
    def run(claims: list[Claim], data: st.DataObject) -> None:
        check(claims, traits, data)

    run()


def spans(claims: Sequence[Claim], traits: Traits) -> Spans:
    """Where each value holds."""
    return {value: tuple((i.start, i.end) for i in found) for value, found in Unit(claims, traits).intervals.items()}


def outcome(found: Weighed) -> Answer:
    """What the resolver says, in the oracle's words."""
    return Answer(True, found.support.lower(), found.conflict.lower(), found.certain, found.shadow) if found.holds else NO


def asked(unit: Unit, value: str, at: Instant) -> str:
    """YES, NO or UNKNOWN as the service answers."""
    if unit.weigh(value, at).holds:
        return "yes"
    return "no" if unit.weigh(value, at, polarity=False).holds or unit.ruled_out_by(value, at) else "unknown"


def agrees_with_the_oracle(claims: list[Claim], traits: Traits, data: st.DataObject) -> None:
    unit, oracle = Unit(claims, traits), Oracle(claims, traits)
    for value, positive in BOTH:
        for at in INSTANTS:
            assert outcome(unit.weigh(value, at, polarity=positive)) == oracle.weigh(value, positive, at), (value, positive, at)
    for value, at in itertools.product(VALUES, INSTANTS):
        assert asked(unit, value, at) == oracle.ask(value, at), (value, at)


def intervals_are_the_union_of_points(claims: list[Claim], traits: Traits, data: st.DataObject) -> None:
    unit = Unit(claims, traits)
    for (value, positive), at in itertools.product(BOTH, INSTANTS):
        inside = any(i.start <= at < i.end for i in unit.intervals.get((value, positive), ()))
        assert inside == unit.weigh(value, at, polarity=positive).holds, (value, positive, at)


def what_is_contested_is_the_union_of_points(claims: list[Claim], traits: Traits, data: st.DataObject) -> None:
    unit = Unit(claims, traits)
    for (value, positive), at in itertools.product(BOTH, INSTANTS):
        inside = any(start <= at < end for start, end in unit.contested.get((value, positive), ()))
        found = unit.weigh(value, at, polarity=positive)
        assert inside == (found.holds and found.conflict is not Conflict.NONE), (value, positive, at)


def intervals_are_apart(claims: list[Claim], traits: Traits, data: st.DataObject) -> None:
    unit = Unit(claims, traits)
    for found in unit.intervals.values():
        assert all(i.start < i.end for i in found)
        assert all(a.end < b.start for a, b in itertools.pairwise(found))


def one_value_at_most_is_untied(claims: list[Claim], traits: Traits, data: st.DataObject) -> None:
    if not traits.one_valued:
        return
    unit = Unit([replace(claim, additive=False) for claim in claims], traits)
    for at in INSTANTS:
        found = [weighed for value in VALUES if (weighed := unit.weigh(value, at)).holds and not weighed.shadow]
        assert sum(weighed.conflict is not Conflict.TIED for weighed in found) <= 1, at


def every_interval_is_cited(claims: list[Claim], traits: Traits, data: st.DataObject) -> None:
    unit = Unit(claims, traits)
    for value, found in unit.intervals.items():
        for interval in found:
            cited = unit.cited(value, interval)
            assert cited, (value, interval)
            assert len({id(atom) for atom in cited}) == len(cited)
            assert {atom.made_by for atom in cited} <= set(claims)


def order_does_not_matter(claims: list[Claim], traits: Traits, data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(claims))
    one, other = Unit(claims, traits), Unit(shuffled, traits)
    assert spans(claims, traits) == spans(shuffled, traits)
    for value, found in one.intervals.items():
        for mine, theirs in zip(found, other.intervals[value], strict=True):
            assert {a.made_by.id for a in one.cited(value, mine)} == {a.made_by.id for a in other.cited(value, theirs)}


def saying_it_twice_changes_nothing(claims: list[Claim], traits: Traits, data: st.DataObject) -> None:
    again = data.draw(st.lists(st.sampled_from(claims), max_size=len(claims)))
    doubled = [*claims, *(replace(claim, id=f"d{number}") for number, claim in enumerate(again))]
    assert spans(doubled, traits) == spans(claims, traits)


def _moved(stated: Stated | None, by: int) -> Stated | None:
    if stated is None or stated.lo in (UNBOUNDED_PAST, UNBOUNDED_FUTURE):
        return stated
    return Stated(stated.lo + by, stated.hi + by, stated.text)


def _moved_instant(at: Instant, by: int) -> Instant:
    return at if at in (UNBOUNDED_PAST, UNBOUNDED_FUTURE) else at + by


def time_has_no_origin(claims: list[Claim], traits: Traits, data: st.DataObject) -> None:
    by = data.draw(st.sampled_from([1, -7, 1_700_000_000_000_000, -60_000_000_000_000_000]))
    moved = [
        replace(claim, said=claim.said + by, valid_from=_moved(claim.valid_from, by), valid_to=_moved(claim.valid_to, by))
        for claim in claims
    ]
    expected = {
        value: tuple((_moved_instant(start, by), _moved_instant(end, by)) for start, end in found)
        for value, found in spans(claims, traits).items()
    }
    assert spans(moved, traits) == expected


def _spelled(at: Instant, how: str) -> str:
    if how == "Z":
        return format_instant(at)
    hours = int(how)
    return format_instant(at + hours * 3_600_000_000).removesuffix("Z") + f"{'-' if hours < 0 else '+'}{abs(hours):02d}:00"


def spelling_does_not_matter(claims: list[Claim], traits: Traits, data: st.DataObject) -> None:
    spelling = st.sampled_from(["Z", "2", "-5", "14"])

    def again(stated: Stated | None) -> Stated | None:
        if stated is None or not stated.exact or stated.lo in (UNBOUNDED_PAST, UNBOUNDED_FUTURE):
            return stated
        if data.draw(st.booleans()):
            wall = format_instant(stated.lo + 9 * 3_600_000_000).removesuffix("Z")
            return parse_edtf(wall, zone=ZoneInfo("Asia/Tokyo"))
        return parse_edtf(_spelled(stated.lo, data.draw(spelling)))

    respelled = [
        replace(
            claim,
            said=parse_edtf(_spelled(claim.said, data.draw(spelling))).lo,
            valid_from=again(claim.valid_from),
            valid_to=again(claim.valid_to),
        )
        for claim in claims
    ]
    assert spans(respelled, traits) == spans(claims, traits)


CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        agrees_with_the_oracle,
        intervals_are_the_union_of_points,
        what_is_contested_is_the_union_of_points,
        intervals_are_apart,
        one_value_at_most_is_untied,
        every_interval_is_cited,
        order_does_not_matter,
        saying_it_twice_changes_nothing,
        time_has_no_origin,
        spelling_does_not_matter,
    )
}


def everything(claims: list[Claim], traits: Traits, data: st.DataObject) -> None:
    """All checks of one unit: making the unit costs more than looking at it."""
    for check in CHECKS.values():
        check(claims, traits, data)


@EVERY_TRAIT
def test_of_random_units(name: str) -> None:
    examined(everything, name, QUICK)


def plain(claims: list[Claim]) -> list[Claim]:
    """The same claims affirmed and without bounds: the commonest units, which are resolved by a shorter way."""
    kinds = (ClaimKind.STATE, ClaimKind.CHANGE)
    return [
        replace(each, kind=kinds[number % 2], valid_from=None, valid_to=None, polarity=True, additive=False, replaces=None)
        for number, each in enumerate(claims)
    ]


@pytest.mark.parametrize("name", ["one-state-clip", "one-state-resume", "many-state-clip"])
def test_of_plain_units(name: str) -> None:
    examined(lambda claims, traits, data: everything(plain(claims), traits, data), name, QUICK)


@pytest.mark.deep
@EVERY_TRAIT
@pytest.mark.parametrize("check", CHECKS)
def test_of_very_many_random_units(name: str, check: str) -> None:
    examined(CHECKS[check], name, DEEP)


@pytest.mark.deep
@EVERY_TRAIT
def test_of_crowded_units(name: str) -> None:
    examined(everything, name, DEEP // 10, largest=25)


def test_a_day_is_the_same_day_in_any_spelling_of_its_zone() -> None:
    traits = TRAITS["one-state-clip"]
    day = parse_edtf("2021-05-02", zone=ZoneInfo("Asia/Tokyo"))
    claim = Claim("c", "e", 0, "s", "a", day.lo + 3 * DAY, valid_from=day)
    plain = replace(claim, valid_from=exactly(parse_edtf("2021-05-01T15:00:00Z").lo))
    assert spans([claim], traits) == spans([plain], traits)
