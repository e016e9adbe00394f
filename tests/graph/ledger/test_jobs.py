"""Jobs: what a call with many episodes becomes, how far it has come, and what is done about what failed."""

from __future__ import annotations

import time
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from graph.service import LedgerGraph
from graph.views import Lags, StatedClaim
from graph.work import Extracted, Failed, JobState, JobView, Offered, OfferedStatements, Progress
from ontology.episode import EpisodeDraft, EpisodeStatus
from ontology.errors import InvalidInput, NotFound
from tests.graph.ledger.saying import ALWAYS, claim, views, words


def offered(name: str, content: str = "", **fields: Any) -> Offered:
    """An episode of a job: by default what it says is its name."""
    draft = EpisodeDraft(content or name, source="notes", external_id=name, said_at="2024-01-01")
    return Offered(draft, **fields)


def waiting(graph: LedgerGraph) -> dict[str, int]:
    """Rows of what waits, by external ID."""
    return {each.draft.external_id or "": each.row for each in graph.backlog.unsent("bulk", 1000)}


def complete(graph: LedgerGraph, *names: str, said: str = "Ann likes tea") -> None:
    rows = waiting(graph)
    graph.backlog.complete([Extracted(rows[name], [claim(said)] if said else [], "test") for name in names])


def again(graph: LedgerGraph, job: JobView) -> JobView:
    found = graph.jobs.job("n", job.id)
    assert found is not None
    return found


def test_a_job_is_queued_runs_and_succeeds(graph: LedgerGraph) -> None:
    job = graph.jobs.accept("n", [offered("one"), offered("two")], trace="t1")
    assert (job.state, job.progress, job.finished_at, job.trace) == (JobState.QUEUED, Progress(accepted=2, pending=2), None, "t1")
    graph.backlog.note_starts([waiting(graph)["one"]])
    assert again(graph, job).state == JobState.RUNNING
    complete(graph, "one")
    half = again(graph, job)
    assert (half.state, half.progress, half.finished_at) == (JobState.RUNNING, Progress(accepted=2, committed=1, pending=1), None)
    complete(graph, "two", said="")
    done = again(graph, job)
    assert (done.state, done.progress) == (JobState.SUCCEEDED, Progress(accepted=2, committed=2, empty=1))
    assert done.finished_at is not None and done.finished_at > done.created_at
    assert [words(view) for view in views(graph, ALWAYS)] == ["Ann likes tea"]


def test_what_is_known_counts_so_once_it_is_done(graph: LedgerGraph) -> None:
    graph.jobs.accept("n", [offered("one")])
    job = graph.jobs.accept("n", [offered("one"), offered("two"), offered("two")])
    assert job.progress == Progress(accepted=3, pending=3)
    complete(graph, "one", "two")
    assert again(graph, job).progress == Progress(accepted=3, committed=1, deduplicated=2)
    last = graph.jobs.accept("n", [offered("one"), offered("two")])
    assert (last.state, last.progress) == (JobState.SUCCEEDED, Progress(accepted=2, deduplicated=2))
    assert last.finished_at == last.created_at


def test_a_key_used_with_another_payload_is_a_failure_of_the_job(graph: LedgerGraph) -> None:
    job = graph.jobs.accept(
        "n", [offered("one", idempotency_key="k"), offered("two", idempotency_key="k"), offered("one", idempotency_key="k")]
    )
    complete(graph, "one")
    job = again(graph, job)
    assert (job.state, job.progress) == (JobState.PARTIAL, Progress(accepted=3, committed=1, deduplicated=1, failed=1))
    (failure,) = graph.jobs.failures("n", job.id).items
    assert (failure.episode.external_id, failure.attempts) == ("one", 0)
    assert "'k'" in failure.message
    # Sent again it is the same mistake.
    assert graph.jobs.retry("n", job.id).progress == job.progress
    assert waiting(graph) == {}


def test_one_malformed_episode_refuses_the_call_by_its_index(graph: LedgerGraph) -> None:
    bad = offered("two", idempotency_key="k" * 300)
    with pytest.raises(InvalidInput) as refusal:
        graph.jobs.accept("n", [offered("one"), bad])
    assert refusal.value.path[0] == "1"
    with pytest.raises(InvalidInput) as refusal:
        graph.jobs.accept("n", [offered("one"), Offered(EpisodeDraft("x", source="s", said_at="soon"))])
    assert refusal.value.path[0] == "1"
    assert (waiting(graph), graph.jobs.jobs("n").items, graph.stats("n").transactions) == ({}, (), 0)


def test_what_is_held_back_is_counted_and_never_waits(graph: LedgerGraph) -> None:
    job = graph.jobs.accept("n", [offered("bad", quarantined=True), offered("good")])
    assert job.progress == Progress(accepted=2, quarantined=1, pending=1)
    assert list(waiting(graph)) == ["good"]


