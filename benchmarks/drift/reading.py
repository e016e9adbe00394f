"""Questions of drift at one size, in a process of its own: latency of each, beside the plain table, and the most memory it took."""

from __future__ import annotations

import argparse
import json
import random
import resource
import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api.wiring import rest_the_collector
from benchmarks.bulk_ledger import NAMESPACE
from benchmarks.drift.plain import PlainRectangles
from benchmarks.measuring import percentile, timed
from graph.drift import Pattern, Term
from graph.facade import Snapshot
from graph.ledger.database import open_database
from graph.ledger.schema import OPEN
from graph.ledger.snapshot import NEIGHBORS
from graph.opening import LEDGER, open_graph
from graph.service import LedgerGraph
from graph.store.port import GraphBasis
from graph.store.sql_engine import SqlStore
from graph.views import EntityRef, StatementFilter, Want
from ontology.errors import QueryTooComplex
from ontology.instant import DAY
from ontology.loading import load_vocabulary

MONTH = 30 * DAY
BARE = frozenset({Want.BARE})
_SLOTS = "SELECT subject, predicate FROM statements WHERE row % :step = 0 AND tx_to = :open AND polarity LIMIT 2000"
_EMPLOYERS = """SELECT object FROM statements WHERE predicate = 'works_at' AND row % 7 = 0 AND tx_to = :open AND v_to > :at AND polarity
LIMIT 400"""


@dataclass(frozen=True, slots=True)
class Sampled:
    """What is asked about: slots spread over the ledger, employers, instants and transactions."""

    slots: list[tuple[str, str]]
    employers: list[str]
    first: int
    last: int
    transaction: int

    def at(self, number: int) -> int:
        """An instant of the years told of, another one for each number."""
        return random.Random(number).randrange(self.first + MONTH, self.last)

    def slot(self, number: int) -> tuple[str, str]:
        """A slot."""
        return self.slots[number % len(self.slots)]


