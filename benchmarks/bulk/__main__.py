"""`python -m benchmarks.bulk --locomo PATH`: turns through Celery and through the embedded path in one run, facts, reads beside, memory."""

from __future__ import annotations

import argparse
import tempfile
import time
from itertools import count
from pathlib import Path

from benchmarks.bulk.facts import per_second
from benchmarks.bulk.running import running
from benchmarks.bulk.turns import Went, idle_reads, ingest
from benchmarks.ingest import drafts_of
from benchmarks.measuring import machine, percentile, table
from ontology.episode import EpisodeDraft
from tests.canonical import differences
from tests.workers.broker.chaos import Schedule

WARM = 100
"""Turns that go in before the clock runs: every process has loaded its model."""


def run(folder: Path, drafts: list[EpisodeDraft], workers: int, *, broker: bool, embedder: str) -> Went:
    """One fresh service, warmed up."""
    with running(folder, workers=workers, broker=broker, embedder=embedder) as service:
        embeds = embedder != "none"
        ingest(service, drafts[:WARM], embeds=embeds)
        idle = idle_reads(service, 5)
        # Whoever reads takes a third of a core, so what goes in undisturbed is measured before.
        half = (len(drafts) - WARM) * 2 // 3 + WARM
        went = ingest(service, drafts[WARM:half], embeds=embeds)
        went.idle, went.reads = idle, ingest(service, drafts[half:], embeds=embeds, reads=True).reads
        return went


def row(name: str, went: Went) -> list[str]:
    """One run as a row of the table."""
    idle, busy = percentile(went.idle, 0.95), percentile(went.reads, 0.95)
    quarter = max(1, len(went.memory) // 4)
    early, late = max(went.memory[:quarter]) / 2**20, max(went.memory[-quarter:]) / 2**20
    return [
        name,
        f"{went.turns / went.extracted:,.0f}",
        f"{went.turns / went.embedded:,.0f}" if went.embedded > went.extracted + 0.2 else "",
        f"{idle:.1f}",
        f"{busy:.1f}",
        f"{early:,.0f} / {late:,.0f}",
    ]


def chaos(folder: Path, schedule: Schedule) -> None:
    """One schedule of deaths, and whether the graph is that of one process that nobody disturbed."""
    start = time.monotonic()
    found = schedule.run(folder)
    took = time.monotonic() - start
    expected = schedule.undisturbed(folder / "undisturbed")
    counts = {kind: len(lines) for kind, lines in found["default"].items()}
    print(f"{schedule.number:,} episodes through {schedule.deaths} deaths in {took:,.0f} s, each extracted once: {counts}")
    if wrong := differences(expected, found):
        raise SystemExit(f"lines of the canonical export differ, such as {wrong[0]}")
    print("the canonical export is that of one process that nobody disturbed")


def main() -> None:
    """Run what is asked for and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--locomo", type=Path, required=True, help="a file of LoCoMo conversations")
    parser.add_argument("--turns", type=int, default=2_500)
    parser.add_argument("--embedded-turns", type=int, default=1_000, help="turns of the runs with embedding")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--chaos", action="store_true", help="nothing but a schedule of deaths: of workers, of the owner and of Redis")
    parser.add_argument("--episodes", type=int, default=5_000, help="turns of the schedule of deaths")
    parser.add_argument("--deaths", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print(machine())
    if arguments.chaos:
        with tempfile.TemporaryDirectory() as name:
            chaos(Path(name), Schedule(arguments.episodes, arguments.deaths, arguments.seed, 600, arguments.locomo.resolve()))
        return
    drafts = drafts_of(arguments.locomo, arguments.turns + WARM)[: arguments.turns + WARM]
    numbers = count()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for embedder, turns in (("none", drafts), ("minilm", drafts[: arguments.embedded_turns + WARM])):
            for broker in (False, True):
                went = run(folder / str(next(numbers)), turns, arguments.workers, broker=broker, embedder=embedder)
                path = f"Celery, {arguments.workers} processes" if broker else f"embedded, {arguments.workers} processes"
                rows.append(row(f"{path}, {'with' if embedder != 'none' else 'without'} vectors", went))
                print(table(HEAD, rows[-1:]))
        with running(folder / "facts", workers=1, broker=False) as service:
            warm = 1_000
            per_second(service, warm)
            facts = per_second(service, arguments.facts, first=warm)
    print(table(HEAD, rows))
    print(f"structured facts over HTTP, {arguments.facts:,} in calls of 1,000: {facts:,.0f}/s")


HEAD = (
    "path",
    "turns/s to their end",
    "turns/s to their vectors",
    "read p95 idle (ms)",
    "read p95 meanwhile (ms)",
    "memory of the service, early / late (MiB)",
)

if __name__ == "__main__":
    main()