def test_a_job_with_a_failure_is_partial_and_is_sent_again(graph: LedgerGraph) -> None:
    job = graph.jobs.accept("n", [offered("one"), offered("two")])
    row = waiting(graph)["one"]
    graph.backlog.note_starts([row, row, row])
    assert graph.backlog.give_up([Failed(row, "it dies")]) == 1
    assert graph.backlog.give_up([Failed(row, "again")]) == 0
    complete(graph, "two")
    job = again(graph, job)
    assert (job.state, job.progress) == (JobState.PARTIAL, Progress(accepted=2, committed=1, failed=1))
    assert job.finished_at is not None
    (failure,) = graph.jobs.failures("n", job.id).items
    assert (failure.episode.status, failure.message, failure.attempts) == (EpisodeStatus.FAILED, "it dies", 3)
    assert graph.backlog.dead_letters() == {"it dies": 1}
    # A late result of what was given up is left alone.
    assert graph.backlog.complete([Extracted(row, [claim("Ann likes tea")], "test")]) == {}

    job = graph.jobs.retry("n", job.id)
    assert (job.progress, graph.backlog.dead_letters()) == (Progress(accepted=2, committed=1, pending=1), {})
    (again_waiting,) = graph.backlog.unsent("bulk", 10)
    assert (again_waiting.starts, again_waiting.round) == (0, 1)
    complete(graph, "one")
    assert again(graph, job).state == JobState.SUCCEEDED


def test_cancelling_gives_up_what_waits_and_keeps_what_is_committed(graph: LedgerGraph) -> None:
    job = graph.jobs.accept("n", [offered("one"), offered("two")])
    complete(graph, "one")
    job = graph.jobs.cancel("n", job.id)
    assert (job.state, job.progress) == (JobState.CANCELLED, Progress(accepted=2, committed=1, failed=1))
    assert graph.jobs.cancel("n", job.id) == job
    assert [failure.message for failure in graph.jobs.failures("n", job.id).items] == ["the job was cancelled"]
    assert waiting(graph) == {}
    job = graph.jobs.retry("n", job.id)
    assert job.state == JobState.RUNNING
    complete(graph, "two")
    done = again(graph, job)
    assert (done.state, graph.jobs.cancel("n", job.id)) == (JobState.SUCCEEDED, done)


def test_an_episode_that_is_withdrawn_while_it_waits_is_done(graph: LedgerGraph) -> None:
    job = graph.jobs.accept("n", [offered("one")])
    graph.retract("n", source="notes", external_id="one", reason=None)
    job = again(graph, job)
    assert (job.state, job.progress, waiting(graph)) == (JobState.SUCCEEDED, Progress(accepted=1, committed=1, empty=1), {})


def test_stated_episodes_are_committed_at_once(graph: LedgerGraph) -> None:
    items = [
        OfferedStatements(EpisodeDraft("", source="s", external_id=name, said_at="2024-01-01"), [StatedClaim(claim(f"{name} likes tea"))])
        for name in ("Ann", "Bob", "Ann")
    ]
    job = graph.jobs.state("n", items)
    assert (job.state, job.kind, job.progress) == (JobState.SUCCEEDED, "assert", Progress(accepted=3, committed=2, deduplicated=1))
    assert sorted(words(view) for view in views(graph, ALWAYS)) == ["Ann likes tea", "Bob likes tea"]
    assert graph.stats("n").transactions == 1


def test_a_stated_episode_with_an_unknown_entity_refuses_the_call(graph: LedgerGraph) -> None:
    fine = OfferedStatements(EpisodeDraft("", source="s", external_id="a"), [StatedClaim(claim("Ann likes tea"))])
    wrong = OfferedStatements(EpisodeDraft("", source="s", external_id="b"), [StatedClaim(claim("Ann likes tea"), subject_key="0" * 32)])
    with pytest.raises(InvalidInput) as refusal:
        graph.jobs.state("n", [fine, wrong])
    assert (refusal.value.path, refusal.value.reason) == (("1",), "NOT_FOUND")
    assert views(graph, ALWAYS) == []


def test_jobs_are_listed_newest_first_in_their_own_namespace(graph: LedgerGraph) -> None:
    made = [graph.jobs.accept("n", [offered(str(number))]).id for number in range(5)]
    other = graph.jobs.accept("other", [offered("x")])
    page = graph.jobs.jobs("n", first=3)
    assert ([job.id for job in page.items], page.has_next) == (made[:1:-1], True)
    rest = graph.jobs.jobs("n", first=3, after=page.positions[-1])
    assert ([job.id for job in rest.items], rest.has_next) == (made[1::-1], False)
    assert graph.jobs.job("n", other.id) is None
    for act in (graph.jobs.cancel, graph.jobs.retry, graph.jobs.failures):
        with pytest.raises(NotFound):
            act("n", other.id)


