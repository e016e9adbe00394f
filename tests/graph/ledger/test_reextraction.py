"""Extracting an episode again: what is read as before stays, the rest is replaced, what was rejected stays out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import select

from graph.ledger.schema import claims
from graph.service import LedgerGraph
from graph.views import PendingEpisode, Reason, Reextraction, StatedClaim
from ontology.claim import ClaimDraft
from tests.graph.ledger.reading import episode, ids, listed, read, told
from tests.graph.ledger.saying import claim, now, say, spans, when


def again(graph: LedgerGraph, *words: str | ClaimDraft, extractor: str = "test 2", content: str = "one") -> Reextraction:
    (found,) = [one for one in graph.extracted("n") if one.draft.content == content]
    return graph.reextract("n", found, [claim(one) if isinstance(one, str) else one for one in words], extractor=extractor)


def rows(graph: LedgerGraph) -> list[Any]:
    with graph._engine.connect() as connection:
        return list(connection.execute(select(claims).order_by(claims.c.row)))


def transactions(graph: LedgerGraph) -> list[str]:
    return [view.kind for view in graph.transactions("n", first=100).items]


def test_the_same_claims_by_a_newer_extractor_change_nothing(graph: LedgerGraph) -> None:
    read(graph, episode("one"), "Anna works_at Acme", claim("Anna likes tea", confidence=0.1))
    before = rows(graph)
    assert again(graph, "Anna works_at Acme", claim("Anna likes tea", confidence=0.1)) == Reextraction(
        graph.extracted("n")[0].key, 0, (), (), 2
    )
    assert rows(graph) == before and transactions(graph) == ["ingest"]


def test_new_claims_come_and_those_found_no_more_go(graph: LedgerGraph) -> None:
    recorded = read(graph, episode("one"), "Anna works_at Acme", "Anna likes tea")
    (gone,) = ids(graph, "Anna works_at Acme")
    result = again(graph, "Anna likes tea", "Anna likes milk")
    assert result == Reextraction(recorded.episode_key, recorded.transaction + 1, tuple(ids(graph, "Anna likes milk")), (gone,), 1)
    assert now(graph, "2024-06-01") == ["Anna likes milk", "Anna likes tea"]
    assert now(graph, "2024-06-01", transaction=recorded.transaction) == ["Anna likes tea", "Anna works_at Acme"]
    assert transactions(graph) == ["reextract", "ingest"]
    assert [view.name for view in graph.snapshot("n").entities().items] == ["Anna", "milk", "tea"]


def test_a_statement_whose_claims_are_found_no_more_says_that_it_was_read_again(graph: LedgerGraph) -> None:
    read(graph, episode("one"), "Anna works_at Acme")
    result = again(graph, "Anna likes tea")
    (gone,) = graph.closed_by("n", result.transaction)
    assert gone.invalidation is not None
    assert (gone.invalidation.reason, gone.invalidation.rule) == (Reason.CORRECTED, "re-extraction")


def test_a_claim_that_is_read_otherwise_gets_a_new_row_under_its_id(graph: LedgerGraph) -> None:
    draft = claim("Anna works_at Acme", confidence=0.4, start=0, end=1)
    recorded = read(graph, episode("one"), draft)
    (id,) = ids(graph, "Anna works_at Acme")
    for changed in (
        replace(draft, confidence=0.9),
        replace(draft, end=3),
        replace(draft, rule="other"),
        replace(draft, subject_type="Person"),
        replace(draft, act=True, confidence=0.9),
    ):
        result = again(graph, changed)
        assert (result.added, result.gone, result.kept) == ((), (), 1) and result.transaction
        assert again(graph, changed).transaction == 0
    assert {row.id for row in rows(graph)} == {id} and len(listed(graph)) == 1
    assert [view.confidence for view in listed(graph, transaction=recorded.transaction)] == [0.4]


def test_confidence_makes_and_unmakes_belief(graph: LedgerGraph) -> None:
    read(graph, episode("one"), claim("Anna works_at Acme", confidence=0.4))
    assert now(graph, "2024-06-01") == []
    again(graph, claim("Anna works_at Acme", confidence=0.8))
    assert now(graph, "2024-06-01") == ["Anna works_at Acme"]
    again(graph, claim("Anna works_at Acme", confidence=0.3))
    assert now(graph, "2024-06-01") == []


def test_what_is_rejected_stays_out_and_comes_back_as_it_was_read_last(graph: LedgerGraph) -> None:
    read(graph, episode("one"), claim("Anna works_at Acme", confidence=0.6), "Anna likes tea")
    (id,) = ids(graph, "Anna works_at Acme")
    graph.reject("n", [id], reason="a joke")
    again(graph, claim("Anna works_at Acme", confidence=0.9), "Anna likes tea")
    assert now(graph, "2024-06-01") == ["Anna likes tea"]
    (view,) = listed(graph, rejected=True)
    assert (view.id, view.confidence) == (id, 0.9)
    graph.restore("n", [id])
    assert [view.confidence for view in listed(graph) if view.id == id] == [0.9]
    assert now(graph, "2024-06-01") == ["Anna likes tea", "Anna works_at Acme"]


def test_a_rejected_claim_that_is_found_no_more_does_not_come_back_until_it_is_found(graph: LedgerGraph) -> None:
    read(graph, episode("one"), "Anna works_at Acme", "Anna likes tea")
    (id,) = ids(graph, "Anna works_at Acme")
    graph.reject("n", [id], reason="a joke")
    result = again(graph, "Anna likes tea")
    assert (result.gone, result.kept) == ((id,), 1)
    assert list(map(told, listed(graph))) == ["Anna likes tea"]
    assert again(graph, "Anna likes tea").transaction == 0
    graph.restore("n", [id])
    assert now(graph, "2024-06-01") == ["Anna likes tea"]
    graph.reject("n", [id], reason="still")
    assert again(graph, "Anna likes tea", "Anna works_at Acme").added == (id,)
    assert list(map(told, listed(graph))) == ["Anna likes tea", "(Anna works_at Acme)"]
    graph.restore("n", [id])
    assert now(graph, "2024-06-01") == ["Anna likes tea", "Anna works_at Acme"]


def test_claims_rejected_and_restored_after_they_were_found_no_more_stay_away(graph: LedgerGraph) -> None:
    read(graph, episode("one"), "Anna works_at Acme", "Anna likes tea")
    (id,) = ids(graph, "Anna works_at Acme")
    again(graph, "Anna likes tea")
    graph.reject("n", [id], reason="a joke")
    assert list(map(told, listed(graph))) == ["Anna likes tea"]
    graph.restore("n", [id])
    assert now(graph, "2024-06-01") == ["Anna likes tea"]


def test_what_is_no_evidence_any_more_is_not_extracted_again(graph: LedgerGraph) -> None:
    read(graph, episode("one", external_id="a"), "Anna works_at Acme")
    read(graph, episode("two", external_id="b"), "Bob works_at Acme")
    retracted, overtaken = graph.extracted("n")
    graph.retract("n", source="chat", external_id="a", reason=None)
    read(graph, episode("three", external_id="b", revised_at="2024-02-01"), "Bob works_at Initech")
    before = rows(graph)
    other = replace(graph.extracted("n")[0], draft=replace(overtaken.draft, content="never said"))
    for found in (retracted, overtaken, other):
        assert graph.reextract("n", found, [claim("Carl likes tea")], extractor="test 2").transaction == 0
    assert rows(graph) == before and len(transactions(graph)) == 4


def test_a_time_relative_to_an_unstated_said_time_is_that_of_the_ledger(graph: LedgerGraph) -> None:
    read(graph, episode("one", None), "Anna works_at Acme")
    (found,) = graph.extracted("n")
    before = spans(graph)
    assert again(graph, "Anna works_at Acme").transaction == 0
    again(graph, "Anna works_at Acme", "Anna likes tea")
    assert {view.said_at for view in listed(graph)} == {found.said}
    assert spans(graph)["Anna works_at Acme"] == before["Anna works_at Acme"]


def test_speech_that_was_extracted_is_listed_in_the_order_of_its_rows(graph: LedgerGraph) -> None:
    read(graph, episode("one", "2024-01-01"), "Anna likes tea")
    read(graph, episode("two", "2023-01-01", source="mail"))
    say(graph, "2024-01-01", "Bob likes tea")
    read(graph, episode("three", "2024-02-01"), "Carl likes tea")
    graph.record_extracted("n", [(episode("threat"), [], ())], extractor="test 1", quarantined=[True])
    graph.accept("n", [(episode("waits"), ())])
    graph.record_extracted("n", [(episode("a table", speech=False), [], ())], extractor="test 1")
    read(graph, episode("elsewhere"), "Carl likes tea", namespace="other")

    def contents(**chosen: Any) -> list[str]:
        return [one.draft.content for one in graph.extracted("n", **chosen)]

    assert contents() == ["one", "two", "three"]
    assert contents(since=when("2024-01-01")) == ["one", "three"]
    assert contents(source="mail") == ["two"]
    first = graph.extracted("n", limit=1)
    assert contents(after=first[-1].row) == ["two", "three"]
    assert first[0] == PendingEpisode("n", first[0].key, when("2024-01-01"), episode("one"), (), first[0].row)


def test_episodes_that_are_no_speech_stay_so_while_they_wait(graph: LedgerGraph) -> None:
    graph.accept("n", [(episode("a table", speech=False), ("table",)), (episode("words"), ())])
    waiting = graph.backlog.unsent("live", 10)
    assert [(one.draft.content, one.draft.speech) for one in waiting] == [("a table", False), ("words", True)]
    graph.record_extracted("n", [(one.draft, [], one.flags) for one in waiting], extractor="test 1")
    assert graph.backlog.unsent("live", 10) == []
    assert [one.draft.content for one in graph.extracted("n")] == ["words"]


def test_stated_claims_are_not_replaced(graph: LedgerGraph) -> None:
    draft = episode("one")
    graph.record_stated("n", draft, [StatedClaim(claim("Anna likes tea"))])
    found = PendingEpisode("n", "", when("2024-01-01"), draft)
    assert graph.reextract("n", found, [claim("Anna likes milk")], extractor="test 2").transaction == 0
    assert now(graph, "2024-06-01") == ["Anna likes tea"]
