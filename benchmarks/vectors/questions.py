"""The questions of the vectors. Each puts itself to a world and says what is wrong with the answer, or None."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from benchmarks.vectors.worlds import (
    EVER,
    FOR_EVER,
    Basis,
    Boundary,
    CannotAsk,
    Change,
    Operation,
    Rectangle,
    Refusal,
    Slot,
    Span,
    World,
)

DAY = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Told:
    """A world after some operations, with what was refused."""

    world: World
    operations: Sequence[Operation]
    refusals: Sequence[Refusal]


class Question(Protocol):
    """One question with its right answer."""

    @property
    def needs_order(self) -> bool:
        """Whether it speaks of the operations by their number, so that it has no meaning in another order."""
        ...

    def problem(self, told: Told) -> str | None:
        """What is wrong with the answer. Raises CannotAsk."""
        ...


def _wrong(question: object, got: object) -> str:
    return f"{question}: got {got}"


@dataclass(frozen=True, slots=True)
class AsOf:
    """Exactly these values hold; of what is told about each only the given is compared."""

    slot: Slot
    basis: Basis
    wanted: tuple[tuple[str, Mapping[str, Any]], ...]

    @property
    def needs_order(self) -> bool:
        return self.basis.operations is not None

    def problem(self, told: Told) -> str | None:
        got = told.world.as_of(self.slot, self.basis)
        found, wanted = {value.object: value for value in got}, dict(self.wanted)
        if len(got) != len(found) or found.keys() != wanted.keys():
            return _wrong(self, got)
        parts = [(name, getattr(found[object], name), value) for object, told in wanted.items() for name, value in told.items()]
        if any(part is not None and part != value for _, part, value in parts):
            return _wrong(self, got)
        untold = sorted({name for name, part, _ in parts if part is None})
        if untold:
            raise CannotAsk(f"of a value: {', '.join(untold)}")
        return None


@dataclass(frozen=True, slots=True)
class Ask:
    """yes, no or unknown."""

    slot: Slot
    object: str
    basis: Basis
    wanted: str

    @property
    def needs_order(self) -> bool:
        return self.basis.operations is not None

    def problem(self, told: Told) -> str | None:
        got = told.world.ask(self.slot, self.object, self.basis)
        return None if got == self.wanted else _wrong(self, got)


def merged(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Spans in order of time, with values sorted and neighbours that tell the same made one."""
    found: list[Span] = []
    for span in sorted(spans, key=lambda each: each.start):
        objects = tuple(sorted(span.objects))
        if found and found[-1].end == span.start and found[-1].objects == objects:
            found[-1] = Span(found[-1].start, span.end, objects)
        elif objects:
            found.append(Span(span.start, span.end, objects))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Timeline:
    """A slot over all valid time."""

    slot: Slot
    basis: Basis
    wanted: tuple[Span, ...]

    @property
    def needs_order(self) -> bool:
        return self.basis.operations is not None

    def problem(self, told: Told) -> str | None:
        got = merged(told.world.timeline(self.slot, self.basis))
        return None if got == merged(self.wanted) else _wrong(self, got)


@dataclass(frozen=True, slots=True)
class Rectangles:
    """All that was ever believed."""

    slot: Slot
    wanted: tuple[Rectangle, ...]
    needs_order = True

    def problem(self, told: Told) -> str | None:
        got = told.world.rectangles(self.slot)
        return None if sorted(map(str, got)) == sorted(map(str, self.wanted)) else _wrong(self, got)


@dataclass(frozen=True, slots=True)
class Refused:
    """What was refused, and why."""

    wanted: tuple[Refusal, ...]
    needs_order = False

    def problem(self, told: Told) -> str | None:
        return None if sorted(map(str, told.refusals)) == sorted(map(str, self.wanted)) else _wrong(self, told.refusals)


@dataclass(frozen=True, slots=True)
class Quiet:
    """How many rectangles an operation opened or closed."""

    operation: int
    wanted: int
    needs_order = True

    def problem(self, told: Told) -> str | None:
        got = [change for change in told.world.feed(self.operation - 1) if change.operation == self.operation]
        return None if len(got) == self.wanted else _wrong(self, got)


