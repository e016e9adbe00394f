"""The shared vectors, read as claims for the resolver alone: no ledger, no service."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Protocol

import yaml

from graph.belief.checks import checked_bounds
from graph.belief.traits import Traits
from graph.belief.unit import Unit
from ontology.claim import Claim, ClaimKind
from ontology.edtf import Stated, parse_edtf
from ontology.errors import InvalidInput
from ontology.instant import DAY, UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant, zone_named
from ontology.vocabulary import Temporality

FILE = Path(__file__).parents[3] / "benchmarks" / "vectors" / "bitemporal_vectors.yaml"
VECTORS: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))


def text(value: Any) -> str:
    """A scalar as the vector wrote it."""
    return value.isoformat() if isinstance(value, date) else str(value)


def instant(value: Any) -> Instant:
    """A query's instant: a bare date is its first instant in UTC."""
    return {"inf": UNBOUNDED_FUTURE, "-inf": UNBOUNDED_PAST}.get(text(value)) or parse_edtf(text(value)).lo


def traits(name: str) -> Traits:
    """Traits of a vector's predicate."""
    spec = VECTORS["predicates"][name]
    return Traits(spec["card"] == "one" and spec["temporal"] != "event", Temporality(spec["temporal"]), spec.get("after") == "resume")


def _stated(value: Any, zone: str | None, side: str) -> Stated | None:
    if value is None:
        return None
    value = text(value)
    return parse_edtf(".." if value in ("inf", "-inf") else value, zone=zone_named(zone), side=side)


def claims_of(op: Mapping[str, Any]) -> tuple[list[Claim], list[list[str]]]:
    """The claims that an operation asserts, by predicate and subject in their slot, and its refusals."""
    claims: list[Claim] = []
    errors: list[list[str]] = []
    for place, spec in enumerate(op.get("claims") or [op]):
        said, zone = text(spec.get("said") or op["said"]), op.get("tz")
        bracket = re.fullmatch(r"(.*)\[(.+)\]", said)
        if bracket:
            said, zone = bracket.groups()
        said_at = parse_edtf(said, zone=zone_named(zone)).lo
        try:
            start, end = _stated(spec.get("from"), zone, "from"), _stated(spec.get("to"), zone, "to")
        except InvalidInput as failure:
            errors.append([op["ep"], str(failure.reason)])
            if op.get("on_error") != "fallback":
                continue
            start = end = None
        if "at" in spec:
            start = end = _stated(spec["at"], zone, "from")
        claim = Claim(
            f"{op['ep']}-{place}",
            op["ep"],
            place,
            "/".join((spec["s"], spec["p"], spec.get("q", ""))),
            text(spec["o"]),
            said_at,
            spec.get("pol") != "-",
            ClaimKind(spec.get("kind", "state").upper()),
            start,
            end,
            op.get("rank", 0),
            spec.get("additive", False),
            text(spec["replaces"]) if "replaces" in spec else None,
        )
        try:
            checked_bounds(claim.kind, claim.valid_from, claim.valid_to, claim.said, traits(spec["p"]))
        except InvalidInput as failure:
            errors.append([op["ep"], str(failure.reason)])
            continue
        claims.append(claim)
    return claims, errors