def test_failures_come_page_by_page_in_the_order_of_the_call(graph: LedgerGraph) -> None:
    job = graph.jobs.accept("n", [offered(f"{number}") for number in range(5)])
    complete(graph, "2")
    graph.jobs.cancel("n", job.id)
    first = graph.jobs.failures("n", job.id, first=3)
    rest = graph.jobs.failures("n", job.id, first=3, after=first.positions[-1])
    assert [each.episode.external_id for each in (*first.items, *rest.items)] == ["0", "1", "3", "4"]
    assert (first.has_next, rest.has_next) == (True, False)


_EVENT = some.sampled_from(["complete", "empty", "give_up", "cancel", "retry", "release", "retract", "accept"])
_numbers = count()


@settings(max_examples=15, derandomize=True, database=None, deadline=None)
@given(some.lists(some.tuples(_EVENT, some.integers(0, 5)), max_size=14))
def test_progress_adds_up_whatever_happens(ledger: LedgerGraph, events: list[tuple[str, int]]) -> None:
    namespace = f"sums-{next(_numbers)}"
    names = [f"{number}" for number in range(6)]
    held = {"4", "5"}
    jobs = [ledger.jobs.accept(namespace, [offered(name, quarantined=name in held) for name in names])]
    for event, number in events:
        name = names[number]
        waits = ledger.backlog.unsent("bulk", 1000) + ledger.backlog.unsent("live", 1000)
        rows = [each.row for each in waits if each.namespace == namespace]
        row = rows[number % len(rows)] if rows else None
        if event in ("complete", "empty") and row is not None:
            ledger.backlog.complete([Extracted(row, [claim("Ann likes tea")] if event == "complete" else [], "test")])
        elif event == "give_up" and row is not None:
            ledger.backlog.give_up([Failed(row, "it dies")])
        elif event == "cancel":
            ledger.jobs.cancel(namespace, jobs[number % len(jobs)].id)
        elif event == "retry":
            ledger.jobs.retry(namespace, jobs[number % len(jobs)].id)
        elif event == "release" and name in held:
            shown = ledger.snapshot(namespace).episodes(first=100).items
            key = next(view.key for view in shown if view.external_id == name)
            ledger.release(namespace, key, reason="fine")
        elif event == "retract":
            ledger.retract(namespace, source="notes", external_id=name, reason=None)
        elif event == "accept":
            jobs.append(ledger.jobs.accept(namespace, [offered(name), offered("new" + name)]))
        for job in ledger.jobs.jobs(namespace, first=100).items:
            counts = job.progress
            told = counts.committed + counts.deduplicated + counts.quarantined + counts.failed + counts.pending
            assert (counts.accepted, counts.empty <= counts.committed) == (told, True)
            assert (job.finished_at is None) == (counts.pending > 0)
            failed = ledger.jobs.failures(namespace, job.id, first=100).items
            assert len(failed) == counts.failed


def test_what_follows_the_ledger_is_told_of_every_transaction_of_jobs(graph: LedgerGraph) -> None:
    told: list[int] = []
    graph.backlog._notify = graph.jobs._notify = told.append
    job = graph.jobs.accept("n", [offered("one"), offered("two"), offered("three"), offered("bad", quarantined=True)])
    complete(graph, "one")
    graph.backlog.give_up([Failed(waiting(graph)["two"], "broken")])
    graph.jobs.cancel("n", job.id)
    graph.jobs.retry("n", job.id)
    made = graph.stats("n").transactions
    assert [number for number in told if number] == list(range(1, made + 1))
    assert made == 5
    # What changed nothing is no transaction.
    graph.backlog.give_up([])
    graph.jobs.retry("n", job.id)
    assert graph.stats("n").transactions == made


def test_how_far_behind_the_followers_are_is_told(graph: LedgerGraph) -> None:
    assert graph.lags() == Lags()
    graph.jobs.accept("n", [offered("one")])
    # The projection of these tests follows nothing.
    assert graph.lags().graph == 1
    graph.backlog.give_up([Failed(waiting(graph)["one"], "broken")])
    assert graph.lags().graph == 2
    end = time.monotonic() + 10
    while graph.lags().index and time.monotonic() < end:
        time.sleep(0.01)
    assert graph.lags().index == 0


def test_what_waits_is_counted_by_queue(graph: LedgerGraph) -> None:
    assert graph.backlog.queues() == {}
    graph.jobs.accept("n", [offered("one"), offered("two")])
    graph.accept("m", [(EpisodeDraft("three", source="notes"), [])])
    assert graph.backlog.queues() == {"bulk": 2, "live": 1}
