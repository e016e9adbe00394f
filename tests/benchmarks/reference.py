"""The resolver alone under the vectors: as an adapter, and as a script (`python -m tests.benchmarks.reference`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from benchmarks.vectors import scripting
from benchmarks.vectors.worlds import Basis, CannotAsk, Claim, Operation, Predicate, Refusal, Slot, Span, Value
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, format_instant
from tests.graph.belief.vectors import World


class Reference:
    """The adapter."""

    title = "the resolver"

    def world(self, predicates: Mapping[str, Predicate]) -> ReferenceWorld:
        """Nothing is known."""
        return ReferenceWorld()

    def close(self) -> None:
        """Nothing was started."""


class ReferenceWorld:
    """The operations so far; drift is not asked of it."""

    def __init__(self) -> None:
        self.operations: list[dict[str, Any]] = []

    def _cannot(self, *_: Any) -> NoReturn:
        raise CannotAsk("drift of the resolver alone")

    rectangles = diff = why = returns = feed = between = last_attested = _cannot

    def apply(self, operation: Operation) -> Sequence[Refusal]:
        """What the last operation was refused of."""
        before = len(World(self.operations).errors)
        self.operations.append(_written(operation))
        return [Refusal(*error) for error in World(self.operations).errors[before:]]

    def as_of(self, slot: Slot, basis: Basis) -> Sequence[Value]:
        rows = World(self.operations).holding(_asked(slot, basis))
        return [Value(row["o"], row["basis"], row["conflict"], row["certainty"], tuple(row["eps"])) for row in rows]

    def ask(self, slot: Slot, object: str, basis: Basis) -> str:
        return World(self.operations).ask({**_asked(slot, basis), "o": object})

    def timeline(self, slot: Slot, basis: Basis) -> Sequence[Span]:
        return [Span(start, end, tuple(values)) for start, end, values in World(self.operations).timeline(_asked(slot, basis))]

    def close(self) -> None:
        self.operations.clear()


def _written(operation: Operation) -> dict[str, Any]:
    """An operation as the file of the vectors has it."""
    found: dict[str, Any] = {"op": operation.kind, "ep": operation.episode, "tz": operation.zone, "rank": operation.rank}
    found |= {"on_error": "fallback"} if operation.keep_undated else {}
    return found | {"said": operation.said, "claims": [_claim(claim) for claim in operation.claims]}


def _claim(claim: Claim) -> dict[str, Any]:
    found: dict[str, Any] = {"s": claim.subject, "p": claim.predicate, "q": claim.qualifier, "o": claim.object, "kind": claim.kind}
    found |= {"from": claim.valid_from, "to": claim.valid_to, "additive": claim.additive, "pol": "+" if claim.affirmed else "-"}
    found |= {} if claim.at is None else {"at": claim.at}
    return found if claim.replaces is None else {**found, "replaces": claim.replaces}


def _asked(slot: Slot, basis: Basis) -> dict[str, Any]:
    found: dict[str, Any] = {"s": slot.subject, "p": slot.predicate, "q": slot.qualifier, "tx": basis.operations}
    for name, at in (("valid", basis.valid_at), ("known", basis.known)):
        found |= {} if at is None else {name: {UNBOUNDED_PAST: "-inf", UNBOUNDED_FUTURE: "inf"}.get(at) or format_instant(at)}
    return found


if __name__ == "__main__":
    scripting.serve(Reference())
