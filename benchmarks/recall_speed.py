"""`python -m benchmarks.recall_speed`: latency of recall and where it goes, memory, index times, embedding and ingest rates.

Each size has a ledger of its own (`benchmarks.bulk_ledger`) with vectors of random directions; questions are embedded by MiniLM.
Each stage runs in a process of its own, so that the memory it tells of is its own.
"""

from __future__ import annotations

import argparse
import gc
import resource
import shutil
import sqlite3
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from api.wiring import rest_the_collector
from benchmarks.asof import over_http
from benchmarks.bulk_ledger import EXTRACTOR, NAMESPACE, START, YEARS, Facts, join, load, opened, store_vectors
from benchmarks.measuring import machine, percentile, table, timed
from graph.opening import INDEX, LEDGER, open_graph
from graph.recall import arms, recalling, weighing
from graph.recall.admission import Admissions
from graph.recall.embedding.choosing import Choice, EmbedderSettings, choose
from graph.recall.index import Index
from graph.recall.paging import Pager
from graph.recall.recalling import Awaited, Recall
from graph.service import LedgerGraph
from graph.views import Want
from ontology.instant import DAY, Instant
from ontology.loading import load_vocabulary
from workers.embedding import Embedding

DIM = 384
WARM_UP = 20
QUESTION = """query Recall($q: String!, $at: DateTime) { asOf(validAt: $at) { recall(query: $q, first: 10) { edges { score node {
  ... on Statement { text validTime { from to } } } } } } }"""

T = TypeVar("T")

_PARTS: dict[str, list[tuple[Any, str]]] = {
    "waiting for the vector": [(Awaited, "__call__")],
    "catch-up": [(Index, "catch_up")],
    "reading": [(Recall, "_reading")],
    "admission": [(Admissions, "at")],
    "vectors": [(arms, "by_meaning"), (arms, "meaning_of")],
    "words": [(arms, "scored"), (arms, "by_words"), (arms, "words_of")],
    "their documents": [(arms, "documents_of")],
    "PageRank": [(weighing, "_walk"), (weighing, "_reached")],
    "order": [(recalling, "superseded_last"), (recalling, "one_each")],
    "confirming": [(Pager, "_confirmed")],
    "describing": [(Pager, "_described")],
}


def minilm() -> Choice:
    """The default embedder."""
    choice = choose(EmbedderSettings(embedder="minilm"))
    assert choice is not None
    return choice


@contextmanager
def parted() -> Iterator[dict[str, float]]:
    """Seconds by part, while it lasts; a part inside another one counts for itself alone."""
    found: dict[str, float] = defaultdict(float)
    inside = [0.0]

    def watched(part: str, call: Callable[..., T]) -> Callable[..., T]:
        def measured(*args: Any, **named: Any) -> T:
            inside.append(0.0)
            start = time.perf_counter()
            try:
                return call(*args, **named)
            finally:
                took = time.perf_counter() - start
                found[part] += took - inside.pop()
                inside[-1] += took

        return measured

    places = [(part, owner, name, owner.__dict__[name]) for part, each in _PARTS.items() for owner, name in each]
    for part, owner, name, call in places:
        plain = call.__func__ if isinstance(call, staticmethod) else call
        made = watched(part, plain)
        setattr(owner, name, staticmethod(made) if isinstance(call, staticmethod) else made)
    try:
        yield found
    finally:
        for _, owner, name, call in places:
            setattr(owner, name, call)


def peak() -> float:
    """The most memory that this process has had, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def alone(call: Callable[..., T], *args: Any) -> T:
    """What a function answers in a process of its own."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(call, *args).result()


def instant(dice: np.random.Generator) -> Instant:
    """Some time of the ledger's years."""
    return START + int(dice.random() * YEARS * 365 * DAY)


Ask = Callable[[int], object]