@dataclass(frozen=True, slots=True)
class Diff:
    """Rows of subject, predicate, the value before and after; None: nothing."""

    before: Basis
    after: Basis
    wanted: tuple[tuple[str, str, str | None, str | None], ...]

    @property
    def needs_order(self) -> bool:
        return self.before.operations is not None or self.after.operations is not None

    def problem(self, told: Told) -> str | None:
        got = told.world.diff(self.before, self.after)
        rows = sorted((each.subject, each.predicate, tuple(sorted(each.before)), tuple(sorted(each.after))) for each in got)
        wanted = sorted((s, p, () if a is None else (a,), () if b is None else (b,)) for s, p, a, b in self.wanted)
        return None if rows == wanted else _wrong(self, got)


@dataclass(frozen=True, slots=True)
class Why:
    """The boundaries of a slot, in order of time."""

    slot: Slot
    wanted: tuple[Boundary, ...]
    needs_order = False

    def problem(self, told: Told) -> str | None:
        got = told.world.why(self.slot)
        rows = [Boundary(each.at, *(tuple(sorted(part)) for part in (each.before, each.after, set(each.episodes)))) for each in got]
        return None if tuple(rows) == self.wanted else _wrong(self, got)


@dataclass(frozen=True, slots=True)
class Returns:
    """How often a value came back."""

    slot: Slot
    wanted: int
    needs_order = False

    def problem(self, told: Told) -> str | None:
        got = told.world.returns(self.slot)
        return None if got == self.wanted else _wrong(self, got)


def _row(change: Change) -> tuple[int, bool, str]:
    """Within one operation what is closed comes first; among the closed and among the opened the order is free."""
    return change.operation, change.opened, str(change)


@dataclass(frozen=True, slots=True)
class Feed:
    """The changes after the first so many operations."""

    after: int
    wanted: tuple[Change, ...]
    needs_order = True

    def problem(self, told: Told) -> str | None:
        got = list(told.world.feed(self.after))
        in_order = [(change.operation, change.opened) for change in got]
        good = in_order == sorted(in_order) and sorted(got, key=_row) == sorted(self.wanted, key=_row)
        return None if good else _wrong(self, got)


@dataclass(frozen=True, slots=True)
class Replay:
    """Carrying out the feed from its beginning gives what the world says as of each operation, at every boundary and just before it."""

    needs_order = False

    def problem(self, told: Told) -> str | None:
        changes = told.world.feed(0)
        slots = {Slot(change.subject, change.predicate, change.qualifier) for change in changes}
        stated = {Slot(c.subject, c.predicate, c.qualifier) for operation in told.operations for c in operation.claims}
        bounds = {bound for change in changes for bound in (change.start, change.end)} - {EVER, FOR_EVER}
        held: set[tuple[Slot, str, int, int]] = set()
        for number in range(1, len(told.operations) + 1):
            for change in (each for each in changes if each.operation == number):
                row = Slot(change.subject, change.predicate, change.qualifier), change.object, change.start, change.end
                if change.opened == (row in held):
                    return _wrong(self, f"{change}: opened twice, or closed and not open")
                held ^= {row}
            for slot in sorted(slots | stated, key=str):
                for at in sorted({bound + beside for bound in bounds for beside in (-1, 0)}):
                    basis = Basis(at, number)
                    replayed = sorted(object for where, object, start, end in held if where == slot and start <= at < end)
                    got = sorted(value.object for value in told.world.as_of(slot, basis))
                    if replayed != got:
                        return _wrong(self, f"{slot} {basis}: replayed {replayed}, asked {got}")
        return None


@dataclass(frozen=True, slots=True)
class Between:
    """Values that hold at any instant of a window, with their bounds inside it."""

    slot: Slot
    start: int
    end: int
    wanted: tuple[Span, ...]
    needs_order = False

    def problem(self, told: Told) -> str | None:
        got = told.world.between(self.slot, self.start, self.end)
        clamped = sorted((max(span.start, self.start), min(span.end, self.end), tuple(sorted(span.objects))) for span in got)
        return None if clamped == [(span.start, span.end, span.objects) for span in self.wanted] else _wrong(self, got)


@dataclass(frozen=True, slots=True)
class Stale:
    """Whole days since a value was last attested."""

    slot: Slot
    object: str
    now: int
    wanted: int
    needs_order = False

    def problem(self, told: Told) -> str | None:
        got = told.world.last_attested(self.slot, self.object, Basis(valid_at=self.now))
        return None if (self.now - got) // DAY == self.wanted else _wrong(self, got)
