"""The graph's engines beside each other: `python -m benchmarks.store [--statements 1000 100000] [--joined 0.1]`. Prints Markdown.

The ledger is synthetic: entities with a skewed number of statements, a tenth of which supersede, one claim each. Of
`--joined` of the entities every two are one.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import Connection, Engine, insert, text

from graph.ledger.database import open_database
from graph.ledger.schema import OPEN, claims, components, episodes, settings, statements, things, transactions
from graph.store.feed import Feed
from graph.store.kuzu_engine import KuzuStore
from graph.store.port import GraphBasis, GraphStore
from graph.store.settings import GraphSettings
from graph.store.sql_engine import SqlStore
from ontology.instant import UNBOUNDED_FUTURE
from ontology.names import Keys
from ontology.vocabulary import Cardinality, Predicate, Vocabulary

PER_TRANSACTION = 100
KEYS = Keys(b"benchmark")
VOCABULARY = Vocabulary("benchmark", {f"p{number}": Predicate(f"p{number}", cardinality=Cardinality.ONE) for number in range(0, 40, 2)}, {})


def vocabulary_at(_transaction: int) -> Vocabulary:
    """The even predicates have one value at a time."""
    return VOCABULARY


def _episode(number: int) -> dict[str, Any]:
    key = KEYS.digest("episode", str(number))
    return {
        "row": number,
        "namespace": "default",
        "key": key,
        "revision": key,
        "content": "",
        "source": "benchmark",
        "said": number,
        "revised": number,
        "rank": 1,
        "flags": [],
        "order_text": "",
        "status": "EXTRACTED",
        "tx_recorded": number,
        "tx_extracted": number,
        "tx_from": number,
        "tx_to": OPEN,
    }


HUB = KEYS.entity("default", "e0")


def _pair(row: int, random: Random, entities: int, hub: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """A statement and its claim."""
    subject, value = (KEYS.entity("default", f"e{int(entities * random.random() ** 2)}") for _ in range(2))
    subject = HUB if hub else subject
    number = 1 + (row - 1) // PER_TRANSACTION
    predicate = f"p{random.randrange(40)}"
    slot = KEYS.slot("default", subject, predicate, "")
    proposition = KEYS.proposition("default", subject, predicate, "", value, symmetric=False)
    both = {
        "row": row,
        "namespace": "default",
        "slot": slot,
        "subject": subject,
        "predicate": predicate,
        "qualifier": "",
        "object": value,
        "polarity": True,
        "proposition": proposition,
        "tx_from": number,
    }
    bounds = {"base": proposition, "v_from": row, "v_to": UNBOUNDED_FUTURE, "tx_to": OPEN, "object_is_literal": False}
    episode = KEYS.digest("episode", str(number))
    claim = {
        "id": f"{row:032x}",
        "episode": episode,
        "revision": episode,
        "place": row % PER_TRANSACTION,
        "kind": "STATE",
        "said": row,
        "rank": 1,
        "additive": False,
        "modality": "ASSERTED",
        "confidence": 0.9,
        "rule": "benchmark",
        "extractor": "benchmark",
        "start": 0,
        "end": 1,
        "subject_text": "",
        "object_text": "",
        "believed": True,
        "tx_to": OPEN,
    }
    return both | bounds, both | claim


def _rows(connection: Connection, table: Any, rows: Sequence[dict[str, Any]]) -> None:
    for start in range(0, len(rows), 5_000):
        connection.execute(insert(table), rows[start : start + 5_000])


def _memberships(names: Sequence[str]) -> list[dict[str, Any]]:
    """Every two are one from the first transaction on."""
    keys = [KEYS.entity("default", name) for name in names]
    pairs = [sorted(keys[place : place + 2]) for place in range(0, len(keys) - 1, 2)]
    row = {"namespace": "default", "tx_from": 1, "tx_to": OPEN}
    return [{**row, "member": key, "root": pair[0]} for pair in pairs for key in pair]


def fill(engine: Engine, count: int, joined: float, hub: int = 0) -> int:
    """A ledger of `count` statements, every `hub`th of them about one entity; returns the number of its entities."""
    random = Random(5)
    entities = max(50, count // 10)
    pairs = [_pair(row, random, entities, hub > 0 and row % hub == 0) for row in range(1, count + 1)]
    # A tenth is closed later, and its successor ends where another begins.
    for statement, _ in random.sample(pairs[: count * 9 // 10], count // 10):
        statement["tx_to"] = min(statement["tx_from"] + 3, 1 + (count - 1) // PER_TRANSACTION)
        if statement["tx_to"] == statement["tx_from"]:
            statement["tx_to"] = OPEN
    last = pairs[-1][0]["tx_from"]
    names = [f"e{number}" for number in range(entities)]
    with engine.begin() as connection:
        connection.execute(insert(settings), [{"name": "secret", "value": b"benchmark"}])
        base = {"namespace": "default", "kind": "INGEST", "actor": "benchmark"}
        _rows(connection, transactions, [{**base, "number": number, "at": number} for number in range(1, last + 1)])
        _rows(connection, episodes, [_episode(number) for number in range(1, last + 1)])
        thing = {"namespace": "default", "tx_from": 1, "tx_to": OPEN}
        _rows(connection, things, [{**thing, "key": KEYS.entity("default", name), "name": name, "folded": name} for name in names])
        _rows(connection, components, _memberships(random.sample(names, int(joined * entities))))
        _rows(connection, statements, [statement for statement, _ in pairs])
        _rows(connection, claims, [claim for _, claim in pairs])
        connection.execute(text("ANALYZE"))
    return entities


def timed(work: Callable[[], object]) -> float:
    """Seconds that it takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def percentiles(work: Callable[[str], object], keys: Sequence[str]) -> str:
    """p50 and p95 in milliseconds over calls with each key."""
    times = sorted(timed(lambda key=key: work(key)) * 1e3 for key in keys)  # type: ignore[misc]
    return f"{statistics.median(times):.2f} / {times[int(len(times) * 0.95)]:.2f}"


