"""What a question over several patterns asks of a graph: steps over stored statements, with variables and known keys.

A plan is in terms of statements as they are stored: inverses and antonyms are folded already. Pure: compiled for SQL by
`pattern_sql`, for the graph by `pattern_cypher`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

from ontology.errors import QueryTooComplex

MOST_STEPS = 8
"""Patterns of one question."""
MOST_JOINED = 100_000
"""Rows that a question may have at any step where the engine cannot count its work otherwise."""
FAN_OUT = 12
"""Statements of one predicate that an entity is taken to have where they are not counted: a known end with fewer is the better way in."""


class Variable(NamedTuple):
    """Stands for an entity or literal."""

    name: str


class Known(NamedTuple):
    """An entity by any of its keys, or a literal by its key."""

    key: str


End: TypeAlias = Variable | Known


@dataclass(frozen=True, slots=True)
class Step:
    """One pattern: its ends as statements of the predicate are stored. Only statements of this polarity match.

    `turned`: it is asked from the other side (an inverse); `either`: from any side (a symmetric predicate).
    """

    subject: End
    predicate: str
    object: End
    polarity: bool = True
    turned: bool = False
    either: bool = False

    def sides(self) -> tuple[bool, ...]:
        """From which sides it may be asked: False as stored."""
        return (False, True) if self.either else (self.turned,)

    def sides_given(self) -> tuple[End, End]:
        """The subject and the object as stored."""
        return self.subject, self.object

    def ends(self, turned: bool) -> tuple[End, End]:
        """What the stored subject and the stored object must be where the statement is seen from one side."""
        return (self.object, self.subject) if self.either and turned else (self.subject, self.object)


@dataclass(frozen=True)
class Plan:
    """The steps in the order of the question."""

    steps: tuple[Step, ...]

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables in the order of their first appearance in the question."""
        asked = (end for step in self.steps for end in ((step.object, step.subject) if step.turned else (step.subject, step.object)))
        return tuple(dict.fromkeys(end.name for end in asked if isinstance(end, Variable)))

    @cached_property
    def known(self) -> tuple[str, ...]:
        """The known keys, each once."""
        ends = (end for step in self.steps for end in (step.subject, step.object))
        return tuple(dict.fromkeys(end.key for end in ends if isinstance(end, Known)))


class Found(NamedTuple):
    """One way in which all steps hold: for each step the row of its statement, the proposition that it is stored under and whether
    it is seen from the other side; for each variable of the plan the key of what it stands for (of an entity the least of its members).
    """

    rows: tuple[int, ...]
    propositions: tuple[str, ...]
    turned: tuple[bool, ...]
    keys: tuple[str, ...]

    @property
    def position(self) -> tuple[str | bool, ...]:
        """Its place in the order of matches."""
        return (*self.propositions, *self.turned)


@dataclass(frozen=True, slots=True)
class Visit:
    """A step in the order of joining: `place` is its place in the question, `by` the end by which its statements are looked up."""

    place: int
    by: End | None


Counts = Mapping[tuple[str, str], int]
"""How many statements have a known key as `subject` or `object`, about: (side, key) to number."""


def joined_in_order(plan: Plan, counts: Counts) -> tuple[Visit, ...]:
    """The order in which the steps are best joined: from the known end with the fewest statements on to what is connected with it."""
    bound: set[str] = set()
    left = dict(enumerate(plan.steps))
    order: list[Visit] = []
    while left:
        dearness = {place: _dearness(step, bound, counts) for place, step in left.items()}
        place = min(left, key=lambda place: (*dearness[place][0], place))
        step = left.pop(place)
        order.append(Visit(place, dearness[place][1]))
        bound |= {end.name for end in (step.subject, step.object) if isinstance(end, Variable)}
    return tuple(order)


def _dearness(step: Step, bound: set[str], counts: Counts) -> tuple[tuple[bool, bool, int], End | None]:
    """How dear a step is next, the least first, and the end by which to look its statements up."""
    ways: list[tuple[int, End]] = []
    for side, end in (("subject", step.subject), ("object", step.object)):
        if isinstance(end, Known):
            sides = ("subject", "object") if step.either else (side,)
            ways.append((sum(counts.get((each, end.key), 0) for each in sides), end))
        elif end.name in bound:
            ways.append((FAN_OUT, end))
    if not ways:
        return (True, True, 0), None
    number, by = min(ways, key=lambda way: way[0])
    apart = bool(bound) and not any(isinstance(end, Variable) for _, end in ways)
    # With both ends given it can only narrow down what is found so far.
    return (apart, not bound or len(ways) < 2, number), by


def too_much_to_join() -> QueryTooComplex:
    """The refusal of a question that would take too much work. No part of an answer is given instead."""
    return QueryTooComplex("these patterns join too many statements; name an entity in one of them, or ask with fewer patterns")