def sampled(path: Path) -> Sampled:
    """What a ledger holds to be asked about."""
    ledger = sqlite3.connect(path)
    count = ledger.execute("SELECT max(row) FROM statements").fetchone()[0]
    first, last = ledger.execute("SELECT min(said), max(said) FROM episodes").fetchone()
    slots = ledger.execute(_SLOTS, {"step": max(1, count // 1500), "open": OPEN}).fetchall()
    employers = [row[0] for row in ledger.execute(_EMPLOYERS, {"open": OPEN, "at": last})]
    transaction = ledger.execute("SELECT max(number) FROM transactions").fetchone()[0]
    ledger.close()
    random.Random(3).shuffle(slots)
    return Sampled(slots, employers, first, last, transaction)


Call = Callable[[int], object]


class Questions:
    """Each question by name; a number asks it of another place and time."""

    def __init__(self, graph: LedgerGraph, walks: SqlStore, known: Sampled, plain: PlainRectangles) -> None:
        self._graph = graph
        self._walks = walks
        self._known = known
        self._plain = plain

    def _snapshot(self, number: int, *, until: int | None = None) -> Snapshot:
        return self._graph.snapshot(NAMESPACE, valid_at=self._known.at(number), evidence_until=until)

    def _slot(self, number: int, want: frozenset[Want], until: int | None = None) -> object:
        subject, predicate = self._known.slot(number)
        return self._snapshot(number, until=until).statements_about(subject, "SUBJECT", StatementFilter(predicates=(predicate,)), want=want)

    def _entity(self, number: int, want: frozenset[Want], until: int | None = None) -> object:
        return self._snapshot(number, until=until).statements_about(self._known.slot(number)[0], "ANY", StatementFilter(), want=want)

    def _walk(self, number: int) -> object:
        basis = GraphBasis(NAMESPACE, self._known.at(number), self._known.transaction)
        return self._walks.neighbors(basis, self._known.slot(number)[0], 2, NEIGHBORS)

    def _until(self, number: int) -> int:
        return self._known.at(number * 31 + 7)

    def _why(self, number: int) -> object:
        subject, predicate = self._known.slot(number)
        return self._snapshot(number).drift.why_changed(EntityRef(key=subject), predicate)

    def _diff(self, number: int, span: int) -> object:
        end = self._known.at(number)
        bases = [self._graph.snapshot(NAMESPACE, valid_at=at) for at in (end - span, end)]
        return self._graph.diff(bases[0], bases[1])

    def _believed(self, number: int) -> object:
        """Ten transactions of belief about one instant."""
        number = number * 7919 % max(1, self._known.transaction - 10)
        bases = [self._graph.snapshot(NAMESPACE, valid_at=self._known.last, transaction=at) for at in (number, number + 10)]
        return self._graph.diff(bases[0], bases[1])

    def _changes(self, number: int) -> object:
        after = (number * 7919 % max(1, self._known.transaction - 1), 0, 0)
        return self._graph.changes.page(NAMESPACE, after=after, first=100, want=BARE)

    def _match(self, number: int) -> object:
        employer = self._known.employers[number % len(self._known.employers)]
        patterns = [
            Pattern(Term(variable="p"), "works_at", Term(key=employer)),
            Pattern(Term(variable="p"), "lives_in", Term(variable="city")),
        ]
        return self._graph.snapshot(NAMESPACE, valid_at=self._known.last).patterns.match(patterns, want=BARE)

    def _path(self, number: int) -> object:
        one, other = (EntityRef(key=self._known.slot(each)[0]) for each in (number, number + 1))
        return self._graph.snapshot(NAMESPACE, valid_at=self._known.last).patterns.path(one, other, max_hops=2, want=BARE)

    def point(self) -> dict[str, tuple[Call, Call | None]]:
        """Questions of one place, and the same of the plain table where it can answer."""
        plain, known = self._plain, self._known
        tx = known.transaction

        def place(number: int) -> tuple[str, str]:
            return known.slot(number)

        return {
            "slot as of": (lambda n: self._slot(n, BARE), lambda n: plain.slot(*place(n), known.at(n), tx)),
            "slot as of, with evidence": (lambda n: self._slot(n, frozenset()), None),
            "entity as of": (lambda n: self._entity(n, BARE), lambda n: plain.entity(place(n)[0], known.at(n), tx)),
            "entity as of, with evidence": (lambda n: self._entity(n, frozenset()), None),
            "two-hop neighbours": (
                lambda n: self._snapshot(n).neighbors(place(n)[0], depth=2),
                lambda n: plain.two_hops(place(n)[0], known.at(n), tx),
            ),
            "two-hop neighbours, their keys alone": (self._walk, None),
            "slot, said until K": (lambda n: self._slot(n, BARE, self._until(n)), None),
            "entity, said until K": (lambda n: self._entity(n, BARE, self._until(n)), None),
            "why a slot changed": (self._why, None),
            "diff, a month apart": (
                lambda n: self._diff(n, MONTH),
                lambda n: plain.changed(known.at(n) - MONTH, known.at(n), tx),
            ),
            "diff, ten transactions apart": (self._believed, None),
            "changes, 100": (self._changes, lambda n: plain.feed(n * 7919 % tx)),
            "match of two patterns": (
                self._match,
                lambda n: plain.match(known.employers[n % len(known.employers)], "works_at", "lives_in", known.last, tx),
            ),
            "shortest paths, two hops": (self._path, None),
        }

    def whole(self, until: int | None) -> dict[str, Call]:
        """Questions of the whole graph, under a said-time limit or without."""

        def snapshot(number: int) -> Snapshot:
            return self._snapshot(number, until=until)

        earlier = None if until is None else until - 12 * MONTH

        def diff(number: int) -> object:
            return self._graph.diff(self._snapshot(number, until=earlier), self._snapshot(number, until=until))

        return {
            "statements": lambda n: snapshot(n).statements(StatementFilter()),
            "entities": lambda n: snapshot(n).entities(),
            "contested": lambda n: snapshot(n).drift.contested(),
            "stale": lambda n: snapshot(n).drift.stale(),
            "flip-flops": lambda n: snapshot(n).drift.flip_flops(),
            "volatility": lambda n: snapshot(n).drift.volatility(),
            "retro-edits of a day": lambda n: snapshot(n).drift.retro_edits(86_400),
            "match": lambda n: snapshot(n).patterns.match(
                [
                    Pattern(Term(variable="p"), "works_at", Term(key=self._known.employers[n % len(self._known.employers)])),
                    Pattern(Term(variable="p"), "lives_in", Term(variable="city")),
                ]
            ),
            "neighbours": lambda n: snapshot(n).neighbors(self._known.slot(n)[0], depth=1),
        } | ({} if until is None else {"diff of two limits": diff})


def latencies(call: Call, runs: int) -> dict[str, float]:
    """p50 and p95 of a question in milliseconds, and the processor's share of one asking."""
    begun = time.process_time()
    times = timed(runs, call, warm_up=min(runs, 20))
    own = (time.process_time() - begun) * 1000 / (runs + min(runs, 20))
    return {"p50": percentile(times, 0.5), "p95": percentile(times, 0.95), "cpu": own}


def first_and_later(calls: dict[str, Call], runs: int) -> dict[str, dict[str, float]]:
    """Of each question the first answer in seconds, and later ones, at other instants, in milliseconds; none where it is over budget."""
    found: dict[str, dict[str, float]] = {}
    for name, call in calls.items():
        started = time.perf_counter()
        try:
            call(0)
        except QueryTooComplex:
            found[name] = {}
            continue
        first = time.perf_counter() - started
        times = timed(runs, lambda n, call=call: call(n + 1), warm_up=1)  # type: ignore[misc]
        found[name] = {"first": first, "p50": percentile(times, 0.5), "p95": percentile(times, 0.95)}
    return found


def peak() -> float:
    """The most memory that the process has had, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def measured(folder: Path, runs: int, only: Sequence[str], limited: bool) -> dict[str, Any]:
    """All figures of one ledger."""
    graph = open_graph(folder, load_vocabulary(), kind="sql")
    known = sampled(folder / LEDGER)
    plain = PlainRectangles(folder / "plain.db", folder / LEDGER)
    rest_the_collector()
    engine = open_database(f"sqlite:///{folder / LEDGER}")
    questions = Questions(graph, SqlStore(engine), known, plain)
    chosen = {name: pair for name, pair in questions.point().items() if not only or any(each in name for each in only)}
    found: dict[str, Any] = {"point": {}, "plain": {}, "whole": {}, "limited": {}}
    for name, (ours, theirs) in chosen.items():
        found["point"][name] = latencies(ours, runs)
        if theirs is not None:
            found["plain"][name] = latencies(theirs, runs)
    found["peak, points"] = peak()
    if not only or "whole" in only:
        found["whole"] = first_and_later(questions.whole(None), max(5, runs // 20))
        found["peak, whole"] = peak()
    if limited and (not only or "limited" in only):
        found["limited"] = first_and_later(questions.whole(known.last - 20 * MONTH), max(5, runs // 10))
        found["peak, limited"] = peak()
    graph.close()
    engine.dispose()
    return found


def main() -> None:
    """Print the figures of one ledger as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--limited", action="store_true", help="graph-wide questions under a said-time limit as well")
    parser.add_argument("--only", nargs="*", default=[], help="parts of questions' names; `whole`, `limited`")
    options = parser.parse_args()
    print(json.dumps(measured(options.folder, options.runs, options.only, options.limited)))


if __name__ == "__main__":
    main()
