"""The decision table of the docs: small cases and what the resolver makes of them, written from what it does.

    python -m tests.graph.belief.decision_table     writes docs/decision_table.md again

Claims are written as `kind value @said [from..to]`, dates are in UTC, `¬` is a denial, `+` additive, `⇐ x` replaces x.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

from graph.belief.traits import Traits
from graph.belief.turning import Turning, end_of, start_of
from graph.belief.unit import Unit
from graph.belief.walk import Course
from ontology.claim import Claim, ClaimKind
from ontology.edtf import parse_edtf
from ontology.instant import DAY, UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant, format_instant
from ontology.vocabulary import Temporality
from tests.graph.belief import every_kind

PAGE = Path(__file__).parents[3] / "docs" / "decision_table.md"
TRAITS = {
    "one": Traits(one_valued=True),
    "one, resume": Traits(one_valued=True, resumes=True),
    "many": Traits(),
    "event": Traits(temporal=Temporality.EVENT),
    "static": Traits(one_valued=True, temporal=Temporality.STATIC),
}


@dataclass(frozen=True)
class Case:
    """A case: the predicate's traits, the claims in short form, and the dates to look at."""

    title: str
    traits: str
    claims: tuple[str, ...]
    probes: tuple[str, ...]


MATRIX = "Every kind after a state"
"""The heading of the cases that are made of all kinds and all traits."""


def sections() -> dict[str, list[Case]]:
    """The cases by heading."""
    found = yaml.safe_load((Path(__file__).with_name("decision_cases.yaml")).read_text(encoding="utf-8"))
    told = {
        heading: [Case(case["title"], case["traits"], tuple(case["claims"]), tuple(case["at"])) for case in cases]
        for heading, cases in found.items()
    }
    return {**told, MATRIX: [Case(*case) for case in every_kind.cases(TRAITS)]}


def read(text: str, number: int) -> Claim:
    """A claim from its short form."""
    head, _, rest = text.partition(" @")
    words = rest.split()
    kind, value, *old = head.split()
    said, rank, start, end = words[0], 0, "", ""
    if "rank" in words:
        rank = int(words[words.index("rank") + 1])
    if "from ever.." in rest:
        start = ".."
    elif len(words) > 1 and ".." in words[1]:
        start, _, end = words[1].partition("..")
    return Claim(
        f"c{number}",
        f"e{number}",
        0,
        "s",
        value.strip("¬+"),
        parse_edtf(said).lo,
        "¬" not in value,
        ClaimKind(kind.upper()),
        parse_edtf(start) if start else None,
        parse_edtf(end, side="to") if end else None,
        rank,
        "+" in value,
        old[1] if old else None,
    )


def _shown(at: Instant) -> str:
    if at in (UNBOUNDED_PAST, UNBOUNDED_FUTURE):
        return "…"
    return format_instant(at)[:10] if at % DAY == 0 else format_instant(at)


def _at(unit: Unit, probe: str) -> str:
    at = parse_edtf(probe).lo
    found = []
    for value, positive in unit.values:
        weighed = unit.weigh(value, at, polarity=positive)
        if weighed.holds:
            words = [weighed.support.lower(), "certain" if weighed.certain else "possible"]
            words += [weighed.conflict.lower()] if weighed.conflict != "NONE" else []
            found.append(f"{'' if positive else '¬'}{value} {' '.join(words)}")
    return f"{probe}: {'; '.join(found) or '-'}"


def turnings(unit: Unit) -> list[tuple[str, Turning]]:
    """What made each statement of a unit begin and end, in order of time; an unbounded start or end has none."""
    course = Course(unit)
    found: list[tuple[Instant, bool, str, Turning]] = []
    for (value, positive), spans in unit.intervals.items():
        name = f"{'' if positive else '¬'}{value}"
        for span in spans:
            begun = start_of(course, value, positive, span.start)
            found += [] if begun is None else [(span.start, True, f"{name} from {_shown(span.start)}", begun)]
            ended = None if span.end == UNBOUNDED_FUTURE else end_of(course, value, positive, span.end)
            found += [] if ended is None else [(span.end, False, f"{name} to {_shown(span.end)}", ended)]
    if unit.traits.temporal is Temporality.STATIC:
        never = [key for key in unit.values if not unit.intervals.get(key)]
        names = {f"{'' if positive else '¬'}{value} never": end_of(course, value, positive, UNBOUNDED_PAST) for value, positive in never}
        found += [(UNBOUNDED_PAST, False, name, turning) for name, turning in names.items() if turning is not None]
    return [(told, turning) for _, _, told, turning in sorted(found, key=lambda each: each[:3])]


def row(case: Case) -> str:
    """A line of the table."""
    unit = Unit([read(text, number) for number, text in enumerate(case.claims)], TRAITS[case.traits])
    lines = [
        f"{'' if positive else '¬'}{value} {_shown(span.start)} → {_shown(span.end)}"
        for (value, positive), found in sorted(unit.intervals.items(), key=lambda each: (not each[0][1], each[0][0]))
        for span in found
    ]
    why = "<br>".join(f"{told}: {turning.turn} ({turning.rule})" for told, turning in turnings(unit))
    looked = "<br>".join(_at(unit, probe) for probe in case.probes)
    cells = (case.title, case.traits, "<br>".join(case.claims), "<br>".join(lines) or "-", looked, why or "-")
    return f"| {' | '.join(cells)} |"


def render() -> str:
    """The whole page."""
    parts = [
        "# Decision table",
        "",
        "Written by `python -m tests.graph.belief.decision_table` from what the resolver does; a test compares it. The rules behind it",
        "are in [semantics.md](semantics.md). Claims read `kind value @said from..to`; `¬` is a denial, `+` additive, `⇐ x` replaces x.",
        "Ends are exclusive, `…` is unbounded, `-` is nothing known. *Why* names what made each statement begin and end, and the rule;",
        "what is withdrawn, joined or parted (RETRACTED, REJECTED, REVIVED, REIDENTIFIED) is told by transactions:",
        "[drift.md](drift.md#why-a-slot-changed).",
    ]
    for title, cases in sections().items():
        parts += ["", f"## {title}", "", "| Case | Predicate | Claims | Statements | At | Why |", "|---|---|---|---|---|---|"]
        parts += [row(case) for case in cases]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
