"""`python -m benchmarks.engines [--sizes 10000 100000 1000000] [--data FOLDER]`: every query of the graph's port by engine and size.

Each engine (Kuzu, Ladybug, the ledger's own tables, and the plain table where it can answer) runs in a process of its own, on ledgers of
`benchmarks.bulk_ledger`, which are made where FOLDER does not hold them (`FOLDER/l10000/ledger.db`) and kept there; without `--data` they
are thrown away. Graphs are always built anew. The engines must give the same answers. Prints Markdown; times are of the clock, the
processor's in brackets: where other work is on the cores, these say more. All of it takes about ten minutes of an idle machine, most of
that the ledgers where none are kept; no query is asked for longer than some seconds, so graphs of a million take four.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import blake2b
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypedDict

from sqlalchemy import Engine, func, select

from benchmarks.bulk_ledger import NAMESPACE, START, YEARS, Facts, load
from benchmarks.measuring import machine, percentile, table
from benchmarks.plain import PlainTable
from graph.ledger.database import open_database
from graph.ledger.schema import OPEN, statements, transactions
from graph.opening import LEDGER
from graph.store.driver import Native
from graph.store.feed import Feed
from graph.store.kuzu_engine import KuzuStore
from graph.store.pattern_plan import Known, Plan, Step, Variable
from graph.store.port import GraphBasis, GraphStore
from graph.store.settings import GraphSettings
from graph.store.sql_engine import SqlStore
from ontology.errors import QueryTooComplex
from ontology.instant import DAY
from ontology.loading import load_vocabulary

ENGINES = ("kuzu", "ladybug", "sql", "plain")
SECONDS = 6.0
"""No query is asked for longer, but for the call at hand; where that cuts it short, the figure says of how many calls it is."""
LEFT = 2
"""Transactions that a graph follows after it was loaded."""
CHECKED = 3
"""So many answers of each query are compared between the engines; these calls come first, and do not count unless there are no others."""
HOPS = 3
P, C = Variable("p"), Variable("c")


class Question(NamedTuple):
    """What is asked: of an entity, of one of its slots, and how it is connected with another entity."""

    subject: str
    predicate: str
    qualifier: str
    at: int
    other: str


class Found(TypedDict):
    """What one engine has shown at one size."""

    queries: dict[str, str]
    answers: dict[str, list[str]]
    work: dict[str, str]


def questions(engine: Engine, count: int) -> list[Question]:
    """Of random statements, so what is talked of much is asked for much; each at an instant of its own."""
    random = Random(3)
    columns = (statements.c.subject, statements.c.predicate, statements.c.qualifier)
    found: list[tuple[str, str, str]] = []
    with engine.connect() as connection:
        last = connection.scalar(select(func.max(statements.c.row))) or 1
        while len(found) < count:
            query = select(*columns).where(statements.c.row >= random.randint(1, last), statements.c.polarity).limit(1)
            row = connection.execute(query.order_by(statements.c.row)).first()
            if row is not None:
                found.append((row.subject, row.predicate, row.qualifier))
    times = [START + random.randrange(YEARS * 365) * DAY for _ in found]
    return [Question(*one, at, other[0]) for one, at, other in zip(found, times, (*found[1:], found[0]), strict=True)]


def measured(call: Callable[[Question], object], asked: Sequence[Question]) -> tuple[str, list[str]]:
    """p50 / p95 of the clock and the mean of the processor, in ms, over calls that come after the first few; digests of those' answers.

    Where the first few take all the time that there is, they count themselves. Of a refused question the digest is empty.
    """
    answers: list[str] = []
    clock: list[float] = []
    processor: list[float] = []
    began = time.perf_counter()
    for number, question in enumerate(asked):
        if number >= CHECKED and clock and time.perf_counter() - began > SECONDS:
            break
        if number == CHECKED and time.perf_counter() - began < SECONDS:
            clock, processor = [], []
        started = time.perf_counter(), time.process_time()
        try:
            answer = blake2b(repr(call(question)).encode(), digest_size=8).hexdigest()
        except QueryTooComplex:
            answer = ""
        clock.append((time.perf_counter() - started[0]) * 1e3)
        processor.append((time.process_time() - started[1]) * 1e3)
        if number < CHECKED:
            answers.append(answer)
    figure = f"{percentile(clock, 0.5):.2f} / {percentile(clock, 0.95):.2f} ({sum(processor) / len(processor):.2f})"
    figure += f", {len(clock)} calls" if len(clock) < len(asked) - CHECKED else ""
    figure += f", {answers.count('')} of {CHECKED} refused" if "" in answers else ""
    return figure, answers


def ask_all(
    calls: dict[str, tuple[Callable[[Question], object], int]], asked: Sequence[Question]
) -> tuple[dict[str, str], dict[str, list[str]]]:
    """How long each query takes, and digests of its first answers."""
    figures, answers = {}, {}
    for name, (call, times) in calls.items():
        figures[name], answers[name] = measured(call, asked[: times + CHECKED])
    return figures, answers


def of_port(store: GraphStore, transaction: int) -> dict[str, tuple[Callable[[Question], object], int]]:
    """The queries of the port, and how often each is asked."""

    def basis(question: Question) -> GraphBasis:
        return GraphBasis(NAMESPACE, question.at, transaction)

    def near(depth: int, question: Question) -> object:
        return store.neighbors(basis(question), question.subject, depth, 1_000)

    def colleagues(question: Question) -> object:
        plan = Plan((Step(Known(question.subject), question.predicate, C), Step(P, question.predicate, C)))
        return store.match(basis(question), plan, 20)

    def path(question: Question) -> object:
        return store.paths(basis(question), question.subject, question.other, HOPS, 20)

    return {
        "statements in a slot": (lambda q: store.statements_in_slot(basis(q), q.subject, q.predicate, q.qualifier), 1_000),
        "statements about an entity": (lambda q: store.statements_about(basis(q), q.subject), 1_000),
        **{f"neighbours, depth {depth}": (partial(near, depth), times) for depth, times in ((1, 200), (2, 100), (3, 30))},
        "match: who shares a value": (colleagues, 50),
        f"paths, up to {HOPS} hops": (path, 50),
    }


@contextmanager
def spent(work: dict[str, str], what: str) -> Iterator[None]:
    """Notes how long something takes."""
    clock, processor = time.perf_counter(), time.process_time()
    yield
    work[what] = f"{time.perf_counter() - clock:.1f} s ({time.process_time() - processor:.1f} s)"


def peak() -> str:
    """The most memory that this process has had."""
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB"


def graph(native: Native, engine: Engine, folder: Path) -> Found:
    """Load a graph but for the last transactions, follow these, and ask."""
    vocabulary = load_vocabulary()
    feed = Feed(engine, lambda _transaction: vocabulary)
    settings = GraphSettings(engine=native)
    path, work = folder / f"graph.{native}", dict[str, str]()
    last = feed.last()
    with spent(work, "rebuild"):
        store = KuzuStore(path, feed.keys, settings.model_copy(update={"buffer_pool_mb": settings.load_pool_mb}))
        store.load(feed.whole(last - LEFT))
        store.close()
    work["peak memory of the rebuild"] = peak()
    for upto, way, copy_from in ((last - 1, "prepared statements", 10**9), (last, "COPY", 1)):
        (batch,) = feed.batches(upto - 1, upto)
        store = KuzuStore(path, feed.keys, settings.model_copy(update={"copy_from": copy_from}))
        with spent(work, f"following one transaction of 1,000 claims by {way}"):
            store.apply(batch)
        store.close()
    store = KuzuStore(path, feed.keys, settings)
    figures, answers = ask_all(of_port(store, last), questions(engine, 1_000))
    store.close()
    work["file"] = f"{path.stat().st_size / 2**20:,.0f} MB"
    work["peak memory"] = peak()
    return Found(queries=figures, answers=answers, work=work)


def sql(engine: Engine, ledger: Path) -> Found:
    """Ask the ledger."""
    store = SqlStore(engine)
    figures, answers = ask_all(of_port(store, store.watermark()), questions(engine, 1_000))
    work = {"file": f"{ledger.stat().st_size / 2**20:,.0f} MB", "peak memory": peak()}
    return Found(queries=figures, answers=answers, work=work)


def plain(engine: Engine, ledger: Path, folder: Path) -> Found:
    """The rectangles in a table as one would write it by hand, which knows the present belief of slots and subjects alone."""
    found, work = PlainTable(folder / "plain.db"), dict[str, str]()
    with spent(work, "rebuild"):
        found.connection.execute("ATTACH ? AS ledger", (str(ledger),))
        columns = "subject, predicate, object, v_from, v_to, tx_from, tx_to"
        found.connection.execute(f"INSERT INTO facts SELECT {columns} FROM ledger.statements WHERE polarity")
        found.connection.execute("DETACH ledger")
    calls: dict[str, tuple[Callable[[Question], object], int]] = {
        "statements in a slot": (lambda q: found.slot(q.subject, q.predicate, q.at), 1_000),
        "statements about an entity": (lambda q: found.entity(q.subject, q.at), 1_000),
    }
    figures, _ = ask_all(calls, questions(engine, 1_000))
    found.connection.close()
    work |= {"file": f"{(folder / 'plain.db').stat().st_size / 2**20:,.0f} MB", "peak memory": peak()}
    return Found(queries=figures, answers={}, work=work)


def one(name: str, ledger: Path) -> Found:
    """What one engine shows, in this process."""
    engine = open_database(f"sqlite:///{ledger}")
    try:
        with TemporaryDirectory() as folder:
            if name == "sql":
                return sql(engine, ledger)
            if name == "plain":
                return plain(engine, ledger, Path(folder))
            return graph("kuzu" if name == "kuzu" else "ladybug", engine, Path(folder))
    finally:
        engine.dispose()


def measure(ledger: Path, engines: Sequence[str]) -> dict[str, Found]:
    """What each engine shows, in a process each. Raises RuntimeError where two differ in an answer."""
    found: dict[str, Found] = {}
    for name in engines:
        command = [sys.executable, "-m", "benchmarks.engines", "--one", name, "--ledger", str(ledger)]
        found[name] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    known: dict[tuple[str, int], str] = {}
    for name, each in found.items():
        for query, digests in each["answers"].items():
            for place, digest in enumerate(digests):
                # How much is too much each engine counts for itself.
                if digest and known.setdefault((query, place), digest) != digest:
                    raise RuntimeError(f"{name} answers a question differently: {query}, number {place + 1}")
    return found


def size_of(ledger: Path) -> str:
    """Statements and transactions of a ledger, for a heading."""
    engine = open_database(f"sqlite:///{ledger}")
    with engine.connect() as connection:
        rows = connection.scalar(select(func.count(statements.c.row)))
        believed = connection.scalar(select(func.count(statements.c.row)).where(statements.c.tx_to == OPEN))
        commits = connection.scalar(select(func.count(transactions.c.number)))
    engine.dispose()
    return f"{rows:,} rectangles, {believed:,} of them believed, {commits:,} transactions"


def rows_of(found: dict[str, Found], kind: str, size: int) -> list[list[Any]]:
    """Lines of one table: what, at which size, and a cell for each engine."""
    parts: dict[str, dict[str, str]] = {name: each["queries"] if kind == "queries" else each["work"] for name, each in found.items()}
    names = list(dict.fromkeys(what for part in parts.values() for what in part))
    return [[what, f"{size:,}", *(part.get(what, "") for part in parts.values())] for what in names]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000], help="claims of each ledger")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES)
    parser.add_argument("--data", type=Path, help="where ledgers are kept")
    parser.add_argument("--one", choices=ENGINES, help=argparse.SUPPRESS)
    parser.add_argument("--ledger", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        sys.stdout.write(json.dumps(one(options.one, options.ledger)))
        return
    print(machine(), flush=True)
    queries: list[list[Any]] = []
    works: list[list[Any]] = []
    with TemporaryDirectory() as thrown_away:
        for size in options.sizes:
            folder = (options.data or Path(thrown_away)) / f"l{size}"
            if not (folder / LEDGER).exists():
                load(folder, Facts(size))
            print(f"\n{size:,} claims: {size_of(folder / LEDGER)}", flush=True)
            found = measure(folder / LEDGER, options.engines)
            queries += rows_of(found, "queries", size)
            works += rows_of(found, "work", size)
    print("\n" + table(["p50 / p95 (CPU), ms", "claims", *options.engines], sorted(queries, key=lambda row: _place(queries, row))))
    print("\n" + table(["clock (CPU)", "claims", *options.engines], sorted(works, key=lambda row: _place(works, row))))


def _place(rows: Sequence[Sequence[Any]], row: Sequence[Any]) -> int:
    """Where the first line on the same thing stands: so the sizes of one thing come together."""
    return next(place for place, other in enumerate(rows) if other[0] == row[0])


if __name__ == "__main__":
    main()
