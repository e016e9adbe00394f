"""A system in an environment of its own: a script that answers calls, one JSON object a line.

The runner writes `{"call": NAME, "arguments": [...]}` and reads one line for each: `{"answer": ...}`, `{"cannot": WHY}` or
`{"failed": WHY}`. Calls are those of `World`, and `title` and `world` of `Adapter`; a new `world` ends the one before.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.vectors.worlds import (
    Basis,
    Boundary,
    CannotAsk,
    Change,
    Difference,
    Failed,
    Operation,
    Predicate,
    Rectangle,
    Refusal,
    Slot,
    Span,
    Value,
)

T = TypeVar("T")


class Script:
    """The adapter of a script."""

    def __init__(self, command: Sequence[str | Path], *, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> None:
        self._process = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", cwd=cwd, env=env
        )
        try:
            self.title: str = self.call("title")
        except Failed:
            self.close()
            raise

    def call(self, name: str, *arguments: Any) -> Any:
        """The answer to one call. Raises CannotAsk and Failed, the latter too where the script has ended."""
        assert self._process.stdin is not None and self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps({"call": name, "arguments": arguments}) + "\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise Failed("the script has ended")
        answer = json.loads(line)
        if "cannot" in answer:
            raise CannotAsk(answer["cannot"])
        if "failed" in answer:
            raise Failed(answer["failed"])
        return answer["answer"]

    def world(self, predicates: Mapping[str, Predicate]) -> ScriptWorld:
        """An empty world of the script's."""
        self.call("world", [asdict(each) for each in predicates.values()])
        return ScriptWorld(self)

    def close(self) -> None:
        """The script ends where its input does."""
        assert self._process.stdin is not None and self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(timeout=30)


def _tuples(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}


class ScriptWorld:
    """The world that a script has made last."""

    def __init__(self, script: Script) -> None:
        self._call = script.call

    def _rows(self, kind: type[T], name: str, *arguments: Any) -> list[T]:
        return [kind(**_tuples(row)) for row in self._call(name, *arguments)]

    def apply(self, operation: Operation) -> Sequence[Refusal]:
        return self._rows(Refusal, "apply", asdict(operation))

    def as_of(self, slot: Slot, basis: Basis) -> Sequence[Value]:
        return self._rows(Value, "as_of", asdict(slot), asdict(basis))

    def ask(self, slot: Slot, object: str, basis: Basis) -> str:
        return str(self._call("ask", asdict(slot), object, asdict(basis)))

    def timeline(self, slot: Slot, basis: Basis) -> Sequence[Span]:
        return self._rows(Span, "timeline", asdict(slot), asdict(basis))

    def rectangles(self, slot: Slot) -> Sequence[Rectangle]:
        return self._rows(Rectangle, "rectangles", asdict(slot))

    def diff(self, before: Basis, after: Basis) -> Sequence[Difference]:
        return self._rows(Difference, "diff", asdict(before), asdict(after))

    def why(self, slot: Slot) -> Sequence[Boundary]:
        return self._rows(Boundary, "why", asdict(slot))

    def returns(self, slot: Slot) -> int:
        return int(self._call("returns", asdict(slot)))

    def feed(self, after: int) -> Sequence[Change]:
        return self._rows(Change, "feed", after)

    def between(self, slot: Slot, start: int, end: int) -> Sequence[Span]:
        return self._rows(Span, "between", asdict(slot), start, end)

    def last_attested(self, slot: Slot, object: str, basis: Basis) -> int:
        return int(self._call("last_attested", asdict(slot), object, asdict(basis)))

    def close(self) -> None:
        self._call("close")
