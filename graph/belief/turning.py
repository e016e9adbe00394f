"""What makes a value begin or stop holding at an instant: the kind of thing, the rule, and the pieces of evidence that decide.

Read by the same rules as everything (`graph.belief.weighing`), by comparing the instant with the one before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from graph.belief.items import Atom
from graph.belief.unit import Unit
from graph.belief.walk import Course
from graph.belief.weighing import Verdict, Weighed
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant
from ontology.vocabulary import Temporality


class Turn(StrEnum):
    """Kinds of turning.

    STARTED: words say that it begins. RESUMED: it had begun before, and what stood against it has ended. CORRECTED: a correction
    states the bound. SUPERSEDED, CONTRADICTED: another value, or the opposite, takes over. EXPLICIT_END: words state the end.
    CLIPPED: a bounded rival has ended, and nothing attests a return.
    """

    STARTED = "STARTED"
    RESUMED = "RESUMED"
    CORRECTED = "CORRECTED"
    SUPERSEDED = "SUPERSEDED"
    CONTRADICTED = "CONTRADICTED"
    EXPLICIT_END = "EXPLICIT_END"
    CLIPPED = "CLIPPED"


@dataclass(frozen=True, slots=True)
class Turning:
    """Why a value turned: `atoms` decide it, and are empty only where no claim does. `own`: they are what is said of the value itself."""

    turn: Turn
    rule: str
    atoms: tuple[Atom, ...]
    own: bool = False


def begins_at(atom: Atom, at: Instant) -> bool:
    """Whether an instant is where a piece of evidence begins to count: its start, one inside its imprecise start, or its first attested."""
    return at == atom.start or atom.start < at <= atom.latest_start or (atom.attested is not None and atom.attested[0] == at)


def start_of(course: Course, value: str, positive: bool, at: Instant) -> Turning | None:
    """What makes a value hold from an instant on in this unit; None where it held just before, or does not hold."""
    if at == UNBOUNDED_PAST:
        return None
    before = course.just_before(value, positive, at)
    if any(found.holds for found in before):
        return None
    holding = [(was, now) for was, now in zip(before, course.outcomes(value, positive, at), strict=True) if now.holds]
    if not holding:
        return None
    unit = course.unit
    winners = _distinct(atom for _, now in holding for atom in now.winners)
    fresh = tuple(atom for atom in winners if begins_at(atom, at))
    if fresh:
        corrected = tuple(atom for atom in fresh if _corrected_start(unit, atom, at))
        if len(corrected) == len(fresh):
            return Turning(Turn.CORRECTED, "correction", corrected, own=True)
        return Turning(Turn.STARTED, "first-value", fresh, own=True)
    over = _over(unit, value, positive, [was for was, _ in holding], at)
    if over:
        corrected = tuple(atom for atom in over if _corrected_end(unit, atom, at))
        if len(corrected) == len(over):
            return Turning(Turn.CORRECTED, "correction", _distinct((*over, *winners)))
        rule = "patch" if all(atom.patch for atom in over) else "bounded-rival"
        return Turning(Turn.RESUMED, rule, _distinct((*over, *winners)))
    # What stood against it is still told, but no more attested here: these claims reach further.
    return Turning(Turn.STARTED, "outlasts", winners, own=True)


def end_of(course: Course, value: str, positive: bool, at: Instant) -> Turning | None:
    """What makes a value hold no more from an instant on in this unit; None where it holds."""
    outcomes = course.outcomes(value, positive, at)
    if any(found.holds for found in outcomes):
        return None
    before = course.just_before(value, positive, at) if at != UNBOUNDED_PAST else []
    held = [now for was, now in zip(before, outcomes, strict=False) if was.holds]
    return _ended(course.unit, value, positive, held or outcomes, at)


def _ended(unit: Unit, value: str, positive: bool, outcomes: list[Weighed], at: Instant) -> Turning:
    own = tuple(atom for atom in unit.ending.get(at, ()) if (atom.value, atom.positive) == (value, positive) and at != UNBOUNDED_FUTURE)
    beaten = _distinct(atom for found in outcomes if found.verdict is Verdict.BEATEN for atom in found.winners)
    fresh = tuple(atom for atom in beaten if begins_at(atom, at))
    if fresh or (beaten and not own):
        return _beaten(unit, value, fresh or beaten, at)
    if own:
        # A shadow ends with what denies it, where that has not been beaten itself.
        corrected = tuple(atom for atom in own if _corrected_end(unit, atom, at))
        if corrected:
            return Turning(Turn.CORRECTED, "correction", corrected, own=True)
        return Turning(Turn.EXPLICIT_END, "bounded", own, own=True)
    rivals = tuple(atom for atom in unit.beginning.get(at, ()) if _opposes(unit, atom, value, positive))
    if rivals:
        # Of a shadow: what is live stands against it, although what has ended is known better.
        return _beaten(unit, value, rivals, at)
    ended = _distinct(atom for found in outcomes if found.verdict is Verdict.CLIPPED for atom in found.winners)
    if any((atom.value, atom.positive) == (value, positive) for atom in ended):
        return Turning(Turn.EXPLICIT_END, "bounded", ended, own=True)
    return Turning(Turn.CLIPPED, "bounded-rival", ended)


def _beaten(unit: Unit, value: str, winners: tuple[Atom, ...], at: Instant) -> Turning:
    """Why a value is ruled out by what wins."""
    best = max(winners, key=lambda atom: (atom.strength, atom.made_by.id))
    states = best.made_by.valid_to if best.ending else best.made_by.valid_from
    if best.made_by.id in unit.corrected and states is not None and best.start == at:
        return Turning(Turn.CORRECTED, "correction", winners)
    if best.value == value:
        return Turning(Turn.EXPLICIT_END, "explicit-end", winners) if best.ending else Turning(Turn.CONTRADICTED, "polarity", winners)
    if unit.traits.temporal is Temporality.STATIC:
        return Turning(Turn.CONTRADICTED, "static-value", winners)
    return Turning(Turn.SUPERSEDED, "functional-slot", winners)


def _over(unit: Unit, value: str, positive: bool, before: list[Weighed], at: Instant) -> tuple[Atom, ...]:
    """What stood against a value until an instant and ends there."""
    stood = _distinct(atom for found in before if found.verdict is Verdict.BEATEN for atom in found.winners if atom.end == at)
    return stood or tuple(atom for atom in unit.ending.get(at, ()) if _opposes(unit, atom, value, positive))


def _opposes(unit: Unit, atom: Atom, value: str, positive: bool) -> bool:
    if atom.value == value:
        return atom.positive != positive
    return unit.traits.one_valued and positive and atom.positive and not atom.shadow and not atom.additive


def displaced(unit: Unit, value: str, positive: bool, start: Instant, end: Instant) -> Turning | None:
    """What has moved an imprecise start out of `[start, end)`: the strongest evidence against a value that attests an instant of it."""
    against = [
        atom
        for atom in unit.atoms
        if atom.attested is not None and atom.attested[0] < end and start <= atom.attested[1] and _opposes(unit, atom, value, positive)
    ]
    if not against:
        return None
    best = max(against, key=lambda atom: (atom.strength, atom.made_by.id))
    return _beaten(unit, value, (best,), best.start)


def _corrected_start(unit: Unit, atom: Atom, at: Instant) -> bool:
    return atom.made_by.id in unit.corrected and atom.made_by.valid_from is not None and atom.start == at


def _corrected_end(unit: Unit, atom: Atom, at: Instant) -> bool:
    return atom.made_by.id in unit.corrected and atom.made_by.valid_to is not None and atom.end == at


def _distinct(atoms: Iterable[Atom]) -> tuple[Atom, ...]:
    return tuple({id(atom): atom for atom in atoms}.values())
