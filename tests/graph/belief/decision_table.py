"""The decision table of the docs: small cases and what the resolver makes of them, written from what it does.

    python -m tests.graph.belief.decision_table     writes docs/decision_table.md again

Claims are written as `kind value @said [from..to]`, dates are in UTC, `¬` is a denial, `+` additive, `⇐ x` replaces x.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graph.belief.traits import Traits
from graph.belief.unit import Unit
from ontology.claim import Claim, ClaimKind
from ontology.edtf import parse_edtf
from ontology.instant import DAY, UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant, format_instant
from ontology.vocabulary import Temporality

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


SECTIONS: dict[str, tuple[Case, ...]] = {
    "One claim": (
        Case("a state is known since it was said", "one", ("state A @2020-01-01",), ("2019-12-31", "2020-01-01", "2021-01-01")),
        Case("a state with a start", "one", ("state A @2020-01-01 2018-01-01T00:00:00Z..",), ("2019-01-01", "2021-01-01")),
        Case("an imprecise start is possible inside its granule", "one", ("state A @2021-01-01 2019..",), ("2019-06-01", "2020-06-01")),
        Case("a start granule that contains said ends at said", "one", ("state A @2020-05-10 2020..",), ("2020-03-01", "2020-05-10", "2020-08-01")),
        Case("a span that is over", "one", ("state A @2022-01-01 2019-03..2021-06",), ("2020-01-01", "2021-06-15", "2021-08-01")),
        Case("over, without a start: an end", "one", ("state A @2022-01-01 ..2020",), ("2019-01-01", "2021-06-01")),
        Case("until a future date, without a start: from said on", "one", ("state A @2020-01-01 ..2022",), ("2019-01-01", "2021-01-01", "2023-01-01")),
        Case("a dated change attests its instant alone", "one", ("change A @2021-01-01 2018-01-01T00:00:00Z..",), ("2018-01-01", "2020-01-01")),
        Case("an imprecise change attests nothing", "one", ("change A @2021-01-01 2018..",), ("2018-06-01", "2019-06-01")),
        Case("a change with an end is a bounded span", "one", ("change A @2021-01-01 2018..2020",), ("2018-06-01", "2019-06-01", "2021-01-01")),
        Case("a scheduled change", "one", ("change A @2021-01-01 2022..",), ("2021-06-01", "2022-06-01", "2023-06-01")),
        Case("an end without dates", "one", ("end A @2021-01-01",), ("2010-01-01", "2021-01-01", "2022-01-01")),
        Case("an end with a start alone ends at said", "one", ("end A @2021-01-01 2018-01-01T00:00:00Z..",), ("2020-01-01", "2021-06-01")),
        Case("an end this month ends at said", "one", ("end A @2021-05-03 ..2021-05",), ("2021-05-02", "2021-05-04")),
        Case("a scheduled end", "one", ("end A @2021-01-01 2020-01-01T00:00:00Z..2022-01-01T00:00:00Z",), ("2021-06-01", "2022-06-01")),
        Case("the end of a denial affirms", "one", ("end ¬A @2021-01-01",), ("2020-01-01", "2022-01-01")),
        Case("never", "one", ("state ¬A @2021-01-01 from ever..",), ("2000-01-01", "2022-01-01")),
    ),
    "Two claims": (
        Case("a rival said later takes over", "one", ("state A @2020-01-01", "state B @2021-01-01"), ("2020-06-01", "2021-06-01")),
        Case("many-valued: no rivals", "many", ("state A @2020-01-01", "state B @2021-01-01"), ("2021-06-01",)),
        Case("equal strength ties", "one", ("state A @2020-01-01", "state B @2020-01-01"), ("2020-01-01", "2021-01-01")),
        Case("rank decides", "one", ("state A @2020-01-01 rank 1", "state B @2020-01-01"), ("2020-01-01", "2021-01-01")),
        Case("a past change does not beat later evidence", "one", ("state A @2020-01-01", "change B @2021-01-01 2018-01-01T00:00:00Z.."), ("2019-01-01", "2022-01-01")),
        Case("an ended rival clips", "one", ("state A @2012-01-01", "state B @2020-01-01 2015..2017"), ("2014-01-01", "2016-06-01", "2019-01-01")),
        Case("an ended rival, the value resumes", "one, resume", ("state A @2012-01-01", "state B @2020-01-01 2015..2017"), ("2016-06-01", "2019-01-01")),
        Case("an ended patch is left out", "one", ("state A @2012-01-01", "patch B @2020-01-01 2015..2017"), ("2016-06-01", "2019-01-01")),
        Case("denied", "many", ("state A @2020-01-01", "state ¬A @2021-01-01"), ("2020-06-01", "2021-06-01")),
        Case("left, and the shadow before", "one", ("state A @2020-01-01", "end A @2023-06-01 ..2023-03"), ("2019-01-01", "2022-01-01", "2023-05-01")),
        Case("a former value shows where nothing else does", "one", ("state A @2020-01-01", "end B @2021-01-01"), ("2019-01-01", "2020-06-01")),
        Case("two former values", "one", ("end A @2021-01-01", "end B @2021-01-01"), ("2010-01-01",)),
        Case("an imprecise start yields to a rival", "one", ("state A @2021-05-10", "change B @2022-01-15 2021.."), ("2021-03-01", "2021-05-10", "2021-06-01")),
        Case("a scheduled state yields too and then takes over", "one", ("state B @2021-01-10 2022..", "state A @2022-05-10"), ("2022-05-10", "2022-06-01")),
        Case("an additive value ends no other", "one", ("state A @2020-01-01", "state +B @2021-01-01"), ("2021-06-01",)),
        Case("an additive value is ended by its denial", "one", ("state +A @2020-01-01", "end A @2021-01-01"), ("2020-06-01", "2021-06-01")),
    ),
    "Corrections": (
        Case("of the value", "one", ("state A @2021-01-01", "correction B ⇐ A @2021-06-01"), ("2021-03-01", "2022-01-01")),
        Case("of the start", "one", ("state A @2021-01-01", "correction A @2021-06-01 2019-01-01T00:00:00Z.."), ("2019-06-01", "2022-01-01")),
        Case("of the end of an end", "one", ("end A @2022-01-01 ..2020", "correction A @2022-06-01 ..2021"), ("2021-06-01", "2022-03-01")),
        Case("an end before the masked state was said", "one", ("state A @2021-01-01", "correction A @2021-06-01 ..2020"), ("2020-06-01", "2021-03-01")),
        Case("an end after the masked state was said", "one", ("state A @2021-01-01", "correction A @2022-06-01 ..2021"), ("2021-03-01", "2022-03-01")),
        Case("nothing to mask: a state", "one", ("correction A @2021-01-01",), ("2020-06-01", "2021-06-01")),
        Case("nearest start alone", "one", ("state A @2022-01-01 2010..2012", "state A @2022-01-01 2018..2020", "correction A @2022-06-01 2017.."), ("2010-06-01", "2017-06-01")),
        Case("bounds that touch none mask none", "one", ("state A @2022-01-01 2010..2012", "correction A @2022-06-01 2015..2016"), ("2011-06-01", "2015-12-01")),
        Case("no instant left: dropped", "one", ("state A @2022-01-01 2010..2012", "correction A @2022-06-01 2015.."), ("2011-06-01", "2016-01-01")),
        Case("denied by a correction: an end whole", "one", ("end A @2021-01-01", "correction ¬A @2021-06-01"), ("2020-01-01", "2022-01-01")),
    ),
    "Events and static facts": (
        Case("a dated event", "event", ("state A @2020-06-01 2019-05..",), ("2019-05-10", "2019-06-10")),
        Case("an undated event", "event", ("state A @2020-06-01",), ("2000-01-01", "2020-06-01", "2020-06-02")),
        Case("an event until a date", "event", ("state A @2020-06-01 ..2018",), ("2000-01-01", "2018-06-01", "2019-06-01")),
        Case("a denial said later", "event", ("state A @2020-06-01 2019-05..", "state ¬A @2020-07-01 2019-05.."), ("2019-05-10",)),
        Case("static: for all time", "static", ("state A @2020-01-01",), ("1900-01-01",)),
        Case("static: a second value contradicts", "static", ("state A @2020-01-01", "state B @2021-01-01"), ("1900-01-01",)),
        Case("static: an end denies", "static", ("state A @2020-01-01", "end A @2021-01-01"), ("1900-01-01",)),
        Case("static: a correction for all time", "static", ("state A @2020-01-01", "correction B ⇐ A @2021-01-01 2000..2010"), ("1900-01-01",)),
    ),
}  # fmt: skip


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


def row(case: Case) -> str:
    """A line of the table."""
    unit = Unit([read(text, number) for number, text in enumerate(case.claims)], TRAITS[case.traits])
    lines = [
        f"{'' if positive else '¬'}{value} {_shown(span.start)} → {_shown(span.end)}"
        for (value, positive), found in sorted(unit.intervals.items(), key=lambda each: (not each[0][1], each[0][0]))
        for span in found
    ]
    cells = (case.title, case.traits, "<br>".join(case.claims), "<br>".join(lines) or "-", "<br>".join(_at(unit, p) for p in case.probes))
    return f"| {' | '.join(cells)} |"


def render() -> str:
    """The whole page."""
    parts = [
        "# Decision table",
        "",
        "Written by `python -m tests.graph.belief.decision_table` from what the resolver does; a test compares it. The rules behind it",
        "are in [semantics.md](semantics.md). Claims read `kind value @said from..to`; `¬` is a denial, `+` an additive claim, `⇐ x` replaces",
        "x. Ends are exclusive, `…` is unbounded, `-` is nothing known.",
    ]
    for title, cases in SECTIONS.items():
        parts += ["", f"## {title}", "", "| Case | Predicate | Claims | Statements | At |", "|---|---|---|---|---|"]
        parts += [row(case) for case in cases]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
