"""The owner's loop: what waits is sent, what comes back is committed once, what never comes is given up, and nothing else is lost."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from graph.opening import open_graph
from graph.service import LedgerGraph
from graph.views import ComponentHealth, StatementFilter
from graph.work import BULK, LIVE, MAX_STARTS, Extracted, Failed, Offered, WaitingEpisode
from ontology.claim import ClaimDraft, ObjectDraft
from ontology.episode import EpisodeDraft
from ontology.loading import load_vocabulary
from tests.workers.extracting import TripleExtractor
from workers import pipeline as module
from workers.dispatching import DispatchUnavailable, Kind, Outcome
from workers.pipeline import Pipeline, chunked
from workers.pool import ExtractionPool
from workers.pool_dispatch import PoolDispatch

PATIENCE = 20.0


class Scripted:
    """A dispatch that keeps what is sent, and tells what a test says. `broken`: nothing works."""

    def __init__(self, resend_after: float | None = None) -> None:
        self.resend_after = resend_after
        self.sent: list[tuple[str, list[WaitingEpisode]]] = []
        self.coming: list[Outcome] = []
        self.settled: list[Outcome] = []
        self.dropped: list[int] = []
        self.broken = False
        self.capacity = 1000
        self.forgot = False

    def _check(self) -> None:
        if self.broken:
            raise DispatchUnavailable("the broker is away")

    def lost(self) -> bool:
        forgot, self.forgot = self.forgot, False
        return forgot

    def room(self, queue: str) -> int:
        self._check()
        return self.capacity

    def send(self, queue: str, chunk: Sequence[WaitingEpisode]) -> None:
        self._check()
        self.sent.append((queue, list(chunk)))

    def receive(self, limit: int, wait: float) -> list[Outcome]:
        self._check()
        found, self.coming = self.coming[:limit], self.coming[limit:]
        return found

    def settle(self, outcomes: Sequence[Outcome]) -> None:
        self.settled += outcomes

    def drop(self, episodes: Sequence[WaitingEpisode]) -> None:
        self.dropped += [each.row for each in episodes]

    def health(self) -> list[ComponentHealth]:
        return []

    def close(self) -> None:
        return None


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder in which nothing is: making one takes longer than most of what is done with it."""
    folder = tmp_path_factory.mktemp("empty") / "data"
    open_graph(folder, load_vocabulary(), kind="sql").close()
    return folder


@pytest.fixture
def graph(tmp_path: Path, empty: Path) -> Iterator[LedgerGraph]:
    opened = open_graph(shutil.copytree(empty, tmp_path / "data"), load_vocabulary(), kind="sql")
    yield opened
    opened.close()


def accept(graph: LedgerGraph, *names: str, queue: str = BULK, speech: bool = True) -> list[int]:
    """Have episodes wait that say their names; their rows."""
    drafts = [EpisodeDraft(name, "test", external_id=name, said_at="2024-01-01", speech=speech) for name in names]
    if queue == BULK:
        graph.jobs.accept("n", [Offered(draft) for draft in drafts])
    else:
        graph.accept("n", [(draft, ()) for draft in drafts])
    found = {each.draft.external_id: each.row for each in graph.backlog.unsent(queue, 1000)}
    return [found[name] for name in names]


def likes(row: int, what: str = "tea", round: int = 0) -> Outcome:
    return Outcome(Kind.EXTRACTED, row, round, [ClaimDraft("Ann", "likes", ObjectDraft(what))], "test")


def started(row: int, round: int = 0) -> Outcome:
    return Outcome(Kind.STARTED, row, round)


def failed(row: int, reason: str = "it fell over", round: int = 0) -> Outcome:
    return Outcome(Kind.FAILED, row, round, reason=reason)


def statements(graph: LedgerGraph) -> int:
    return len(graph.snapshot("n").statements(StatementFilter(), first=100).items)


def statuses(graph: LedgerGraph) -> dict[str | None, str]:
    return {view.external_id: str(view.status) for view in graph.snapshot("n").episodes(first=100).items}


def until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_what_somebody_waits_for_goes_first_and_the_rest_in_chunks_in_its_order(graph: LedgerGraph) -> None:
    bulk = accept(graph, *(f"b{number}" for number in range(20)))
    live = accept(graph, "l0", "l1", queue=LIVE)
    dispatch = Scripted()
    Pipeline(graph.backlog, dispatch)._step()
    assert [queue for queue, _ in dispatch.sent] == [LIVE, BULK, BULK]
    assert [[each.row for each in chunk] for _, chunk in dispatch.sent] == [live, bulk[:16], bulk[16:]]
    assert graph.backlog.view().sent == 22


def test_no_more_is_sent_than_there_is_room_for(graph: LedgerGraph) -> None:
    rows = accept(graph, "a", "b", "c")
    dispatch = Scripted()
    dispatch.capacity = 2
    Pipeline(graph.backlog, dispatch)._step()
    assert [[each.row for each in chunk] for _, chunk in dispatch.sent] == [rows[:2]]


