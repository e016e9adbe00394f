"""Resolving stays near n log n in the claims of a unit: calls are counted, not time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import FrameType

import pytest

from benchmarks.resolver import MIXES, ONE, claim, on
from graph.belief.traits import Traits
from graph.belief.unit import Unit
from ontology.claim import Claim
from ontology.vocabulary import Temporality

SMALL, LARGE = 100, 400
EVENT = Traits(temporal=Temporality.EVENT)


def calls(work: Callable[[], object]) -> int:
    """Python and C calls that some work makes."""
    counted = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return counted


def resolved(claims: Sequence[Claim], traits: Traits) -> None:
    """All intervals and what each of them cites."""
    unit = Unit(claims, traits)
    for value, found in unit.intervals.items():
        for interval in found:
            unit.cited(value, interval)


@pytest.mark.parametrize("mix", MIXES)
def test_four_times_the_claims_take_hardly_more_than_four_times_the_work(mix: str) -> None:
    few, many = list(MIXES[mix](SMALL)), list(MIXES[mix](LARGE))
    growth = calls(lambda: resolved(many, ONE)) / calls(lambda: resolved(few, ONE))
    assert growth < LARGE / SMALL * 1.4


@pytest.mark.parametrize("mix", MIXES)
def test_what_is_contested_is_found_with_hardly_more_either(mix: str) -> None:
    few, many = Unit(MIXES[mix](SMALL), ONE), Unit(MIXES[mix](LARGE), ONE)
    growth = calls(lambda: many.contested) / calls(lambda: few.contested)
    assert growth < LARGE / SMALL * 1.4


def test_events_told_many_times_grow_likewise() -> None:
    def told(count: int) -> list[Claim]:
        return [claim(n, "v", n, start=on(n), end=on(n + 20), polarity=n % 3 > 0) for n in range(count)]

    growth = calls(lambda: resolved(told(LARGE), EVENT)) / calls(lambda: resolved(told(SMALL), EVENT))
    assert growth < LARGE / SMALL * 1.4
    few, many = Unit(told(SMALL), EVENT), Unit(told(LARGE), EVENT)
    assert calls(lambda: many.contested) / calls(lambda: few.contested) < LARGE / SMALL * 1.4
