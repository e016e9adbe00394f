"""Statements as readers see them: words, evidence, bounds, order and pages."""

from __future__ import annotations

from typing import Any

from graph.service import LedgerGraph
from graph.views import EntityRef, Positions, StatementFilter, StatementView
from ontology.claim import Modality
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST
from tests.graph.ledger.saying import ALWAYS, ask, claim, now, one, say, spans, views, when, words


def test_provenance_lists_who_says_so_oldest_first_with_the_very_words(graph: LedgerGraph) -> None:
    say(graph, "2024-03-01", "Anna works_at Acme", content="Still at Acme, as ever.", external_id="b")
    say(graph, "2024-01-01", "Anna works_at Acme", content="I work at Acme.", external_id="a")
    found = one(graph, "Anna works_at Acme")
    assert [(each.episode.external_id, each.quote) for each in found.provenance] == [
        ("a", "I work at Acme."),
        ("b", "Still at Acme, as ever."),
    ]
    for each in found.provenance:
        assert each.episode.content is not None and each.episode.content[each.start : each.end] == each.quote
        assert each.extractor == "client"
    assert found.evidence_count == 2
    assert found.last_attested_at == when("2024-03-01")


def test_evidence_counts_episodes_not_claims(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna works_at Acme", claim("Anna works_at Acme", valid_from="2023-01-01"))
    assert one(graph, "Anna works_at Acme").evidence_count == 1


def test_what_no_evidence_attests_was_last_attested_when_it_was_said(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", claim("Anna works_at Acme", kind="CHANGE", valid_from="2025"))
    assert one(graph, "Anna works_at Acme").last_attested_at == when("2024-01-01")


def test_the_text_is_the_surest_quote_or_words_made_of_names(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "not Anna works_at Acme")
    assert one(graph, "not Anna works_at Acme").text == "Anna not works at Acme"
    say(graph, "2024-01-02", claim("Anna likes tea", confidence=0.6), content="Tea, I guess.")
    say(graph, "2024-01-03", claim("Anna likes tea", confidence=0.9), content="I love tea!")
    found = one(graph, "Anna likes tea")
    assert (found.text, found.confidence) == ("I love tea!", 0.9)


def test_bounds_are_shown_as_stated_where_a_claim_states_them(graph: LedgerGraph) -> None:
    say(graph, "2024-06-01", claim("Anna lives_in Paris", valid_from="2019-06", valid_to="2021"))
    found = one(graph, "Anna lives_in Paris")
    assert (found.from_stated, found.to_stated) == ("2019-06", "2021")
    assert (found.v_from, found.v_to) == (when("2019-06-01"), when("2022-01-01"))
    say(graph, "2024-06-01", "Anna lives_in Oslo")
    found = one(graph, "Anna lives_in Oslo")
    assert (found.from_stated, found.to_stated) == (None, None)


def test_an_end_inside_its_own_granule_is_shown_as_stated(graph: LedgerGraph) -> None:
    say(graph, "2023-01-01", "Anna works_at Acme")
    say(graph, "2024-06-10", claim("Anna works_at Acme", kind="END", valid_to="2024"))
    found = one(graph, "Anna works_at Acme")
    assert (found.v_to, found.to_stated) == (when("2024-06-10"), "2024")


def test_candidates_and_plans_are_no_belief(graph: LedgerGraph) -> None:
    say(
        graph,
        "2024-01-01",
        claim("Anna works_at Acme", confidence=0.49),
        claim("Anna plans_to emigrate"),
        claim("Anna wants a boat", modality=Modality.REPORTED),
        claim("Anna lives_in Mars", modality=Modality.HYPOTHETICAL),
    )
    assert views(graph, ALWAYS) == []


def test_statements_are_newest_first_then_by_names(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Zoe likes tea", "Anna likes tea", "Anna likes beer", "Anna knows Zoe")
    say(graph, "2025-01-01", "Anna likes wine")
    assert [words(view) for view in views(graph)] == [
        "Anna likes wine",
        "Anna knows Zoe",
        "Anna likes beer",
        "Anna likes tea",
        "Zoe likes tea",
    ]


def _walk(graph: LedgerGraph, filter: StatementFilter, first: int, **basis: Any) -> list[StatementView]:
    found: list[StatementView] = []
    after: Positions | None = None
    while True:
        page = graph.snapshot("n", **basis).statements(filter, first=first, after=after)
        found += page.items
        if not page.has_next:
            return found
        after = page.positions[-1]


def test_pages_add_up_and_do_not_shift_when_something_is_committed(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", *(f"Anna likes thing{number}" for number in range(7)), *(f"Bob{n} likes tea" for n in range(4)))
    say(graph, "2024-01-02", *(claim(f"Anna owns thing{number}", valid_from="..") for number in range(3)))
    snapshot = graph.snapshot("n")
    whole = snapshot.statements(ALWAYS, first=100)
    assert (len(whole.items), whole.has_next) == (14, False)
    number = snapshot.basis.transaction
    for first in (1, 3, 13, 14):
        assert _walk(graph, ALWAYS, first, transaction=number, valid_at=snapshot.basis.valid_at) == list(whole.items)
        say(graph, "2024-01-01", f"Anna likes aardvark{first}", "not Anna likes thing3")
    grouped = StatementFilter(valid_during=ALWAYS.valid_during, source="chat")
    assert _walk(graph, grouped, 2, transaction=number, valid_at=snapshot.basis.valid_at) == list(whole.items)


def test_a_statement_is_found_by_its_proposition_and_start(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna works_at Acme")
    found = one(graph, "Anna works_at Acme")
    snapshot = graph.snapshot("n")
    assert snapshot.statement(found.key, found.v_from) == graph.snapshot("n").statements(ALWAYS).items[0]
    assert snapshot.statement(found.key, found.v_from + 1) is None
    assert graph.snapshot("other").statement(found.key, found.v_from) is None


def test_a_timeline_is_cut_where_the_values_change_and_leaves_gaps_out(graph: LedgerGraph) -> None:
    say(graph, "2024-06-01", claim("Anna lives_in Paris", valid_from="2020-01-01", valid_to="2021-01-01T00:00:00Z"))
    say(graph, "2024-06-01", claim("Anna lives_in Oslo", valid_from="2022-01-01", additive=True))
    say(graph, "2024-06-02", claim("Anna lives_in Rome", valid_from="2023-01-01"))
    found = graph.snapshot("n").timeline(EntityRef(name="anna"), "lives_in")
    assert found.subject is not None and found.subject.name == "Anna"
    assert [(part.v_from, part.v_to, [words(view) for view in part.statements]) for part in found.segments] == [
        (when("2020-01-01"), when("2021-01-01"), ["Anna lives_in Paris"]),
        (when("2022-01-01"), when("2023-01-01"), ["Anna lives_in Oslo"]),
        (when("2023-01-01"), UNBOUNDED_FUTURE, ["Anna lives_in Oslo", "Anna lives_in Rome"]),
    ]


def test_a_pair_is_read_from_either_side(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna reports_to Bob")
    say(graph, "2024-01-01", "Bob manager_of Carl", "Bob manager_of Anna")
    assert now(graph, "2024-06-01") == ["Anna reports_to Bob", "Carl reports_to Bob"]
    snapshot = graph.snapshot("n", valid_at=when("2024-06-01"))
    (segment,) = snapshot.timeline(EntityRef(name="Bob"), "manager_of").segments
    assert sorted(words(view) for view in segment.statements) == ["Bob manager_of Anna", "Bob manager_of Carl"]
    assert str(ask(graph, "Bob manager_of Carl", "2024-06-01")) == "YES"
    assert str(ask(graph, "Zoe manager_of Carl", "2024-06-01")) == "NO"
    assert str(ask(graph, "Carl reports_to Zoe", "2024-06-01")) == "NO"
    assert str(ask(graph, "Zoe reports_to Bob", "2024-06-01")) == "UNKNOWN"
    say(graph, "2024-03-01", "Anna reports_to Zoe")
    assert spans(graph)["Anna reports_to Bob"] == [(when("2024-01-01"), when("2024-03-01"))]


def test_a_symmetric_relation_is_one_statement_seen_from_both(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Bob spouse_of Anna")
    say(graph, "2024-02-01", "Anna spouse_of Bob")
    (found,) = views(graph)
    assert found.evidence_count == 2
    assert [str(ask(graph, text, "2024-06-01")) for text in ("Anna spouse_of Bob", "Bob spouse_of Anna", "Zoe spouse_of Bob")] == [
        "YES",
        "YES",
        "NO",
    ]
    snapshot = graph.snapshot("n")
    for name, other in (("Anna", "Bob"), ("Bob", "Anna")):
        key = snapshot.key_of(EntityRef(name=name))
        for filter in (StatementFilter(subjects=(key,)), StatementFilter(subjects=(key, snapshot.key_of(EntityRef(name="Zoe"))))):
            (view,) = snapshot.statements(filter).items
            assert words(view) == f"{name} spouse_of {other}"
        (view,) = snapshot.statements(StatementFilter(objects=(key,))).items
        assert words(view) == f"{other} spouse_of {name}"
        assert snapshot.statements(StatementFilter(subjects=(key,), objects=(key,))).items == ()


def test_who_is_their_own_superior_rules_no_report_out(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna reports_to Anna")
    assert str(ask(graph, "Bob reports_to Anna", "2024-06-01")) == "UNKNOWN"
    assert str(ask(graph, "Anna reports_to Bob", "2024-06-01")) == "NO"


def test_a_tie_on_the_other_side_of_a_pair_shows(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna spouse_of Zoe")
    say(graph, "2024-01-01", "Bob spouse_of Zoe")
    found = {words(view): view.conflict for view in views(graph, valid_at=when("2024-06-01"))}
    assert found == {"Anna spouse_of Zoe": "TIED", "Bob spouse_of Zoe": "TIED"}


def test_a_rectangle_that_the_other_side_cuts_is_cited(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", claim("Anna spouse_of Zoe", valid_from="2020-01-01T00:00:00Z"), content="Married since 2020.")
    say(
        graph,
        "2024-01-02",
        claim("Bob spouse_of Zoe", valid_from="2020-01-01T00:00:00Z", valid_to="2021-01-01T00:00:00Z"),
        content="Bob was first.",
    )
    found = one(graph, "Anna spouse_of Zoe")
    assert found.v_from == when("2021-01-01")
    assert [each.quote for each in found.provenance] == ["Married since 2020."]


def test_what_is_unbounded_has_no_ends(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna born_on monday")
    found = one(graph, "Anna born_on monday")
    assert (found.v_from, found.v_to) == (UNBOUNDED_PAST, UNBOUNDED_FUTURE)


def test_a_denied_statement_that_nothing_has_believed_is_found_under_evidence_until(graph: LedgerGraph) -> None:
    graph.retract("n", source="chat", external_id="none", reason=None)
    say(graph, "2024-01-01", "not Anna likes tea")
    until = when("2024-06-01")
    key = one(graph, "not Anna likes tea").key
    found = graph.snapshot("n", evidence_until=until).statement(key, when("2024-01-01"))
    assert found is not None and not found.polarity