def questions(graph: LedgerGraph, facts: Facts) -> dict[str, Ask]:
    """Ways of asking; each question is another one."""

    def now(number: int) -> object:
        return graph.snapshot(NAMESPACE).recall(facts.question(number))

    def back_then(number: int) -> object:
        dice = np.random.default_rng((17, number))
        return graph.snapshot(NAMESPACE, valid_at=instant(dice), recorded_at=instant(dice)).recall(facts.question(1_000_000 + number))

    return {"present": now, "random times": back_then}


def shares(ask: Ask, first: int, runs: int) -> dict[str, float]:
    """Milliseconds of a question by part."""
    with parted() as found:
        start = time.perf_counter()
        for number in range(first, first + runs):
            ask(number)
        whole = time.perf_counter() - start
    found["rest"] = whole - sum(found.values())
    return {part: seconds / runs * 1e3 for part, seconds in found.items()}


def prepare(folder: Path, many: int) -> dict[str, float]:
    """A ledger with vectors; seconds that it took."""
    start = time.perf_counter()
    if not (folder / LEDGER).exists():
        load(folder, Facts(many))
    loaded = time.perf_counter()
    graph = opened(folder, minilm())
    store_vectors(graph, DIM)
    graph.close()
    return {"ledger": loaded - start, "vectors": time.perf_counter() - loaded, "memory": peak()}


def build(folder: Path) -> dict[str, float]:
    """The index made from the ledger and the kept vectors, kept, and taken over again."""
    shutil.rmtree(folder / INDEX, ignore_errors=True)
    graph = opened(folder, minilm())
    start = time.perf_counter()
    graph._recall.index.catch_up()
    made = time.perf_counter()
    graph.close()
    kept = time.perf_counter()
    return {"index made": made - start, "kept": kept - made, "memory": peak()}


def start_again(folder: Path) -> dict[str, float]:
    """Opening with a kept index, and rebuilding it."""
    start = time.perf_counter()
    graph = opened(folder, minilm())
    ready = time.perf_counter()
    memory = peak()
    graph.rebuild_index()
    built = time.perf_counter()
    graph.close()
    return {"start": ready - start, "memory of a start": memory, "rebuild": built - ready, "memory": peak()}


def latency(folder: Path, many: int, runs: int, parts: bool) -> dict[str, Any]:
    """Milliseconds of questions, in-process."""
    graph = opened(folder, minilm())
    facts = Facts(many)
    rest_the_collector()
    found: dict[str, Any] = {}
    for name, ask in questions(graph, facts).items():
        found[name] = timed(runs, ask, warm_up=WARM_UP)
        if parts:
            found[f"{name}, parts"] = shares(ask, runs + WARM_UP, runs)
    index = graph._recall.index
    with sqlite3.connect(folder / LEDGER) as ledger:
        rows = {name: ledger.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in ("claims", "statements", "episodes")}
    found |= {"memory": peak(), "documents": index.documents(), "rows": rows}
    graph.close()
    return found


def limited(folder: Path, many: int, runs: int) -> dict[str, Any]:
    """Milliseconds of the first question under a said-time limit, and of those after it."""
    graph = opened(folder, minilm())
    facts = Facts(many)
    graph.snapshot(NAMESPACE).recall(facts.question(0))
    until = START + YEARS * 365 * DAY // 2

    def ask(number: int) -> object:
        return graph.snapshot(NAMESPACE, evidence_until=until).recall(facts.question(2_000_000 + number))

    first = timed(1, ask, warm_up=0)[0]
    found = {"first": first, "then": timed(runs, ask, warm_up=3), "memory": peak()}
    graph.close()
    return found


def joined(folder: Path, many: int, runs: int, joins: int) -> dict[str, Any]:
    """Milliseconds of questions where entities are joined."""
    graph = opened(folder, minilm())
    facts = Facts(many)
    join(graph, facts, joins)
    store_vectors(graph, DIM)
    rest_the_collector()
    found = {name: timed(runs, ask, warm_up=WARM_UP) for name, ask in questions(graph, facts).items()}
    graph.close()
    return found


