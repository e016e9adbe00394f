"""The other side of `benchmarks.vectors.process`: serves an adapter over standard input and output. Needs the standard library alone."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any, TextIO

from benchmarks.vectors.worlds import Adapter, Basis, CannotAsk, Claim, Operation, Predicate, Slot, World


def serve(adapter: Adapter, requests: TextIO = sys.stdin, replies: TextIO | None = None) -> None:
    """Answer calls until there are no more. What the system prints goes to standard error, for standard output speaks JSON."""
    out = replies or sys.stdout
    if replies is None:
        sys.stdout = sys.stderr
    world: World | None = None
    for line in requests:
        request = json.loads(line)
        try:
            if request["call"] == "title":
                answer: Any = adapter.title
            elif request["call"] == "world":
                predicates = [Predicate(**each) for each in request["arguments"][0]]
                world, answer = adapter.world({each.name: each for each in predicates}), None
            else:
                assert world is not None, "no world was made"
                answer = _plain(_CALLS[request["call"]](world, *request["arguments"]))
            reply = {"answer": answer}
        except CannotAsk as reason:
            reply = {"cannot": str(reason)}
        except Exception as failure:  # Whatever breaks in the system is its answer.
            reply = {"failed": f"{type(failure).__name__}: {failure}"}
        print(json.dumps(reply), file=out, flush=True)
    adapter.close()


def _operation(row: dict[str, Any]) -> Operation:
    return Operation(**{**row, "claims": tuple(Claim(**claim) for claim in row["claims"])})


_CALLS: dict[str, Callable[..., Any]] = {
    "apply": lambda world, operation: world.apply(_operation(operation)),
    "as_of": lambda world, slot, basis: world.as_of(Slot(**slot), Basis(**basis)),
    "ask": lambda world, slot, object, basis: world.ask(Slot(**slot), object, Basis(**basis)),
    "timeline": lambda world, slot, basis: world.timeline(Slot(**slot), Basis(**basis)),
    "rectangles": lambda world, slot: world.rectangles(Slot(**slot)),
    "diff": lambda world, before, after: world.diff(Basis(**before), Basis(**after)),
    "why": lambda world, slot: world.why(Slot(**slot)),
    "returns": lambda world, slot: world.returns(Slot(**slot)),
    "feed": lambda world, after: world.feed(after),
    "between": lambda world, slot, start, end: world.between(Slot(**slot), start, end),
    "last_attested": lambda world, slot, object, basis: world.last_attested(Slot(**slot), object, Basis(**basis)),
    "close": lambda world: world.close(),
}


def _plain(answer: Any) -> Any:
    """Rows as JSON has them."""
    if isinstance(answer, Sequence) and not isinstance(answer, str):
        return [asdict(row) if is_dataclass(row) and not isinstance(row, type) else row for row in answer]
    return answer
