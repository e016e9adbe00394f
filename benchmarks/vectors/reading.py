"""Reads the vectors: operations, questions with the answers wanted, and the group that a vector counts in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Protocol

import yaml

from benchmarks.vectors.questions import (
    Ask,
    AsOf,
    Between,
    Diff,
    Feed,
    Question,
    Quiet,
    Rectangles,
    Refused,
    Replay,
    Returns,
    Stale,
    Timeline,
    Why,
)
from benchmarks.vectors.worlds import EVER, FOR_EVER, Basis, Boundary, Change, Claim, Operation, Predicate, Rectangle, Refusal, Slot, Span
from ontology.edtf import OPEN, parse_edtf
from ontology.errors import InvalidInput
from ontology.instant import zone_named

FILE = Path(__file__).with_name("bitemporal_vectors.yaml")
_BRACKETED = re.compile(r"(.*)\[(.+)\]")


class _Wanted(Protocol):
    """Makes a question of how a vector writes it and of the answer that it wants."""

    def __call__(self, asked: Any, expected: Any, /) -> Question: ...


@dataclass(frozen=True, slots=True)
class Vector:
    """A small world and what is to be answered of it. `policy`: where the answer is a documented choice of ours."""

    id: str
    title: str
    group: str
    policy: bool
    any_order: bool
    operations: tuple[Operation, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Vectors:
    """All of them, with the predicates that they speak of."""

    predicates: Mapping[str, Predicate]
    vectors: tuple[Vector, ...]


def load(file: Path = FILE) -> Vectors:
    """The vectors of a file."""
    found = yaml.safe_load(file.read_text(encoding="utf-8"))
    predicates = {
        name: Predicate(name, spec["card"] == "one", spec["temporal"], spec.get("after") == "resume")
        for name, spec in found["predicates"].items()
    }
    drift = [
        _vector({**spec, "ops": found["drift_bases"][spec["base"]], "queries": [spec]}, predicates, drift=True) for spec in found["drift"]
    ]
    return Vectors(predicates, (*(_vector(spec, predicates) for spec in found["vectors"]), *drift))


def _vector(spec: Mapping[str, Any], predicates: Mapping[str, Predicate], *, drift: bool = False) -> Vector:
    operations = tuple(map(_operation, spec["ops"]))
    questions = tuple(_question(query) for query in spec["queries"])
    group = "drift" if drift else _group(operations, questions, predicates)
    return Vector(spec["id"], spec["title"], group, spec.get("policy", False), spec.get("order_independent", True), operations, questions)


def _group(operations: tuple[Operation, ...], questions: tuple[Question, ...], predicates: Mapping[str, Predicate]) -> str:
    """What is hardest in a vector: the first that it has of these."""
    claims = [claim for operation in operations for claim in operation.claims]
    traits = [predicates[claim.predicate] for claim in claims]
    written = [text for claim in claims for text in (claim.valid_from, claim.valid_to, claim.at) if text]
    groups = {
        "withdrawing, repeating": any(o.kind != "assert" for o in operations) or len({o.episode for o in operations}) < len(operations),
        "dates that are none": any(isinstance(question, Refused) for question in questions),
        "said time": any(isinstance(question, AsOf) and question.basis.known is not None for question in questions),
        "corrections": any(claim.kind == "correction" for claim in claims),
        "ends and denials": any(claim.kind == "end" or not claim.affirmed for claim in claims),
        "many-valued, events, static": any(not each.one or each.temporal != "state" or each.resumes for each in traits),
        "imprecise dates, zones": any(len(text) < len("2020-01-01T00Z") for text in written) or any(o.zone for o in operations),
    }
    return next((name for name, found in groups.items() if found), "values over time")


def _text(value: Any) -> str:
    """A scalar as the file writes it."""
    return value.isoformat() if isinstance(value, date) else str(value)


def _maybe(value: Any) -> str | None:
    return None if value is None else _text(value)


def _instant(value: Any) -> int:
    """A bare date is its first instant in UTC."""
    unbounded = {"inf": FOR_EVER, "-inf": EVER}.get(_text(value))
    return parse_edtf(_text(value)).lo if unbounded is None else unbounded


def _operation(spec: Mapping[str, Any]) -> Operation:
    if spec["op"] != "assert":
        return Operation(spec["op"], spec["ep"])
    stated = spec.get("claims") or [spec]
    (said,) = {_text(each.get("said") or spec["said"]) for each in stated}
    zone = spec.get("tz")
    bracketed = _BRACKETED.fullmatch(said)
    if bracketed:
        said, zone = bracketed.groups()
    said_at = parse_edtf(said, zone=zone_named(zone)).lo
    claims = tuple(_claim(each, zone) for each in stated)
    return Operation("assert", spec["ep"], said, said_at, zone, spec.get("rank", 0), spec.get("on_error") == "fallback", claims)


def _claim(spec: Mapping[str, Any], zone: str | None) -> Claim:
    texts = {name: _maybe(spec.get(name)) for name in ("from", "to", "at")}
    written = {name: OPEN if text in ("inf", "-inf") else text for name, text in texts.items()}
    start, wrong_start = _bound(written["from"] or written["at"], zone, "from")
    end, wrong_end = _bound(written["to"] or written["at"], zone, "to")
    return Claim(
        spec["s"],
        spec["p"],
        spec.get("q", ""),
        _text(spec["o"]),
        spec.get("pol") != "-",
        spec.get("kind", "state"),
        written["from"],
        written["to"],
        written["at"],
        start,
        end,
        _maybe(spec.get("replaces")),
        spec.get("additive", False),
        wrong_start or wrong_end,
    )


def _bound(text: str | None, zone: str | None, side: str) -> tuple[int | None, str | None]:
    """The first instant of a start, the first after an end (an exact instant is itself on both sides), and why there is none."""
    if text is None:
        return None, None
    try:
        found = parse_edtf(text, zone=zone_named(zone), side=side)
    except InvalidInput as failure:
        return None, failure.reason
    return found.lo if side == "from" or found.exact else found.hi, None


def _slot(asked: Mapping[str, Any]) -> Slot:
    return Slot(asked["s"], asked["p"], asked.get("q", ""))


def _basis(asked: Mapping[str, Any]) -> Basis:
    valid, known = (None if asked.get(name) is None else _instant(asked[name]) for name in ("valid", "known"))
    return Basis(valid, asked.get("tx"), known)


def _as_of(asked: Any, expected: Any, /) -> Question:
    wanted = []
    for row in expected:
        told = {name: row[name] for name in ("conflict", "certainty") if name in row}
        told |= {"support": row["basis"]} if "basis" in row else {}
        told |= {"episodes": tuple(sorted(row["eps"]))} if "eps" in row else {}
        wanted.append((_text(row["o"]), told))
    return AsOf(_slot(asked), _basis(asked), tuple(wanted))


def _timeline(asked: Any, expected: Any, /) -> Question:
    wanted = tuple(Span(_instant(start), _instant(end), tuple(sorted(map(_text, values)))) for start, end, values in expected)
    return Timeline(_slot(asked), _basis(asked), wanted)


def _rectangles(asked: Any, expected: Any, /) -> Question:
    rows = (Rectangle(_text(o), _instant(a), _instant(b), since, None if till == "inf" else till) for o, a, b, since, till in expected)
    return Rectangles(_slot(asked), tuple(rows))


def _diff(asked: Any, expected: Any, /) -> Question:
    rows: Iterator[tuple[str, str, str | None, str | None]] = iter(
        [
            *((s, p, None, _text(o)) for s, p, o in expected["added"]),
            *((s, p, _text(o), None) for s, p, o in expected["removed"]),
            *((s, p, _text(a), _text(b)) for s, p, a, b in expected["changed"]),
        ]
    )
    return Diff(_basis(asked["from"]), _basis(asked["to"]), tuple(rows))


def _why(asked: Any, expected: Any, /) -> Question:
    def side(value: Any) -> tuple[str, ...]:
        return () if value is None else (_text(value),)

    rows = (Boundary(_instant(at), side(before), side(after), tuple(sorted(episodes))) for at, before, after, episodes in expected)
    return Why(_slot(asked), tuple(rows))


def _feed(asked: Any, expected: Any, /) -> Question:
    rows = (Change(n, kind == "open", s, p, "", _text(o), _instant(a), _instant(b)) for n, kind, s, p, o, a, b in expected)
    return Feed(asked["since"], tuple(rows))


def _between(asked: Any, expected: Any, /) -> Question:
    rows = tuple(Span(_instant(start), _instant(end), (_text(o),)) for o, start, end in expected)
    return Between(_slot(asked), _instant(asked["from"]), _instant(asked["to"]), rows)


_KINDS: Mapping[str, _Wanted] = {
    "asof": _as_of,
    "ask": lambda asked, expected: Ask(_slot(asked), _text(asked["o"]), _basis(asked), _text(expected)),
    "timeline": _timeline,
    "rectangles": _rectangles,
    "errors": lambda _, expected: Refused(tuple(Refusal(episode, reason) for episode, reason in expected)),
    "changes_at_tx": lambda asked, expected: Quiet(asked, expected),
    "diff": _diff,
    "why": _why,
    "flipflops": lambda asked, expected: Returns(_slot(asked), expected),
    "feed": _feed,
    "replay": lambda asked, expected: Replay(),
    "between": _between,
    "stale": lambda asked, expected: Stale(_slot(asked), _text(asked["o"]), _instant(asked["now"]), expected),
}


def _question(query: Mapping[str, Any]) -> Question:
    """Raises ValueError for a question of no known kind: it would pass by never being asked."""
    kinds = [kind for kind in _KINDS if kind in query]
    if len(kinds) != 1:
        raise ValueError(f"a vector asks for one of {', '.join(_KINDS)}: {query}")
    return _KINDS[kinds[0]](query[kinds[0]], query["expect"])
