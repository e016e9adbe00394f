"""Bases: transaction times, what each axis takes in, and that the past stays."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from graph.ledger.database import open_database
from graph.service import LedgerGraph
from graph.views import EntityRef, StatementFilter, Truth
from ontology.vocabulary import Vocabulary
from tests.graph.ledger.conftest import EPOCH, NoProjection
from tests.graph.ledger.saying import ALWAYS, ask, claim, now, say, views, when, words


def test_before_the_first_transaction_it_is_1970(graph: LedgerGraph) -> None:
    basis = graph.snapshot("n").basis
    assert (basis.transaction, basis.recorded_at) == (0, 0)
    say(graph, "2024-01-01", "Anna works_at Acme")
    early = graph.snapshot("n", recorded_at=EPOCH - 1).basis
    assert (early.transaction, early.recorded_at) == (0, 0)
    assert views(graph, ALWAYS, recorded_at=EPOCH - 1) == []


def test_recorded_at_takes_in_the_transaction_of_that_very_instant(graph: LedgerGraph) -> None:
    first = say(graph, "2024-01-01", "Anna works_at Acme").transaction
    at = graph.snapshot("n").basis.recorded_at
    second = say(graph, "2025-01-01", "Anna works_at Globex").transaction
    later = graph.snapshot("n").basis.recorded_at
    asked = (at - 1, at, later - 1, later, later + 1)
    assert [graph.snapshot("n", recorded_at=one).basis.transaction for one in asked] == [0, first, first, second, second]
    assert graph.snapshot("n", recorded_at=later + 1).basis.recorded_at == later


def test_a_basis_stands_on_transactions_of_its_own_namespace(graph: LedgerGraph) -> None:
    first = say(graph, "2024-01-01", "Anna works_at Acme", namespace="a").transaction
    say(graph, "2024-01-01", "Anna works_at Acme", namespace="b")
    assert graph.snapshot("a").basis.transaction == first


def test_evidence_until_takes_in_what_was_said_at_that_very_instant(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna works_at Acme")
    say(graph, "2024-03-01", "Anna works_at Globex")
    until = when("2024-03-01")
    asked = [[str(ask(graph, f"Anna works_at {at}", "2024-06-01", evidence_until=until + d)) for at in ("Acme", "Globex")] for d in (-1, 0)]
    assert asked == [["YES", "NO"], ["NO", "YES"]]


def test_evidence_until_sees_what_a_correction_of_somebody_else_frees(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna spouse_of Bob")
    say(graph, "2024-02-01", "Xenia spouse_of Bob")
    say(graph, "2024-03-01", claim("Xenia spouse_of Dan", kind="CORRECTION", replaces="Bob"))
    snapshot = graph.snapshot("n", evidence_until=when("2024-03-15"), valid_at=when("2024-06-01"))
    about = snapshot.statements_about(snapshot.key_of(EntityRef(name="Anna")), "ANY", StatementFilter())
    assert [words(view) for view in about.items] == ["Anna spouse_of Bob"]


def test_the_past_stays_when_it_is_withdrawn(graph: LedgerGraph) -> None:
    number = say(graph, "2024-01-01", "Anna works_at Acme", external_id="e").transaction
    before = views(graph, transaction=number, valid_at=when("2024-06-01"))
    graph.retract("n", source="chat", external_id="e", reason=None)
    after = views(graph, transaction=number, valid_at=when("2024-06-01"))
    assert [str(one) for one in after] == [str(one) for one in before]
    assert ask(graph, "Anna works_at Acme", "2024-06-01") is Truth.UNKNOWN


@pytest.fixture
def unsteady(tmp_path: Path, vocabulary: Vocabulary, empty_ledger: Path) -> Iterator[LedgerGraph]:
    """A graph whose clock steps back."""
    times = iter([EPOCH] * 4 + [EPOCH - 3_600_000_000] * 100)
    shutil.copy(empty_ledger, tmp_path / "ledger.db")
    graph = LedgerGraph(
        open_database(f"sqlite:///{tmp_path / 'ledger.db'}"), vocabulary, lambda _: NoProjection(), clock=lambda: next(times)
    )
    yield graph
    graph.close()


def test_transaction_times_rise_also_when_the_clock_steps_back(unsteady: LedgerGraph) -> None:
    for number in range(6):
        say(unsteady, "2024-01-01", f"Anna likes tea{number}", namespace="a" if number % 2 else "b")
    times = {row.number: row.at for name in "ab" for row in unsteady.transactions(name).items}
    assert [times[number] for number in sorted(times)] == [EPOCH + beside for beside in range(6)]


def test_a_duplicate_answers_with_the_first_transaction(graph: LedgerGraph) -> None:
    first = say(graph, "2024-01-01", "Anna works_at Acme", external_id="e")
    say(graph, "2024-01-01", "Anna likes tea")
    again = say(graph, "2024-01-01", "Anna works_at Acme", external_id="e")
    assert (again.deduplicated, again.transaction) == (True, first.transaction)
    assert len(graph.transactions("n").items) == 2


def test_naive_and_aware_times_are_one_instant(graph: LedgerGraph) -> None:
    say(graph, "2026-01-01T00:00:00", "Anna works_at Acme", external_id="1")
    say(graph, "2026-01-01T00:00:00+00:00", "Anna works_at Acme", external_id="2")
    (found,) = views(graph, ALWAYS)
    assert (found.v_from, found.evidence_count) == (when("2026-01-01"), 2)
    assert now(graph, "2026-02-01") == ["Anna works_at Acme"]
