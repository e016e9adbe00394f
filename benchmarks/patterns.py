"""Patterns, paths and neighbours in a ledger that is there: `python -m benchmarks.patterns FOLDER... [--kuzu]`. Prints Markdown.

FOLDER holds a `ledger.db` of the generator (works_at, lives_in, colleague_of...); it is only read. The people and employers that are
asked about are drawn by statement, so that what is talked of much is asked about much. `--kuzu` builds a graph beside it, in a
folder that is deleted after.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from sqlalchemy import Engine, create_engine, event, func, select

from benchmarks.measuring import machine, percentile, table
from graph.ledger.schema import OPEN, statements
from graph.store.feed import Feed
from graph.store.kuzu_engine import KuzuStore
from graph.store.pattern_plan import Known, Plan, Step, Variable
from graph.store.port import GraphBasis, GraphStore
from graph.store.projection import built_in
from graph.store.settings import GraphSettings
from graph.store.sql_engine import SqlStore
from ontology.errors import QueryTooComplex

RUNS, WARM_UP = 60, 3
P, Q, R, C = (Variable(name) for name in "pqrc")

Question = tuple[str, Callable[[GraphStore, int], object], int]
"""What is asked, the asking of the nth, and how often."""


def opened(folder: Path) -> Engine:
    """The ledger of a folder, for reading alone, with the caches of the service."""
    engine = create_engine(f"sqlite:///file:{folder.resolve()}/ledger.db?mode=ro&uri=true")

    def configure(connection: object, _record: object) -> None:
        for pragma in ("cache_size=-65536", "mmap_size=268435456", "temp_store=MEMORY"):
            connection.execute(f"PRAGMA {pragma}")  # type: ignore[attr-defined]

    event.listen(engine, "connect", configure)
    return engine


def cell(store: GraphStore, question: Question) -> str:
    """p50 / p95 by the clock and by the processor, in milliseconds; how many answers were refused."""
    _, ask, runs = question
    clock, processor, refused = [], [], 0
    for number in range(WARM_UP + runs):
        started = time.perf_counter(), time.process_time()
        try:
            ask(store, number)
        except QueryTooComplex:
            refused += number >= WARM_UP
        if number >= WARM_UP:
            clock.append((time.perf_counter() - started[0]) * 1e3)
            processor.append((time.process_time() - started[1]) * 1e3)
    figures = [f"{percentile(each, 0.5):.1f} / {percentile(each, 0.95):.1f}" for each in (clock, processor)]
    return f"{figures[0]} ({figures[1]})" + (f", {refused} of {runs} refused" if refused else "")


def questions(engine: Engine, basis: GraphBasis) -> list[Question]:
    """What is asked."""
    held = (statements.c.v_from <= basis.valid_at, statements.c.v_to > basis.valid_at, statements.c.tx_to == OPEN, statements.c.polarity)
    random = Random(7)
    with engine.connect() as connection:

        def some(column: str, predicate: str) -> list[str]:
            found = connection.scalars(select(statements.c[column]).where(statements.c.predicate == predicate, *held)).all()
            return [random.choice(found) for _ in range(RUNS + WARM_UP)]

        employers, people, colleagues = some("object", "works_at"), some("subject", "lives_in"), some("subject", "colleague_of")
        likes = some("object", "likes")
        most = func.count().desc()
        one = select(statements.c.object).where(statements.c.predicate == "works_at", *held).group_by(statements.c.object).order_by(most)
        hub = connection.scalar(one.limit(1)) or ""

    def two(employer: str) -> Plan:
        return Plan((Step(P, "works_at", Known(employer)), Step(P, "lives_in", C)))

    def match(name: str, plan: Callable[[int], Plan], runs: int = RUNS) -> Question:
        return name, lambda store, number: store.match(basis, plan(number), 21), runs

    def colleagues_of(number: int) -> Plan:
        steps = (Step(Known(colleagues[number]), "colleague_of", P, either=True), Step(P, "colleague_of", Q, either=True))
        return Plan((*steps, Step(Q, "works_at", R)))

    def path(name: str, ends: Callable[[int], Sequence[str]], hops: int, runs: int) -> Question:
        return name, lambda store, number: store.paths(basis, *ends(number), hops, 100), runs

    def near(name: str, key: Callable[[int], str], depth: int, runs: int) -> Question:
        return name, lambda store, number: store.neighbors(basis, key(number), depth, 10_000), runs

    return [
        match("`?p works_at Acme`, `?p lives_in ?c`", lambda number: two(employers[number])),
        match("the same of the largest employer", lambda _: two(hub), 20),
        match("`?p works_at Acme`, `?p likes Tea`", lambda n: Plan((two(employers[n]).steps[0], Step(P, "likes", Known(likes[n]))))),
        match("colleagues of colleagues, and where they work", colleagues_of),
        match("`?p works_at ?q`", lambda _: Plan((Step(P, "works_at", Q),)), 5),
        match("`?p works_at ?q`, `?p lives_in ?c`", lambda _: Plan((Step(P, "works_at", Q), Step(P, "lives_in", C))), 5),
        path("path between two people, 3 hops", lambda number: (people[number], colleagues[number]), 3, RUNS),
        path("the same, 6 hops", lambda number: (people[number], colleagues[number]), 6, 20),
        path("path from the largest employer, 3 hops", lambda number: (hub, colleagues[number]), 3, 20),
        near("neighbours, depth 1", lambda number: people[number], 1, RUNS),
        near("neighbours, depth 2", lambda number: people[number], 2, RUNS),
        near("neighbours of the largest employer, depth 1", lambda _: hub, 1, 20),
    ]


def measure(folder: Path, *, kuzu: bool) -> str:
    """The table of one ledger."""
    engine = opened(folder)
    sql = SqlStore(engine)
    with engine.connect() as connection:
        size = connection.scalar(select(func.count()).select_from(statements)) or 0
        at = connection.scalar(select(func.avg(statements.c.v_from))) or 0
    basis = GraphBasis("default", int(at), sql.watermark())
    with TemporaryDirectory() as name:
        stores: list[GraphStore] = [sql]
        if kuzu:
            feed = Feed(engine, built_in())
            graph = KuzuStore(Path(name) / "graph.kuzu", feed.keys, GraphSettings())
            graph.load(feed.whole(feed.last()))
            stores.append(graph)
        asked = questions(engine, basis)
        rows = [[question[0], *(cell(store, question) for store in stores)] for question in asked]
        for store in stores[1:]:
            store.close()
    engine.dispose()
    return table([f"{size:,} statements; p50 / p95 ms (processor)", *(store.engine for store in stores)], rows)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--kuzu", action="store_true")
    arguments = parser.parse_args()
    print(machine())
    for folder in arguments.folders:
        print(f"\n{measure(folder, kuzu=arguments.kuzu)}", flush=True)


if __name__ == "__main__":
    main()
