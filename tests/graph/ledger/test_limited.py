"""The tables of a namespace under a said-time limit: made once, for as long as anyone reads them, and within bounds."""

from __future__ import annotations

import gc
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from weakref import ref

import pytest
from sqlalchemy import select, text

from graph.ledger import gathered, limiting, resolutions
from graph.ledger.details import Describer
from graph.ledger.limited import Limited
from graph.ledger.schema import statements
from graph.service import LedgerGraph
from graph.views import Basis, EntityRef, StatementFilter, Want
from ontology.episode import EpisodeDraft
from ontology.errors import QueryTooComplex
from tests.graph.ledger.listening import sent
from tests.graph.ledger.saying import ALWAYS, claim, say, when, words
from tests.graph.ledger.worlds import pages


@pytest.fixture
def told(graph: LedgerGraph) -> LedgerGraph:
    say(graph, "2024-01-01", "Ann works_at Acme", "Bob likes tea", group="g", speaker="Ann")
    say(graph, "2024-03-01", "Ann works_at Zeta", "Cy likes tea", group="h")
    say(graph, "2024-02-01", "Ann works_at Beta", group="g")
    return graph


def limited(graph: LedgerGraph, until: str) -> Limited | None:
    basis = graph.snapshot("n").basis
    with graph._engine.connect() as connection:
        return graph.resolutions.tables(connection, "n", basis.transaction, when(until))


def listed(graph: LedgerGraph, until: str, **asked: Any) -> list[str]:
    snapshot = graph.snapshot("n", valid_at=when("2024-06-01"), evidence_until=when(until))
    return sorted(words(view) for view in pages(lambda after: snapshot.statements(StatementFilter(**asked), first=1, after=after)))


def test_statements_are_those_of_what_was_said_by_the_limit(told: LedgerGraph) -> None:
    assert listed(told, "2024-01-15") == ["Ann works_at Acme", "Bob likes tea"]
    assert listed(told, "2024-02-15") == ["Ann works_at Beta", "Bob likes tea"]
    assert listed(told, "2024-03-01") == ["Ann works_at Zeta", "Bob likes tea", "Cy likes tea"]
    assert listed(told, "2023-01-01") == []


def test_filters_by_evidence_look_at_what_was_said_by_the_limit(told: LedgerGraph) -> None:
    assert listed(told, "2024-02-15", group="g") == ["Ann works_at Beta", "Bob likes tea"]
    assert listed(told, "2024-02-15", group="h") == []
    assert listed(told, "2024-02-15", speaker="Ann") == ["Bob likes tea"]
    assert listed(told, "2024-02-15", min_confidence=1.1) == []


def test_where_nothing_was_said_later_the_ledger_answers(told: LedgerGraph) -> None:
    assert limited(told, "2024-03-01") is None
    with told.snapshot("n", evidence_until=when("2024-03-01")).footing.read() as describer:
        assert describer.rows is describer.connection
    with told.snapshot("n", evidence_until=when("2024-02-01")).footing.read() as describer:
        assert describer.rows is not describer.connection


def test_they_are_made_once_by_however_many_ask(told: LedgerGraph) -> None:
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda _: limited(told, "2024-02-15"), range(24)))
    assert len(set(map(id, found))) == 1
    assert limited(told, "2024-02-28") is found[0]


def test_the_same_rows_have_the_same_numbers_when_they_are_made_again(told: LedgerGraph) -> None:
    def rows() -> list[Any]:
        found = limited(told, "2024-02-15")
        assert found is not None
        with found.connect() as connection:
            return [tuple(row) for row in connection.execute(select(statements).order_by(statements.c.row))]

    first = rows()
    told.resolutions.close()
    assert rows() == first and len(first) == 3
    assert {row[-2] for row in first} == {told.snapshot("n").basis.transaction}


def test_what_is_dropped_is_read_to_its_end_and_then_gone(told: LedgerGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolutions, "MOST_ROWS", 0)
    first = limited(told, "2024-01-15")
    assert first is not None
    alive = ref(first)
    del first
    with told.snapshot("n", evidence_until=when("2024-01-15")).footing.read() as describer:
        opened: Any = describer.rows.connection.driver_connection
        # Now the first ones are asked for longest ago.
        assert limited(told, "2024-02-15") is not None
        assert limited(told, "2024-01-15") is not alive()
        assert len(describer.rows.execute(select(statements.c.row)).all()) == 2
    del describer
    gc.collect()
    assert alive() is None
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened.execute("SELECT 1")


