"""Puts the vectors to a system: in the order given, and in others."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from benchmarks.vectors.questions import Question, Told
from benchmarks.vectors.reading import Vector, Vectors
from benchmarks.vectors.worlds import Adapter, CannotAsk, Failed, Operation, Predicate, Refusal

SEED = 7
_FEW = 6
"""Up to so many operations all their orders are listed before some are drawn."""


class Outcome(StrEnum):
    """WRONG if any answer is; CANNOT if none is and something could not be told or asked; else RIGHT."""

    RIGHT = "right"
    WRONG = "wrong"
    CANNOT = "cannot ask"


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of a vector in one order, with why."""

    outcome: Outcome
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """A vector under a system. `shuffled`: by order of its operations; empty where it has one order, or none but the given."""

    vector: Vector
    given: Answered
    shuffled: Mapping[tuple[int, ...], Answered]

    @property
    def in_every_order(self) -> Outcome | None:
        """The worst outcome; None where nothing was shuffled."""
        found = [each.outcome for each in self.shuffled.values()]
        if not found:
            return None
        return next((outcome for outcome in (Outcome.WRONG, Outcome.CANNOT) if outcome in found), Outcome.RIGHT)


@dataclass(frozen=True, slots=True)
class Run:
    """All vectors under a system."""

    title: str
    results: tuple[Result, ...]


def orders(count: int, most: int) -> Iterator[tuple[int, ...]]:
    """Up to `most` orders other than the given one, the same in every run."""
    generator, given = random.Random(SEED), tuple(range(count))
    if count <= _FEW:
        others = list(itertools.permutations(range(count)))[1:]
        yield from others if len(others) <= most else generator.sample(others, most)
        return
    found: set[tuple[int, ...]] = {given}
    while len(found) <= most:
        order = tuple(generator.sample(given, count))
        if order not in found:
            found.add(order)
            yield order


def run(adapter: Adapter, vectors: Vectors, most: int) -> Run:
    """Every vector in the given order and in up to `most` others."""
    return Run(adapter.title, tuple(put(adapter, vector, vectors.predicates, most) for vector in vectors.vectors))


def put(adapter: Adapter, vector: Vector, predicates: Mapping[str, Predicate], most: int) -> Result:
    """One vector, in the given order and in up to `most` others."""
    given = _answered(adapter, predicates, vector.operations, vector.questions)
    free = [question for question in vector.questions if not question.needs_order]
    shuffled = {}
    if vector.any_order and free:
        for order in orders(len(vector.operations), most):
            shuffled[order] = _answered(adapter, predicates, [vector.operations[place] for place in order], free)
    return Result(vector, given, shuffled)


def _answered(
    adapter: Adapter, predicates: Mapping[str, Predicate], operations: Sequence[Operation], questions: Sequence[Question]
) -> Answered:
    world = adapter.world(predicates)
    try:
        refusals: list[Refusal] = []
        for operation in operations:
            refusals += world.apply(operation)
        told = Told(world, operations, refusals)
        wrong, cannot = [], []
        for question in questions:
            try:
                problem = question.problem(told)
            except CannotAsk as reason:
                cannot.append(str(reason))
            except Failed as reason:
                wrong.append(f"{question}: {reason}")
            else:
                wrong += [] if problem is None else [problem]
    except CannotAsk as reason:
        return Answered(Outcome.CANNOT, (str(reason),))
    except Failed as reason:
        return Answered(Outcome.WRONG, (str(reason),))
    finally:
        world.close()
    if wrong:
        return Answered(Outcome.WRONG, tuple(wrong))
    return Answered(Outcome.CANNOT, tuple(dict.fromkeys(cannot))) if cannot else Answered(Outcome.RIGHT)
