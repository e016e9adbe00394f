"""What a new claim costs in a slot that holds very many: in a process of its own."""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

from api.wiring import rest_the_collector
from benchmarks.measuring import percentile
from graph.opening import open_graph
from graph.service import LedgerGraph
from ontology.claim import ClaimDraft, ClaimKind, ObjectDraft
from ontology.episode import EpisodeDraft
from ontology.instant import DAY, MINUTE, format_instant
from ontology.loading import load_vocabulary

START = 16_000 * DAY
TOGETHER = 1000
Episode = tuple[EpisodeDraft, list[ClaimDraft], tuple[str, ...]]


def told(number: int, predicate: str, value: str) -> Episode:
    """One more value of one slot of one entity, said a minute after the last."""
    draft = EpisodeDraft(f"episode {number}", "benchmark", external_id=str(number), said_at=format_instant(START + number * MINUTE))
    return draft, [ClaimDraft("Anna", predicate, ObjectDraft(value), kind=ClaimKind.CHANGE)], ()


def filled(graph: LedgerGraph, predicate: str, claims: int, values: int) -> None:
    """A slot with so many claims on so many values."""
    for first in range(0, claims, TOGETHER):
        numbers = range(first, min(claims, first + TOGETHER))
        graph.record_extracted(
            predicate, [told(number, predicate, f"value {number % values}") for number in numbers], extractor="benchmark"
        )


def one_more(graph: LedgerGraph, predicate: str, claims: int, runs: int) -> list[float]:
    """Milliseconds of each commit of one claim more, on values old and new in turn."""
    times = []
    for run in range(runs):
        value = f"value {run}" if run % 2 else f"new value {run}"
        started = time.perf_counter()
        graph.record_extracted(predicate, [told(claims + run, predicate, value)], extractor="benchmark")
        times.append((time.perf_counter() - started) * 1000)
    return times


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--many", type=int, default=100_000, help="claims in a many-valued slot")
    parser.add_argument("--one", type=int, default=5_000, help="claims in a one-valued slot")
    parser.add_argument("--runs", type=int, default=20)
    options = parser.parse_args()
    rest_the_collector()
    found = {}
    with tempfile.TemporaryDirectory() as name:
        graph = open_graph(Path(name), load_vocabulary(), kind="sql")
        for predicate, claims in (("uses", options.many), ("works_at", options.one)):
            filled(graph, predicate, claims, claims)
            times = one_more(graph, predicate, claims, options.runs)
            found[f"{predicate}, {claims:,} claims"] = {"p50": percentile(times, 0.5), "p95": percentile(times, 0.95)}
        graph.close()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
