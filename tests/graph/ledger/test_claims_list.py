"""Listing claims: what the current copies of episodes say, whether it makes belief or not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graph.service import LedgerGraph
from graph.views import ClaimView, EntityRef, LiteralView, StatementFilter
from ontology.claim import ClaimKind, Modality, ObjectDraft
from ontology.errors import InvalidInput
from tests.graph.ledger.reading import episode, ids, listed, read, told
from tests.graph.ledger.saying import ALWAYS, claim, say, when


def texts(graph: LedgerGraph, filter: StatementFilter | None = None, **chosen: Any) -> list[str]:
    return list(map(told, listed(graph, filter, **chosen)))


def test_a_claim_is_shown_with_what_was_stated_and_its_words(graph: LedgerGraph) -> None:
    draft = claim("Anna works_at Acme", kind="CHANGE", valid_from="2019", valid_to="2021-05", start=6, end=21, rule="r", confidence=0.7)
    read(graph, episode("Well, Anna is at Acme", "2024-01-01", group="g", speaker="Bob"), draft)
    (view,) = listed(graph)
    assert view == ClaimView(
        id=view.id,
        subject=view.subject,
        predicate="works_at",
        qualifier="",
        object=view.object,
        polarity=True,
        kind=ClaimKind.CHANGE,
        modality=Modality.ASSERTED,
        valid_from="2019",
        valid_to="2021-05",
        said_at=when("2024-01-01"),
        confidence=0.7,
        rule="r",
        additive=False,
        candidate=False,
        rejected=False,
        rejection=None,
        evidence=view.evidence,
    )
    assert (view.evidence.quote, view.evidence.start, view.evidence.end) == ("Anna is at Acme", 6, 21)
    assert (view.evidence.claim, view.evidence.extractor, view.evidence.episode.speaker) == (view.id, "test 1", "Bob")


def test_newest_said_come_first_then_by_place_and_pages_join_up(graph: LedgerGraph) -> None:
    read(graph, episode("old", "2023-01-01"), "Anna likes tea", "Anna likes milk", "Bob likes tea")
    read(graph, episode("new", "2024-01-01"), "Bob works_at Acme")
    whole = graph.snapshot("n").claims(StatementFilter(), first=100)
    assert list(map(told, whole.items)) == ["Bob works_at Acme", "Anna likes tea", "Anna likes milk", "Bob likes tea"]
    assert tuple(listed(graph)) == whole.items and not whole.has_next
    # What comes later does not shift a page that is asked for on the same basis.
    page = graph.snapshot("n").claims(StatementFilter(), first=2)
    basis = graph.snapshot("n").basis.transaction
    read(graph, episode("newest", "2025-01-01"), "Carl likes tea")
    rest = graph.snapshot("n", transaction=basis).claims(StatementFilter(), first=9, after=page.positions[-1])
    assert page.items + rest.items == whole.items


def test_candidates_and_plans_are_listed_and_make_no_belief(graph: LedgerGraph) -> None:
    drafts = [claim("Zoe likes tea", confidence=0.4), claim("Anna likes tea"), claim("Anna works_at Acme", modality=Modality.HYPOTHETICAL)]
    read(graph, episode("one"), *drafts)
    assert texts(graph, candidate=True) == ["Zoe likes tea", "Anna works_at Acme"]
    assert texts(graph, candidate=False) == ["Anna likes tea"]
    assert [view.candidate for view in listed(graph)] == [True, False, True]


def test_a_literal_that_nothing_else_names_is_one(graph: LedgerGraph) -> None:
    read(graph, episode("one"), replace(claim("Anna age 30", confidence=0.1), object=ObjectDraft("30", "xsd:integer")))
    (view,) = listed(graph)
    assert isinstance(view.object, LiteralView) and (view.object.value, view.object.datatype) == ("30", "xsd:integer")


def test_only_current_copies_are_listed(graph: LedgerGraph) -> None:
    first = read(graph, episode("one", external_id="e"), "Anna likes tea")
    second = read(graph, episode("two", external_id="e", revised_at="2024-02-01"), "Anna likes milk")
    third = graph.retract("n", source="chat", external_id="e", reason=None)
    assert texts(graph, transaction=0) == []
    assert texts(graph, transaction=first.transaction) == ["Anna likes tea"]
    assert texts(graph, transaction=second.transaction) == ["Anna likes milk"]
    assert texts(graph, transaction=third.transaction) == []


def test_what_was_said_after_the_limit_is_not_listed(graph: LedgerGraph) -> None:
    read(graph, episode("old", "2023-01-01"), "Anna likes tea")
    read(graph, episode("new", "2024-01-01"), "Anna likes milk")
    graph.reject("n", ids(graph, "Anna likes milk"), reason="r")
    assert texts(graph, evidence_until=when("2023-06-01")) == ["Anna likes tea"]
    assert texts(graph, evidence_until=when("2024-01-01")) == ["(Anna likes milk)", "Anna likes tea"]


def test_a_rejected_claim_is_listed_from_its_rejection_on(graph: LedgerGraph) -> None:
    recorded = read(graph, episode("one"), "Anna likes tea", "Anna likes milk")
    rejected = graph.reject("n", ids(graph, "Anna likes tea"), reason="r")
    assert texts(graph, transaction=recorded.transaction) == ["Anna likes tea", "Anna likes milk"]
    assert texts(graph, transaction=rejected.transaction) == ["(Anna likes tea)", "Anna likes milk"]
    assert texts(graph, rejected=True) == ["(Anna likes tea)"]
    assert texts(graph, rejected=False) == ["Anna likes milk"]
    assert [view.rejection for view in listed(graph)] == ["r", None]


def test_filters_choose_by_what_a_claim_says(graph: LedgerGraph) -> None:
    read(
        graph,
        episode("one", group="g", speaker="Anna", source="mail"),
        claim("Anna works_at Acme", confidence=0.9),
        claim("not Anna likes tea", confidence=0.6),
    )
    read(graph, episode("two", "2023-01-01", group="h"), "Bob likes Anna")
    key = graph.snapshot("n").key_of(EntityRef(name="Anna"))
    for filter, expected in (
        (StatementFilter(subjects=(key,)), ["Anna works_at Acme", "not Anna likes tea"]),
        (StatementFilter(objects=(key,)), ["Bob likes Anna"]),
        (StatementFilter(predicates=("likes",)), ["not Anna likes tea", "Bob likes Anna"]),
        (StatementFilter(predicates=("likes",), polarity=True), ["Bob likes Anna"]),
        (StatementFilter(polarity=False), ["not Anna likes tea"]),
        (StatementFilter(min_confidence=0.8), ["Anna works_at Acme", "Bob likes Anna"]),
        (StatementFilter(group="h"), ["Bob likes Anna"]),
        (StatementFilter(source="mail"), ["Anna works_at Acme", "not Anna likes tea"]),
        (StatementFilter(speaker="Anna", predicates=("works_at",)), ["Anna works_at Acme"]),
        (StatementFilter(aspects=("nothing",)), []),
        (StatementFilter(predicates=("nothing",)), []),
        (StatementFilter(subjects=()), []),
    ):
        assert texts(graph, filter) == expected, filter


def test_inverses_antonyms_and_symmetric_predicates_are_folded_as_for_statements(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna manager_of Bob")
    say(graph, "2023-01-01", "Bob friend_of Anna")
    say(graph, "2022-01-01", "Anna dislikes tea")
    snapshot = graph.snapshot("n")
    anna, bob = (snapshot.key_of(EntityRef(name=name)) for name in ("Anna", "Bob"))
    for filter in (
        *(StatementFilter(predicates=(name,)) for name in ("manager_of", "reports_to", "dislikes", "likes", "friend_of")),
        *(StatementFilter(subjects=(key,)) for key in (anna, bob)),
        *(StatementFilter(objects=(key,)) for key in (anna, bob)),
        StatementFilter(predicates=("manager_of",), subjects=(anna,)),
        StatementFilter(predicates=("manager_of",), subjects=(bob,)),
        StatementFilter(predicates=("likes",), polarity=False),
        StatementFilter(predicates=("dislikes",), polarity=True),
        StatementFilter(predicates=("dislikes",), polarity=False),
    ):
        views = snapshot.statements(replace(filter, valid_during=ALWAYS.valid_during), first=100).items
        expected = sorted((view.subject.name, view.predicate, view.object.key, view.polarity) for view in views)
        found = sorted((view.subject.name, view.predicate, view.object.key, view.polarity) for view in listed(graph, filter))
        assert found == expected, filter


def test_times_in_which_a_statement_holds_choose_no_claims(graph: LedgerGraph) -> None:
    for filter in (StatementFilter(valid_during=(0, 1)), StatementFilter(include_invalidated=True)):
        with pytest.raises(InvalidInput) as failure:
            listed(graph, filter)
        assert failure.value.path[0] == "filter"


def test_namespaces_do_not_see_each_other(graph: LedgerGraph) -> None:
    read(graph, episode("one"), "Anna likes tea", namespace="other")
    assert listed(graph) == []
