"""The vocabulary: predicates with their traits, and entity types. Immutable; loading and validation live in `ontology.loading`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cached_property
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
        return self._canonical.get(name) or Canonical(self.predicate(name), False, False)

    @cached_property
    def _canonical(self) -> Mapping[str, Canonical]:
        order = {name: place for place, name in enumerate(self.predicates)}
        found: dict[str, Canonical] = {}
        for name, stated in self.predicates.items():
            predicate = stated
            earlier = [antonym for antonym in stated.antonyms if order[antonym] < order[name]]
            if earlier:
                predicate = self.predicates[earlier[0]]
            swapped = predicate.inverse is not None and order[predicate.inverse] < order[predicate.name]
            if swapped and predicate.inverse is not None:
                predicate = self.predicates[predicate.inverse]
            found[name] = Canonical(predicate, swapped, bool(earlier))
        return found

    def dumped(self) -> str:
        """The vocabulary without its extraction patterns as JSON, for `restored`."""
        predicates = [{**asdict(predicate), "patterns": ()} for predicate in self.predicates.values()]
        return json.dumps(
            {"version": self.version, "predicates": predicates, "entityTypes": [asdict(kind) for kind in self.entity_types.values()]}
        )

    def is_a(self, type: str | None, wanted: str) -> bool:
        """Whether an entity type is `wanted` or a kind of it."""
        while type is not None:
            if type == wanted:
                return True
            known = self.entity_types.get(type)
            type = known.parent if known else None
        return False


def restored(text: str) -> Vocabulary:
    """A vocabulary from what `Vocabulary.dumped` gave."""
    content = json.loads(text)
    predicates = {}
    for row in content["predicates"]:
        row |= {
            "cardinality": Cardinality(row["cardinality"]),
            "temporal": Temporality(row["temporal"]),
            "after_rival": AfterRival(row["after_rival"]),
            "aspect": Aspect(row["aspect"]),
            "antonyms": tuple(row["antonyms"]),
            "patterns": (),
        }
        predicates[row["name"]] = Predicate(**row)
    return Vocabulary(content["version"], predicates, {row["name"]: EntityType(**row) for row in content["entityTypes"]})
