"""What makes a value begin or end: on random units, that every turn is told by evidence that is there."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import strategies as st

from graph.belief.traits import Traits
from graph.belief.turning import Turn, Turning, end_of, start_of
from graph.belief.unit import Unit
from graph.belief.walk import Course
from graph.belief.weighing import Weighed
from ontology.claim import Claim
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant
from tests.graph.belief.strategies import INSTANTS, TRAITS
from tests.graph.belief.test_properties import BOTH, EVERY_TRAIT, Check, examined

QUICK, DEEP = 8, 3000


def _said(found: Weighed) -> tuple[object, ...]:
    return found.verdict, found.shadow, {id(atom) for atom in found.winners}


def a_walk_is_as_weighing(claims: list[Claim], traits: Traits, data: st.DataObject) -> None:
    """Verdict, winners and shadow are those of the reading that looks at one instant, in whatever order they are asked for."""
    unit = Unit(claims, traits)
    course = Course(unit)
    for at, (value, positive) in product(data.draw(st.permutations(INSTANTS)) if data.draw(st.booleans()) else INSTANTS, BOTH):
        outcomes = course.outcomes(value, positive, at)
        told = unit.weigh(value, at, polarity=positive)
        assert any(found.holds for found in outcomes) == told.holds, (value, positive, at)
        if len(outcomes) == 1:
            assert _said(outcomes[0]) == _said(told), (value, positive, at)


def every_turn_is_told(claims: list[Claim], traits: Traits, data: st.DataObject) -> None:
    """Each bound of an interval has a turning with evidence; between bounds there is none."""
    unit = Unit(claims, traits)
    course = Course(unit)
    for (value, positive), found in unit.intervals.items():
        for interval in found:
            if interval.start != UNBOUNDED_PAST:
                begun = start_of(course, value, positive, interval.start)
                assert begun is not None and begun.atoms, (value, positive, interval)
                assert_true(unit, begun, value, positive, interval.start)
            if interval.end != UNBOUNDED_FUTURE:
                ended = end_of(course, value, positive, interval.end)
                assert ended is not None and ended.atoms, (value, positive, interval)
                assert_true(unit, ended, value, positive, interval.end)
        turning = {at for interval in found for at in (interval.start, interval.end)}
        for at in INSTANTS:
            if at not in turning:
                assert start_of(course, value, positive, at) is None
                assert (end_of(course, value, positive, at) is None) == any(i.start <= at < i.end for i in found)


def assert_true(unit: Unit, found: Turning, value: str, positive: bool, at: Instant) -> None:
    """What each kind says is so of the atoms that it names."""
    mine = [atom for atom in found.atoms if (atom.value, atom.positive) == (value, positive)]
    if found.turn is Turn.RESUMED:
        assert any(atom.end == at for atom in found.atoms) and any(atom.start < at for atom in mine)
    elif found.turn is Turn.EXPLICIT_END:
        assert any(atom.end == at or (atom.ending and atom.value == value) for atom in found.atoms)
    elif found.turn is Turn.SUPERSEDED:
        assert unit.traits.one_valued and all(atom.positive for atom in found.atoms if atom.value != value)
    elif found.turn is Turn.CORRECTED:
        assert any(atom.made_by.id in unit.corrected and at in (atom.start, atom.end) for atom in found.atoms)
    elif found.turn is Turn.CLIPPED:
        assert all(atom.end <= at for atom in found.atoms)
    elif found.turn is Turn.STARTED:
        assert mine == list(found.atoms)


CHECKS: dict[str, Check] = {check.__name__: check for check in (a_walk_is_as_weighing, every_turn_is_told)}


@EVERY_TRAIT
@pytest.mark.parametrize("check", CHECKS)
def test_of_random_units(check: str, name: str) -> None:
    examined(CHECKS[check], name, QUICK)


@pytest.mark.deep
@pytest.mark.parametrize("name", TRAITS)
@pytest.mark.parametrize("check", CHECKS)
def test_of_very_many_random_units(check: str, name: str) -> None:
    examined(CHECKS[check], name, DEEP, largest=9)
