"""Rejecting claims: our reading was wrong, whatever the world is like."""

from __future__ import annotations

import pytest

from graph.service import LedgerGraph
from graph.views import ChangeReceipt, Reason, StatementFilter
from ontology.errors import InvalidInput, NotFound
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST
from tests.graph.ledger.reading import episode, ids, listed, read, told
from tests.graph.ledger.saying import ask, claim, now, one, say, spans

GONE = StatementFilter(valid_during=(UNBOUNDED_PAST, UNBOUNDED_FUTURE), include_invalidated=True)


def test_a_rejected_claim_is_no_evidence_from_then_on_and_stays_in_the_past(graph: LedgerGraph) -> None:
    first = read(graph, episode("Anna works at Acme"), "Anna works_at Acme")
    receipt = graph.reject("n", ids(graph, "Anna works_at Acme"), reason="a joke")
    assert now(graph, "2024-06-01") == []
    assert now(graph, "2024-06-01", transaction=first.transaction) == ["Anna works_at Acme"]
    assert receipt == ChangeReceipt(first.transaction + 1, False, receipt.claims)
    (commit, _) = graph.transactions("n").items
    assert (commit.number, commit.kind, commit.reason) == (receipt.transaction, "reject", "a joke")


def test_what_a_rejected_claim_had_ended_lives_again(graph: LedgerGraph) -> None:
    read(graph, episode("one", "2024-01-01"), "Anna works_at Acme")
    before = spans(graph)
    read(graph, episode("two", "2024-05-01"), "Anna works_at Initech")
    graph.reject("n", ids(graph, "Anna works_at Initech"), reason="another Anna")
    assert spans(graph) == before


def test_a_statement_that_lost_all_its_claims_says_that_they_were_rejected(graph: LedgerGraph) -> None:
    read(graph, episode("one"), "Anna works_at Acme")
    receipt = graph.reject("n", ids(graph, "Anna works_at Acme"), reason="a joke")
    gone = one(graph, "Anna works_at Acme", GONE)
    assert gone.invalidation is not None
    assert (gone.invalidation.reason, gone.invalidation.rule) == (Reason.REJECTED, "rejection")
    assert [view.key for view in graph.closed_by("n", receipt.transaction)] == [gone.key]


def test_a_retraction_is_told_as_one_also_where_claims_of_it_were_rejected(graph: LedgerGraph) -> None:
    read(graph, episode("one"), "Anna works_at Acme", "Anna likes tea")
    graph.reject("n", ids(graph, "Anna works_at Acme"), reason="a joke")
    graph.retract("n", source="chat", external_id="one", reason=None)
    gone = one(graph, "Anna likes tea", GONE)
    assert gone.invalidation is not None and gone.invalidation.reason is Reason.RETRACTED


def test_rejecting_twice_is_rejecting_once(graph: LedgerGraph) -> None:
    read(graph, episode("one"), "Anna works_at Acme", "Anna likes tea")
    (wrong, right) = ids(graph, "Anna works_at Acme", "Anna likes tea")
    first = graph.reject("n", [wrong, wrong], reason="a joke")
    again = graph.reject("n", [wrong], reason="another reason")
    assert (again.transaction, again.deduplicated) == (first.transaction, True)
    assert [view.rejection for view in listed(graph, rejected=True)] == ["a joke"]
    both = graph.reject("n", [right, wrong], reason="both")
    assert not both.deduplicated and both.claims == (right, wrong)
    assert {told(view): view.rejection for view in listed(graph)} == {"(Anna works_at Acme)": "a joke", "(Anna likes tea)": "both"}


def test_a_restored_claim_is_evidence_again(graph: LedgerGraph) -> None:
    read(graph, episode("one"), "Anna works_at Acme")
    before = spans(graph)
    (id,) = ids(graph, "Anna works_at Acme")
    rejected = graph.reject("n", [id], reason="a joke")
    restored = graph.restore("n", [id], reason="it was none")
    assert (restored.transaction, restored.deduplicated, restored.claims) == (rejected.transaction + 1, False, (id,))
    assert spans(graph) == before and list(map(told, listed(graph))) == ["Anna works_at Acme"]
    assert now(graph, "2024-06-01", transaction=rejected.transaction) == []
    assert list(map(told, listed(graph, transaction=rejected.transaction))) == ["(Anna works_at Acme)"]


def test_restoring_twice_is_restoring_once(graph: LedgerGraph) -> None:
    recorded = read(graph, episode("one"), "Anna works_at Acme")
    (id,) = ids(graph, "Anna works_at Acme")
    never = graph.restore("n", [id])
    assert (never.transaction, never.deduplicated) == (recorded.transaction, True)
    graph.reject("n", [id], reason="a joke")
    first = graph.restore("n", [id])
    again = graph.restore("n", [id])
    assert (again.transaction, again.deduplicated) == (first.transaction, True)
    assert len(graph.transactions("n").items) == 3


