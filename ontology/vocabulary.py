"""The vocabulary: predicates with their traits, and entity types. Immutable; loading and validation live in `ontology.loading`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Cardinality(StrEnum):
    """ONE: at most one value at a time."""

    ONE = "one"
    MANY = "many"


class Temporality(StrEnum):
    """STATIC never changes: a second value is a contradiction, not a change."""

    STATE = "state"
    EVENT = "event"
    STATIC = "static"


class AfterRival(StrEnum):
    """What becomes of a value when a bounded rival has ended: unknown until attested again, or it holds again."""

    CLIP = "clip"
    RESUME = "resume"


class Aspect(StrEnum):
    """Whose truth and which part of life or work a predicate belongs to."""

    IDENTITY = "IDENTITY"
    KNOWLEDGE = "KNOWLEDGE"
    BELIEF = "BELIEF"
    PREFERENCE = "PREFERENCE"
    HABIT = "HABIT"
    GOAL = "GOAL"
    TASK = "TASK"
    DIRECTIVE = "DIRECTIVE"
    DECISION = "DECISION"
    EVENT = "EVENT"
    PROBLEM = "PROBLEM"
    RELATIONSHIP = "RELATIONSHIP"


@dataclass(frozen=True, slots=True)
class Predicate:
    """A relation that statements may use.

    `range` is an entity type or a literal type (`xsd:...`); `stale_after` is in seconds; `patterns` are the extraction
    patterns as the vocabulary file has them (validated by `ontology.patterns`). An undeclared predicate has the defaults.
    """

    name: str
    cardinality: Cardinality = Cardinality.MANY
    temporal: Temporality = Temporality.STATE
    after_rival: AfterRival = AfterRival.CLIP
    inverse: str | None = None
    symmetric: bool = False
    antonyms: tuple[str, ...] = ()
    domain: str | None = None
    range: str | None = None
    aspect: Aspect = Aspect.KNOWLEDGE
    stale_after: float | None = None
    description: str | None = None
    declared: bool = True
    patterns: tuple[Any, ...] = field(default=(), hash=False)

    @property
    def literal_range(self) -> str | None:
        """The datatype where objects of this predicate are literals."""
        return self.range if self.range is not None and self.range.startswith("xsd:") else None


@dataclass(frozen=True, slots=True)
class EntityType:
    """A kind of thing."""

    name: str
    description: str | None = None
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class Canonical:
    """How a predicate is stored: under `predicate`, with subject and object swapped, or with the other polarity."""

    predicate: Predicate
    swapped: bool
    negated: bool


@dataclass(frozen=True)
class Vocabulary:
    """The vocabulary in force. `version` is a hash of its content; the order of predicates is that of their declaration."""

    version: str
    predicates: Mapping[str, Predicate]
    entity_types: Mapping[str, EntityType]

    def predicate(self, name: str) -> Predicate:
        """The predicate of that name; one with the default traits and `declared=False` where the vocabulary has none."""
        return self.predicates.get(name) or Predicate(name, declared=False)

    def canonical(self, name: str) -> Canonical:
        """How statements of a predicate are stored: in the first declared direction of an inverse pair, on the first of two antonyms."""
        predicate = self.predicate(name)
        order = {known: place for place, known in enumerate(self.predicates)}
        negated = swapped = False
        for antonym in predicate.antonyms:
            if order[antonym] < order[predicate.name]:
                predicate, negated = self.predicates[antonym], True
                break
        if predicate.inverse and order[predicate.inverse] < order[predicate.name]:
            predicate, swapped = self.predicates[predicate.inverse], True
        return Canonical(predicate, swapped, negated)

    def is_a(self, type: str | None, wanted: str) -> bool:
        """Whether an entity type is `wanted` or a kind of it."""
        while type is not None:
            if type == wanted:
                return True
            known = self.entity_types.get(type)
            type = known.parent if known else None
        return False
