"""What a page of a diff costs: `python -m benchmarks.diffs FOLDER` reads a ledger that `benchmarks` have filled, and changes nothing.

`measured` takes any graph through its facade. Each pair of bases is new to the process, so a first page collects what lies between them.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.measuring import machine, percentile, table
from graph.facade import Graph, Snapshot
from graph.opening import open_graph
from graph.views import Positions
from ontology.edtf import parse_edtf
from ontology.instant import DAY, Instant
from ontology.loading import load_vocabulary

SPANS = {"a day": DAY, "a month": 30 * DAY}
PAGE = 20


@dataclass(slots=True)
class Cost:
    """What pages of a kind took: milliseconds on the wall and of the processor."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def page(self, graph: Graph, one: Snapshot, other: Snapshot, after: Positions | None) -> Positions | None:
        """Measure one more page; the position of its last difference."""
        wall, cpu = time.perf_counter(), time.process_time()
        found = graph.diff(one, other, first=PAGE, after=after).positions
        self.wall.append((time.perf_counter() - wall) * 1000)
        self.cpu.append((time.process_time() - cpu) * 1000)
        return found[-1] if found else None

    def shown(self) -> list[str]:
        """p50 and p95 on the wall, p50 and the least of the processor."""
        figures = (percentile(self.wall, 0.5), percentile(self.wall, 0.95), percentile(self.cpu, 0.5), min(self.cpu))
        return [f"{figure:,.0f}" for figure in figures]


HEAD = ("bases", "page", "p50 ms", "p95 ms", "CPU p50 ms", "CPU least ms")


def measured(graph: Graph, namespace: str, start: Instant, end: Instant, *, runs: int = 20, seed: int = 7) -> list[list[str]]:
    """Rows of HEAD: WORLD and BELIEF over each span between two instants, and WORLD from one to the other."""
    draw = random.Random(seed)

    def world(span: int) -> tuple[Snapshot, Snapshot]:
        at = draw.randrange(start, end - span)
        return graph.snapshot(namespace, valid_at=at), graph.snapshot(namespace, valid_at=at + span)

    def belief(span: int) -> tuple[Snapshot, Snapshot]:
        at = draw.randrange(start, end - span)
        return tuple(graph.snapshot(namespace, valid_at=end, recorded_at=each) for each in (at, at + span))  # type: ignore[return-value]

    rows = []
    for name, span in SPANS.items():
        for cause, bases in (("WORLD", world), ("BELIEF", belief)):
            rows += _pages(graph, f"{cause}, {name}", [bases(span) for _ in range(runs)])
    whole = (graph.snapshot(namespace, valid_at=start), graph.snapshot(namespace, valid_at=end))
    return rows + _pages(graph, "WORLD, all", [whole])


def _pages(graph: Graph, name: str, pairs: Sequence[tuple[Snapshot, Snapshot]]) -> list[list[str]]:
    first, later = Cost(), Cost()
    for one, other in pairs:
        last = first.page(graph, one, other, None)
        if last is not None:
            later.page(graph, one, other, last)
    return [[name, page, *cost.shown()] for page, cost in (("first", first), ("second", later)) if cost.wall]


def main() -> None:
    """Measure the ledger of a folder, in the namespace `default`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--start", default="2014-01-01", help="where the bases begin")
    parser.add_argument("--end", default="2023-01-01", help="where they end")
    parser.add_argument("--runs", type=int, default=20, help="pairs of bases of each kind")
    asked = parser.parse_args()
    graph = open_graph(asked.folder, load_vocabulary(), kind="sql")
    try:
        print(machine())
        rows = measured(graph, "default", parse_edtf(asked.start).lo, parse_edtf(asked.end).lo, runs=asked.runs)
        print(table(HEAD, rows))
    finally:
        graph.close()


if __name__ == "__main__":
    main()
