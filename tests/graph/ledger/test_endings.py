"""Why statements ended: each kind with its rule, what took over and the words that decided."""

from __future__ import annotations

from dataclasses import replace

from graph.service import LedgerGraph
from graph.views import InvalidationView, Reason, StatementFilter
from ontology.instant import UNBOUNDED_FUTURE
from tests.graph.ledger.saying import ALWAYS, claim, one, say, spans, views, when, words

GONE = replace(ALWAYS, include_invalidated=True)


def ending(graph: LedgerGraph, text: str, filter: StatementFilter = ALWAYS) -> tuple[Reason, str, str | None, str | None]:
    """(reason, rule, what took over, quote)."""
    found = one(graph, text, filter).invalidation
    assert isinstance(found, InvalidationView)
    return (
        found.reason,
        found.rule,
        words(found.by) if found.by is not None else None,
        found.evidence.quote if found.evidence is not None else None,
    )


def test_an_open_statement_has_not_ended(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna works_at Acme")
    found = one(graph, "Anna works_at Acme")
    assert (found.invalidation, found.v_to, found.tx_to_at) == (None, UNBOUNDED_FUTURE, None)


def test_a_newer_value_supersedes(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna works_at Acme", content="I work at Acme.")
    say(graph, "2025-01-01", "Anna works_at Globex", content="I work at Globex now.")
    expected = (Reason.SUPERSEDED, "functional-slot", "Anna works_at Globex", "I work at Globex now.")
    assert ending(graph, "Anna works_at Acme") == expected
    assert one(graph, "Anna works_at Acme").v_to == when("2025-01-01")


def test_the_time_of_the_decision_is_that_of_its_transaction(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna works_at Acme")
    receipt = say(graph, "2025-01-01", "Anna works_at Globex")
    found = one(graph, "Anna works_at Acme")
    assert found.invalidation is not None
    assert found.invalidation.decided_at == graph.snapshot("n", transaction=receipt.transaction).basis.recorded_at


def test_a_denial_contradicts(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna likes tea", content="I like tea.")
    say(graph, "2025-01-01", "Anna dislikes tea", content="I hate tea.")
    assert ending(graph, "Anna likes tea") == (Reason.CONTRADICTED, "polarity", "not Anna likes tea", "I hate tea.")
    assert one(graph, "not Anna likes tea").invalidation is None


def test_a_second_static_value_contradicts(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna born_on monday", content="Monday.")
    say(graph, "2025-01-01", "Anna born_on tuesday", content="Tuesday, in fact.")
    expected = (Reason.CONTRADICTED, "static-value", "Anna born_on tuesday", "Tuesday, in fact.")
    assert ending(graph, "Anna born_on monday", GONE) == expected


def test_a_told_end_is_explicit(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna works_at Acme", content="I work at Acme.")
    say(graph, "2025-06-01", claim("Anna works_at Acme", kind="END", valid_to="2025-03"), content="I left Acme in March.")
    assert ending(graph, "Anna works_at Acme") == (Reason.EXPLICIT_END, "explicit-end", "not Anna works_at Acme", "I left Acme in March.")
    found = one(graph, "Anna works_at Acme")
    assert (found.v_to, found.to_stated) == (when("2025-04-01"), "2025-03")


def test_a_stated_bound_is_explicit(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", claim("Anna works_at Acme", valid_from="2020", valid_to="2022-05-01"), content="2020 to May 2022.")
    assert ending(graph, "Anna works_at Acme") == (Reason.EXPLICIT_END, "bounded", None, "2020 to May 2022.")
    found = one(graph, "Anna works_at Acme")
    assert (found.from_stated, found.to_stated) == ("2020", "2022-05-01")


def test_an_event_ends_by_itself(graph: LedgerGraph) -> None:
    say(graph, "2024-06-01", claim("Anna visited Rome", valid_from="2024-05-01"), content="Rome on the 1st of May.")
    assert ending(graph, "Anna visited Rome")[:2] == (Reason.EXPLICIT_END, "bounded")


def test_a_correction_says_that_it_was_never_so(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna works_at Acme", content="At Acme.")
    say(graph, "2024-02-01", claim("Anna works_at Globex", kind="CORRECTION", replaces="Acme"), content="Globex, I meant.")
    expected = (Reason.CORRECTED, "correction", "Anna works_at Globex", "Globex, I meant.")
    assert ending(graph, "Anna works_at Acme", GONE) == expected
    assert spans(graph) == {"Anna works_at Globex": [(when("2024-01-01"), UNBOUNDED_FUTURE)]}


def test_what_came_back_is_clipped_where_a_bounded_rival_turns_out_to_have_been_there(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna lives_in Paris", content="I live in Paris.")
    say(graph, "2024-01-02", claim("Anna lives_in Oslo", kind="PATCH", valid_from="2024-02-01", valid_to="2024-03-01T00:00:00Z"))
    assert spans(graph)["Anna lives_in Paris"][1] == (when("2024-03-01"), UNBOUNDED_FUTURE)
    bounds = {"valid_from": "2024-02-10T00:00:00Z", "valid_to": "2024-02-20T00:00:00Z"}
    say(graph, "2024-06-01", claim("Anna lives_in Rome", **bounds), content="I lived in Rome for ten days.")
    back = [view for view in views(graph, GONE) if words(view) == "Anna lives_in Paris" and view.tx_to_at is not None]
    (found,) = [view.invalidation for view in back]
    assert found is not None and found.evidence is not None
    assert (found.reason, found.rule, found.evidence.quote) == (Reason.CLIPPED, "bounded-rival", "I lived in Rome for ten days.")


def test_an_imprecise_start_that_has_yielded_is_superseded(graph: LedgerGraph) -> None:
    say(graph, "2023-01-01", claim("Anna lives_in Paris", kind="CHANGE", valid_from="2024"), content="Next year I move to Paris.")
    bounds = {"valid_from": "2024-06-01", "valid_to": "2025-02-01"}
    say(graph, "2025-03-01", claim("Anna lives_in Rome", **bounds), content="I lived in Rome.")
    assert ending(graph, "Anna lives_in Paris", GONE) == (Reason.SUPERSEDED, "functional-slot", "Anna lives_in Rome", "I lived in Rome.")


def test_a_retraction_withdraws(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna works_at Acme", external_id="gone")
    receipt = graph.retract("n", source="chat", external_id="gone", reason="wrong chat")
    assert views(graph, ALWAYS) == []
    found = one(graph, "Anna works_at Acme", GONE)
    assert found.invalidation is not None
    assert (found.invalidation.reason, found.invalidation.rule) == (Reason.RETRACTED, "retraction")
    assert found.invalidation.evidence is None
    at = graph.snapshot("n", transaction=receipt.transaction).basis.recorded_at
    assert (found.tx_to_at, found.invalidation.decided_at) == (at, at)


def test_a_revision_that_says_otherwise_corrects(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna works_at Acme", external_id="note", revised_at="2024-01-01")
    say(graph, "2024-01-01", "Anna works_at Globex", external_id="note", revised_at="2024-02-01")
    assert ending(graph, "Anna works_at Acme", GONE) == (Reason.CORRECTED, "revision", None, None)


def test_belief_lost_and_the_world_changed_are_told_apart(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna works_at Acme")
    say(graph, "2025-01-01", "Anna works_at Globex", external_id="later")
    ended = one(graph, "Anna works_at Acme")
    assert (ended.v_to, ended.tx_to_at) == (when("2025-01-01"), None)
    graph.retract("n", source="chat", external_id="later", reason=None)
    assert one(graph, "Anna works_at Acme").v_to == UNBOUNDED_FUTURE
    lost = one(graph, "Anna works_at Globex", GONE)
    assert lost.v_to == UNBOUNDED_FUTURE and lost.tx_to_at is not None


def test_the_other_side_of_a_pair_ends_a_statement(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna spouse_of Bob", content="Anna married Bob.")
    say(graph, "2025-01-01", "Zoe spouse_of Bob", content="Zoe married Bob.")
    assert ending(graph, "Anna spouse_of Bob") == (Reason.SUPERSEDED, "functional-slot", "Bob spouse_of Zoe", "Zoe married Bob.")
    found = one(graph, "Anna spouse_of Bob")
    assert (found.evidence_count, [evidence.quote for evidence in found.provenance]) == (1, ["Anna married Bob."])


def test_what_is_gone_has_one_row_for_each_last_known_interval(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna lives_in Paris")
    say(graph, "2025-01-01", "Anna lives_in Oslo", external_id="oslo")
    say(graph, "2023-01-01", "Anna lives_in Paris")
    rows = [(words(view), view.v_from, view.v_to) for view in views(graph, GONE)]
    assert rows == [
        ("Anna lives_in Oslo", when("2025-01-01"), UNBOUNDED_FUTURE),
        ("Anna lives_in Paris", when("2023-01-01"), when("2025-01-01")),
    ]
    graph.retract("n", source="chat", external_id="oslo", reason=None)
    believed = [(words(view), view.v_from, view.v_to, view.tx_to_at is None) for view in views(graph, GONE)]
    assert believed == [
        ("Anna lives_in Oslo", when("2025-01-01"), UNBOUNDED_FUTURE, False),
        ("Anna lives_in Paris", when("2023-01-01"), UNBOUNDED_FUTURE, True),
    ]


def test_without_a_range_what_has_begun_and_is_over_or_gone_is_listed(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", claim("Anna lives_in Paris", valid_from="2020-01-01", valid_to="2021-01-01"))
    say(graph, "2024-01-01", claim("Anna works_at Acme", kind="CHANGE", valid_from="2024-05-01"))
    listed = StatementFilter(include_invalidated=True)
    assert [words(view) for view in views(graph, listed, valid_at=when("2024-02-01"))] == ["Anna lives_in Paris"]
    assert [words(view) for view in views(graph, listed, valid_at=when("2024-06-01"))] == ["Anna works_at Acme", "Anna lives_in Paris"]


def test_history_lists_every_version_in_transaction_order(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna lives_in Paris")
    say(graph, "2025-01-01", "Anna lives_in Oslo", external_id="oslo")
    graph.retract("n", source="chat", external_id="oslo", reason=None)
    history = one(graph, "Anna lives_in Paris").history
    start = when("2024-01-01")
    assert [(version.v_from, version.v_to) for version in history] == [
        (start, UNBOUNDED_FUTURE),
        (start, when("2025-01-01")),
        (start, UNBOUNDED_FUTURE),
    ]
    assert [version.tx_to_at for version in history] == [history[1].tx_from_at, history[2].tx_from_at, None]
