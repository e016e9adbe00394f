"""Getting the graph to where PageRank runs: `python -m benchmarks.subgraph [--statements 10000 100000]`. Prints Markdown.

Either engine gives all edges of a namespace, and the statements around five entities; beside them a walk in numpy over an
adjacency made from those edges, which must find the same statements. The ledger is that of `benchmarks.synthetic`, with every tenth
statement about one entity.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring import machine, percentile, table
from benchmarks.synthetic import HUB, KEYS, fill, vocabulary_at
from graph.ledger.database import open_database
from graph.store.edges import Edges
from graph.store.feed import Feed
from graph.store.kuzu_engine import KuzuStore
from graph.store.port import GraphBasis, GraphStore
from graph.store.settings import GraphSettings
from graph.store.sql_engine import SqlStore

LIMIT = 1_000
RUNS = 40
HUB_EVERY = 10

Ints = NDArray[np.int64]


class Adjacency:
    """Which edges touch which entity, in both directions: compressed rows over all rectangles, masked by a basis when they are read."""

    def __init__(self, edges: Edges) -> None:
        self.edges = edges
        self.place = {key: place for place, key in enumerate(edges.keys)}
        every = np.arange(len(edges.row))
        entities = np.flatnonzero(~edges.literal)
        ends = np.concatenate([edges.subject, edges.object[entities]])
        order = np.argsort(ends, kind="stable")
        self.touching: Ints = np.concatenate([every, entities])[order]
        self.start: Ints = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=len(edges.keys)))])

    def subgraph(self, basis: GraphBasis, entities: Sequence[str], depth: int, limit: int) -> list[int]:
        """Rows, as GraphStore.subgraph finds them."""
        edges = self.edges
        frontier = np.unique([self.place[key] for key in entities])
        seen = np.zeros(len(edges.keys), dtype=np.bool_)
        taken = np.zeros(len(edges.row), dtype=np.bool_)
        seen[frontier] = True
        found: list[int] = []
        for _ in range(depth):
            lengths = self.start[frontier + 1] - self.start[frontier]
            within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
            near = self.touching[np.repeat(self.start[frontier], lengths) + within]
            near = near[(edges.v_from[near] <= basis.valid_at) & (basis.valid_at < edges.v_to[near])]
            near = near[(edges.tx_from[near] <= basis.transaction) & (basis.transaction < edges.tx_to[near])]
            new = np.unique(near[~taken[near]])
            taken[new] = True
            found += edges.row[new[: limit - len(found)]].tolist()
            walked = new[edges.polarity[new] & ~edges.literal[new]]
            reached = np.unique(np.concatenate([edges.subject[walked], edges.object[walked]]))
            frontier = reached[~seen[reached]]
            seen[frontier] = True
            if len(found) >= limit:
                break
        return found


def _cell(runs: int, call: Callable[[int], object], *, warm_up: int) -> str:
    """p50 / p95 by the clock, and the p50 of the processor's time (all threads): another load changes that least."""
    for number in range(warm_up):
        call(number)
    clock, processor = [], []
    for number in range(warm_up, warm_up + runs):
        started = time.perf_counter(), time.process_time()
        call(number)
        clock.append((time.perf_counter() - started[0]) * 1e3)
        processor.append((time.process_time() - started[1]) * 1e3)
    return f"{percentile(clock, 0.5):.1f} / {percentile(clock, 0.95):.1f} ({percentile(processor, 0.5):.1f})"


def _walks(ask: Callable[[Sequence[str], int], object], seeds: Sequence[Sequence[str]]) -> list[str]:
    """One and two hops from some of the entities, and one from the hub."""
    cells = [_cell(RUNS, lambda number, hops=depth: ask(seeds[number], hops), warm_up=3) for depth in (1, 2)]  # type: ignore[misc]
    return [*cells, _cell(RUNS, lambda _: ask([HUB], 1), warm_up=3)]


def _questions(store: GraphStore, basis: GraphBasis, seeds: Sequence[Sequence[str]]) -> list[str]:
    """One column of the table."""
    whole = _cell(7, lambda _: store.edges(basis.namespace, basis.transaction), warm_up=1)
    walks = _walks(lambda entities, depth: store.subgraph(basis, entities, depth, LIMIT), seeds)
    neighbours = _walks(lambda entities, depth: store.neighbors(basis, entities[0], depth, LIMIT), seeds)
    return [whole, *walks, *neighbours]


def measure(folder: Path, count: int) -> str:
    """The table of one size."""
    engine = open_database(f"sqlite:///{folder}/ledger.db")
    entities = fill(engine, count, 0.0, HUB_EVERY)
    feed = Feed(engine, vocabulary_at)
    kuzu, sql = KuzuStore(folder / "graph.kuzu", feed.keys, GraphSettings()), SqlStore(engine)
    kuzu.load(feed.whole(feed.last()))
    basis = GraphBasis("default", count, sql.watermark())
    adjacency = Adjacency(kuzu.edges("default", basis.transaction))
    random = Random(6)
    # The skew of the ledger: what is talked of is asked about. An entity that no statement names would find nothing.
    drawn = (KEYS.entity("default", f"e{int(entities * random.random() ** 2)}") for _ in iter(int, 1))
    named = (key for key in drawn if key in adjacency.place)
    seeds = [[next(named) for _ in range(5)] for _ in range(RUNS + 3)]
    for some in (*seeds[:5], [HUB]):
        expected = adjacency.subgraph(basis, some, 2, LIMIT)
        for store in (kuzu, sql):
            assert [edge.row for edge in store.subgraph(basis, some, 2, LIMIT)] == expected
    by_kuzu, by_sql = _questions(kuzu, basis, seeds), _questions(sql, basis, seeds)
    built = _cell(7, lambda _: Adjacency(adjacency.edges), warm_up=1)
    in_numpy = [f"(made from them: {built})", *_walks(lambda some, depth: adjacency.subgraph(basis, some, depth, LIMIT), seeds), "", "", ""]
    names = (
        "all edges",
        *(f"subgraph of 5 entities, depth {depth}" for depth in (1, 2)),
        "subgraph of the hub, depth 1",
        *(f"neighbours of 1 entity, depth {depth}" for depth in (1, 2)),
        "neighbours of the hub, depth 1",
    )
    kuzu.close()
    engine.dispose()
    return table(
        [f"{count:,} statements, p50 / p95 (CPU) ms", "kuzu", "sql", "numpy adjacency"], zip(names, by_kuzu, by_sql, in_numpy, strict=True)
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--statements", type=int, nargs="+", default=[10_000, 100_000])
    arguments = parser.parse_args()
    print(f"{machine()}; at most {LIMIT:,} statements or entities an answer")
    for count in arguments.statements:
        with TemporaryDirectory() as name:
            print(f"\n{measure(Path(name), count)}", flush=True)


if __name__ == "__main__":
    main()
