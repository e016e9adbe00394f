"""`python -m benchmarks.told`: what the claims said by K make of a whole namespace: the first answer, and the same again."""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Engine, func, select

from api.wiring import rest_the_collector
from benchmarks.facts import MANY_VALUED, ONE_VALUED
from benchmarks.measuring import machine, table
from graph.ledger.database import open_database
from graph.ledger.schema import OPEN, claims, statements
from graph.ledger.told import Resolution
from graph.opening import LEDGER, open_graph
from graph.service import LedgerGraph
from ontology.claim import ClaimDraft, ClaimKind, ObjectDraft
from ontology.episode import EpisodeDraft
from ontology.instant import DAY, MINUTE, Instant, format_instant
from ontology.loading import load_vocabulary

NAMESPACE = "told"
START = 15_000 * DAY
YEARS = 3650 * DAY
SLOTS = 20
TOGETHER = 5
"""Claims in an episode."""
COMMITTED = 1000
"""Episodes in a transaction."""
T = TypeVar("T")


def claims_of(statements_wanted: int, seed: int = 7) -> list[tuple[Instant, ClaimDraft]]:
    """Claims in the order of their said times: of every tenth one-valued slot 20 to 30 changes, else one or two; values of
    many-valued slots told up to three times; one in thirty a correction, an end or a denial. Some 9 statements of 10 claims.
    """
    draw = random.Random(seed)
    found: list[tuple[Instant, ClaimDraft]] = []
    number = 0
    while len(found) < statements_wanted * 1.13:
        subject, slot = divmod(number, SLOTS)
        number += 1
        one_valued = slot % 2 == 0
        predicate = ONE_VALUED[slot // 2] if one_valued else MANY_VALUED[slot // 2]
        changes = draw.randint(20, 30) if number % 10 == 1 else draw.randint(1, 2) if one_valued else draw.randint(1, 3)
        said = sorted(START + draw.randrange(YEARS // MINUTE) * MINUTE for _ in range(changes))
        values = [f"value {draw.randrange(997)}" for _ in range(changes if one_valued else 1)]
        for place, at in enumerate(said):
            value = values[place % len(values)]
            chance = draw.random()
            kind = ClaimKind.CHANGE if one_valued else ClaimKind.STATE
            replaces = None
            if place and chance < 0.03:
                kind, replaces = ClaimKind.CORRECTION, ObjectDraft(values[(place - 1) % len(values)])
            elif place and chance < 0.06:
                kind = ClaimKind.END
            denied = bool(place) and 0.06 <= chance < 0.08
            found.append(
                (at, ClaimDraft(f"entity {subject}", predicate, ObjectDraft(value), kind=kind, replaces=replaces, polarity=not denied))
            )
    found.sort(key=lambda pair: pair[0])
    return found


def episodes(told: Sequence[tuple[Instant, ClaimDraft]]) -> Iterator[tuple[EpisodeDraft, list[ClaimDraft], Sequence[str]]]:
    """Episodes of a few claims that were said together."""
    for number, part in enumerate(_parts(told, TOGETHER)):
        draft = EpisodeDraft(f"episode {number}", "benchmark", external_id=str(number), said_at=format_instant(part[0][0]))
        yield draft, [claim for _, claim in part], ()


def _parts(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[place : place + size] for place in range(0, len(items), size))


def load(graph: LedgerGraph, statements_wanted: int) -> None:
    """The claims in a namespace, in an order that is not that of their said times."""
    found = list(episodes(claims_of(statements_wanted)))
    random.Random(1).shuffle(found)
    for part in _parts(found, COMMITTED):
        graph.record_extracted(NAMESPACE, part, extractor="benchmark")


def timed(act: Callable[[], Resolution]) -> tuple[Resolution, float, float]:
    """What an act answers with, and its seconds by the wall and on the processor."""
    wall, own = time.perf_counter(), time.process_time()
    found = act()
    return found, time.perf_counter() - wall, time.process_time() - own


def peak() -> int:
    """The most memory that the process has had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def measured(graph: LedgerGraph, engine: Engine, shares: Sequence[float]) -> list[tuple[str, ...]]:
    """A row for each limit: the said time by which a share of the claims was said."""
    transaction = graph.snapshot(NAMESPACE).basis.transaction
    rows: list[tuple[str, ...]] = []
    with engine.connect() as connection:
        said = sorted(connection.scalars(select(claims.c.said).where(claims.c.namespace == NAMESPACE)))
        for share in shares:
            until = said[min(len(said) - 1, int(share * len(said)))]

            def ask(until: Instant = until) -> Resolution:
                return graph.resolutions.at(connection, NAMESPACE, transaction, until)

            found, wall, own = timed(ask)
            _, again, _ = timed(ask)
            sizes = (f"{len(found.gone):,}", f"{len(found.rectangles):,}")
            rows.append((f"{share:.0%}", *sizes, f"{wall:.2f} s", f"{own:.2f} s", f"{again * 1000:.2f} ms", f"{peak()} MiB"))
    return rows


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--statements", type=int, default=100_000)
    parser.add_argument("--said", type=float, nargs="+", default=[0.1, 0.5, 0.9, 1.0], help="shares of the claims that the limits let in")
    parser.add_argument("--data", type=Path, help="a folder to keep the ledger in; used again where it is there")
    options = parser.parse_args()
    print(machine())
    rest_the_collector()
    with tempfile.TemporaryDirectory() as name:
        folder = options.data or Path(name)
        graph = open_graph(folder, load_vocabulary(), kind="sql")
        if graph.snapshot(NAMESPACE).basis.transaction == 0:
            load(graph, options.statements)
        engine = open_database(f"sqlite:///{folder / LEDGER}")
        with engine.connect() as connection:
            believed = select(func.count()).select_from(statements).where(statements.c.tx_to == OPEN)
            print(f"{connection.scalar(believed):,} statements; {peak()} MiB before the first answer")
        rows = measured(graph, engine, options.said)
        graph.close()
        engine.dispose()
    head = ("said by the limit", "propositions resolved again", "rectangles of theirs", "first answer", "on the processor", "again", "peak")
    print(table(head, rows))


if __name__ == "__main__":
    main()