def test_what_is_rejected_stays_out_when_its_episode_comes_in_another_revision(graph: LedgerGraph) -> None:
    read(graph, episode("one", external_id="e"), "Anna works_at Acme")
    graph.reject("n", ids(graph, "Anna works_at Acme"), reason="a joke")
    late = read(graph, episode("one again", external_id="e", revised_at="2024-02-01"), "Anna works_at Acme", "Anna likes tea")
    assert now(graph, "2024-06-01") == ["Anna likes tea"]
    assert sorted(map(told, listed(graph, transaction=late.transaction))) == ["(Anna works_at Acme)", "Anna likes tea"]
    graph.restore("n", ids(graph, "Anna works_at Acme"))
    assert now(graph, "2024-06-01") == ["Anna likes tea", "Anna works_at Acme"]
    (view,) = [view for view in listed(graph) if view.predicate == "works_at"]
    assert view.evidence.episode.content == "one again"


def test_a_claim_of_an_overtaken_revision_can_be_rejected_before_it_is_told_again(graph: LedgerGraph) -> None:
    read(graph, episode("one", external_id="e"), "Anna works_at Acme")
    (id,) = ids(graph, "Anna works_at Acme")
    read(graph, episode("two", external_id="e", revised_at="2024-02-01"), "Anna likes tea")
    graph.reject("n", [id], reason="a joke")
    assert list(map(told, listed(graph))) == ["Anna likes tea"]
    read(graph, episode("three", external_id="e", revised_at="2024-03-01"), "Anna works_at Acme")
    assert now(graph, "2024-06-01") == []
    assert list(map(told, listed(graph))) == ["(Anna works_at Acme)"]


def test_restoring_claims_of_a_retracted_episode_does_not_bring_it_back(graph: LedgerGraph) -> None:
    read(graph, episode("one"), "Anna works_at Acme")
    (id,) = ids(graph, "Anna works_at Acme")
    graph.reject("n", [id], reason="a joke")
    graph.retract("n", source="chat", external_id="one", reason=None)
    assert not graph.restore("n", [id]).deduplicated
    assert now(graph, "2024-06-01") == [] and listed(graph) == []


def test_a_correction_that_is_rejected_unmasks_what_it_had_corrected(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna born_on 1990")
    before = spans(graph)
    read(graph, episode("no, 1991", "2024-04-01"), claim("Anna born_on 1991", kind="CORRECTION", replaces="1990"))
    assert str(ask(graph, "Anna born_on 1990", "2024-06-01")) == "NO"
    graph.reject("n", ids(graph, "Anna born_on 1991"), reason="a joke")
    assert spans(graph) == before


def test_entities_lose_the_names_that_only_rejected_claims_gave_them(graph: LedgerGraph) -> None:
    read(graph, episode("one"), "Anna works_at Acme", "Zoe likes tea")
    graph.reject("n", ids(graph, "Zoe likes tea"), reason="no such person")
    assert [view.name for view in graph.snapshot("n").entities().items] == ["Acme", "Anna"]
    (view,) = listed(graph, rejected=True)
    assert told(view) == "(Zoe likes tea)"


def test_an_unknown_claim_is_named_and_nothing_is_stored(graph: LedgerGraph) -> None:
    read(graph, episode("one"), "Anna works_at Acme")
    read(graph, episode("one"), "Anna works_at Acme", namespace="other")
    (mine,) = ids(graph, "Anna works_at Acme")
    (theirs,) = ids(graph, "Anna works_at Acme", namespace="other")
    for unknown in (theirs, "0" * 32, "x\x00"):
        with pytest.raises(NotFound) as failure:
            graph.reject("n", [mine, unknown], reason="a joke")
        assert failure.value.id == unknown
        with pytest.raises(NotFound) as failure:
            graph.restore("n", [mine, unknown])
        assert failure.value.id == unknown
    assert len(graph.transactions("n").items) == 1 and now(graph, "2024-06-01") == ["Anna works_at Acme"]


@pytest.mark.parametrize("reason", ["", "  ", "\u200b\u200b", "x" * 1001, "a\x00b", "\ud800"])
def test_a_reason_is_of_1_to_1000_characters_some_of_them_visible(graph: LedgerGraph, reason: str) -> None:
    read(graph, episode("one"), "Anna works_at Acme")
    with pytest.raises(InvalidInput) as failure:
        graph.reject("n", ids(graph, "Anna works_at Acme"), reason=reason)
    assert failure.value.path == ("reason",)
    assert not graph.reject("n", ids(graph, "Anna works_at Acme"), reason="x" * 1000).deduplicated


@pytest.mark.parametrize("number", [0, 1001])
def test_one_to_1000_claims_are_named_at_a_time(graph: LedgerGraph, number: int) -> None:
    with pytest.raises(InvalidInput) as failure:
        graph.reject("n", ["0"] * number, reason="r")
    assert failure.value.path == ("claims",)
    with pytest.raises(InvalidInput) as failure:
        graph.restore("n", ["0"] * number)
    assert failure.value.path == ("claims",)
