"""`python -m benchmarks.asof`: latency of as-of reads in-process and over HTTP, beside a plain bi-temporal table."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from api.cli.link import LocalLink
from api.settings import Settings
from api.wiring import open_service
from benchmarks.facts import PREDICATES, SLOTS, START, batched, record
from benchmarks.measuring import machine, percentile, table, timed
from benchmarks.plain import PlainTable
from graph.opening import open_graph
from ontology.instant import DAY, format_instant
from ontology.loading import load_vocabulary

AT = START + 4000 * DAY
SLOT = """query Slot($at: DateTime, $name: String!, $predicates: [String!]) { asOf(validAt: $at) { entity(name: $name) {
  statements(role: SUBJECT, filter: {predicates: $predicates}) { edges { node { object { ... on Entity { name } ... on Literal { value } }
  validTime { from to } } } } } } }"""
ENTITY = """query Entity($at: DateTime, $name: String!) { asOf(validAt: $at) { entity(name: $name) {
  statements(role: SUBJECT, first: 20) { edges { node { predicate { name } object { ... on Entity { name } ... on Literal { value } }
  validTime { from } } } } } } }"""
TIMELINE = """query Timeline($at: DateTime, $name: String!, $predicate: String!) { asOf(validAt: $at) {
  timeline(subject: {name: $name}, predicate: $predicate) { segments { validTime { from to } statements {
  object { ... on Entity { name } ... on Literal { value } } } } } } }"""

Execute = Callable[[str, dict[str, Any]], dict[str, Any]]


def questions(entities: int) -> dict[str, tuple[str, Callable[[int], dict[str, Any]]]]:
    """Each question as a document and the variables of its n-th asking, spread over the entities."""

    def entity(number: int) -> str:
        return f"entity {number * 7919 % entities}"

    at = format_instant(AT)
    return {
        "slot": (SLOT, lambda n: {"at": at, "name": entity(n), "predicates": [PREDICATES[n % SLOTS]]}),
        "entity, 20 statements of 3 fields": (ENTITY, lambda n: {"at": at, "name": entity(n)}),
        "timeline": (TIMELINE, lambda n: {"at": at, "name": entity(n), "predicate": PREDICATES[n % SLOTS]}),
    }


def baseline(plain: PlainTable, entities: int) -> dict[str, Callable[[int], object]]:
    """The same questions of the plain table."""
    return {
        "slot": lambda n: plain.slot(f"entity {n * 7919 % entities}", PREDICATES[n % SLOTS], AT),
        "entity, 20 statements of 3 fields": lambda n: plain.entity(f"entity {n * 7919 % entities}", AT),
        "timeline": lambda n: plain.timeline(f"entity {n * 7919 % entities}", PREDICATES[n % SLOTS]),
    }


def load(folder: Path, count: int) -> PlainTable:
    """The facts in a data folder and in a plain table."""
    graph = open_graph(folder, load_vocabulary(), kind="sql")
    plain = PlainTable(folder / "plain.db")
    for number, batch in enumerate(batched(count, 1000)):
        record(graph, "default", batch, f"batch {number}")
        plain.record(batch)
    graph.close()
    return plain


@contextmanager
def over_http(folder: Path) -> Iterator[Execute]:
    """A real server of the folder in its own process, and a client with a kept connection."""
    command = [sys.executable, "-m", "api.cli", "serve", "--data", str(folder), "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "ERSTWHILE_GRAPH_ENGINE": "sql"})
    try:
        assert server.stdout is not None
        url = server.stdout.readline().split(" at ", 1)[1].split("/graphql", 1)[0]
        # The standard library's client: a richer one adds a millisecond of its own to every answer.
        client = HTTPConnection(url.removeprefix("http://"), timeout=60)
        for _ in range(600):
            client.request("GET", "/readyz")
            answer = client.getresponse()
            answer.read()
            if answer.status == HTTPStatus.OK:
                break
            time.sleep(0.1)

        def execute(document: str, variables: dict[str, Any]) -> dict[str, Any]:
            body = json.dumps({"query": document, "variables": variables})
            client.request("POST", "/graphql", body, {"Content-Type": "application/json", "Accept": "application/json"})
            answer = json.loads(client.getresponse().read())
            assert "errors" not in answer, answer
            return dict(answer["data"])

        yield execute
        client.close()
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(30)


@contextmanager
def in_process(folder: Path) -> Iterator[Execute]:
    """The schema in this process."""
    with asyncio.Runner() as runner:
        service = open_service(Settings(data=folder, graph_engine="sql"))
        try:
            yield LocalLink(service, runner, "default").execute
        finally:
            service.close()


def ask(execute: Execute, document: str, variables: Callable[[int], dict[str, Any]], number: int) -> object:
    """Ask a question for the n-th time."""
    return execute(document, variables(number))


def measured(calls: Mapping[str, Callable[[int], object]], runs: int) -> dict[str, str]:
    """p50 and p95 of each question."""
    found = {}
    for name, call in calls.items():
        times = timed(runs, call, warm_up=min(runs, 50))
        found[name] = f"{percentile(times, 0.5):.2f} / {percentile(times, 0.95):.2f}"
    return found


def main() -> None:
    """Print one table: p50 / p95 in milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 100_000])
    parser.add_argument("--runs", type=int, default=500)
    options = parser.parse_args()
    print(machine())
    rows = []
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            plain = load(folder, size)
            entities = max(1, size // SLOTS - 1)
            asked = questions(entities)
            columns = []
            for reach in (in_process, over_http):
                with reach(folder) as execute:
                    calls = {question: partial(ask, execute, *asked[question]) for question in asked}
                    columns.append(measured(calls, options.runs))
            columns.append(measured(baseline(plain, entities), options.runs))
            rows += [(f"{size:,}", question, *(column[question] for column in columns)) for question in asked]
    print(table(("facts", "question", "in-process p50 / p95 ms", "HTTP p50 / p95 ms", "plain table p50 / p95 ms"), rows))


if __name__ == "__main__":
    main()
