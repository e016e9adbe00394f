"""Predicates that nobody declared, and how much they are used."""

from __future__ import annotations

from graph.service import LedgerGraph
from graph.views import UndeclaredPredicate
from tests.graph.ledger.reading import episode, ids, read
from tests.graph.ledger.saying import claim, when


def test_undeclared_predicates_come_most_used_first_with_what_a_declaration_rests_on(graph: LedgerGraph) -> None:
    read(graph, episode("old", "2023-01-01"), "Anna juggles pins", "Bob juggles balls", "Anna works_at Acme")
    read(
        graph, episode("Anna, clubs!", "2024-01-01"), claim("Anna juggles clubs", start=0, end=4), claim("Anna bakes bread", confidence=0.1)
    )
    read(graph, episode("Anna, again!", "2024-02-01"), claim("Anna bakes pies", start=0, end=4), "Carl asks_for cake", "Carl asks_for tea")
    snapshot = graph.snapshot("n", valid_at=when("2024-06-01"))
    assert snapshot.undeclared(least=2) == [
        UndeclaredPredicate("juggles", 3, 2, 1, ("Anna",)),
        UndeclaredPredicate("asks_for", 2, 1, 1, ()),
        UndeclaredPredicate("bakes", 2, 1, 0, ("Anna",)),
    ]
    assert [found.name for found in snapshot.undeclared(least=3)] == ["juggles"]
    assert snapshot.undeclared() == []


def test_at_most_three_of_the_newest_different_quotes_are_shown(graph: LedgerGraph) -> None:
    for year, content in ((2019, "one"), (2020, "two"), (2021, "six"), (2022, "six!"), (2023, "ten")):
        read(graph, episode(content, f"{year}-01-01"), claim("Anna juggles pins", start=0, end=3))
    (found,) = graph.snapshot("n").undeclared(least=1)
    assert found.examples == ("ten", "six", "two")


def test_rejected_and_withdrawn_claims_do_not_count(graph: LedgerGraph) -> None:
    recorded = read(graph, episode("one"), "Anna juggles pins", "Anna juggles balls")
    read(graph, episode("two"), "Anna juggles clubs")
    graph.reject("n", ids(graph, "Anna juggles pins"), reason="r")
    graph.retract("n", source="chat", external_id="two", reason=None)
    assert [found.claims for found in graph.snapshot("n").undeclared(least=1)] == [1]
    assert [found.claims for found in graph.snapshot("n", transaction=recorded.transaction).undeclared(least=1)] == [2]


def test_only_what_was_said_by_the_limit_counts(graph: LedgerGraph) -> None:
    read(graph, episode("old", "2023-01-01"), "Anna juggles pins", "Anna juggles balls")
    read(graph, episode("new", "2024-01-01"), "Bob juggles pins", "Bob juggles clubs")
    at = when("2024-06-01")
    (found,) = graph.snapshot("n", valid_at=at, evidence_until=when("2023-06-01")).undeclared(least=1)
    assert (found.claims, found.subjects, found.several) == (2, 1, 1)
    (found,) = graph.snapshot("n", valid_at=at).undeclared(least=1)
    assert (found.claims, found.subjects, found.several) == (4, 2, 2)
