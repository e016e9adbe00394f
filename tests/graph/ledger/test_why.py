"""Why a slot changed: each reason with its words, or with the transaction that withdrew them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from graph.drift import BoundaryView
from graph.service import LedgerGraph
from graph.views import EntityRef, EntityView
from ontology.errors import InvalidInput, QueryTooComplex
from ontology.instant import Instant, format_instant
from ontology.vocabulary import Temporality, Vocabulary
from tests.graph.belief.vectors import VECTORS, instant
from tests.graph.ledger.reading import episode, read
from tests.graph.ledger.saying import claim, say, when, words
from tests.graph.ledger.vectors import LedgerWorld

WHY = [vector for vector in VECTORS["drift"] if "why" in vector]


def boundaries(
    graph: LedgerGraph, text: str, *, start: Instant | None = None, end: Instant | None = None, **basis: Any
) -> list[BoundaryView]:
    """The boundaries of a slot that is named as `subject predicate`."""
    subject, predicate = text.split()
    return graph.snapshot("n", **basis).drift.why_changed(EntityRef(name=subject), predicate, start=start, end=end)


def why(graph: LedgerGraph, text: str, **basis: Any) -> list[str]:
    """The same, each in a line: day, reason, rule, before -> after, the words or the kind of transaction."""
    return [line(one) for one in boundaries(graph, text, **basis)]


def line(one: BoundaryView) -> str:
    before, after = (" + ".join(map(words, views)) or "-" for views in (one.before, one.after))
    said = [f"'{each.quote}'" for each in one.evidence] + ([f"[{one.transaction.kind}]"] if one.transaction else [])
    return f"{format_instant(one.at)[:10]} {one.reason} {one.rule}: {before} -> {after} | {' '.join(said)}"


@pytest.mark.parametrize("vector", WHY, ids=lambda vector: vector["id"])
def test_vector(vector: dict[str, Any], graph: LedgerGraph) -> None:
    world = LedgerWorld(graph, "vector", VECTORS["drift_bases"][vector["base"]])
    found = graph.snapshot("vector").drift.why_changed(EntityRef(name=vector["why"]["s"]), vector["why"]["p"])

    def value(views: Sequence[Any]) -> str | None:
        assert all(isinstance(view.object, EntityView) for view in views)
        return views[0].object.name if views else None

    rows = [[one.at, value(one.before), value(one.after), sorted({str(e.episode.external_id) for e in one.evidence})] for one in found]
    assert rows == [[instant(at), *rest] for at, *rest in vector["expect"]]
    assert world.errors == []


def test_a_first_value_starts_and_the_next_supersedes_it(graph: LedgerGraph) -> None:
    say(graph, "2019-01-01", "Anna works_at Acme", content="I work at Acme.")
    say(graph, "2021-01-01", "Anna works_at Beta", content="I work at Beta.")
    assert why(graph, "Anna works_at") == [
        "2019-01-01 STARTED first-value: - -> Anna works_at Acme | 'I work at Acme.'",
        "2021-01-01 SUPERSEDED functional-slot: Anna works_at Acme -> Anna works_at Beta | 'I work at Beta.'",
    ]


def test_a_told_end_ends_and_what_comes_after_it_starts_anew(graph: LedgerGraph) -> None:
    say(graph, "2019-01-01", "Anna works_at Acme", content="I work at Acme.")
    say(graph, "2020-06-01", claim("Anna works_at Acme", kind="END", valid_to="2020-03-01T00:00:00Z"), content="I left on 1 March.")
    say(graph, "2022-01-01", "Anna works_at Acme", content="Back at Acme.")
    assert why(graph, "Anna works_at") == [
        # That it has ended says nothing of when it began: it may have been so before 2019.
        "2020-03-01 EXPLICIT_END explicit-end: Anna works_at Acme -> not Anna works_at Acme | 'I left on 1 March.'",
        "2022-01-01 STARTED after-gap: not Anna works_at Acme -> Anna works_at Acme | 'Back at Acme.'",
    ]


def test_a_bounded_claim_states_its_own_end(graph: LedgerGraph) -> None:
    bounds = {"valid_from": "2019-01-01T00:00:00Z", "valid_to": "2020-01-01T00:00:00Z"}
    say(graph, "2021-01-01", claim("Anna works_at Acme", **bounds), content="I was at Acme in 2019.")
    say(graph, "2022-01-01", "Anna works_at Beta", content="Now at Beta.")
    assert why(graph, "Anna works_at") == [
        "2019-01-01 STARTED first-value: - -> Anna works_at Acme | 'I was at Acme in 2019.'",
        "2020-01-01 EXPLICIT_END bounded: Anna works_at Acme -> - | 'I was at Acme in 2019.'",
        "2022-01-01 STARTED after-gap: - -> Anna works_at Beta | 'Now at Beta.'",
    ]


def test_a_bounded_rival_clips_what_it_covers(graph: LedgerGraph) -> None:
    say(graph, "2019-01-01", "Anna works_at Acme", content="I work at Acme.")
    bounds = {"valid_from": "2021-01-01T00:00:00Z", "valid_to": "2022-01-01T00:00:00Z"}
    say(graph, "2023-01-01", claim("Anna works_at Beta", **bounds), content="In 2021 I was at Beta.")
    assert why(graph, "Anna works_at")[1:] == [
        "2021-01-01 SUPERSEDED functional-slot: Anna works_at Acme -> Anna works_at Beta | 'In 2021 I was at Beta.'",
        "2022-01-01 CLIPPED bounded-rival: Anna works_at Beta -> - | 'In 2021 I was at Beta.'",
    ]


@pytest.mark.parametrize(
    ("predicate", "kind", "rule"), [("works_at", "PATCH", "patch"), ("deputy", "STATE", "bounded-rival")], ids=["patch", "resuming"]
)
def test_what_lay_under_an_interlude_resumes(graph: LedgerGraph, predicate: str, kind: str, rule: str) -> None:
    say(graph, "2019-01-01", f"Anna {predicate} Acme", content="Acme.")
    bounds = {"valid_from": "2021-01-01T00:00:00Z", "valid_to": "2021-02-01T00:00:00Z"}
    say(graph, "2021-03-01", claim(f"Anna {predicate} Beta", kind=kind, **bounds), content="Beta in January.")
    assert why(graph, f"Anna {predicate}")[1:] == [
        f"2021-01-01 SUPERSEDED functional-slot: Anna {predicate} Acme -> Anna {predicate} Beta | 'Beta in January.'",
        f"2021-02-01 RESUMED {rule}: Anna {predicate} Beta -> Anna {predicate} Acme | 'Acme.' 'Beta in January.'",
    ]


def test_a_denial_contradicts_its_proposition_alone(graph: LedgerGraph) -> None:
    say(graph, "2019-01-01", "Anna likes tea", content="I like tea.")
    say(graph, "2019-01-01", "Anna likes rain", content="I like rain.")
    say(graph, "2021-01-01", "Anna dislikes tea", content="I hate tea.")
    say(graph, "2022-01-01", "Anna likes tea", content="Tea is fine.")
    assert why(graph, "Anna likes") == [
        "2019-01-01 STARTED first-value: - -> Anna likes rain | 'I like rain.'",
        "2019-01-01 STARTED first-value: - -> Anna likes tea | 'I like tea.'",
        "2021-01-01 CONTRADICTED polarity: Anna likes tea -> not Anna likes tea | 'I hate tea.'",
        "2022-01-01 CONTRADICTED polarity: not Anna likes tea -> Anna likes tea | 'Tea is fine.'",
    ]


def test_an_unbounded_start_is_no_boundary(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna born_on monday", content="Monday.")
    assert why(graph, "Anna born_on") == []


def test_a_correction_has_moved_the_bounds_that_it_states(graph: LedgerGraph) -> None:
    say(graph, "2019-01-01", "Anna works_at Acme", content="I work at Acme.")
    say(graph, "2021-01-01", "Anna works_at Beta", content="I work at Beta.")
    corrected = claim("Anna works_at Beta", kind="CORRECTION", valid_from="2020-06-01T00:00:00Z")
    say(graph, "2021-02-01", corrected, content="At Beta since June, sorry.")
    assert why(graph, "Anna works_at")[1:] == [
        "2020-06-01 CORRECTED correction: Anna works_at Acme -> Anna works_at Beta | 'At Beta since June, sorry.'",
    ]


def test_a_value_beside_another_starts(graph: LedgerGraph) -> None:
    say(graph, "2019-01-01", "Anna works_at Acme", content="I work at Acme.")
    say(graph, "2021-01-01", claim("Anna works_at Beta", additive=True), content="I also work at Beta.")
    assert why(graph, "Anna works_at")[1:] == [
        "2021-01-01 STARTED additional: Anna works_at Acme -> Anna works_at Beta + Anna works_at Acme | 'I also work at Beta.'"
    ]


def test_the_other_side_of_a_pair_tells_the_same(graph: LedgerGraph) -> None:
    say(graph, "2019-01-01", "Anna reports_to Zoe", content="I report to Zoe.")
    say(graph, "2021-01-01", "Anna reports_to Bob", content="I report to Bob.")
    assert why(graph, "Zoe manager_of") == [
        "2019-01-01 STARTED first-value: - -> Zoe manager_of Anna | 'I report to Zoe.'",
        "2021-01-01 SUPERSEDED functional-slot: Zoe manager_of Anna -> - | 'I report to Bob.'",
    ]


def test_what_a_retracted_text_had_ended_is_revived(graph: LedgerGraph) -> None:
    say(graph, "2019-01-01", "Anna works_at Acme", content="I work at Acme.")
    say(graph, "2021-01-01", "Anna works_at Beta", content="I work at Beta.", external_id="beta")
    number = graph.retract("n", source="chat", external_id="beta", reason="wrong chat").transaction
    assert why(graph, "Anna works_at") == [
        "2019-01-01 STARTED first-value: - -> Anna works_at Acme | 'I work at Acme.'",
        "2021-01-01 REVIVED retraction: Anna works_at Beta -> Anna works_at Acme | [retract]",
    ]
    told = boundaries(graph, "Anna works_at")[1].transaction
    assert told is not None and (told.number, told.reason) == (number, "wrong chat")
    assert [one.tx_to_at for one in boundaries(graph, "Anna works_at")[1].before] == [told.at]
    # The boundary was there, and nothing is withdrawn yet, for who stands before that.
    assert why(graph, "Anna works_at", transaction=number - 1)[1].startswith("2021-01-01 SUPERSEDED")


def test_what_a_retracted_text_alone_had_said_is_retracted(graph: LedgerGraph) -> None:
    say(graph, "2019-01-01", "Anna works_at Acme", content="I work at Acme.", external_id="acme")
    graph.retract("n", source="chat", external_id="acme", reason=None)
    assert why(graph, "Anna works_at") == ["2019-01-01 RETRACTED retraction: Anna works_at Acme -> - | [retract]"]


def test_a_retracted_end_revives(graph: LedgerGraph) -> None:
    say(graph, "2019-01-01", "Anna works_at Acme", content="I work at Acme.")
    say(graph, "2020-01-01", claim("Anna works_at Acme", kind="END"), content="I left.", external_id="end")
    graph.retract("n", source="chat", external_id="end", reason=None)
    assert why(graph, "Anna works_at")[1:] == ["2020-01-01 REVIVED retraction: not Anna works_at Acme -> Anna works_at Acme | [retract]"]


def test_a_rejected_reading_is_withdrawn_and_comes_back_when_restored(graph: LedgerGraph) -> None:
    say(graph, "2019-01-01", "Anna works_at Acme", content="I work at Acme.")
    (wrong,) = boundaries(graph, "Anna works_at")[0].evidence
    graph.reject("n", [wrong.claim], reason="irony")
    assert why(graph, "Anna works_at") == ["2019-01-01 REJECTED rejection: Anna works_at Acme -> - | [reject]"]
    graph.restore("n", [wrong.claim], reason="no irony")
    assert why(graph, "Anna works_at") == ["2019-01-01 STARTED first-value: - -> Anna works_at Acme | 'I work at Acme.'"]


def test_a_revision_withdraws_what_it_says_no_more(graph: LedgerGraph) -> None:
    say(graph, "2019-01-01", "Anna works_at Acme", content="Acme.", external_id="note", revised_at="2019-01-01")
    say(graph, "2019-01-01", "Anna works_at Beta", content="Beta.", external_id="note", revised_at="2019-02-01")
    assert why(graph, "Anna works_at") == [
        "2019-01-01 STARTED first-value: - -> Anna works_at Beta | 'Beta.'",
        "2019-01-01 CORRECTED revision: Anna works_at Acme -> Anna works_at Beta | [assert]",
    ]


def test_what_later_words_have_changed_is_told_once(graph: LedgerGraph) -> None:
    say(graph, "2019-01-01", "Anna works_at Acme", content="I work at Acme.")
    say(graph, "2021-01-01", "Anna works_at Beta", content="I work at Beta.")
    say(graph, "2021-02-01", claim("Anna works_at Beta", valid_from="2020-01-01T00:00:00Z"), content="At Beta since 2020.")
    say(graph, "2021-03-01", claim("Anna works_at Gamma", kind="CORRECTION", replaces="Beta"), content="Gamma, not Beta.")
    assert why(graph, "Anna works_at")[1:] == [
        "2020-01-01 SUPERSEDED functional-slot: Anna works_at Acme -> Anna works_at Gamma | 'Gamma, not Beta.'"
    ]


def test_a_join_and_a_split_withdraw_what_they_make_untrue(graph: LedgerGraph) -> None:
    say(graph, "2019-01-01", "Robert works_at Acme", content="Robert is at Acme.", group="g")
    say(graph, "2021-01-01", "Bob works_at Beta", content="Bob is at Beta.", group="h")
    keys = [graph.snapshot("n").key_of(EntityRef(name=name)) for name in ("Robert", "Bob")]
    graph.merge("n", keys, reason="one person")
    joined = why(graph, "Bob works_at")
    assert [one.split(" | ")[0].split(": ")[0] for one in joined] == [
        "2019-01-01 STARTED first-value",
        "2021-01-01 SUPERSEDED functional-slot",
        "2021-01-01 REIDENTIFIED joined",
    ]
    say(graph, "2019-01-01", "Alex works_at Acme", content="Alex is at Acme.", group="g")
    say(graph, "2021-01-01", "Alex works_at Beta", content="Alex is at Beta.", group="h")
    graph.split("n", graph.snapshot("n").key_of(EntityRef(name="Alex")), groups=["h"], sources=(), discriminator="2")
    parted = why(graph, "Alex works_at")
    assert parted[0] == "2019-01-01 STARTED first-value: - -> Alex works_at Acme | 'Alex is at Acme.'"
    assert [one.split(": ")[0] for one in parted[1:]] == ["2021-01-01 REVIVED split"]


def test_what_is_attested_for_longer_starts_where_an_end_that_outranks_it_is_attested_no_more(graph: LedgerGraph) -> None:
    say(graph, "2020-01-01", claim("Anna likes tea", kind="END", valid_to="2019-01-01"), content="She went off tea.", rank=1)
    say(graph, "2022-01-01", claim("Anna likes tea", valid_from="2018-01-01"), content="Tea since 2018.")
    assert why(graph, "Anna likes")[-1] == "2020-01-01 STARTED outlasts: not Anna likes tea -> Anna likes tea | 'Tea since 2018.'"


def test_another_reading_of_a_text_withdraws_what_it_finds_no_more(graph: LedgerGraph) -> None:
    read(graph, episode("one", "2019-01-01"), "Anna works_at Acme")
    (found,) = graph.extracted("n")
    graph.reextract("n", found, [claim("Anna works_at Beta")], extractor="test 2")
    assert why(graph, "Anna works_at") == [
        "2019-01-01 STARTED first-value: - -> Anna works_at Beta | ''",
        "2019-01-01 CORRECTED re-extraction: Anna works_at Acme -> Anna works_at Beta | [reextract]",
    ]


def test_who_was_told_apart_has_lost_what_was_said_of_it_once_that_is_taken_back(graph: LedgerGraph) -> None:
    say(graph, "2019-01-01", "Alex works_at Acme", content="Alex is at Acme.", group="g")
    say(graph, "2021-01-01", "Alex works_at Beta", content="Alex is at Beta.", group="h")
    alex = graph.snapshot("n").key_of(EntityRef(name="Alex"))
    split = graph.split("n", alex, groups=["h"], sources=(), discriminator="2")
    graph.reject("n", split.claims, reason="one person")
    assert why(graph, "Alex works_at") == [
        "2019-01-01 STARTED first-value: - -> Alex works_at Acme | 'Alex is at Acme.'",
        "2021-01-01 SUPERSEDED functional-slot: Alex works_at Acme -> Alex works_at Beta | 'Alex is at Beta.'",
    ]
    other = graph.snapshot("n").drift.why_changed(EntityRef(key=split.entity), "works_at")
    assert [line(one) for one in other] == ["2021-01-01 REIDENTIFIED parted: Alex works_at Beta -> - | [reject]"]


@pytest.mark.parametrize("names", [("Robert", "Bob"), ("Bob", "Robert"), ("Robert", "Bob", "Rob")])
def test_what_a_join_had_brought_is_withdrawn_once_it_is_taken_back(names: tuple[str, ...], graph: LedgerGraph) -> None:
    say(graph, "2019-01-01", "Robert works_at Acme", content="Robert is at Acme.")
    say(graph, "2021-01-01", "Bob works_at Beta", content="Bob is at Beta.")
    for name in names:
        say(graph, "2019-01-01", f"{name} likes tea", content="Tea.")
    joined = graph.merge("n", [graph.snapshot("n").key_of(EntityRef(name=name)) for name in names], reason="one person")
    together = why(graph, "Bob works_at")
    graph.reject("n", joined.claims, reason="different people")
    assert why(graph, "Robert works_at") == [
        "2019-01-01 STARTED first-value: - -> Robert works_at Acme | 'Robert is at Acme.'",
        "2021-01-01 REVIVED parted: Bob works_at Beta -> Robert works_at Acme | [reject]",
    ]
    assert why(graph, "Bob works_at") == [
        "2019-01-01 REIDENTIFIED parted: Robert works_at Acme -> - | [reject]",
        "2021-01-01 STARTED first-value: - -> Bob works_at Beta | 'Bob is at Beta.'",
    ]
    # What each was told to do by itself is no loss.
    assert why(graph, "Robert likes") == ["2019-01-01 STARTED first-value: - -> Robert likes tea | 'Tea.'"]
    # Whoever stands before that sees nothing of it.
    assert why(graph, "Bob works_at", transaction=graph.snapshot("n").basis.transaction - 1) == together


def test_a_relation_that_a_join_had_brought_is_withdrawn_from_the_other_side_too(graph: LedgerGraph) -> None:
    say(graph, "2019-01-01", "Anna reports_to Robert", content="I report to Robert.")
    say(graph, "2019-01-01", "Bob likes tea", content="Tea.")
    joined = graph.merge("n", [graph.snapshot("n").key_of(EntityRef(name=name)) for name in ("Robert", "Bob")], reason="one person")
    graph.reject("n", joined.claims, reason="two people")
    assert why(graph, "Bob manager_of") == ["2019-01-01 REIDENTIFIED parted: Robert manager_of Anna -> - | [reject]"]
    assert why(graph, "Robert manager_of") == ["2019-01-01 STARTED first-value: - -> Robert manager_of Anna | 'I report to Robert.'"]


def test_other_traits_of_a_predicate_withdraw_what_the_same_words_had_made(
    open_graph: Callable[..., LedgerGraph], vocabulary: Vocabulary
) -> None:
    first = open_graph()
    say(first, "2019-01-01", "Anna speaks French", content="French.")
    first.close()
    speaks = replace(vocabulary.predicate("speaks"), temporal=Temporality.EVENT)
    again = open_graph(Vocabulary("changed", {**vocabulary.predicates, "speaks": speaks}, vocabulary.entity_types))
    assert why(again, "Anna speaks") == [
        "2019-01-01 EXPLICIT_END bounded: Anna speaks French -> - | 'French.'",
        "2019-01-01 CORRECTED vocabulary: Anna speaks French -> - | [ontology]",
    ]


def test_a_window_is_half_open(graph: LedgerGraph) -> None:
    for year, place in ((2019, "Acme"), (2020, "Beta"), (2021, "Gamma")):
        say(graph, f"{year}-01-01", f"Anna works_at {place}")

    def years(start: str | None, end: str | None) -> list[str]:
        first, last = (None if text is None else when(text) for text in (start, end))
        return [format_instant(one.at)[:4] for one in boundaries(graph, "Anna works_at", start=first, end=last)]

    assert years(None, None) == ["2019", "2020", "2021"]
    assert years("2020-01-01", "2021-01-01") == ["2020"]
    assert years("2020-01-02", None) == ["2021"]
    assert years(None, "2020-01-01") == ["2019"]


@pytest.mark.parametrize(("start", "end", "reason"), [(5, 5, "EMPTY_INTERVAL"), (6, 5, "INVERTED_INTERVAL")])
def test_an_empty_or_inverted_window_is_refused(graph: LedgerGraph, start: Instant, end: Instant, reason: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        boundaries(graph, "Anna works_at", start=start, end=end)
    assert refused.value.reason == reason


def test_an_unknown_name_or_predicate_has_no_boundaries(graph: LedgerGraph) -> None:
    say(graph, "2019-01-01", "Anna works_at Acme")
    assert why(graph, "Nobody works_at") == why(graph, "Anna frobs") == []


def test_too_many_boundaries_ask_for_a_window(graph: LedgerGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graph.ledger.boundaries.MOST", 3)
    for year in range(2001, 2006):
        say(graph, f"{year}-01-01", f"Anna works_at Place{year}")
    with pytest.raises(QueryTooComplex, match=r"5 boundaries.*`from`"):
        boundaries(graph, "Anna works_at")
    assert len(boundaries(graph, "Anna works_at", start=when("2003-01-01"))) == 3


def test_under_a_said_time_limit_later_words_have_not_been_said(graph: LedgerGraph) -> None:
    say(graph, "2019-01-01", "Anna works_at Acme", content="I work at Acme.")
    say(graph, "2020-01-01", "Anna works_at Beta", content="I work at Beta.", external_id="beta")
    say(graph, "2021-01-01", "Anna works_at Gamma", content="I work at Gamma.")
    graph.retract("n", source="chat", external_id="beta", reason=None)
    assert why(graph, "Anna works_at", evidence_until=when("2020-06-01")) == [
        "2019-01-01 STARTED first-value: - -> Anna works_at Acme | 'I work at Acme.'",
        "2020-01-01 REVIVED retraction: Anna works_at Beta -> Anna works_at Acme | [retract]",
    ]
    assert why(graph, "Anna works_at", evidence_until=when("2019-06-01")) == [
        "2019-01-01 STARTED first-value: - -> Anna works_at Acme | 'I work at Acme.'"
    ]
