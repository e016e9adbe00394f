"""How the slots of a namespace have changed: counts of what happened up to any instant, from columns that are sorted once."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph.belief.identity import IDENTITY
from graph.belief.traits import traits_of
from graph.ledger.columns import Code, Columns, Flag, Int
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant
from ontology.vocabulary import Vocabulary


class SlotHistories:
    """The affirmations of a namespace by slot; slots are numbered in no order.

    Of each slot `subject`, `predicate` and `qualifier` are numbers in the columns; `turned`: the slots are those of the objects, of
    the inverse of `predicate`. `row` are rows of the columns, `slot` the slot that each stands in: of a symmetric relation both.
    """

    def __init__(self, columns: Columns, vocabulary: Vocabulary, *, turned: bool = False) -> None:
        """`turned`: the slots of the other direction of inverse pairs, instead of those in which affirmations are stored."""
        self.columns, self.turned = columns, turned
        self.row, subject = _from_other_side(columns, vocabulary) if turned else _as_stored(columns, vocabulary)
        v_from, v_to = columns.v_from[self.row], columns.v_to[self.row]
        predicate, qualifier = columns.predicate[self.row], columns.qualifier[self.row]
        first, self.slot = _numbered(subject, predicate, qualifier)
        self.subject, self.predicate, self.qualifier = subject[first], predicate[first], qualifier[first]
        self._starts = v_from
        first, proposition = _numbered(self.slot, _values(columns, self.row, subject))
        self._proposition_slot = self.slot[first]
        self._proposition_start = _least(proposition, v_from, len(first))
        # What changes together: the values of a one-valued slot, else each value by itself.
        single = np.isin(predicate, _one_valued(columns, vocabulary, turned=turned))
        first, unit = _numbered(single, np.where(single, self.slot, proposition))
        self._unit_slot = self.slot[first]
        self._unit_start = _least(unit, v_from, len(first))
        # Each instant at which a unit changes, once.
        bounded, ended = v_from != UNBOUNDED_PAST, v_to != UNBOUNDED_FUTURE
        units, instants = np.concatenate([unit[bounded], unit[ended]]), np.concatenate([v_from[bounded], v_to[ended]])
        order = np.lexsort([instants, units])
        units, instants = units[order], instants[order]
        fresh = np.ones(len(units), bool)
        fresh[1:] = (units[1:] != units[:-1]) | (instants[1:] != instants[:-1])
        self._change_slot, self._change_at = self._unit_slot[units[fresh]], instants[fresh]
        self._observed_from = _least(self._change_slot, self._change_at, len(self))

    def __len__(self) -> int:
        return len(self.subject)

    def begun(self, at: Instant) -> Flag:
        """The slots with an affirmation that begins by an instant."""
        found: Flag = self._tally(self.slot[self._starts <= at]) > 0
        return found

    def changes(self, at: Instant) -> Int:
        """Of each slot the instants up to `at` at which its values change after its first start: of one with several values at a
        time those of each value after its own first start. An unbounded start is no instant.
        """
        first = (self._unit_start != UNBOUNDED_PAST) & (self._unit_start <= at)
        return self._tally(self._change_slot[self._change_at <= at]) - self._tally(self._unit_slot[first])

    def returns(self, at: Instant) -> Int:
        """Of each slot how many intervals begin by an instant, the first of each value aside."""
        begun = self._tally(self.slot[self._starts <= at])
        return begun - self._tally(self._proposition_slot[self._proposition_start <= at])

    def observed(self, at: Instant) -> dict[int, int]:
        """Microseconds from the first bounded instant of each slot to an instant, summed by predicate."""
        seen = self._observed_from <= at
        since = apart(self._observed_from[seen], at)
        predicate = self.predicate[seen]
        # In two halves: the sum may need more than 64 bits, and sums of floats are exact as long as they are whole and small.
        high, low = (np.bincount(predicate, weights=half.astype(float)) for half in (since >> np.uint64(32), since & np.uint64(2**32 - 1)))
        return {number: (int(high[number]) << 32) + int(low[number]) for number in np.unique(predicate).tolist()}

    def _tally(self, slots: Int) -> Int:
        return np.bincount(slots, minlength=len(self))


class Lengths:
    """How long the closed intervals of each predicate were: affirmations with both bounds."""

    def __init__(self, columns: Columns) -> None:
        closed: Int = np.flatnonzero(columns.positive & (columns.v_from != UNBOUNDED_PAST) & (columns.v_to != UNBOUNDED_FUTURE))
        length = apart(columns.v_from[closed], columns.v_to[closed])
        order = np.lexsort((length, columns.predicate[closed]))
        self._length, self._end = length[order], columns.v_to[closed][order]
        self._predicate = columns.predicate[closed][order]

    def medians(self, at: Instant) -> dict[int, Fraction]:
        """The median in microseconds of those of each predicate that have ended by an instant: of an even number the mean of the two
        in the middle. A predicate without any is not there.
        """
        ended = np.flatnonzero(self._end <= at)
        found = {}
        predicates, starts, counts = np.unique(self._predicate[ended], return_index=True, return_counts=True)
        for predicate, start, count in zip(predicates.tolist(), starts.tolist(), counts.tolist(), strict=True):
            one, other = (int(self._length[ended[start + place]]) for place in ((count - 1) // 2, count // 2))
            found[predicate] = Fraction(one + other, 2)
        return found


def _as_stored(columns: Columns, vocabulary: Vocabulary) -> tuple[Int, Code]:
    """Rows of affirmations and the subjects of their slots."""
    affirmed = np.flatnonzero(columns.positive)
    symmetric = [number for name, number in columns.predicates.of.items() if vocabulary.predicate(name).symmetric]
    one, other = columns.subject[affirmed], columns.object[affirmed]
    paired = np.isin(columns.predicate[affirmed], symmetric) & (one != other)
    return np.concatenate([affirmed, affirmed[paired]]), np.concatenate([one, other[paired]])


def _from_other_side(columns: Columns, vocabulary: Vocabulary) -> tuple[Int, Code]:
    paired = [number for name, number in columns.predicates.of.items() if vocabulary.predicate(name).inverse is not None]
    affirmed = np.flatnonzero(columns.positive & np.isin(columns.predicate, paired))
    return affirmed, columns.object[affirmed]


def _one_valued(columns: Columns, vocabulary: Vocabulary, *, turned: bool) -> list[int]:
    """The predicates in whose slots, of that direction, values rule each other out."""
    found = []
    for name, number in columns.predicates.of.items():
        known = vocabulary.predicate(name)
        if traits_of(vocabulary.predicate(known.inverse or name) if turned else known).one_valued:
            found.append(number)
    return found


def _values(columns: Columns, rows: Int, subject: Code) -> Int:
    """A number for the value that each row gives its slot."""
    values: Int = columns.subject[rows].astype(np.int64) + columns.object[rows] - subject
    names = np.flatnonzero(columns.predicate[rows] == columns.predicates.of.get(IDENTITY, -1))
    if len(names):
        # What is said of who is who stands between names; of one entity there may be many.
        values[names] = len(columns.things.of) + np.unique(columns.base[rows[names]], return_inverse=True)[1]
    return values


def _numbered(*parts: NDArray[Any]) -> tuple[Int, Int]:
    """Numbers for different combinations: of each number a place where it stands, and the number at each place."""
    combined = np.zeros(len(parts[0]), np.int64)
    for part in parts:
        combined = combined * (int(part.max(initial=0)) + 1) + part
    _, first, number = np.unique(combined, return_index=True, return_inverse=True)
    return first, number


def _least(numbers: Int, instants: Int, count: int) -> Int:
    """The least instant of each number; the unbounded future where it has none."""
    found = np.full(count, UNBOUNDED_FUTURE, np.int64)
    np.minimum.at(found, numbers, instants)
    return found


def apart(earlier: Int, later: Int | Instant) -> NDArray[np.uint64]:
    """Microseconds between instants, which may be more than int64 holds."""
    end = later.astype(np.uint64) if isinstance(later, np.ndarray) else np.uint64(later % 2**64)
    return end - earlier.astype(np.uint64)