def queries(store: GraphStore, basis: GraphBasis, entities: int) -> dict[str, str]:
    """p50 / p95 of every query."""
    random = Random(6)
    keys = [KEYS.entity("default", f"e{random.randrange(entities)}") for _ in range(60)]
    predicates = {key: f"p{random.randrange(40)}" for key in keys}
    found = {
        "statements in a slot": percentiles(lambda key: store.statements_in_slot(basis, key, predicates[key]), keys),
        "statements about an entity": percentiles(lambda key: store.statements_about(basis, key), keys),
    }
    for depth, calls in ((1, 60), (2, 30), (3, 10)):
        walk = percentiles(lambda key, depth=depth: store.neighbors(basis, key, depth, 1_000), keys[:calls])  # type: ignore[misc]
        found[f"neighbours, depth {depth}"] = walk
    return found


def rates(engine: Engine, folder: Path, count: int) -> tuple[list[str], KuzuStore]:
    """Lines on how fast a graph is filled, and the filled graph."""
    feed = Feed(engine, vocabulary_at)
    lines = []
    ways = (
        (100, "prepared statements, 100 a transaction", 10**9, 1_000),
        (1_000, "COPY, 1,000", 1, 4_000),
        (10_000, "COPY, 10,000", 1, 40_000),
    )
    for rows, what, copy_from, most in ways:
        some = min(count, most)
        if some < rows:
            continue
        upto = some // PER_TRANSACTION
        pieces = Feed(engine, vocabulary_at, batch_rows=rows)
        store = KuzuStore(folder / f"{rows}.kuzu", feed.keys, GraphSettings(copy_from=copy_from))
        # The first batch has all entities.
        first = next(pieces.batches(0, 1))
        store.apply(first)
        seconds = timed(lambda store=store, pieces=pieces, upto=upto: [store.apply(b) for b in pieces.batches(1, upto)])  # type: ignore[misc]
        lines.append(f"| {what} | {(some - PER_TRANSACTION) / seconds:,.0f} |")
        store.close()
    whole = KuzuStore(folder / "whole.kuzu", feed.keys, GraphSettings())
    reading = timed(lambda: [part.size() for part in feed.whole(feed.last())])
    seconds = timed(lambda: whole.load(feed.whole(feed.last())))
    lines.append(f"| rebuild | {count / seconds:,.0f} (reading the ledger alone: {count / reading:,.0f}) |")
    return lines, whole


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--statements", type=int, nargs="+", default=[1_000, 100_000])
    parser.add_argument("--joined", type=float, default=0.0)
    arguments = parser.parse_args()
    for count in arguments.statements:
        with TemporaryDirectory() as name:
            engine = open_database(f"sqlite:///{name}/ledger.db")
            entities = fill(engine, count, arguments.joined)
            print(f"\n### {count:,} statements\n", flush=True)
            lines, kuzu = rates(engine, Path(name), count)
            print("| writing (kuzu) | statements/s |\n|---|---|")
            print("\n".join(lines))
            sql = SqlStore(engine)
            basis = GraphBasis("default", count, sql.watermark())
            by_kuzu, by_sql = queries(kuzu, basis, entities), queries(sql, basis, entities)
            print("\n| p50 / p95, ms | kuzu | sql |\n|---|---|---|")
            for query, figures in by_kuzu.items():
                print(f"| {query} | {figures} | {by_sql[query]} |")
            kuzu.close()
            engine.dispose()


if __name__ == "__main__":
    main()
