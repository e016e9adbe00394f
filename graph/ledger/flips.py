"""Flip-flops: slots that came back to an earlier value."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graph.drift import SlotView
from graph.ledger.columns import Code, Flag, Int, ranks
from graph.ledger.histories import SlotHistories
from graph.ledger.listing import Listing
from graph.ledger.selection import asked
from graph.ledger.surveys import Survey
from graph.views import EntityView, Page, Positions


def flip_flops(listing: Listing, survey: Survey, first: int, after: Positions | None) -> Page[SlotView]:
    """Slots of affirmations to which a value came back by `validAt`: most returns first, then most changes, then by the subject's
    name, predicate and qualifier.

    returns = the sum over the slot's propositions of (intervals that begin by `validAt`) - 1. changes = the instants by `validAt` at
    which the set of values changes, after its first start; in a slot of several values at a time those of each value after its own
    first start, added up. An unbounded start is no change. With a filter: slots of which an affirmation that begins by `validAt`
    matches; each is counted whole.
    """
    listed = _Listed(listing, survey)
    start = 0 if after is None else bisect_right(listed.order, _sortable(after), key=lambda place: _sortable(listed.position(place)))
    found: list[int] = []
    for place in listed.order[start:].tolist():
        if listed.is_told(place):
            found.append(place)
        if len(found) > first:
            break
    positions = [listed.position(place) for place in found[:first]]
    directory = listing.describer.directory
    directory.load([position[-1] for position in positions])
    views = []
    for returns, changes, _, predicate, qualifier, key in positions:
        subject = directory.required(key)
        assert isinstance(subject, EntityView)
        views.append(SlotView(subject, predicate, qualifier, changes, returns))
    return Page(tuple(views), tuple(positions), len(found) > first)


def _sortable(position: Sequence[Any]) -> tuple[Any, ...]:
    return (-position[0], -position[1], *position[2:])


@dataclass(frozen=True)
class _Part:
    """Slots of one direction with a return: their numbers in the histories, and which of the rows there match the filter."""

    histories: SlotHistories
    matching: Flag
    slot: Int
    returns: Int
    changes: Int
    predicates: list[str]


class _Listed:
    """The slots to list, as places in `order`."""

    def __init__(self, listing: Listing, survey: Survey) -> None:
        self._listing = listing
        self._columns = survey.columns
        self._at = listing.footing.basis.valid_at
        names = listing.wanted.filter.predicates
        swapped = frozenset() if names is None else asked(survey.vocabulary, names).swapped
        self._parts = [self._part(survey, survey.histories, but=swapped)]
        if swapped:
            self._parts.append(self._part(survey, survey.turned, only=swapped))
        self._part_at = np.concatenate([np.full(len(part.slot), number) for number, part in enumerate(self._parts)])
        self._slot = np.concatenate([part.slot for part in self._parts])
        self._returns = np.concatenate([part.returns for part in self._parts])
        self._changes = np.concatenate([part.changes for part in self._parts])
        self._subject = np.concatenate([part.histories.subject[part.slot] for part in self._parts])
        self._predicates = [name for part in self._parts for name in part.predicates]
        qualifier = np.concatenate([part.histories.qualifier[part.slot] for part in self._parts])
        self._qualifiers = [self._columns.qualifiers.values[number] for number in qualifier.tolist()]
        self._keys = [self._columns.things.values[number] for number in self._subject.tolist()]
        by_name = (ranks(self._keys), ranks(self._qualifiers), ranks(self._predicates), self._columns.name_at[self._subject])
        self.order: Int = np.lexsort([*by_name, -self._changes, -self._returns])

    def _part(self, survey: Survey, side: SlotHistories, *, only: frozenset[str] | None = None, but: frozenset[str] = frozenset()) -> _Part:
        columns, filter = self._columns, self._listing.wanted.filter
        numbers = {name: number for name, number in columns.predicates.of.items() if (only is None or name in only) and name not in but}
        matching = self._listing.matching()[side.row] & (columns.v_from[side.row] <= self._at)
        matching &= np.isin(columns.predicate[side.row], list(numbers.values()))
        subject = side.subject[side.slot]
        for things, keys in ((subject, filter.subjects), (columns.subject[side.row] + columns.object[side.row] - subject, filter.objects)):
            if keys is not None:
                # A row of a symmetric relation may match from one side alone.
                matching &= np.isin(things, [columns.things.of[key] for key in keys if key in columns.things.of])
        returns, changes = side.returns(self._at), side.changes(self._at)
        slot = np.flatnonzero((np.bincount(side.slot[matching], minlength=len(side)) > 0) & (returns > 0))
        values = columns.predicates.values
        names = [survey.vocabulary.predicate(name).inverse or name if side.turned else name for name in values]
        return _Part(side, matching, slot, returns[slot], changes[slot], [names[number] for number in _of(side.predicate, slot)])

    def position(self, place: int) -> tuple[Any, ...]:
        """Returns, changes, and names; at last the subject's key."""
        name = self._columns.name_of(int(self._subject[place]))
        counted = (int(self._returns[place]), int(self._changes[place]))
        return (*counted, name, self._predicates[place], self._qualifiers[place], self._keys[place])

    def is_told(self, place: int) -> bool:
        """Whether the evidence of the slot matches the filter."""
        if not self._listing.asks_evidence:
            return True
        part = self._parts[self._part_at[place]]
        rows = part.histories.row[part.matching & (part.histories.slot == self._slot[place])]
        transaction = self._listing.footing.basis.transaction
        return bool(self._listing.told(self._columns.rectangles(self._listing.describer, rows.tolist(), transaction)))


def _of(numbers: Code, slots: Int) -> list[int]:
    found: list[int] = numbers[slots].tolist()
    return found
