"""Every field of the statement filter, and roles."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graph.service import LedgerGraph
from graph.views import EntityRef, StatementFilter
from tests.graph.ledger.saying import ALWAYS, claim, say, views, when, words


@pytest.fixture
def told(graph: LedgerGraph) -> LedgerGraph:
    say(graph, "2024-01-01", "Anna works_at Acme", "Anna likes tea", source="chat", group="g1", speaker="Anna")
    say(graph, "2024-02-01", "Bob works_at Acme", "Bob dislikes tea", source="notes", group="g2", speaker="Bob")
    say(graph, "2024-03-01", claim("Anna owns boat", confidence=0.6), source="notes", group="g1", speaker="Bob")
    return graph


def found(graph: LedgerGraph, **fields: Any) -> list[str]:
    names = {side: tuple(graph.snapshot("n").key_of(EntityRef(name=name)) for name in fields[side]) for side in fields if side[-1] == "s"}
    names = {side: keys for side, keys in names.items() if side in ("subjects", "objects")}
    return sorted(words(view) for view in views(graph, StatementFilter(**{**fields, **names}), valid_at=when("2024-06-01")))


def test_without_fields_all_that_holds_matches(told: LedgerGraph) -> None:
    assert found(told) == ["Anna likes tea", "Anna owns boat", "Anna works_at Acme", "Bob works_at Acme", "not Bob likes tea"]


def test_subjects_and_objects(told: LedgerGraph) -> None:
    assert found(told, subjects=("Bob",)) == ["Bob works_at Acme", "not Bob likes tea"]
    assert found(told, objects=("Acme",)) == ["Anna works_at Acme", "Bob works_at Acme"]
    assert found(told, subjects=("Anna",), objects=("Acme", "boat")) == ["Anna owns boat", "Anna works_at Acme"]
    assert found(told, subjects=()) == []
    assert found(told, objects=("Nobody",)) == []


def test_predicates_aspects_and_polarity(told: LedgerGraph) -> None:
    assert found(told, predicates=("likes",)) == ["Anna likes tea", "not Bob likes tea"]
    assert found(told, predicates=("likes",), polarity=True) == ["Anna likes tea"]
    assert found(told, predicates=("dislikes",)) == ["not Bob likes tea"]
    assert found(told, predicates=("dislikes", "owns"), polarity=True) == ["Anna owns boat", "not Bob likes tea"]
    assert found(told, predicates=()) == []
    assert found(told, polarity=False) == ["not Bob likes tea"]
    aspect = told.vocabulary().predicate("owns").aspect
    assert "Anna owns boat" in found(told, aspects=(aspect,))
    assert found(told, aspects=()) == []


def test_fields_of_the_evidence(told: LedgerGraph) -> None:
    assert found(told, group="g2") == ["Bob works_at Acme", "not Bob likes tea"]
    assert found(told, source="notes", speaker="Bob", group="g1") == ["Anna owns boat"]
    assert found(told, speaker="Nobody") == []
    assert found(told, min_confidence=0.7, group="g1") == ["Anna likes tea", "Anna works_at Acme"]


def test_evidence_is_that_of_the_statement_itself(told: LedgerGraph) -> None:
    say(told, "2024-04-01", "Bob likes tea", source="mail", external_id="m")
    assert found(told, source="mail") == ["Bob likes tea"]
    assert found(told, source="notes", predicates=("likes",)) == []
    ended = [words(view) for view in views(told, replace(ALWAYS, source="notes", predicates=("likes",)))]
    assert ended == ["not Bob likes tea"]


def test_withdrawn_evidence_matches_no_more(told: LedgerGraph) -> None:
    say(told, "2024-04-01", "Anna works_at Acme", source="mail", external_id="m", group="late")
    assert found(told, group="late") == ["Anna works_at Acme"]
    told.retract("n", source="mail", external_id="m", reason=None)
    assert found(told, group="late") == []
    gone = replace(ALWAYS, group="late", include_invalidated=True)
    assert [words(view) for view in views(told, gone)] == []
    told.retract("n", source="notes", external_id="none", reason=None)


def test_gone_statements_match_by_the_evidence_that_they_had(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna works_at Acme", external_id="e", group="g")
    graph.retract("n", source="chat", external_id="e", reason=None)
    assert [words(view) for view in views(graph, replace(ALWAYS, group="g", include_invalidated=True))] == ["Anna works_at Acme"]


def test_a_range_takes_what_holds_at_any_time_inside(told: LedgerGraph) -> None:
    start, end = when("2024-01-15"), when("2024-02-01")
    assert found(told, valid_during=(start, end)) == ["Anna likes tea", "Anna works_at Acme"]
    assert len(found(told, valid_during=(start, end + 1))) == 4


def test_roles(told: LedgerGraph) -> None:
    say(told, "2024-04-01", "Acme owns Anna")
    snapshot = told.snapshot("n", valid_at=when("2024-06-01"))
    key = snapshot.key_of(EntityRef(name="Acme"))
    about = {
        role: sorted(words(v) for v in snapshot.statements_about(key, role, StatementFilter()).items) for role in ("SUBJECT", "OBJECT")
    }
    assert about == {"SUBJECT": ["Acme owns Anna"], "OBJECT": ["Anna works_at Acme", "Bob works_at Acme"]}
    assert len(snapshot.statements_about(key, "ANY", StatementFilter()).items) == 3


def test_every_filter_is_followed_under_evidence_until(told: LedgerGraph) -> None:
    snapshot = told.snapshot("n", evidence_until=when("2024-01-15"), valid_at=when("2024-06-01"))
    key, tea = (snapshot.key_of(EntityRef(name=name)) for name in ("Anna", "tea"))

    def both(**asked: Any) -> list[str]:
        filter = StatementFilter(**asked)
        listed, of_anna = snapshot.statements(filter), snapshot.statements_about(key, "ANY", filter)
        assert [words(view) for view in listed.items] == [words(view) for view in of_anna.items]
        return [words(view) for view in listed.items]

    everything = ["Anna likes tea", "Anna works_at Acme"]
    assert both() == everything == both(group="g1") == both(source="chat") == both(speaker="Anna") == both(min_confidence=0.9)
    assert both(include_invalidated=True) == everything == both(subjects=(key,))
    assert both(group="g2") == both(source="notes") == both(speaker="Bob") == both(min_confidence=1.1) == both(subjects=(tea,)) == []
    assert both(objects=(tea,)) == both(predicates=("likes",)) == ["Anna likes tea"]
