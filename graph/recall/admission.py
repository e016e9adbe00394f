"""What counts on a basis: which propositions hold, and so which documents are found and weighed against each other."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from graph.ledger.schema import OPEN
from graph.recall.columns import Bools, Floats, Ints
from graph.recall.reading import Reading
from ontology.instant import Instant

KEPT = 4
"""How many admissions are kept of a namespace; one has a byte for each row."""


class Point(NamedTuple):
    """Where a question stands: at `start` (or in `[start, end)`, which is longer than an instant), known by `transaction`, said
    by `said_until`. `past`: also what no longer holds.
    """

    transaction: int
    start: Instant
    end: Instant
    said_until: Instant | None = None
    past: bool = False

    @property
    def instant(self) -> bool:
        """Whether it is one instant."""
        return self.end == self.start + 1


@dataclass(slots=True)
class Admission:
    """`holds[2 * base + polarity]`, and the rows that count: documents of claims, of episodes, and rectangles.

    `units` tells what each claim's document speaks for: `2 * base + polarity`. Those of `twins` speak as well for the other polarity,
    which counts too: what ends, of a stretch of time that has both before and after.
    """

    reading: Reading
    holds: Bools
    claims: Bools
    units: Ints
    twins: Ints
    episodes: Bools
    rectangles: Bools
    _weights: Floats | None = field(default=None, repr=False)

    def weights(self) -> Floats:
        """What an edge of each predicate weighs, the rarer the more: by the rectangles that count. The last one is that of none."""
        if self._weights is None:
            # Numbers of rows, which numpy takes several times as fast as a mask.
            predicates = self.reading.rectangles["predicate"][np.flatnonzero(self.rectangles)]
            counted = np.bincount(predicates, minlength=len(self.reading.indexed.predicates))
            self._weights = np.concatenate((1 / np.log2(2 + counted), [1.0]))
        return self._weights


def admit(reading: Reading, point: Point) -> Admission:
    """What counts at a point."""
    rows, transaction = reading.rectangles, point.transaction
    known = rows["tx_from"] <= transaction
    believed = known & (rows["tx_to"] > transaction)
    inside = (rows["v_from"] < point.end) & (rows["v_to"] > point.start)
    if point.past:
        begun = (rows["v_from"] < point.end) | (rows["tx_to"] <= transaction) if point.instant else inside
        rectangles = known & begun & ~_outlived(rows, known, transaction)
    else:
        rectangles = believed & inside
    if reading.gone is not None:
        rectangles &= ~reading.gone
    holds = np.zeros(reading.places, np.bool_)
    holds[reading.rectangle_units[np.flatnonzero(rectangles)]] = True
    table = reading.state.claims
    units = reading.claim_units.copy()
    told = holds[units]
    # What ends is told of twice: that it was so, and that it no longer is.
    ends = reading.ends[~told[reading.ends]]
    units[ends] ^= 1
    told[ends] = holds[units[ends]]
    claims = told & _visible(table, point)
    twins = reading.ends[claims[reading.ends] & holds[units[reading.ends] ^ 1]]
    episodes = _visible(reading.state.episodes, point._replace(past=False))
    return Admission(reading, holds, claims, units, twins, episodes, rectangles)


def _outlived(rows: Any, known: Bools, transaction: int) -> Bools:
    """Rectangles no longer believed that are not the last known interval of their statement: one believed longer overlaps them."""
    places = np.flatnonzero(known)
    units = rows["base"][places] * 2 + rows["polarity"][places]
    places = places[np.argsort(units, kind="stable")]
    units = np.sort(units)
    v_from, v_to = rows["v_from"][places], rows["v_to"][places]
    until = np.minimum(rows["tx_to"][places], transaction + 1)
    found = np.zeros(len(known), np.bool_)
    first = np.arange(len(places) - 1)
    apart = 1
    while len(first := first[first + apart < len(places)]) and len(first := first[units[first] == units[first + apart]]):
        second = first + apart
        overlap = (v_from[first] < v_to[second]) & (v_from[second] < v_to[first])
        for one, other in ((first, second), (second, first)):
            found[places[one[overlap & (until[one] < until[other])]]] = True
        apart += 1
    return found


def _visible(table: Any, point: Point) -> Bools:
    visible: Bools = table["tx_from"] <= point.transaction
    if not point.past:
        visible &= table["tx_to"] > point.transaction
    if point.said_until is not None:
        visible &= table["said"] <= point.said_until
    return visible


@dataclass(slots=True)
class _Kept:
    """An admission, the instant that it was made for, and around it those at which nothing begins or ends, once that was looked up."""

    admission: Admission
    point: Point
    span: tuple[Instant, Instant] | None = None

    def serves(self, reading: Reading, point: Point) -> bool:
        """Whether it is what counts at a point of the same name."""
        if self.admission.reading is not reading:
            return False
        if self.point.start == point.start:
            return True
        # Only when it is asked for: it costs as much as the admission, and on bases that are asked once serves nobody.
        if self.span is None:
            self.span = _unchanged(reading, self.point)
        return self.span[0] <= point.start < self.span[1]


class Admissions:
    """The last admissions of a namespace. One serves every instant at which the same rectangles contain it. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: OrderedDict[tuple[Any, ...], _Kept] = OrderedDict()

    def at(self, reading: Reading, point: Point) -> Admission:
        """What counts at a point."""
        name = (id(reading.state), id(reading), point._replace(start=0, end=0) if point.instant else point)
        with self._lock:
            kept = self._kept.get(name)
        if kept is None or not kept.serves(reading, point):
            kept = _Kept(admit(reading, point), point)
        with self._lock:
            self._kept[name] = kept
            self._kept.move_to_end(name)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return kept.admission


_AT_A_TIME = 65_536


def _unchanged(reading: Reading, point: Point) -> tuple[Instant, Instant]:
    """Around an instant those `[from, to)` at which nothing begins or ends."""
    first, last = -OPEN - 1, OPEN
    for name in ("v_from", "v_to"):
        whole = reading.rectangles[name]
        for start in range(0, len(whole), _AT_A_TIME):
            at = whole[start : start + _AT_A_TIME]
            before = at <= point.start
            first = max(first, int(np.where(before, at, first).max()))
            last = min(last, int(np.where(before, last, at).min()))
    return first, last
