"""Failures that people met in like products, put as statements: what belief must make of them."""

from __future__ import annotations

from itertools import permutations

from graph.service import LedgerGraph
from graph.views import Reason, StatementFilter
from ontology.instant import UNBOUNDED_FUTURE
from tests.graph.ledger.saying import ALWAYS, ask, claim, now, one, say, spans, views, when, words


def test_a_fact_from_the_past_looks_back_in_every_order(graph: LedgerGraph) -> None:
    told = [
        ("2023-09-23", claim("Nick drinks coffee", kind="CHANGE")),
        ("2023-09-21", claim("Nick drinks green tea")),
        ("2023-09-22", claim("Nick drinks green tea", kind="END")),
    ]
    for number, order in enumerate(permutations(told)):
        for said, words_ in order:
            say(graph, said, words_, namespace=f"o{number}")
        held = {
            day: [text for text in now(graph, day, f"o{number}") if not text.startswith("not")] for day in ("2023-09-21T12:00:00Z", "2024")
        }
        assert held == {"2023-09-21T12:00:00Z": ["Nick drinks green tea"], "2024": ["Nick drinks coffee"]}
        assert [text for text in now(graph, "2023-09-22T12:00:00Z", f"o{number}") if not text.startswith("not")] == []


def test_liking_that_turns_into_hating_keeps_both_with_one_contradiction(graph: LedgerGraph) -> None:
    say(graph, "2026-01-01", "Alice likes Chinese food", "Alice knows Bob")
    say(graph, "2026-01-02", "Alice dislikes Chinese food")
    assert spans(graph) == {
        "Alice likes Chinese food": [(when("2026-01-01"), when("2026-01-02"))],
        "not Alice likes Chinese food": [(when("2026-01-02"), UNBOUNDED_FUTURE)],
        "Alice knows Bob": [(when("2026-01-01"), UNBOUNDED_FUTURE)],
    }
    ended = [view for view in views(graph, ALWAYS) if view.invalidation is not None]
    assert [(words(view), view.invalidation.reason) for view in ended if view.invalidation] == [
        ("Alice likes Chinese food", Reason.CONTRADICTED)
    ]


def test_of_two_favourites_the_current_one_holds_and_both_are_history(graph: LedgerGraph) -> None:
    say(graph, "2025-01-01", claim("Anna favorite Ronaldo", qualifier="player"))
    say(graph, "2026-01-01", claim("Anna favorite Messi", qualifier="player"))
    assert now(graph, "2026-06-01") == ["Anna favorite Messi"]
    assert one(graph, "Anna favorite Ronaldo").v_to == when("2026-01-01")


def test_like_words_about_different_slots_end_nothing(graph: LedgerGraph) -> None:
    for number in range(30):
        say(graph, f"2026-01-{number + 1:02d}", claim(f"Service{number} configured_as {8001 + number}", qualifier="port"))
    found = views(graph, ALWAYS)
    assert len(found) == 30
    assert all(view.invalidation is None for view in found)


def test_a_contract_with_a_last_day_ends_by_itself(graph: LedgerGraph) -> None:
    say(graph, "2026-01-02", claim("Anna member_of Club", valid_from="2026-01-01", valid_to="2026-01-03"))
    assert [now(graph, at) for at in ("2026-01-02", "2026-01-03T12:00:00Z", "2026-01-04")] == [["Anna member_of Club"]] * 2 + [[]]
    (view,) = views(graph, StatementFilter(), valid_at=when("2026-01-03T12:00:00Z"))
    assert (view.certain, view.tx_to_at) == (False, None)


def test_the_same_said_twice_is_one_statement_with_two_provenances(graph: LedgerGraph) -> None:
    for day in ("2026-01-01", "2026-01-02"):
        say(graph, day, claim("Alice works_at Acme", kind="CHANGE", valid_from="2020"))
    found = one(graph, "Alice works_at Acme")
    assert (found.evidence_count, found.invalidation) == (2, None)