def test_a_namespace_that_is_too_large_is_refused_whole(told: LedgerGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as smaller:
        smaller.setattr(limiting, "MOST_STATEMENTS", 2)
        for _ in range(2):
            with pytest.raises(QueryTooComplex, match="5 statements"):
                listed(told, "2024-02-15")
    with pytest.raises(QueryTooComplex):
        listed(told, "2024-02-15")
    # What is asked about one thing does not need them.
    snapshot = told.snapshot("n", valid_at=when("2024-06-01"), evidence_until=when("2024-02-15"))
    key = snapshot.key_of(EntityRef(name="Ann"))
    assert [words(view) for view in snapshot.statements_about(key, "ANY", StatementFilter()).items] == ["Ann works_at Beta"]
    assert [words(view) for view in snapshot.statements(StatementFilter(subjects=(key,))).items] == ["Ann works_at Beta"]


def test_too_much_of_the_past_is_refused(told: LedgerGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    assert listed(told, "2024-02-15", include_invalidated=True) == ["Ann works_at Acme", "Ann works_at Beta", "Bob likes tea"]
    monkeypatch.setattr(gathered, "MOST_REPLAYED", 2)
    with pytest.raises(QueryTooComplex, match="at most 2 propositions"):
        listed(told, "2024-02-15", include_invalidated=True)
    assert listed(told, "2024-02-15", include_invalidated=True, predicates=("likes",)) == ["Bob likes tea"]


def test_when_something_was_first_said_is_worked_out_only_where_it_is_asked_for(told: LedgerGraph) -> None:
    snapshot = told.snapshot("n", evidence_until=when("2024-02-15"))

    def ask(*parts: Want) -> int:
        line = sent(told._engine, lambda: snapshot.timeline(EntityRef(name="Ann"), "works_at", want=frozenset(parts)))
        return sum("claims" in statement for statement, _ in line)

    assert ask(Want.BARE) < ask(Want.BARE, Want.TRANSACTION)
    times = [view.at for view in sorted(told.transactions("n").items, key=lambda view: view.number)]
    found = snapshot.statements(ALWAYS, want=frozenset({Want.TRANSACTION})).items
    assert {words(view): view.tx_from_at for view in found} == {
        "Ann works_at Acme": times[2],
        "Ann works_at Beta": times[2],
        "Bob likes tea": times[0],
    }


def test_names_and_joins_are_those_of_what_was_said_by_the_limit(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Bob likes tea", "Robert likes jazz")
    say(graph, "2024-03-01", claim("Bob also_known_as Robert"), "Robert likes cake", "Robert likes pie")

    def names(until: str) -> list[tuple[str, tuple[str, ...]]]:
        snapshot = graph.snapshot("n", evidence_until=when(until))
        return [(view.name, view.aliases) for view in pages(lambda after: snapshot.entities(name="ob", first=1, after=after))]

    assert names("2024-02-01") == [("Bob", ()), ("Robert", ())]
    assert names("2024-03-01") == [("Robert", ("Bob",))]


def test_nobody_is_asked_where_nobody_said_where_rows_are(graph: LedgerGraph) -> None:
    with graph._engine.connect() as connection, pytest.raises(LookupError):
        _ = Describer(connection, graph.keys, graph._vocabulary_at, Basis("n", 0, 0, 0, 0)).rows


def test_indexes_lead_to_what_is_looked_for(told: LedgerGraph) -> None:
    found = limited(told, "2024-02-15")
    assert found is not None
    with found.connect() as connection:
        plan = connection.execute(text("EXPLAIN QUERY PLAN SELECT * FROM statements WHERE subject = 'x'")).all()
    assert "statements_by_subject" in str(plan)


def test_a_statement_under_names_that_no_claim_has_is_found_by_its_key(graph: LedgerGraph) -> None:
    def tell(said: str, *words: str) -> None:
        draft = EpisodeDraft(" ".join(words), "chat", external_id=said, said_at=said, group="h")
        claims = [replace(claim(each), start=0, end=1, confidence=0.9) for each in words]
        graph.record_extracted("n", [(draft, claims, ())], extractor="test")

    # In this group Di is Ann, and Cy as much as Bob only by what was said after the limit: so nothing stored tells of Ann and Cy.
    tell("2024-02-01", "Bob also_known_as Cy")
    tell("2024-01-01", "Ann also_known_as Di", "Di likes Cy")
    snapshot = graph.snapshot("n", valid_at=when("2024-06-01"), evidence_until=when("2024-01-15"))
    found = pages(lambda after: snapshot.statements(StatementFilter(), first=1, after=after))
    for view in found:
        again = snapshot.statement(view.stored_key, view.v_from)
        assert again is not None and words(again) == words(view)
    assert [words(view) for view in found if view.predicate == "likes"] == ["Ann likes Cy"]
