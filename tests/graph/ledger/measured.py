"""What is contested, stale, recorded late and unsteady, counted slowly from what a reader sees: statements and timelines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from graph.belief.traits import traits_of
from graph.belief.weighing import Conflict
from graph.drift import SlotView, VolatilityView
from graph.views import EVERYTHING, EntityRef, EntityView, StatementFilter, StatementView
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant
from ontology.vocabulary import Vocabulary
from tests.graph.ledger.worlds import ALWAYS, pages

Interval = tuple[Instant, Instant]
SlotName = tuple[str, str, str]
"""Key of the subject, predicate, qualifier."""


def place(view: StatementView) -> tuple[Any, ...]:
    """Which statement it is, on a basis."""
    return view.key, view.polarity, view.v_from, view.v_to, view.subject.key, view.object.key


class Measured:
    """A snapshot, read slowly."""

    def __init__(self, snapshot: Any, vocabulary: Vocabulary) -> None:
        self.snapshot, self.at, self._vocabulary = snapshot, snapshot.basis.valid_at, vocabulary
        self.ever: list[StatementView] = pages(lambda after: snapshot.statements(ALWAYS, first=100, after=after))

    def holding(self, filter: StatementFilter = EVERYTHING) -> list[StatementView]:
        """What holds, in the order of statements."""
        found: list[StatementView] = pages(lambda after: self.snapshot.statements(filter, first=100, after=after))
        return found

    def contested(self, filter: StatementFilter = EVERYTHING) -> list[StatementView]:
        return [view for view in self.holding(filter) if view.conflict is not Conflict.NONE]

    def stale(self, filter: StatementFilter = EVERYTHING) -> list[StatementView]:
        found = []
        for view in self.holding(filter):
            known, median = self._vocabulary.predicate(view.predicate), self.median(view.predicate)
            allowed = None if median is None else 3 * median
            if known.stale_after is not None:
                allowed = Fraction(known.stale_after) * 1_000_000
            if view.v_to == UNBOUNDED_FUTURE and allowed is not None and self.at - view.last_attested_at > allowed:
                found.append(view)
        return sorted(found, key=lambda view: view.last_attested_at)

    def late(self, lag: int, filter: StatementFilter = EVERYTHING) -> list[StatementView]:
        found = [view for view in self.holding(filter) if view.v_from != UNBOUNDED_PAST and view.tx_from_at - view.v_from > lag * 1_000_000]
        return sorted(found, key=lambda view: view.v_from - view.tx_from_at)

    def median(self, predicate: str) -> Fraction | None:
        """Of the lengths of closed affirmed intervals in microseconds."""
        affirmed = (view for view in self.ever if view.polarity and view.predicate == predicate)
        lengths = sorted(view.v_to - view.v_from for view in affirmed if view.v_from != UNBOUNDED_PAST and view.v_to <= self.at)
        count = len(lengths)
        return Fraction(lengths[(count - 1) // 2] + lengths[count // 2], 2) if count else None

    def slots(self) -> dict[SlotName, dict[str, set[Interval]]]:
        """The affirmations of each slot by proposition, as timelines show them."""
        named: dict[SlotName, None] = {}
        for view in self.ever:
            named[view.subject.key, view.predicate, view.qualifier] = None
            if self._vocabulary.predicate(view.predicate).symmetric and isinstance(view.object, EntityView):
                named[view.object.key, view.predicate, view.qualifier] = None
        found: dict[SlotName, dict[str, set[Interval]]] = {}
        for subject, predicate, qualifier in named:
            line = self.snapshot.timeline(EntityRef(key=subject), predicate, qualifier)
            values: dict[str, set[Interval]] = defaultdict(set)
            for view in (view for segment in line.segments for view in segment.statements):
                if view.polarity:
                    values[view.key].add((view.v_from, view.v_to))
            found[subject, predicate, qualifier] = values
        return found

    def returns(self, values: dict[str, set[Interval]]) -> int:
        begun = [sum(start <= self.at for start, _ in spans) for spans in values.values()]
        return sum(count - 1 for count in begun if count)

    def changes(self, predicate: str, values: dict[str, set[Interval]]) -> int:
        if traits_of(self._vocabulary.predicate(predicate)).one_valued:
            return self._changes({span for spans in values.values() for span in spans})
        return sum(self._changes(spans) for spans in values.values())

    def _changes(self, spans: set[Interval]) -> int:
        instants = {at for span in spans for at in span if at != UNBOUNDED_PAST and at <= self.at}
        first = min((start for start, _ in spans), default=UNBOUNDED_PAST)
        return len(instants) - (first in instants)

    def flip_flops(self) -> list[tuple[str, str, str, int, int]]:
        """In no order of their own where counts and names are equal."""
        found = []
        for (subject, predicate, qualifier), values in self.slots().items():
            if returns := self.returns(values):
                found.append((subject, predicate, qualifier, self.changes(predicate, values), returns))
        return found

    def volatility(self) -> list[VolatilityView]:
        slots: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for (_, predicate, _), values in self.slots().items():
            spans = {span for each in values.values() for span in each}
            if any(start <= self.at for start, _ in spans):
                bounded = [at for span in spans for at in span if at != UNBOUNDED_PAST and at <= self.at]
                slots[predicate].append((self.changes(predicate, values), self.at - min(bounded) if bounded else 0))
        found = []
        for predicate, counted in slots.items():
            changes, years = sum(each for each, _ in counted), sum(each for _, each in counted) / (365.25 * 86_400_000_000)
            median = self.median(predicate)
            seconds = None if median is None else float(median / 1_000_000)
            found.append(VolatilityView(predicate, len(counted), changes, (changes + 1) / (years + 4), seconds))
        return sorted(found, key=lambda view: (-view.per_slot_year, view.predicate))


def slot_name(view: SlotView) -> tuple[str, str, str, int, int]:
    return view.subject.key, view.predicate, view.qualifier, view.changes, view.returns


def places(views: Sequence[StatementView]) -> list[tuple[Any, ...]]:
    """Which statements they are, with what is measured of them."""
    return [(*place(view), view.conflict, view.last_attested_at) for view in views]
