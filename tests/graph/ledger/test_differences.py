"""What differs between two bases, case by case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest

from graph.drift import Cause, DifferenceKind
from graph.facade import Graph
from graph.service import LedgerGraph
from graph.views import EntityRef, StatementFilter, Want
from ontology.errors import InvalidInput
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST
from ontology.vocabulary import Vocabulary
from tests.graph.ledger.differing import diff, told
from tests.graph.ledger.saying import claim, say, when

SAME = "also_known_as"


def at(graph: LedgerGraph, valid: str, namespace: str = "n", **basis: Any) -> Any:
    return graph.snapshot(namespace, valid_at=when(valid), **basis)


def differences(graph: LedgerGraph, start: Any, end: Any, filter: StatementFilter | None = None) -> list[str]:
    return [told(each) for each in diff(graph, start, end, filter)]


def last(graph: LedgerGraph) -> int:
    return graph.snapshot("n").basis.transaction


def test_the_world_moves_on_and_belief_changes_each_with_its_cause(graph: LedgerGraph) -> None:
    say(graph, "2020-01-01", "Ann works_at Acme", "Ann likes tea")
    known = last(graph)
    say(graph, "2021-01-01", "Ann works_at Beta", "not Ann likes tea", "Ann likes milk")
    say(graph, "2022-01-01", claim("Ann works_at Zeta", kind="CORRECTION", replaces="Acme"))
    start, end = at(graph, "2020-06-01", transaction=known), at(graph, "2021-06-01")
    assert differences(graph, start, end) == [
        "BELIEF Ann works_at: Acme -> Zeta",
        "WORLD Ann likes: + milk",
        "WORLD Ann likes: - tea",
        "WORLD Ann works_at: Zeta -> Beta",
    ]
    assert differences(graph, end, start) == [
        "BELIEF Ann likes: - milk",
        "BELIEF Ann likes: + tea",
        "BELIEF Ann works_at: Beta -> Acme",
    ]


def test_a_slot_that_changes_and_changes_back_shows_both(graph: LedgerGraph) -> None:
    say(graph, "2020-01-01", "Ann works_at Acme")
    known = last(graph)
    say(graph, "2020-02-01", claim("Ann works_at Beta", kind="PATCH", valid_from="2020-02-01", valid_to="2020-03-01"))
    start, end = at(graph, "2020-02-15", transaction=known), at(graph, "2020-06-01")
    assert differences(graph, start, end) == ["BELIEF Ann works_at: Acme -> Beta", "WORLD Ann works_at: Beta -> Acme"]


def test_a_basis_differs_from_itself_in_nothing(graph: LedgerGraph) -> None:
    say(graph, "2020-01-01", "Ann works_at Acme", "Ann likes tea")
    assert differences(graph, at(graph, "2021-01-01"), at(graph, "2021-01-01")) == []


def test_before_the_first_transaction_nothing_holds(graph: LedgerGraph) -> None:
    empty = at(graph, "2021-01-01")
    say(graph, "2020-01-01", "Ann works_at Acme", "Ann likes tea", "Ann likes milk")
    now = at(graph, "2021-01-01")
    assert differences(graph, empty, now) == ["BELIEF Ann likes: + milk", "BELIEF Ann likes: + tea", "BELIEF Ann works_at: + Acme"]
    assert differences(graph, now, empty) == ["BELIEF Ann likes: - milk", "BELIEF Ann likes: - tea", "BELIEF Ann works_at: - Acme"]


def test_at_either_end_of_time(graph: LedgerGraph) -> None:
    say(graph, "2020-01-01", "Ann works_at Acme", "Ann born_on 1990-01-01")
    past, future = (graph.snapshot("n", valid_at=end) for end in (UNBOUNDED_PAST, UNBOUNDED_FUTURE - 1))
    assert differences(graph, past, future) == ["WORLD Ann works_at: + Acme"]
    assert differences(graph, graph.snapshot("n", valid_at=UNBOUNDED_FUTURE), past) == ["WORLD Ann born_on: + 1990-01-01"]


def test_ties_and_additive_values_are_told_whole(graph: LedgerGraph) -> None:
    say(graph, "2020-01-01", "Ann works_at Acme")
    say(graph, "2021-01-01", claim("Ann works_at Beta", additive=True))
    say(graph, "2022-01-01", "Ann works_at Cord", "Ann works_at Dent")
    assert differences(graph, at(graph, "2020-06-01"), at(graph, "2021-06-01")) == ["WORLD Ann works_at: Acme -> Acme, Beta"]
    (change,) = diff(graph, at(graph, "2020-06-01"), at(graph, "2022-01-01"))
    assert told(change) == "WORLD Ann works_at: Acme -> Beta, Cord, Dent"
    assert differences(graph, at(graph, "2021-06-01"), at(graph, "2020-06-01")) == ["WORLD Ann works_at: Acme, Beta -> Acme"]


def test_another_interval_of_what_holds_on_both_is_no_difference(graph: LedgerGraph) -> None:
    say(graph, "2020-01-01", "Ann works_at Acme")
    known = last(graph)
    say(graph, "2019-01-01", "Ann works_at Acme")
    say(graph, "2021-01-01", "Ann works_at Beta")
    assert differences(graph, at(graph, "2020-06-01", transaction=known), at(graph, "2020-07-01")) == []


def test_denials_are_compared_where_the_filter_asks_for_them(graph: LedgerGraph) -> None:
    say(graph, "2020-01-01", "Ann likes tea", "Ann works_at Acme")
    say(graph, "2021-01-01", "not Ann likes tea", "not Ann works_at Beta", "not Ann works_at Cord")
    start, end = at(graph, "2020-06-01"), at(graph, "2021-06-01")
    assert differences(graph, start, end) == ["WORLD Ann likes: - tea"]
    denied = ["WORLD Ann likes: + not tea", "WORLD Ann works_at: + not Beta", "WORLD Ann works_at: + not Cord"]
    assert differences(graph, start, end, StatementFilter(polarity=False)) == denied
    assert differences(graph, start, end, StatementFilter(predicates=("dislikes",))) == denied[:1]
    assert differences(graph, start, end, StatementFilter(predicates=("dislikes",), polarity=False)) == ["WORLD Ann likes: - tea"]


def test_a_relation_with_two_sides_differs_once(graph: LedgerGraph) -> None:
    say(graph, "2020-01-01", "Ann reports_to Bob", "Cy spouse_of Ann")
    say(graph, "2021-01-01", "Dan manager_of Ann", claim("Ann spouse_of Bob", kind="CHANGE"))
    start, end = at(graph, "2020-06-01"), at(graph, "2021-06-01")
    assert differences(graph, start, end) == ["WORLD Ann reports_to: Bob -> Dan", "WORLD Ann spouse_of: Cy -> Bob"]
    assert differences(graph, start, end, StatementFilter(predicates=("manager_of",))) == ["WORLD Ann reports_to: Bob -> Dan"]
    cy, dan = (end.key_of(EntityRef(name=name)) for name in ("Cy", "Dan"))
    of_dan = StatementFilter(predicates=("manager_of",), subjects=(dan,))
    assert differences(graph, start, end, of_dan) == ["WORLD Ann reports_to: Bob -> Dan"]
    assert differences(graph, start, end, StatementFilter(predicates=("reports_to",), subjects=(dan,))) == []
    assert differences(graph, start, end, StatementFilter(subjects=(cy,))) == ["WORLD Ann spouse_of: Cy -> Bob"]


def test_the_filter_chooses_by_any_statement_of_a_difference(graph: LedgerGraph) -> None:
    say(graph, "2020-01-01", "Ann works_at Acme", "Bob works_at Acme", group="one", speaker="Ann")
    say(graph, "2021-01-01", claim("Ann works_at Beta", additive=True, confidence=0.6), "Bob likes tea", source="notes")
    start, end = at(graph, "2020-06-01"), at(graph, "2021-06-01")
    change, added = "WORLD Ann works_at: Acme -> Acme, Beta", "WORLD Bob likes: + tea"
    acme, tea, ann = (end.key_of(EntityRef(name=name)) for name in ("Acme", "tea", "Ann"))
    chosen: list[tuple[dict[str, Any], list[str]]] = [
        ({}, [change, added]),
        ({"objects": (acme,)}, [change]),
        ({"objects": (acme, tea)}, [change, added]),
        ({"subjects": (ann,)}, [change]),
        ({"subjects": (ann,), "objects": (tea,)}, []),
        ({"predicates": ("likes",)}, [added]),
        ({"aspects": ("KNOWLEDGE",)}, [change, added]),
        ({"aspects": ("KNOWLEDGE",), "predicates": ("likes",)}, [added]),
        ({"aspects": ("PREFERENCE",)}, []),
        ({"min_confidence": 0.7}, [change, added]),
        ({"min_confidence": 0.7, "group": "one"}, [change]),
        ({"group": "two"}, []),
        ({"source": "notes"}, [change, added]),
        ({"source": "notes", "speaker": "Ann"}, []),
        ({"speaker": "Ann"}, [change]),
    ]
    for fields, expected in chosen:
        assert (fields, differences(graph, start, end, StatementFilter(**fields))) == (fields, expected)


@pytest.mark.parametrize("fields", [{"valid_during": (0, 1)}, {"include_invalidated": True}])
def test_a_filter_that_asks_for_a_time_is_refused(fields: dict[str, Any], graph: LedgerGraph) -> None:
    with pytest.raises(InvalidInput, match="has no meaning there") as refused:
        graph.diff(graph.snapshot("n"), graph.snapshot("n"), StatementFilter(**fields))
    assert refused.value.path[0] == "filter"


def test_namespaces_have_nothing_to_compare(graph: LedgerGraph) -> None:
    say(graph, "2020-01-01", "Ann likes tea")
    say(graph, "2020-01-01", "Ann likes milk", namespace="other")
    with pytest.raises(InvalidInput, match="two namespaces"):
        graph.diff(graph.snapshot("n"), graph.snapshot("other"))
    start, end = (graph.snapshot("n", valid_at=when(text)) for text in ("2019-01-01", "2021-01-01"))
    assert differences(graph, start, end) == ["WORLD Ann likes: + tea"]


def test_a_join_is_no_fact(graph: LedgerGraph) -> None:
    say(graph, "2020-01-01", "Bob likes tea", "Robert likes tea", "Bob works_at Acme", "Cy knows Robert", "Robert lives_in Delft")
    before = at(graph, "2021-01-01")
    facade = cast(Graph, graph)
    merged = facade.merge("n", [before.key_of(EntityRef(name=name)) for name in ("Bob", "Robert")])
    after = at(graph, "2021-01-01")
    assert differences(graph, before, after) == []
    (joined,) = diff(graph, before, after, StatementFilter(predicates=(SAME,)))
    assert (joined.kind, joined.cause) == (DifferenceKind.ADDED, Cause.BELIEF)
    say(graph, "2020-06-01", "Robert works_at Beta")
    assert differences(graph, before, at(graph, "2021-01-01")) == ["BELIEF Robert works_at: Acme -> Beta"]
    facade.reject("n", merged.claims, reason="two people")
    apart = at(graph, "2021-01-01")
    assert differences(graph, before, apart) == ["BELIEF Robert works_at: + Beta"]


def test_what_is_told_apart_differs(graph: LedgerGraph) -> None:
    say(graph, "2020-01-01", "Alex likes tea", "Alex works_at Acme", group="desk")
    say(graph, "2020-01-02", "Alex likes milk", group="choir")
    before = at(graph, "2021-01-01")
    split = cast(Graph, graph).split("n", before.key_of(EntityRef(name="Alex")), groups=["choir"], discriminator="choir")
    after = at(graph, "2021-01-01")
    found = diff(graph, before, after)
    assert [(told(each), each.subject.key == split.entity) for each in found] in (
        [("BELIEF Alex likes: - milk", False), ("BELIEF Alex likes: + milk", True)],
        [("BELIEF Alex likes: + milk", True), ("BELIEF Alex likes: - milk", False)],
    )


def test_cardinality_is_that_of_the_last_basis(open_graph: Callable[..., LedgerGraph], vocabulary: Vocabulary) -> None:
    first = open_graph()
    say(first, "2020-01-01", "Ann speaks Dutch")
    say(first, "2021-01-01", "Ann speaks Greek")
    many = last(first)
    speaks = replace(vocabulary.predicates["speaks"], cardinality=vocabulary.predicates["works_at"].cardinality)
    graph = open_graph(replace(vocabulary, predicates={**vocabulary.predicates, "speaks": speaks}, version="one"))
    start, end = at(graph, "2021-06-01", transaction=many), at(graph, "2021-06-01")
    assert differences(graph, start, end) == ["BELIEF Ann speaks: Dutch, Greek -> Greek"]
    assert differences(graph, end, start) == ["BELIEF Ann speaks: + Dutch"]


def test_what_was_said_by_then(graph: LedgerGraph) -> None:
    say(graph, "2020-01-01", "Ann works_at Acme", "Bob likes tea")
    say(graph, "2021-01-01", "Ann works_at Beta")
    say(graph, "2022-01-01", claim("Ann works_at Acme", kind="CORRECTION", replaces="Beta"), "not Bob likes tea")
    start, end = at(graph, "2021-06-01", evidence_until=when("2021-06-01")), at(graph, "2022-06-01")
    assert differences(graph, start, end) == ["BELIEF Ann works_at: Beta -> Acme", "WORLD Bob likes: - tea"]
    early = at(graph, "2022-06-01", evidence_until=when("2020-06-01"))
    assert differences(graph, early, at(graph, "2021-06-01", evidence_until=when("2021-06-01"))) == ["BELIEF Ann works_at: Acme -> Beta"]
    assert differences(graph, end, early) == ["BELIEF Bob likes: + tea"]


def test_statements_are_those_of_their_bases(graph: LedgerGraph) -> None:
    say(graph, "2020-01-01", "Ann works_at Acme", content="Ann works at Acme.")
    known = at(graph, "2020-06-01")
    say(graph, "2021-01-01", "Ann works_at Beta", content="Ann works at Beta.")
    say(graph, "2022-01-01", claim("Ann works_at Zeta", kind="CORRECTION", replaces="Acme"), content="No, it was Zeta.")
    end = at(graph, "2021-06-01")
    belief, world = diff(graph, known, end, want=frozenset({Want.PROVENANCE}))
    middle = graph.snapshot("n", valid_at=known.basis.valid_at, transaction=end.basis.transaction)
    for side, snapshot in ((belief.before, known), (belief.after, middle), (world.before, middle), (world.after, end)):
        listed = snapshot.statements(StatementFilter(), want=frozenset({Want.PROVENANCE})).items
        assert side == listed
    assert belief.before[0].text == "Ann works at Acme." and world.after[0].provenance[0].quote == "Ann works at Beta."


def test_names_that_the_last_basis_has_never_heard_are_those_of_the_first(graph: LedgerGraph) -> None:
    say(graph, "2020-01-01", "Ann likes tea")
    early = at(graph, "2021-01-01")
    say(graph, "2020-01-01", "Zed likes milk", "Bea friend_of Abe")
    assert differences(graph, at(graph, "2021-01-01"), early) == ["BELIEF Abe friend_of: - Bea", "BELIEF Zed likes: - milk"]


def test_pages_go_on_where_the_last_ended(graph: LedgerGraph) -> None:
    for name in ("Ann", "Bob", "Cy"):
        say(graph, "2020-01-01", f"{name} works_at Acme", f"{name} likes tea", f"{name} likes milk")
    known = last(graph)
    say(graph, "2021-01-01", "Ann works_at Beta", "not Bob likes tea", "Di likes tea", claim("Cy works_at Cord", kind="CORRECTION"))
    start, end = at(graph, "2019-06-01", transaction=known), at(graph, "2021-06-01")
    whole = diff(graph, start, end)
    assert len(whole) > 6 and [diff(graph, start, end, first=size) for size in (1, 2, 5)] == [whole] * 3