def http(folder: Path, many: int, runs: int) -> list[float]:
    """Milliseconds of questions of the present, through a server."""
    facts = Facts(many)
    with over_http(folder) as execute:
        return timed(runs, lambda number: execute(QUESTION, {"q": facts.question(number)}), warm_up=WARM_UP)


def strays(many: int, pairs: int) -> dict[str, float]:
    """Questions on random bases: hits outside their period, those that the ledger did not confirm, and how many there were."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        facts = Facts(many)
        load(folder, facts)
        choice = choose(EmbedderSettings(embedder="hash"))
        graph = open_graph(folder, load_vocabulary(), kind="sql", embedder=choice)
        store_vectors(graph, choice.load().dim if choice is not None else 0)
        rest_the_collector()
        with sqlite3.connect(folder / LEDGER) as ledger:
            known: dict[tuple[str, int, int], list[tuple[int, int]]] = defaultdict(list)
            for *what, tx_from, tx_to in ledger.execute("SELECT proposition, v_from, v_to, tx_from, tx_to FROM statements"):
                known[what[0], what[1], what[2]].append((tx_from, tx_to))
        wrong = hits = 0
        start = time.perf_counter()
        for number in range(pairs):
            dice = np.random.default_rng((19, number))
            at, recorded = instant(dice), instant(dice)
            snapshot = graph.snapshot(NAMESPACE, valid_at=at, recorded_at=recorded)
            transaction = snapshot.basis.transaction
            for hit in snapshot.recall(facts.question(number), want=frozenset({Want.BARE})).page.items:
                node: Any = hit.node
                lives = known[node.stored_key, node.v_from, node.v_to]
                hits += 1
                wrong += not (node.v_from <= at < node.v_to and any(since <= transaction < end for since, end in lives))
        found = {"pairs": pairs, "hits": hits, "outside": wrong, "unconfirmed": graph._recall.mismatches}
        graph.close()
        return found | {"seconds": time.perf_counter() - start}


def embedding_rate(many: int, workers: int) -> float:
    """Texts of statements that MiniLM embeds in a second, in the background as the service does."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        load(folder, Facts(many))
        choice = minilm()
        graph = opened(folder, choice)
        index = graph._recall.index
        index.catch_up()
        whole = index.waiting(index.watermark)
        embedding = Embedding(graph, choice.load, workers=workers)
        embedding.start()
        while index.waiting(index.watermark) == whole:
            # The processes load their models.
            time.sleep(0.05)
        left, start = index.waiting(index.watermark), time.perf_counter()
        assert embedding.finish(600)
        rate = left / (time.perf_counter() - start)
        embedding.close()
        graph.close()
        return rate


def ingest_rate(many: int, *, each: int) -> float:
    """Statements that are recorded in a second, `each` a commit, until index and vectors (of the hashing embedder) have them."""
    with tempfile.TemporaryDirectory() as name:
        choice = choose(EmbedderSettings(embedder="hash"))
        assert choice is not None
        graph = open_graph(Path(name), load_vocabulary(), kind="sql", embedder=choice)
        embedding = Embedding(graph, choice.load, workers=0)
        graph.when_indexed(embedding.notify)
        embedding.start()
        turns = [turn for session in Facts(many).sessions() for turn in session.episodes]
        start = time.perf_counter()
        waiting: list[Any] = []
        claims = 0
        for turn in turns:
            waiting.append(turn)
            claims += len(turn[1])
            if claims >= each:
                graph.record_extracted(NAMESPACE, waiting, extractor=EXTRACTOR)
                waiting, claims = [], 0
        if waiting:
            graph.record_extracted(NAMESPACE, waiting, extractor=EXTRACTOR)
        assert embedding.finish(600)
        assert not graph._recall.index.waiting(10**9)
        rate = many / (time.perf_counter() - start)
        embedding.close()
        graph.close()
        return rate


