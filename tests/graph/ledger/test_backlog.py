"""What waits for extraction: handed out, begun, given up, let through; and what of it readers see at which time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graph.service import LedgerGraph
from graph.work import Extracted, Failed
from ontology.claim import ClaimDraft
from ontology.episode import EpisodeDraft, EpisodeStatus
from ontology.errors import InvalidInput, NotFound
from tests.graph.ledger.saying import ALWAYS, claim, views, words


def draft(name: str, content: str = "", **fields: Any) -> EpisodeDraft:
    return EpisodeDraft(content or name, **{"source": "notes", "external_id": name, "said_at": "2024-01-01", **fields})


Found = tuple[EpisodeDraft, list[ClaimDraft], tuple[str, ...]]


def rows(graph: LedgerGraph, queue: str = "live") -> list[int]:
    return [each.row for each in graph.backlog.unsent(queue, 100)]


def status(graph: LedgerGraph, **basis: Any) -> list[EpisodeStatus]:
    return [view.status for view in graph.snapshot("n", **basis).episodes(first=100).items]


def test_what_is_accepted_waits_with_all_that_extraction_reads(graph: LedgerGraph) -> None:
    stated = draft("one", "I like tea", group="g", speaker="Ann", addressee="Bob", time_zone="Europe/Berlin", project="p", rank=2)
    graph.accept("n", [(stated, ("odd",))])
    (found,) = graph.backlog.unsent("live", 10)
    assert (found.draft, found.flags, found.namespace, found.queue, found.starts, found.round) == (stated, ("odd",), "n", "live", 0, 0)
    assert graph.backlog.find([found.row, 99]) == {found.row: found}
    assert graph.backlog.unsent("bulk", 10) == []
    assert graph.backlog.view().oldest == found.accepted


def test_what_is_handed_out_comes_again_when_it_is_overdue(graph: LedgerGraph) -> None:
    graph.accept("n", [(draft("one"), ()), (draft("two"), ())])
    one, two = rows(graph)
    graph.backlog.note_sent([one], 100)
    assert (rows(graph), graph.backlog.view().sent) == ([two], 1)
    assert [each.row for each in graph.backlog.overdue(100, 10)] == [one]
    assert graph.backlog.overdue(99, 10) == []
    graph.backlog.note_sent([two], 50)
    assert [each.row for each in graph.backlog.overdue(100, 10)] == [two, one]
    graph.backlog.note_problems({two: "it fell over"})
    assert [(each.row, each.problem) for each in graph.backlog.unsent("live", 10)] == [(two, "it fell over")]
    graph.backlog.unsend_all()
    assert rows(graph) == [one, two]


def test_starts_are_counted_over_restarts(open_graph: Callable[[], LedgerGraph]) -> None:
    graph = open_graph()
    graph.accept("n", [(draft("one"), ())])
    (row,) = rows(graph)
    graph.backlog.note_starts([row, row])
    graph.close()
    assert open_graph().backlog.find([row])[row].starts == 2


def test_a_result_is_committed_once_and_ends_the_waiting(graph: LedgerGraph) -> None:
    graph.accept("n", [(draft("one"), ())])
    graph.accept("m", [(draft("one"), ())])
    found = [Extracted(row, [claim("Ann likes tea")], "test") for row in rows(graph)]
    receipts = graph.backlog.complete(found)
    assert sorted(receipts) == [each.row for each in found]
    assert graph.backlog.complete(found) == {}
    assert [words(view) for view in views(graph, ALWAYS)] == ["Ann likes tea"]
    assert (rows(graph), graph.backlog.view().oldest, status(graph)) == ([], None, [EpisodeStatus.EXTRACTED])


def test_an_episode_without_a_stated_time_keeps_that_of_its_acceptance(graph: LedgerGraph) -> None:
    graph.accept("n", [(draft("one", said_at=None), ())])
    (found,) = graph.backlog.unsent("live", 10)
    graph.backlog.complete([Extracted(found.row, [claim("Ann likes tea")], "test")])
    (view,) = views(graph, ALWAYS)
    assert (view.v_from, graph.snapshot("n").episodes().items[0].said_at) == (found.said, found.said)


def test_a_dead_letter_is_shown_from_when_it_was_given_up_until_it_is_completed(graph: LedgerGraph) -> None:
    accepted = graph.accept("n", [(draft("one"), ())])[0]
    graph.backlog.give_up([Failed(rows(graph)[0], "it dies")])
    failed = graph.snapshot("n").basis.transaction
    assert (status(graph), status(graph, transaction=failed - 1)) == ([EpisodeStatus.FAILED], [EpisodeStatus.PENDING])
    # Handed in again unextracted it is known; with its claims it is what was waited for.
    assert graph.accept("n", [(draft("one"), ())])[0].deduplicated
    assert not graph.record_extracted("n", [(draft("one"), [claim("Ann likes tea")], ())], extractor="test")[0].deduplicated
    assert status(graph) == [EpisodeStatus.EXTRACTED]
    assert status(graph, transaction=failed) == [EpisodeStatus.FAILED]
    assert graph.backlog.dead_letters() == {}
    assert accepted.episode_key == graph.snapshot("n").episodes().items[0].key


def test_a_dead_letter_that_is_withdrawn_stays_away(graph: LedgerGraph) -> None:
    graph.accept("n", [(draft("one"), ())])
    (row,) = rows(graph)
    graph.backlog.give_up([Failed(row, "it dies")])
    graph.retract("n", source="notes", external_id="one", reason=None)
    assert (status(graph), graph.backlog.complete([Extracted(row, [claim("Ann likes tea")], "test")])) == ([EpisodeStatus.RETRACTED], {})


def test_a_released_episode_waits_and_the_past_still_has_it_held_back(graph: LedgerGraph) -> None:
    held = graph.record_extracted("n", [(draft("one"), [], ("injection:override",))], extractor="none", quarantined=[True])[0]
    assert (status(graph), rows(graph)) == ([EpisodeStatus.QUARANTINED], [])
    released = graph.release("n", held.episode_key, reason="read by a person", actor="ann", trace="t")
    again = graph.release("n", held.episode_key, reason="once more")
    assert (released.deduplicated, again.deduplicated, again.transaction) == (False, True, released.transaction)
    assert (status(graph), status(graph, transaction=held.transaction)) == ([EpisodeStatus.PENDING], [EpisodeStatus.QUARANTINED])
    (found,) = graph.backlog.unsent("live", 10)
    assert (found.flags, found.trace) == (("injection:override",), "t")
    graph.backlog.complete([Extracted(found.row, [claim("Ann likes tea")], "test")])
    assert status(graph) == [EpisodeStatus.EXTRACTED]
    assert status(graph, transaction=released.transaction) == [EpisodeStatus.PENDING]
    assert status(graph, transaction=held.transaction) == [EpisodeStatus.QUARANTINED]
    last = graph.transactions("n", first=2).items[1]
    assert (last.kind, last.actor, last.reason) == ("release", "ann", "read by a person")


def test_a_released_revision_becomes_current_when_it_is_extracted(graph: LedgerGraph) -> None:
    graph.record_extracted("n", [(draft("one", "old", revised_at="2024-01-02"), [claim("Ann likes tea")], ())], extractor="test")
    newer = draft("one", "new", revised_at="2024-01-03")
    held = graph.record_extracted("n", [(newer, [], ())], extractor="none", quarantined=[True])[0]
    graph.release("n", held.episode_key, reason="fine")
    graph.backlog.complete([Extracted(rows(graph)[0], [claim("Ann likes coffee")], "test")])
    assert [words(view) for view in views(graph, ALWAYS)] == ["Ann likes coffee"]


def test_what_was_released_is_not_held_back_again(graph: LedgerGraph) -> None:
    found: Found = (draft("one"), [], ("injection:override",))
    held = graph.record_extracted("n", [found], extractor="none", quarantined=[True])[0]
    graph.release("n", held.episode_key, reason="fine")
    again = graph.record_extracted("n", [found], extractor="none", quarantined=[True])[0]
    assert (again.deduplicated, status(graph), len(rows(graph))) == (True, [EpisodeStatus.PENDING], 1)


def test_only_what_is_held_back_can_be_released(graph: LedgerGraph) -> None:
    known = graph.record_extracted("n", [(draft("one"), [], ())], extractor="none")[0]
    with pytest.raises(InvalidInput) as refusal:
        graph.release("n", known.episode_key, reason="fine")
    assert refusal.value.reason == "NOT_QUARANTINED"
    with pytest.raises(NotFound):
        graph.release("other", known.episode_key, reason="fine")
