"""`python -m benchmarks.identity`: what joins cost - committing them at size, and what reading pays for looking components up."""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event, insert

from benchmarks.asof import Execute, ask, in_process, questions
from benchmarks.facts import PREDICATES, START
from benchmarks.measuring import machine, percentile, table, timed
from graph.ledger.bulk import BulkInsert
from graph.ledger.database import open_database
from graph.ledger.preparing import Preparer
from graph.ledger.schema import OPEN, claims, episodes, labels, statements, things, transactions
from graph.ledger.stored_identity import StoredIdentity
from graph.opening import LEDGER, open_graph
from graph.service import LedgerGraph
from graph.views import StatedClaim
from ontology.claim import ClaimDraft, ObjectDraft
from ontology.episode import EpisodeDraft
from ontology.instant import MINUTE, UNBOUNDED_FUTURE, format_instant
from ontology.loading import load_vocabulary
from ontology.names import normalise

BATCH = 1000
_CLAIMS, _STATEMENTS, _THINGS, _LABELS = (BulkInsert(table) for table in (claims, statements, things, labels))


class Loading:
    """Facts put into a ledger as rows, each alone in its slot: what committing them would give, without resolving a million slots."""

    def __init__(self, graph: LedgerGraph, engine: Engine, per_entity: int) -> None:
        self._graph = graph
        self._engine = engine
        self._per_entity = per_entity
        self._named: Counter[tuple[str, str, str | None]] = Counter()

    def load(self, count: int) -> None:
        """`count` claims, a thousand to an episode and transaction."""
        preparer = Preparer("default", self._graph.keys, self._graph.vocabulary(), START, lambda _: None)
        for number, first in enumerate(range(0, count, BATCH), start=1):
            self._commit(preparer, number, first)
        with self._engine.execution_options(writes=True).begin() as connection:
            rows = [(key, name, datatype, times) for (key, name, datatype), times in self._named.items()]
            since = {"tx_from": 1, "tx_to": OPEN}
            _LABELS(connection, [{"thing": key, "kind": "name", "value": name, "count": times, **since} for key, name, _, times in rows])
            _THINGS(connection, [_thing(key, name, datatype) | since for key, name, datatype, _ in rows])

    def _commit(self, preparer: Preparer, number: int, first: int) -> None:
        stated = [self._stated(at) for at in range(first, first + BATCH)]
        said = format_instant(START + (first + BATCH) * MINUTE)
        episode = EpisodeDraft("", "benchmark", external_id=f"batch {number}", said_at=said)
        prepared = preparer.stated(episode, stated, drop_bad_dates=False)
        lives = {"tx_from": number, "tx_to": OPEN}
        with self._engine.execution_options(writes=True).begin() as connection:
            connection.execute(insert(episodes), {**prepared.row, **lives, "tx_recorded": number, "tx_extracted": number})
            _CLAIMS(connection, [{**claim, **lives} for claim in prepared.claims])
            _STATEMENTS(connection, [_statement(claim) | lives for claim in prepared.claims])
            row = {"number": number, "namespace": "default", "at": START + number, "kind": "assert", "actor": "benchmark", "reason": None}
            connection.execute(insert(transactions), row)
        for claim in prepared.claims:
            self._named[claim["subject"], claim["subject_text"], None] += 1
            self._named[claim["object"], claim["object_text"], claim["datatype"]] += 1

    def _stated(self, number: int) -> StatedClaim:
        subject, slot = divmod(number, self._per_entity)
        # Half of the values are rare, half are shared by a thousandth of the entities.
        value = f"value {number % 997}" if slot % 2 else f"value {number}"
        said = format_instant(START + number * MINUTE)
        return StatedClaim(ClaimDraft(f"entity {subject}", PREDICATES[slot], ObjectDraft(value), valid_from=said))


def _thing(key: str, name: str, datatype: str | None) -> dict[str, Any]:
    folded = normalise(name)
    return {"namespace": "default", "key": key, "datatype": datatype, "name": name, "folded": folded, "own": folded, "type": None}