def _told(times: list[float]) -> str:
    return " / ".join(f"{percentile(times, share):.1f}" for share in (0.5, 0.95, 0.99))


def _seconds(times: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.1f} {'GiB' if name.startswith('memory') else 's'}" for name, value in times.items())


def measure(folder: Path, many: int, options: argparse.Namespace) -> Iterator[tuple[str, str, str]]:
    """Rows of the table of one size."""
    size = f"{many:,}"
    if not (folder / INDEX).exists():
        yield size, "ledger and vectors made", _seconds(alone(prepare, folder, many))
    if "index" in options.only:
        yield size, "index", _seconds(alone(build, folder))
        yield size, "index again", _seconds(alone(start_again, folder))
    if "latency" in options.only:
        found = alone(latency, folder, many, options.runs, options.parts)
        yield size, "documents, rows", f"{found['documents']:,}, " + ", ".join(f"{n:,} {name}" for name, n in found["rows"].items())
        for name in ("present", "random times"):
            yield size, f"{name}, p50 / p95 / p99 ms", _told(found[name])
            if options.parts:
                told = sorted(found[f"{name}, parts"].items(), key=lambda each: -each[1])
                yield size, f"{name}, mean ms of the parts", ", ".join(f"{part} {ms:.2f}" for part, ms in told)
        yield size, "most memory", f"{found['memory']:.2f} GiB"
    if "http" in options.only:
        yield size, "present, through HTTP", _told(http(folder, many, options.runs))
    if "until" in options.only:
        found = alone(limited, folder, many, options.runs)
        yield size, "`evidenceUntil`: first, then p50 / p95 / p99 ms", f"{found['first']:.0f}, {_told(found['then'])}"
    if "joins" in options.only:
        with tempfile.TemporaryDirectory() as name:
            copy = Path(name) / "copy"
            shutil.copytree(folder, copy)
            for name, times in alone(joined, copy, many, options.runs, options.joins).items():
                yield size, f"{name}, {options.joins} joins", _told(times)


STAGES = ("index", "latency", "http", "until", "joins")
RATES = ("strays", "embedding", "ingest")


def main() -> None:
    """Print a table; rows as they come."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--statements", type=int, nargs="*", default=[100_000, 1_000_000])
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--pairs", type=int, default=10_000, help="random questions and bases")
    parser.add_argument("--joins", type=int, default=100)
    parser.add_argument("--parts", action="store_true", help="where the time goes")
    parser.add_argument("--only", nargs="+", choices=[*STAGES, *RATES], default=[*STAGES, *RATES])
    parser.add_argument("--keep", type=Path, help="keep the ledgers in this folder, and take those that are there")
    options = parser.parse_args()
    gc.freeze()
    print(machine(), "\n")
    print(table(("statements", "what", "figure"), []), flush=True)

    def tell(*row: str) -> None:
        print(f"| {' | '.join(row)} |", flush=True)

    with tempfile.TemporaryDirectory() as name:
        for many in options.statements:
            for row in measure((options.keep or Path(name)) / f"{many}", many, options):
                tell(*row)
    if "strays" in options.only:
        found = alone(strays, 20_000, options.pairs)
        tell("20,000", "random (query, basis) pairs", ", ".join(f"{name} {value:,.0f}" for name, value in found.items()))
    if "embedding" in options.only:
        tell("2,000", "MiniLM, texts/s, 2 processes", f"{alone(partial(embedding_rate, workers=2), 2_000):.0f}")
    if "ingest" in options.only:
        for each in (1_000, 1):
            rate = alone(partial(ingest_rate, each=each), 10_000 if each > 1 else 1_000)
            tell("10,000" if each > 1 else "1,000", f"ingest, hashing embedder, {each:,} a commit", f"{rate:.0f} statements/s")


if __name__ == "__main__":
    main()