def test_what_came_to_nothing_before_goes_alone_and_long_texts_few_at_a_time(graph: LedgerGraph) -> None:
    accept(graph, "a", "b", "c")
    one, two, three = graph.backlog.unsent(BULK, 10)
    graph.backlog.note_starts([two.row])
    waiting = graph.backlog.unsent(BULK, 10)
    assert [[each.row for each in chunk] for chunk in chunked(waiting, 16)] == [[two.row], [one.row, three.row]]
    graph.jobs.accept("n", [Offered(EpisodeDraft("x" * 30_000, "test", external_id=f"long{number}")) for number in range(3)])
    assert [len(chunk) for chunk in chunked(graph.backlog.unsent(BULK, 10)[3:], 16)] == [1, 1, 1]


def test_results_of_one_batch_are_one_transaction(graph: LedgerGraph) -> None:
    rows = accept(graph, "a", "b", "c")
    dispatch = Scripted()
    before = graph.stats("n").transactions
    dispatch.coming = [started(row) for row in rows] + [likes(row, what) for row, what in zip(rows, ("tea", "milk", "rum"), strict=True)]
    Pipeline(graph.backlog, dispatch)._step()
    assert (graph.stats("n").transactions - before, statements(graph)) == (1, 3)
    assert len(dispatch.settled) == 6


def test_a_result_that_comes_twice_is_committed_once_and_settled_twice(graph: LedgerGraph) -> None:
    (row,) = accept(graph, "a")
    dispatch = Scripted()
    pipeline = Pipeline(graph.backlog, dispatch)
    dispatch.coming = [likes(row), likes(row, "milk")]
    pipeline._step()
    before = graph.stats("n").transactions
    dispatch.coming = [likes(row), failed(row), started(row), likes(999)]
    pipeline._step()
    assert (graph.stats("n").transactions, statements(graph), len(dispatch.settled)) == (before, 1, 6)


def test_text_that_is_no_speech_is_done_without_being_sent(graph: LedgerGraph) -> None:
    accept(graph, "a", speech=False)
    dispatch = Scripted()
    Pipeline(graph.backlog, dispatch)._step()
    assert (dispatch.sent, statuses(graph)) == ([], {"a": "EXTRACTED"})


