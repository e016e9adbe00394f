"""Runs side by side, as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from benchmarks.measuring import table
from benchmarks.vectors.running import Outcome, Result, Run


def report(runs: Sequence[Run], *, reasons: bool = False) -> str:
    """Tables of the share of vectors answered right, by group, and below them the vectors that were not. `reasons`: with what was wrong."""
    groups = list(dict.fromkeys(result.vector.group for result in runs[0].results))
    parts: list[tuple[str, Callable[[Result], bool]]] = [(name, _in_group(name)) for name in groups]
    parts += [("**all**", lambda _: True), ("all but choices of ours", lambda result: not result.vector.policy)]
    head = ["vectors", *(f"{run.title}{kind}" for run in runs for kind in ("", ", shuffled"))]
    rows = [[name, *(cell for run in runs for cell in _cells(run, chosen))] for name, chosen in parts]
    lines = [table(head, rows), ""]
    for run in runs:
        lines += [f"{run.title}:", "", *_failed(run, reasons), ""]
    return "\n".join(lines)


def _in_group(name: str) -> Callable[[Result], bool]:
    return lambda result: result.vector.group == name


def _cells(run: Run, chosen: Callable[[Result], bool]) -> tuple[str, str]:
    results = [result for result in run.results if chosen(result)]
    shuffled = [result.in_every_order for result in results]
    return _cell(result.given.outcome for result in results), _cell(found for found in shuffled if found is not None)


def _cell(outcomes: Iterable[Outcome]) -> str:
    counts = Counter(outcomes)
    if not counts.total():
        return "-"
    cannot = f", {counts[Outcome.CANNOT]} cannot ask" if counts[Outcome.CANNOT] else ""
    return f"{counts[Outcome.RIGHT]} of {counts.total()}{cannot}"


def _failed(run: Run, reasons: bool) -> Iterator[str]:
    wrong: list[tuple[str, tuple[str, ...]]] = []
    cannot, unstable = list(wrong), list(wrong)
    for result in run.results:
        if result.given.outcome is Outcome.WRONG:
            wrong.append((result.vector.id, result.given.reasons))
        elif result.given.outcome is Outcome.CANNOT:
            cannot.append((result.vector.id, result.given.reasons))
        elif result.in_every_order is Outcome.WRONG:
            order, answered = next(item for item in result.shuffled.items() if item[1].outcome is Outcome.WRONG)
            unstable.append((result.vector.id, (f"order {order}", *answered.reasons)))
    listed = (("wrong", wrong), ("right in the given order alone", unstable), ("cannot ask", cannot))
    for title, found in listed:
        if found:
            yield f"- {title}: {', '.join(id for id, _ in found)}"
            # Why something cannot be asked is always told: it is a claim about another system.
            if title == "cannot ask" and not reasons:
                yield from (f"  - {reason}" for reason in dict.fromkeys(each for _, why in found for each in why))
            elif reasons:
                yield from (f"  - {id}: {reason}" for id, why in found for reason in why)
    if not (wrong or cannot or unstable):
        yield "- all right, in every order"