def _statement(claim: dict[str, Any]) -> dict[str, Any]:
    names = ("namespace", "proposition", "slot", "inverse_slot", "subject", "predicate", "qualifier", "object", "polarity")
    interval = {"v_from": claim["from_lo"], "v_to": UNBOUNDED_FUTURE}
    return (
        {name: claim[name] for name in names}
        | {"base": claim["proposition"], "object_is_literal": claim["datatype"] is not None}
        | interval
    )


@contextmanager
def without_looking_up() -> Iterator[None]:
    """No component is looked up: everything denotes itself. For what looking up costs where nothing is joined."""
    found = StoredIdentity._find
    StoredIdentity._find = lambda self, keys: set()  # type: ignore[method-assign]
    try:
        yield
    finally:
        StoredIdentity._find = found  # type: ignore[method-assign]


def reads(execute: Execute, entities: int, runs: int) -> dict[str, tuple[float, float]]:
    """p50 and p95 of each question, in milliseconds."""
    found = {}
    for name, (document, variables) in questions(entities).items():
        times = timed(runs, partial(ask, execute, document, variables), warm_up=50)
        found[name] = (percentile(times, 0.5), percentile(times, 0.95))
    return found


def join(graph: LedgerGraph, pairs: list[tuple[str, str]]) -> list[float]:
    """Milliseconds of each merge."""
    times = []
    for one, other in pairs:
        keys = [graph.keys.entity("default", name) for name in (one, other)]
        start = time.perf_counter()
        graph.merge("default", keys)
        times.append((time.perf_counter() - start) * 1000)
    return times


def main() -> None:
    """Print two tables: committing joins, and reading."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--claims", type=int, default=1_000_000)
    parser.add_argument("--per-entity", type=int, default=10)
    parser.add_argument("--joins", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=400)
    arguments = parser.parse_args()
    entities = arguments.claims // arguments.per_entity
    print(machine(), f"\n{arguments.claims:,} claims, {entities:,} entities, {arguments.joins:,} joins\n", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        graph = open_graph(folder, load_vocabulary(), kind="sql")
        engine = open_database(f"sqlite:///{folder / LEDGER}")
        # Only for loading: a power cut may spoil it. The index pages of a million claims stay in memory.
        event.listen(
            engine, "connect", lambda connection, _: connection.executescript("PRAGMA synchronous=OFF; PRAGMA cache_size=-2000000")
        )
        engine.dispose()
        started = time.perf_counter()
        Loading(graph, engine, arguments.per_entity).load(arguments.claims)
        print(f"loaded in {time.perf_counter() - started:.0f} s\n", flush=True)
        compared: dict[str, dict[str, tuple[float, float]]] = {}
        with in_process(folder) as execute:
            with without_looking_up():
                compared["nothing looked up"] = reads(execute, entities, arguments.runs)
            compared["before any join"] = reads(execute, entities, arguments.runs)
        chance = random.Random(7)
        pairs = [tuple(f"entity {number}" for number in chance.sample(range(entities), 2)) for _ in range(arguments.joins)]
        kinds: dict[str, Callable[[], list[float]]] = {
            "two entities at random": lambda: join(graph, pairs),  # type: ignore[arg-type]
            "two values of a thousandth of the claims each": lambda: join(graph, [("value 3", "value 5"), ("value 8", "value 11")]),
            "such a value and a rare one": lambda: join(graph, [(f"value {2 * n + 21}", f"value {20 * n + 2000}") for n in range(20)]),
        }
        rows = []
        for kind, act in kinds.items():
            times = act()
            rows.append((kind, len(times), *(f"{percentile(times, share):.1f}" for share in (0.5, 0.95, 0.99)), f"{max(times):.1f}"))
        print(table(("joins", "number", "p50 ms", "p95 ms", "p99 ms", "most ms"), rows), "\n")
        with in_process(folder) as execute:
            compared["after the joins"] = reads(execute, entities, arguments.runs)
            with without_looking_up():
                compared["after the joins, nothing looked up"] = reads(execute, entities, arguments.runs)
        names = list(questions(entities))
        print(table(("p50 / p95 ms", *names), [(kind, *(f"{r[n][0]:.2f} / {r[n][1]:.2f}" for n in names)) for kind, r in compared.items()]))
        graph.close()
        engine.dispose()


if __name__ == "__main__":
    main()
