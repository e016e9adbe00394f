"""`python -m benchmarks.limited`: reads under a said-time limit: what is asked of one thing, and of the whole namespace."""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from sqlalchemy import Engine, func, select

from api.wiring import rest_the_collector
from benchmarks.measuring import machine, percentile, table
from benchmarks.told import NAMESPACE, load, peak
from graph.facade import Snapshot
from graph.ledger.schema import claims
from graph.opening import open_graph
from graph.service import LedgerGraph
from graph.views import EntityRef, ObjectRef, StatementFilter, Want
from ontology.errors import QueryTooComplex
from ontology.instant import Instant
from ontology.loading import load_vocabulary

Told = tuple[str, str, str]
"""Subject, predicate and object of a claim."""
BARE = frozenset({Want.BARE})
DATED = frozenset({Want.BARE, Want.TRANSACTION})


def sample(engine: Engine, namespace: str, number: int) -> tuple[list[Told], list[Instant]]:
    """What some claims speak of, each claim as likely as any other, and when claims were said, in order."""
    with engine.connect() as connection:
        last = connection.scalar(select(func.max(claims.c.row))) or 0
        rows = random.Random(5).sample(range(1, last + 1), min(last, 40 * number))
        query = select(claims.c.subject, claims.c.predicate, claims.c.object, claims.c.said).where(claims.c.namespace == namespace)
        found = [row for at in rows for row in connection.execute(query.where(claims.c.row == at))]
    return [(row.subject, row.predicate, row.object) for row in found[:number]], sorted(row.said for row in found)


def single(snapshot: Snapshot) -> Iterator[tuple[str, Callable[[Told], object]]]:
    """What is asked of one thing."""
    yield "slot, timeline", lambda told: snapshot.timeline(EntityRef(key=told[0]), told[1], want=BARE)
    yield "slot, timeline and what the evidence tells", lambda told: snapshot.timeline(EntityRef(key=told[0]), told[1])
    yield "slot, when it was first said so", lambda told: snapshot.timeline(EntityRef(key=told[0]), told[1], want=DATED)
    yield "ask", lambda told: snapshot.ask(EntityRef(key=told[0]), told[1], ObjectRef(key=told[2]), want=BARE)
    yield "entity, its name", lambda told: snapshot.entity(EntityRef(key=told[2]))
    yield "entity, 20 statements", lambda told: snapshot.statements_about(told[0], "ANY", StatementFilter(), want=BARE)
    yield "entity, and what the evidence tells", lambda told: snapshot.statements_about(told[0], "ANY", StatementFilter())


def whole(snapshot: Snapshot) -> Iterator[tuple[str, Callable[[Told], object]]]:
    """What is asked of the namespace; the first one waits for what all of them need."""
    yield "statements, 20", lambda _: snapshot.statements(StatementFilter(), want=BARE)
    yield "statements, and what the evidence tells", lambda _: snapshot.statements(StatementFilter())
    yield "statements of a predicate", lambda told: snapshot.statements(StatementFilter(predicates=(told[1],)), want=BARE)
    yield "statements by confidence", lambda _: snapshot.statements(StatementFilter(min_confidence=0.8))
    yield "statements of a group that tells few", lambda _: snapshot.statements(StatementFilter(group="session 77"))
    yield "entities, 20", lambda _: snapshot.entities()
    yield "entities by name", lambda _: snapshot.entities(name="go")
    yield "neighbors, 2 hops", lambda told: snapshot.neighbors(told[0], depth=2)
    yield "episodes, 20", lambda _: snapshot.episodes()
    yield "undeclared predicates", lambda _: snapshot.undeclared()


def measured(act: Callable[[Told], object], told: Sequence[Told]) -> list[tuple[float, float]]:
    """Milliseconds by the wall and on the processor of each asking. Work of others on the machine shows in the first alone."""
    found = []
    for one in told:
        wall, own = time.perf_counter(), time.process_time()
        act(one)
        found.append(((time.perf_counter() - wall) * 1000, (time.process_time() - own) * 1000))
    return found


def rows(graph: LedgerGraph, engine: Engine, namespace: str, shares: Sequence[float], runs: int) -> Iterator[tuple[str, ...]]:
    """A row for each limit and question: first answer, then p50 and p95 of the others."""
    told, said = sample(engine, namespace, runs)
    for share in shares:
        until = said[min(len(said) - 1, int(share * len(said)))]
        snapshot = graph.snapshot(namespace, valid_at=until, evidence_until=until)
        for name, act in (*single(snapshot), *whole(snapshot)):
            try:
                (first, own), *others = measured(act, told)
            except QueryTooComplex as refusal:
                yield f"{share:.0%}", name, f"refused: {refusal.message.split(';')[0]}", "", "", ""
                continue
            walls, owns = zip(*others, strict=True)
            again = (f"{percentile(each, 0.5):.1f} / {percentile(each, 0.95):.1f}" for each in (walls, owns))
            yield f"{share:.0%}", name, f"{first:,.0f} ({own:,.0f})", *again, f"{peak():,} MiB"


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--statements", type=int, default=100_000)
    parser.add_argument("--said", type=float, nargs="+", default=[0.05, 0.5, 0.95], help="shares of the claims that the limits let in")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--data", type=Path, help="a folder with a ledger; nothing is written to it where it has the namespace")
    parser.add_argument("--namespace", default=NAMESPACE)
    options = parser.parse_args()
    print(machine())
    rest_the_collector()
    with tempfile.TemporaryDirectory() as name:
        graph = open_graph(options.data or Path(name), load_vocabulary(), kind="sql")
        if graph.snapshot(options.namespace).basis.transaction == 0:
            load(graph, options.statements)
        found = list(rows(graph, graph._engine, options.namespace, options.said, options.runs))
        graph.close()
    head = ("said by the limit", "question", "first ms (on the processor)", "p50 / p95 ms", "on the processor", "peak")
    print(table(head, found))


if __name__ == "__main__":
    main()
