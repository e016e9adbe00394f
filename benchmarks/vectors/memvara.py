"""Memvara under the vectors: a script that its own environment runs (`benchmarks.vectors.process`). No LLM, no embeddings, in memory.

What is stated goes through `remember` with its own times; a correction names the claim that it replaces and retires it; an end and a
denial are what it calls a retraction, which ends the value; withdrawing an episode deletes what it alone says.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from typing import Any

from benchmarks.vectors.scripting import serve
from benchmarks.vectors.worlds import (
    EVER,
    FOR_EVER,
    Basis,
    Boundary,
    CannotAsk,
    Change,
    Claim,
    Difference,
    Operation,
    Predicate,
    Rectangle,
    Refusal,
    Slot,
    Span,
    Value,
    refused,
)

# The files that it writes need a newer SQLite than many a Python brings.
__import__("pysqlite3")
sys.modules["sqlite3"] = sys.modules["pysqlite3"]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(at: int) -> datetime:
    """Raises CannotAsk for what a datetime does not hold."""
    try:
        return EPOCH + timedelta(microseconds=at)
    except OverflowError:
        raise CannotAsk("a time without end, or beyond the years 1 to 9999") from None


def microseconds(at: datetime) -> int:
    """The other way."""
    return (at - EPOCH) // timedelta(microseconds=1)


class Memvara:
    """The adapter."""

    def __init__(self) -> None:
        self.title = f"Memvara ({version('memvara')})"

    def world(self, predicates: Mapping[str, Predicate]) -> MemvaraWorld:
        """A store in memory."""
        return MemvaraWorld(predicates)

    def close(self) -> None:
        """Nothing was started."""


class MemvaraWorld:
    """A store, with the time after each operation: its transaction time is the clock's."""

    def __init__(self, predicates: Mapping[str, Predicate]) -> None:
        import memvara

        self._predicates = predicates
        registry = memvara.PredicateRegistry(())
        for each in predicates.values():
            registry.register(self._spec(each.name, each.one))
        self._registry = registry
        self._memory: Any = memvara.Memvara(":memory:", user="vectors", llm=memvara.NullLLM(), registry=registry, embeddings=False)
        self._after = [datetime.now(UTC)]
        self._slots: dict[Slot, None] = {}

    @staticmethod
    def _spec(name: str, one: bool) -> Any:
        from memvara import Cardinality, PredicateSpec

        return PredicateSpec(name, Cardinality.ONE if one else Cardinality.MANY)

    def _name(self, slot: Slot) -> str:
        """It has no qualifiers: each makes a predicate of its own."""
        if not slot.qualifier:
            return slot.predicate
        name = f"{slot.predicate}_{slot.qualifier}"
        self._registry.register(self._spec(name, self._predicates[slot.predicate].one))
        return name

    # -- writing

    def apply(self, operation: Operation) -> Sequence[Refusal]:
        """Its clock moves on between two operations, so that each can be asked for."""
        refusals: list[Refusal] = []
        if operation.kind == "assert":
            refusals = self._assert(operation)
        else:
            self._withdraw(operation)
        time.sleep(0.002)
        self._after.append(datetime.now(UTC))
        time.sleep(0.002)
        return refusals

    def _assert(self, operation: Operation) -> list[Refusal]:
        if operation.rank:
            raise CannotAsk("a source that counts more than another")
        refusals = []
        for claim in operation.claims:
            reason = refused(claim)
            if reason is not None:
                refusals.append(Refusal(operation.episode, reason))
            if reason is None or operation.keep_undated:
                self._state(claim, operation)
        return refusals

    def _state(self, claim: Claim, operation: Operation) -> None:
        if claim.additive:
            raise CannotAsk("a value beside another in a slot of one value")
        if self._predicates[claim.predicate].resumes:
            raise CannotAsk("a predicate whose values resume")
        slot = Slot(claim.subject, claim.predicate, claim.qualifier)
        self._slots[slot] = None
        start = moment(operation.said_at if claim.start is None else claim.start)
        end = None if claim.end in (None, FOR_EVER) else moment(claim.end or 0)
        if claim.kind == "correction":
            self._correct(slot, claim, operation)
        elif claim.kind == "end" or _over(claim, operation):
            if claim.start is not None:
                self._remember(slot, claim.object, operation, valid_from=start, valid_to=end or moment(operation.said_at))
            else:
                self._remember(slot, claim.object, operation, valid_from=end or moment(operation.said_at), polarity=-1)
        elif claim.affirmed:
            self._remember(slot, claim.object, operation, valid_from=start, valid_to=end)
        else:
            self._remember(slot, claim.object, operation, valid_from=start, polarity=-1)

    def _correct(self, slot: Slot, claim: Claim, operation: Operation) -> None:
        """The newest claim of the value that was wrong, with what the correction states in place of what it said."""
        wrong = claim.object if claim.replaces is None else claim.replaces
        found = [each for each in self._rows(slot) if each.object == wrong and each.polarity > 0 and each.invalidated_at is None]
        if not found:
            self._remember(slot, claim.object, operation, valid_from=moment(operation.said_at))
            return
        old = max(found, key=lambda each: each.recorded_at)
        start = old.valid_from if claim.start is None else moment(claim.start)
        end = old.valid_to if claim.end is None else moment(claim.end)
        self._remember(slot, claim.object, operation, valid_from=start, valid_to=end, replaces=old.id, close="retired")

    def _remember(self, slot: Slot, object: str, operation: Operation, **how: Any) -> None:
        from memvara import Episode
        from memvara.types import Scope

        said = moment(operation.said_at)
        source = Episode(content=operation.episode, scope=Scope(user="vectors"), ts=said, id=operation.episode)
        self._memory.remember(slot.subject, self._name(slot), object, sources=[source], **how)

    def _withdraw(self, operation: Operation) -> None:
        for claim in self._memory.produced(operation.episode):
            if operation.kind == "erase":
                self._memory.erase(claim.id, sources=True)
            elif set(claim.sources) == {operation.episode}:
                self._memory.delete(claim.id)

    # -- asking

    def _rows(self, slot: Slot) -> list[Any]:
        found: list[Any] = self._memory.history(slot.subject, self._name(slot))
        return found

    def _known(self, basis: Basis) -> datetime:
        if basis.known is not None:
            raise CannotAsk("by said time: its second clock is when it was told")
        return self._after[-1 if basis.operations is None else basis.operations]

    def _holding(self, slot: Slot, at: datetime, known: datetime) -> list[Any]:
        ids = {row.id for row in self._rows(slot)}
        return [row for row in self._memory.get_all(valid_at=at, known_at=known) if row.id in ids and row.polarity > 0]

    def as_of(self, slot: Slot, basis: Basis) -> Sequence[Value]:
        """`get_all` on both clocks, with the sources of each claim."""
        assert basis.valid_at is not None
        rows = self._holding(slot, moment(basis.valid_at), self._known(basis))
        return [Value(row.object, episodes=tuple(sorted(set(row.sources)))) for row in rows]

    def ask(self, slot: Slot, object: str, basis: Basis) -> str:
        """No is what another value rules out, or a retraction that has begun with nothing said since."""
        holding = [value.object for value in self.as_of(slot, basis)]
        if object in holding:
            return "yes"
        at = moment(basis.valid_at or 0)
        ended = any(row.polarity < 0 and row.object == object and row.valid_from <= at for row in self._rows(slot))
        return "no" if ended or (holding and self._predicates[slot.predicate].one) else "unknown"

    def timeline(self, slot: Slot, basis: Basis) -> Sequence[Span]:
        """What it answers between the bounds of all that it has."""
        known = self._known(basis)
        bounds = {bound for row in self._rows(slot) for bound in (row.valid_from, row.valid_to) if bound is not None}
        points: list[datetime | None] = [*sorted(bounds), None]
        spans = []
        for start, end in itertools.pairwise(points):
            assert start is not None
            objects = tuple(row.object for row in self._holding(slot, start, known))
            spans.append(Span(microseconds(start), FOR_EVER if end is None else microseconds(end), objects))
        return spans

    def rectangles(self, slot: Slot) -> Sequence[Rectangle]:
        """Cannot."""
        raise CannotAsk("all that was ever believed: the end of a claim is changed in its place")

    def diff(self, before: Basis, after: Basis) -> Sequence[Difference]:
        """Two questions for each slot, compared."""
        found = []
        for slot in self._slots:
            old, new = ({value.object for value in self.as_of(slot, basis)} for basis in (before, after))
            if old != new and self._predicates[slot.predicate].one:
                found.append(Difference(slot.subject, slot.predicate, tuple(old), tuple(new)))
            elif old != new:
                found += [Difference(slot.subject, slot.predicate, (value,), ()) for value in old - new]
                found += [Difference(slot.subject, slot.predicate, (), (value,)) for value in new - old]
        return found

    def why(self, slot: Slot) -> Sequence[Boundary]:
        """Where its answers change, with the sources of the claim that begins there."""
        found, known = [], self._known(Basis())
        before: tuple[str, ...] = ()
        for span in self.timeline(slot, Basis()):
            rows = self._holding(slot, moment(span.start), known)
            sources = tuple(source for row in rows if microseconds(row.valid_from) == span.start for source in row.sources)
            if set(before) != set(span.objects):
                found.append(Boundary(span.start, before, span.objects, sources))
            before = span.objects
        return found

    def returns(self, slot: Slot) -> int:
        """Values that are there again after others."""
        values = [span.objects for span in self.timeline(slot, Basis())]
        return sum(value in values[:place] and value != values[place - 1] for place, value in enumerate(values) if place)

    def feed(self, after: int) -> Sequence[Change]:
        """Cannot."""
        raise CannotAsk("a feed of changes: `since` compares a time with now")

    def between(self, slot: Slot, start: int, end: int) -> Sequence[Span]:
        """Its spans that touch the window."""
        spans = self.timeline(slot, Basis())
        return [span for span in spans if span.objects and max(span.start, EVER) < end and start < span.end]

    def last_attested(self, slot: Slot, object: str, basis: Basis) -> int:
        """When the newest source of a value was said."""
        rows = [row for row in self._holding(slot, moment(basis.valid_at or 0), self._known(basis)) if row.object == object]
        said = [source.ts for row in rows for source in self._memory.why(row.id).episodes]
        if not said:
            raise CannotAsk("when something was last attested: it has no source")
        return microseconds(max(said))

    def close(self) -> None:
        """Forget it."""
        self._memory.close()


def _over(claim: Claim, operation: Operation) -> bool:
    """Whether a state is told as over, without a start."""
    return claim.kind == "state" and claim.start is None and claim.end is not None and claim.end <= operation.said_at


if __name__ == "__main__":
    serve(Memvara())
