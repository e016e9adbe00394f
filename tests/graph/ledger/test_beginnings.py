"""When the evidence under a said-time limit first said so: found without a replay, of single claims without weighing anything."""

from __future__ import annotations

import pytest

from graph.ledger import beginnings
from graph.service import LedgerGraph
from graph.views import EVERYTHING, Want
from ontology.errors import QueryTooComplex
from tests.graph.ledger.saying import ALWAYS, claim, say, when, words

UNTIL = "2024-06-01"


def begun(graph: LedgerGraph) -> dict[str, int]:
    """The number of the transaction, of all in their order, with which each statement under the limit begins."""
    at = [view.at for view in sorted(graph.transactions("n").items, key=lambda view: view.number)]
    page = graph.snapshot("n", evidence_until=when(UNTIL)).statements(ALWAYS, first=50, want=frozenset({Want.TRANSACTION}))
    return {words(view): at.index(view.tx_from_at) for view in page.items}


def test_what_is_told_again_begins_with_its_first_claim(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Ann likes tea")
    say(graph, "2024-01-01", "Ann likes tea")
    say(graph, "2024-07-01", "Ann likes jazz")
    assert begun(graph) == {"Ann likes tea": 0}


def test_an_interval_begins_with_the_claim_that_ends_it(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Ann works_at Acme")
    say(graph, "2024-03-01", "Ann works_at Beta")
    say(graph, "2024-07-01", "Ann works_at Zeta")
    say(graph, "2024-02-01", "Bob works_at Zeta")
    assert begun(graph) == {"Ann works_at Acme": 1, "Ann works_at Beta": 1, "Bob works_at Zeta": 3}


def test_what_was_withdrawn_and_came_back_begins_when_it_came_back(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Ann likes tea")
    say(graph, "2024-07-01", "Ann likes jazz")
    (told,) = graph.snapshot("n", evidence_until=when(UNTIL)).claims(EVERYTHING).items
    graph.reject("n", [told.evidence.claim], reason="irony")
    assert begun(graph) == {}
    graph.restore("n", [told.evidence.claim], reason="no irony")
    assert begun(graph) == {"Ann likes tea": 3}


def test_a_name_that_came_to_denote_another_is_replayed(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Bob likes tea")
    say(graph, "2024-02-01", "Robert likes tea", "Robert likes jazz")
    say(graph, "2024-03-01", claim("Bob also_known_as Robert"))
    say(graph, "2024-07-01", "Ann likes jazz")
    found = begun(graph)
    assert {found[text] for text in found if text.endswith("tea")} == {0}
    assert {found[text] for text in found if text.endswith("jazz")} == {1}


def test_of_single_claims_nothing_is_weighed_and_of_more_no_more_than_the_budget(
    graph: LedgerGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beginnings, "BUDGET", 1)
    say(graph, "2024-01-01", "Ann likes tea", "Ann likes jazz", "Bob works_at Acme")
    say(graph, "2024-07-01", "Ann likes cake")
    assert set(begun(graph).values()) == {0}
    say(graph, "2024-02-01", "Bob works_at Beta")
    say(graph, "2024-03-01", "Bob works_at Zeta")
    with pytest.raises(QueryTooComplex, match="more than 1 claims would have to be weighed again"):
        begun(graph)