def test_two_events_are_neither_duplicate_nor_contradiction(graph: LedgerGraph) -> None:
    say(graph, "2026-01-07", claim("Bob visited track", valid_from="2026-01-06"))
    say(
        graph,
        "2026-01-08",
        claim("Bob visited track", valid_from="2026-01-07T10:00:00Z"),
        claim("Bob visited gym", valid_from="2026-01-07"),
    )
    assert {text: len(found) for text, found in spans(graph).items()} == {"Bob visited track": 2, "Bob visited gym": 1}
    assert all(view.conflict == "NONE" for view in views(graph, ALWAYS))


def test_many_valued_values_stay_beside_each_other(graph: LedgerGraph) -> None:
    say(graph, "2026-01-01", "benchmark uses qwen2.5:7b")
    say(graph, "2026-01-02", "benchmark uses qwen2.5:3b")
    assert now(graph, "2026-02-01") == ["benchmark uses qwen2.5:3b", "benchmark uses qwen2.5:7b"]


def test_one_end_ends_one_statement(graph: LedgerGraph) -> None:
    say(graph, "2026-01-01", "Alice likes Bob")
    say(graph, "2026-01-03", "Alice friend_of Charlie")
    say(graph, "2026-01-04", "Bob works_at XYZ")
    say(graph, "2026-01-05", "Bob has_role lead")
    say(graph, "2026-01-06", claim("Bob works_at XYZ", kind="END"))
    ended = {words(view): view.v_to for view in views(graph, ALWAYS) if view.v_to != UNBOUNDED_FUTURE}
    assert ended == {"Bob works_at XYZ": when("2026-01-06")}


def test_a_port_moves_on_where_there_is_one_value(graph: LedgerGraph) -> None:
    say(graph, "2026-01-01", "helper located_in helper.py")
    say(graph, "2026-02-01", claim("helper located_in helper.rb", kind="CHANGE"))
    assert [now(graph, at) for at in ("2026-01-15", "2026-03-01")] == [["helper located_in helper.py"], ["helper located_in helper.rb"]]


def test_an_excursion_is_undone_and_stays_in_the_history_of_belief(graph: LedgerGraph) -> None:
    say(graph, "2020-01-01", "Bob lives_in Paris")
    number = say(graph, "2021-01-01", "Bob lives_in London", external_id="ep2").transaction
    graph.retract("n", source="chat", external_id="ep2", reason=None)
    assert now(graph, "2022-01-01") == ["Bob lives_in Paris"]
    assert now(graph, "2022-01-01", transaction=number) == ["Bob lives_in London"]
    assert len(one(graph, "Bob lives_in Paris").history) == 3


def test_a_term_of_office_counts_its_last_day(graph: LedgerGraph) -> None:
    say(graph, "2026-01-01", claim("Harris has_role AG", valid_from="2011-01-03", valid_to="2017-01-03"))
    asked = {at: [view.certain for view in views(graph, valid_at=when(at))] for at in ("2015-06-01", "2017-01-03", "2018-01-01")}
    assert asked == {"2015-06-01": [True], "2017-01-03": [False], "2018-01-01": []}


def test_what_is_undated_ends_where_it_is_said_to(graph: LedgerGraph) -> None:
    say(graph, "2023-01-01", "Bob works_at Acme")
    say(graph, "2024-02-01", claim("Bob works_at Acme", kind="END", valid_to="2024-01-01T00:00:00Z"))
    assert (
        spans(graph)["Bob works_at Acme"] == [(when("2023-01-01"), when("2024-01-01"))] or ask(graph, "Bob works_at Acme", "2022") == "YES"
    )
    assert ask(graph, "Bob works_at Acme", "2024-06-01") == "NO"


def test_what_arrives_later_about_the_past_goes_before(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Bob works_at Beta")
    say(graph, "2022-01-01", "Bob works_at Acme")
    assert spans(graph) == {
        "Bob works_at Acme": [(when("2022-01-01"), when("2024-01-01"))],
        "Bob works_at Beta": [(when("2024-01-01"), UNBOUNDED_FUTURE)],
    }
