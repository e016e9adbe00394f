"""Comparing what holds on two bases: by slots where a predicate has one value, else by propositions. No I/O."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from graph.belief.identity import IDENTITY
from graph.belief.traits import traits_of
from graph.drift import Cause, DifferenceKind
from graph.ledger.rectangles import Rectangle
from ontology.vocabulary import Vocabulary


class Compared(NamedTuple):
    """What is compared: a slot with one value (`value` is empty), or a proposition. Keys are those of the last basis' entities."""

    subject: str
    predicate: str
    qualifier: str
    value: str
    polarity: bool


class Read(NamedTuple):
    """A rectangle as it is compared: where, which value it gives there, and whether it is stored from its other side."""

    where: Compared
    value: str
    swapped: bool


class Place(NamedTuple):
    """Where a difference stands in the order: by cause, subject, predicate and value, names before keys. JSON-ready."""

    cause: str
    subject: str
    subject_key: str
    predicate: str
    qualifier: str
    value: str
    value_key: str
    polarity: bool


@dataclass(frozen=True, slots=True)
class Difference:
    """What two bases tell differently: all that holds there on each. Rectangles are as they are stored."""

    cause: Cause
    where: Compared
    before: tuple[Rectangle, ...]
    after: tuple[Rectangle, ...]

    @property
    def kind(self) -> DifferenceKind:
        """What became of it."""
        if not self.before:
            return DifferenceKind.ADDED
        return DifferenceKind.CHANGED if self.after else DifferenceKind.REMOVED


Named = Callable[[str], tuple[str, str]]
"""What orders entities and literals: the folded name of a key, and the key."""


class Reader:
    """Where rectangles are compared, by the traits of the last basis' vocabulary."""

    def __init__(self, vocabulary: Vocabulary, named: Named) -> None:
        self._vocabulary = vocabulary
        self._named = named

    def symmetric(self, row: Rectangle) -> bool:
        """Whether a rectangle tells of its two sides alike."""
        return row.inverse_slot is not None and self._vocabulary.predicate(row.predicate).symmetric

    def by_slot(self, row: Rectangle) -> bool:
        """Whether its slot has one value. Of one any number of values may be denied."""
        return row.polarity and traits_of(self._vocabulary.predicate(row.predicate)).one_valued

    def read(self, row: Rectangle, root: Callable[[str], str]) -> Read:
        """A rectangle; `root` tells the entity that a key is read as."""
        subject, object = root(row.subject), root(row.object)
        if row.predicate == IDENTITY:
            # Between names as they were told.
            return Read(Compared(subject, row.predicate, row.qualifier, row.base, row.polarity), row.base, False)
        swapped = self.symmetric(row) and self._named(object) < self._named(subject)
        if swapped:
            subject, object = object, subject
        value = "" if self.by_slot(row) else object
        return Read(Compared(subject, row.predicate, row.qualifier, value, row.polarity), object, swapped)


Side = Mapping[Rectangle, Read]
"""Rectangles that hold on a basis, as they are compared."""


def compared(cause: Cause, before: Side, after: Side) -> dict[Compared, Difference]:
    """What two sets of rectangles tell differently: other values in a slot, or a proposition that only one of them has."""
    sides: list[dict[Compared, dict[Rectangle, Read]]] = []
    for side in (before, after):
        grouped: dict[Compared, dict[Rectangle, Read]] = defaultdict(dict)
        for row, read in side.items():
            grouped[read.where][row] = read
        sides.append(grouped)
    one, other = sides
    found = {}
    for where in dict.fromkeys((*one, *other)):
        rows, others = one.get(where, {}), other.get(where, {})
        if _values(rows) != _values(others):
            found[where] = Difference(cause, where, tuple(rows), tuple(others))
    return found


def _values(side: Side) -> set[str]:
    return {read.value for read in side.values()}
