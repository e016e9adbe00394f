"""Make the ledgers, measure each size in a process of its own, and print the tables."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.bulk_ledger import Facts, load
from benchmarks.measuring import machine, table
from graph.opening import LEDGER

LIMITED_UP_TO = 100_000
"""Beyond, the whole graph is over the budget of a said-time limit; single slots and entities are not."""
Figures = Mapping[str, Any]


def run(module: str, *arguments: str) -> Figures:
    """What a part of the benchmark prints."""
    command = [sys.executable, "-m", f"benchmarks.drift.{module}", *arguments]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: Figures = json.loads(result.stdout.splitlines()[-1])
    return found


def ledger(folder: Path, claims: int) -> Path:
    """A folder with a ledger of so many claims; made where it is not there."""
    place = folder / f"l{claims}"
    if not (place / LEDGER).exists():
        place.mkdir(parents=True, exist_ok=True)
        load(place, Facts(claims))
    return place


def _times(found: Mapping[str, float] | None) -> str:
    return "" if found is None else f"{found['p50']:.2f} / {found['p95']:.2f}"


def points(sizes: Sequence[int], figures: Sequence[Figures]) -> Iterator[tuple[str, ...]]:
    """A row for each question of one place: ours and the plain table's at each size."""
    for name in figures[0]["point"]:
        cells = [cell for found in figures for cell in (_times(found["point"].get(name)), _times(found["plain"].get(name)))]
        yield name, *cells
    yield "most memory, GiB", *(cell for found in figures for cell in (f"{found['peak, points']:.2f}", ""))


def wholes(part: str, figures: Sequence[Figures]) -> Iterator[tuple[str, ...]]:
    """A row for each question of the whole graph: the first answer, then later ones."""
    for name in figures[0][part]:
        found = [each[part][name] for each in figures if name in each[part]]
        yield name, *(f"{each['first']:.2f} s; {each['p50']:.1f} / {each['p95']:.1f}" if each else "over budget" for each in found)
    yield "most memory, GiB", *(f"{each[f'peak, {part}']:.2f}" for each in figures if f"peak, {part}" in each)


def main() -> None:
    """Print the tables, figures in milliseconds, p50 / p95."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--data", type=Path, help="a folder to keep the ledgers in; used again where they are there")
    parser.add_argument("--only", nargs="*", default=[], help="parts of questions' names; `whole`, `limited`, `writing`")
    options = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as name:
        folder = options.data or Path(name)
        figures = []
        for size in options.sizes:
            limit = ["--limited"] if size <= LIMITED_UP_TO else []
            only = ["--only", *options.only] if options.only else []
            figures.append(run("reading", str(ledger(folder, size)), "--runs", str(options.runs), *limit, *only))
    head = [column for size in options.sizes for column in (f"{size:,} claims", "plain table")]
    print("\nOne place, p50 / p95 ms\n\n" + table(("question", *head), points(options.sizes, figures)))
    sized = tuple(f"{size:,} claims" for size in options.sizes)
    for part, title in (("whole", "The whole graph"), ("limited", "The whole graph, said until K")):
        mine = [found for found in figures if found[part]]
        if mine:
            print(f"\n{title}: first answer; later p50 / p95 ms\n\n" + table(("question", *sized[: len(mine)]), wholes(part, mine)))
    if not options.only or "writing" in options.only:
        written = run("writing").items()
        print("\nOne claim more, p50 / p95 ms\n\n" + table(("slot", "commit"), [(name, _times(found)) for name, found in written]))


if __name__ == "__main__":
    main()