class World:
    """The visible claims after some operations, and what they answer."""

    def __init__(self, ops: Sequence[Mapping[str, Any]]) -> None:
        self.errors: list[list[str]] = []
        self.history: list[dict[str, list[Claim]]] = [{}]
        gone: set[str] = set()
        for op in ops:
            visible = dict(self.history[-1])
            if op["op"] == "assert":
                claims, errors = claims_of(op)
                self.errors += errors
                if op["ep"] not in gone:
                    visible[op["ep"]] = claims
            else:
                # Erasing has no in-process counterpart yet: its claims are removed.
                gone.add(op["ep"])
                visible.pop(op["ep"], None)
                if op["op"] == "erase":
                    self.history = [{ep: claims for ep, claims in state.items() if ep != op["ep"]} for state in self.history]
            self.history.append(visible)

    def unit(self, question: Mapping[str, Any]) -> Unit:
        """The slot that a question asks about, on its basis."""
        state = self.history[question["tx"] if question.get("tx") is not None else -1]
        known = instant(question["known"]) if "known" in question else UNBOUNDED_FUTURE
        slot = "/".join((question["s"], question["p"], question.get("q", "")))
        return Unit([c for claims in state.values() for c in claims if c.slot == slot and c.said <= known], traits(question["p"]))

    def holding(self, question: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The positive values that hold, as the vectors write them."""
        unit, at = self.unit(question), instant(question["valid"])
        rows = []
        for value, polarity in unit.values:
            found = unit.weigh(value, at)
            if not polarity or not found.holds:
                continue
            interval = next(i for i in unit.intervals[value, True] if i.start <= at < i.end)
            episodes = sorted({atom.made_by.episode for atom in unit.cited((value, True), interval)})
            certainty = "certain" if found.certain else "possible"
            rows.append(
                {"o": value, "basis": found.support.lower(), "conflict": found.conflict.lower(), "certainty": certainty, "eps": episodes}
            )
        return rows

    def timeline(self, question: Mapping[str, Any]) -> list[tuple[Instant, Instant, list[str]]]:
        """Segments of the positive values."""
        unit = self.unit(question)
        spans = [(i.start, i.end, value) for (value, polarity), found in unit.intervals.items() if polarity for i in found]
        points = sorted({at for start, end, _ in spans for at in (start, end)})
        rows: list[tuple[Instant, Instant, list[str]]] = []
        for start, end in itertools.pairwise(points):
            values = sorted(value for a, b, value in spans if a <= start < b)
            if values and rows and rows[-1][1] == start and rows[-1][2] == values:
                rows[-1] = (rows[-1][0], end, values)
            elif values:
                rows.append((start, end, values))
        return rows

    def ask(self, question: Mapping[str, Any]) -> str:
        """yes, no or unknown."""
        unit, at, value = self.unit(question), instant(question["valid"]), text(question["o"])
        if unit.weigh(value, at).holds:
            return "yes"
        return "no" if unit.weigh(value, at, polarity=False).holds or unit.ruled_out_by(value, at) else "unknown"


class Answers(Protocol):
    """What answers a vector's questions."""

    errors: list[list[str]]

    def holding(self, question: Mapping[str, Any]) -> list[dict[str, Any]]: ...

    def timeline(self, question: Mapping[str, Any]) -> list[tuple[Instant, Instant, list[str]]]: ...

    def ask(self, question: Mapping[str, Any]) -> str: ...


def problem(world: Answers, query: Mapping[str, Any]) -> str | None:
    """What is wrong with an answer; None: nothing."""
    expected = query["expect"]
    if "asof" in query:
        rows = {row["o"]: row for row in world.holding(query["asof"])}
        good = len(rows) == len(expected) and all(
            text(w["o"]) in rows and all(rows[text(w["o"])][key] == value for key, value in w.items() if key != "o") for w in expected
        )
        return None if good else f"{query}: got {list(rows.values())}"
    if "ask" in query:
        got = world.ask(query["ask"])
        return None if got == text(expected) else f"{query}: got {got}"
    if "timeline" in query:
        wanted = [(instant(a), instant(b), sorted(map(text, values))) for a, b, values in expected]
        segments = world.timeline(query["timeline"])
        return None if segments == wanted else f"{query}: got {segments}"
    if "errors" in query:
        return None if sorted(expected) == sorted(world.errors) else f"{query}: got {world.errors}"
    return None


def orders(count: int, *, sample: int = 100) -> Iterator[tuple[int, ...]]:
    """Every arrival order up to five operations, else a sample."""
    if count <= 5:
        yield from itertools.permutations(range(count))
    else:
        generator = random.Random(7)
        for _ in range(sample):
            yield tuple(generator.sample(range(count), count))


__all__ = ["DAY", "VECTORS", "World", "instant", "orders", "problem", "text", "traits"]