def test_text_that_is_no_speech_and_cannot_be_committed_is_given_up_too(graph: LedgerGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    accept(graph, "a", speech=False)

    def refusing(found: Sequence[Extracted]) -> object:
        raise RuntimeError("no")

    monkeypatch.setattr(graph.backlog, "complete", refusing)
    pipeline = Pipeline(graph.backlog, Scripted())
    for _ in range(MAX_STARTS):
        assert statuses(graph) == {"a": "PENDING"}
        pipeline._step()
    assert statuses(graph) == {"a": "FAILED"}
    assert graph.backlog.dead_letters() == {"what was found in it cannot be committed: no": 1}


def test_a_start_counts_once_it_is_told_and_three_without_a_result_are_the_end(graph: LedgerGraph) -> None:
    poison, fine = accept(graph, "poison", "fine")
    dispatch = Scripted()
    pipeline = Pipeline(graph.backlog, dispatch)
    pipeline._step()
    for number in range(1, MAX_STARTS + 1):
        dispatch.coming = [started(poison), failed(poison)]
        pipeline._step()
        if number < MAX_STARTS:
            (again,) = graph.backlog.find([poison]).values()
            assert (again.starts, again.problem) == (number, "it fell over")
            pipeline._step()
            assert [each.row for each in dispatch.sent[-1][1]] == [poison]
    dispatch.coming = [likes(fine)]
    pipeline._step()
    assert statuses(graph) == {"poison": "FAILED", "fine": "EXTRACTED"}
    assert (dispatch.dropped, graph.backlog.dead_letters()) == ([poison], {"it fell over": 1})
    dispatch.coming = [likes(poison)]
    pipeline._step()
    assert statuses(graph)["poison"] == "FAILED"


def test_what_was_sent_and_came_to_nothing_is_sent_again_and_at_last_given_up(graph: LedgerGraph) -> None:
    (row,) = accept(graph, "a")
    dispatch = Scripted(resend_after=0.0)
    pipeline = Pipeline(graph.backlog, dispatch, reconciling=0.0)
    for _ in range(MAX_STARTS):
        dispatch.coming = [started(row)]
        pipeline._step()
    assert [[each.row for each in chunk] for _, chunk in dispatch.sent] == [[row]] * MAX_STARTS
    pipeline._step()
    assert (statuses(graph), dispatch.dropped) == ({"a": "FAILED"}, [row])
    assert list(graph.backlog.dead_letters()) == ["it was begun 3 times and never finished: whoever extracted it died"]


def test_what_was_asked_for_again_is_judged_by_its_own_round(graph: LedgerGraph) -> None:
    (row,) = accept(graph, "a")
    graph.backlog.give_up([Failed(row, "before")])
    (job,) = graph.jobs.jobs("n").items
    graph.jobs.retry("n", job.id)
    dispatch = Scripted()
    pipeline = Pipeline(graph.backlog, dispatch)
    dispatch.coming = [started(row)] * 5 + [failed(row)]
    pipeline._step()
    assert graph.backlog.find([row])[row].starts == 0
    # A result is one, whichever round it comes from.
    dispatch.coming = [likes(row)]
    pipeline._step()
    assert statuses(graph) == {"a": "EXTRACTED"}


def test_one_result_that_cannot_be_committed_costs_itself_alone(graph: LedgerGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    bad, good = accept(graph, "bad", "good")
    complete = graph.backlog.complete

    def refusing(found: Sequence[Extracted]) -> object:
        if any(each.row == bad for each in found):
            raise RuntimeError("no")
        return complete(found)

    monkeypatch.setattr(graph.backlog, "complete", refusing)
    dispatch = Scripted()
    pipeline = Pipeline(graph.backlog, dispatch)
    dispatch.coming = [started(bad), likes(bad), likes(good)]
    pipeline._step()
    assert statuses(graph) == {"bad": "PENDING", "good": "EXTRACTED"}
    assert graph.backlog.find([bad])[bad].problem == "what was found in it cannot be committed: no"


def test_what_the_dispatch_forgot_is_sent_again_at_once_and_no_start_is_counted_for_it(graph: LedgerGraph) -> None:
    rows = accept(graph, "a", "b")
    dispatch = Scripted(resend_after=1000.0)
    pipeline = Pipeline(graph.backlog, dispatch)
    pipeline._step()
    pipeline._step()
    assert len(dispatch.sent) == 1
    dispatch.forgot = True
    pipeline._step()
    assert [[each.row for each in chunk] for _, chunk in dispatch.sent] == [rows, rows]
    assert {each.starts for each in graph.backlog.find(rows).values()} == {0}
    pipeline._step()
    assert len(dispatch.sent) == 2


def test_it_stands_still_while_the_dispatch_is_away_and_goes_on_after(graph: LedgerGraph) -> None:
    accept(graph, "a")
    dispatch = Scripted()
    dispatch.broken = True
    pipeline = Pipeline(graph.backlog, dispatch, pause=0.01)
    pipeline.start()
    until(lambda: pipeline.degraded is not None)
    assert pipeline.degraded == "the broker is away"
    dispatch.broken = False
    until(lambda: len(dispatch.sent) == 1)
    until(lambda: pipeline.degraded is None)
    # Nothing comes of what was sent: closing waits for it no longer than it must.
    graph.backlog.note_sent([each.row for each in dispatch.sent[0][1]], None)
    dispatch.capacity = 0
    pipeline.close()


@pytest.fixture
def pool() -> Iterator[ExtractionPool]:
    opened = ExtractionPool(TripleExtractor, workers=2)
    yield opened
    opened.close()


def test_the_pool_extracts_what_waits_and_gives_up_only_what_kills_it(graph: LedgerGraph, pool: ExtractionPool) -> None:
    names = [f"P{number} likes tea" for number in range(40)]
    accept(graph, *names[:10], "die always", *names[10:20], "fail", *names[20:])
    pipeline = Pipeline(graph.backlog, PoolDispatch(pool, workers=2))
    pipeline.start()
    assert pipeline.wait_until(lambda: graph.backlog.view().waiting == 0, PATIENCE)
    pipeline.close()
    given_up = {name for name, status in statuses(graph).items() if status == "FAILED"}
    assert (given_up, statements(graph)) == ({"die always", "fail"}, 40)
    assert graph.backlog.dead_letters() == {"the process that read it died": 1, "the extractor failed: told to fail": 1}


def test_closing_commits_what_is_being_run(graph: LedgerGraph, pool: ExtractionPool) -> None:
    accept(graph, "sleep 0.3 Ann likes tea")
    dispatch = PoolDispatch(pool, workers=2)
    pipeline = Pipeline(graph.backlog, dispatch)
    pipeline.start()
    until(lambda: graph.backlog.view().sent == 1)
    pipeline.close()
    assert (statements(graph), graph.backlog.view().waiting) == (1, 0)


def test_an_idle_loop_asks_seldom(graph: LedgerGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []
    dispatch = Scripted()
    receive = dispatch.receive

    def noted(limit: int, wait: float) -> list[Outcome]:
        asked.append(wait)
        return receive(limit, wait)

    monkeypatch.setattr(dispatch, "receive", noted)
    pipeline = Pipeline(graph.backlog, dispatch, pause=30.0)
    pipeline.start()
    until(lambda: len(asked) >= 1)
    time.sleep(0.1)
    assert len(asked) == 1
    pipeline.wake()
    until(lambda: len(asked) == 2)
    pipeline.close()
    assert module.PAUSE <= 1.0
