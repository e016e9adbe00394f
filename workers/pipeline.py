"""The owner's side of extraction: what waits in the ledger goes out through a dispatch, what comes back is committed.

The ledger is the queue: a dispatch only ever holds a window of it, and may lose that. So nothing here is needed after a restart.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from threading import Condition, Event, Thread
from time import monotonic, perf_counter, time_ns

from graph.work import BULK, LIVE, MAX_STARTS, Backlog, Extracted, Failed, WaitingEpisode
from workers.dispatching import Dispatch, DispatchUnavailable, Kind, Outcome
from workers.meters import Ending, Meters, NoMeters
from workers.tracing import note

logger = logging.getLogger(__name__)

BATCH = 64
"""Most results of one commit."""
GATHERING = 0.05
"""Seconds that a commit waits for more results after its first."""
CHUNKS = {LIVE: 4, BULK: 16}
"""Most episodes of one chunk: what somebody waits for is not kept behind much else."""
CHUNK_TEXT = 50_000
"""Most characters of one chunk, unless one episode alone has more."""
RECONCILING = 5.0
"""Seconds between looks for what was sent and came to nothing."""
OVERDUE = 1_000
"""Most overdue episodes that are looked at together."""
PAUSE = 1.0
"""Seconds after a failure, and most seconds that it sleeps where nothing waits."""
LEAVING = 10.0
"""Seconds that closing gives to what is being run."""

NEVER_FINISHED = "it was begun {starts} times and never finished: whoever extracted it died"


class Pipeline:
    """Works off `backlog` through `dispatch` in a thread of its own. Thread-safe. `degraded` says why it stands still (None: it works)."""

    def __init__(
        self,
        backlog: Backlog,
        dispatch: Dispatch,
        meters: Meters | None = None,
        *,
        reconciling: float = RECONCILING,
        pause: float = PAUSE,
    ) -> None:
        self._backlog = backlog
        self.dispatch = dispatch
        self._meters: Meters = meters or NoMeters()
        self._reconciling = reconciling
        self._pause = pause
        self._reconciled = 0.0
        self._work = Event()
        self._closing = Event()
        self._progress = Condition()
        self._thread = Thread(target=self._run, name="pipeline", daemon=True)
        self.degraded: str | None = None

    def start(self) -> None:
        """Begin with what waits already."""
        if self.dispatch.resend_after is None:
            # Whatever ran it ended with the process that had sent it.
            self._backlog.unsend_all()
        self._thread.start()

    def wake(self) -> None:
        """There may be something new that waits."""
        self._work.set()

    def wait_until(self, done: Callable[[], bool], timeout: float) -> bool:
        """Wait until `done`, which is asked after each commit; whether it is."""
        with self._progress:
            return self._progress.wait_for(lambda: done() or self._closing.is_set(), timeout) and done()

    def drop(self, episodes: Sequence[WaitingEpisode]) -> None:
        """Some episodes wait no more: what was sent of them need not be run."""
        try:
            self.dispatch.drop(episodes)
        except DispatchUnavailable:
            # It is run then, and what comes of it finds nobody who waits for it.
            logger.info("%d episodes that are given up may still be run", len(episodes))

    def close(self) -> None:
        """Commit what is being run, and stop; the rest waits for the next start."""
        self._closing.set()
        self._work.set()
        if self._thread.ident is not None:
            self._thread.join()
        self.dispatch.close()

    # ------------------------------------------------------------ the thread

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                if not self._step():
                    self._work.wait(self._pause)
                self._work.clear()
                self.degraded = None
            except DispatchUnavailable as failure:
                self._stand_still(failure.message)
            except Exception as failure:
                logger.exception("what waits for extraction cannot be worked off; trying again")
                self._stand_still(f"what waits for extraction cannot be worked off: {failure}")
        self._leave()
        with self._progress:
            self._progress.notify_all()

    def _stand_still(self, why: str) -> None:
        if self.degraded != why:
            logger.warning("%s", why)
        self.degraded = why
        self._closing.wait(self._pause)

    def _step(self) -> bool:
        """Send what there is room for, and commit what has come; False where there is nothing to do."""
        if self.dispatch.lost():
            self._backlog.unsend_all()
        sent = self._feed()
        took = self._take(self._gathered(GATHERING))
        self._reconcile()
        return sent or took or self._backlog.view().sent > 0

    def _leave(self) -> None:
        """Commit what is being run; what was begun and is not committed would count against it."""
        end = monotonic() + LEAVING
        try:
            while self.dispatch.resend_after is None and self._backlog.view().sent and monotonic() < end:
                self._take(self._gathered(GATHERING))
        except Exception:
            logger.exception("what was being run could not be committed; it waits for the next start")

    # ------------------------------------------------------------ sending

    def _feed(self) -> bool:
        sent = False
        for queue in (LIVE, BULK):
            room = self.dispatch.room(queue)
            waiting = self._backlog.unsent(queue, room) if room > 0 else []
            silent = [each for each in waiting if not each.draft.speech]
            if silent:
                known = {each.row: each for each in silent}
                problems = self._complete([Extracted(row, [], "none") for row in known], known)
                # What cannot be committed counts as begun, else it would be tried for ever.
                self._backlog.note_starts(list(problems))
                self._judge(problems, dict.fromkeys(problems, 1), known)
            for chunk in chunked([each for each in waiting if each.draft.speech], CHUNKS[queue]):
                self.dispatch.send(queue, chunk)
                self._backlog.note_sent([each.row for each in chunk], time_ns() // 1000)
                note(logger, "sent", (each.trace for each in chunk), queue=queue)
            sent |= bool(waiting)
        return sent

    def _reconcile(self) -> None:
        """What was sent long ago is sent again, or given up."""
        after = self.dispatch.resend_after
        if after is None or monotonic() - self._reconciled < self._reconciling:
            return
        self._reconciled = monotonic()
        overdue = self._backlog.overdue(time_ns() // 1000 - int(after * 1_000_000), OVERDUE)
        lost = [each for each in overdue if each.starts >= MAX_STARTS]
        self._give_up(lost, {each.row: each.problem or NEVER_FINISHED.format(starts=each.starts) for each in lost})
        again = [each.row for each in overdue if each.starts < MAX_STARTS]
        if again:
            logger.info("%d episodes came to nothing; they are sent again", len(again))
            self._backlog.note_sent(again, None)

    # ------------------------------------------------------------ committing

    def _gathered(self, wait: float) -> list[Outcome]:
        """Outcomes of one commit: up to BATCH results, or what comes within GATHERING of the first."""
        found = self.dispatch.receive(BATCH, wait)
        end = monotonic() + GATHERING
        while found and (results := sum(each.kind is not Kind.STARTED for each in found)) < BATCH and (left := end - monotonic()) > 0:
            more = self.dispatch.receive(BATCH - results, left)
            if not more and not self._more_expected(found):
                break
            found += more
        return found

    @staticmethod
    def _more_expected(found: Iterable[Outcome]) -> bool:
        """Whether something was begun that has not ended among these."""
        begun = Counter[int]()
        for each in found:
            begun[each.row] += 1 if each.kind is Kind.STARTED else -1
        return any(count > 0 for count in begun.values())

    def _take(self, outcomes: Sequence[Outcome]) -> bool:
        if not outcomes:
            return False
        waiting = self._backlog.find({each.row for each in outcomes})
        results = {each.row: each for each in reversed(outcomes) if each.kind is Kind.EXTRACTED and each.row in waiting}
        told = [each for each in outcomes if each.row in waiting and each.row not in results and each.round == waiting[each.row].round]
        begun = Counter(each.row for each in told if each.kind is Kind.STARTED)
        problems = {each.row: each.reason for each in told if each.kind is Kind.FAILED}
        # What was begun is on disk before anything else: whatever else happens counts as a start.
        self._backlog.note_starts(list(begun.elements()))
        note(logger, "received", (waiting[row].trace for row in results))
        for each in results.values():
            self._meters.extracted(each.seconds)
        problems |= self._complete([Extracted(each.row, each.claims, each.extractor) for each in results.values()], waiting)
        self._judge(problems, begun, waiting)
        self.dispatch.settle(outcomes)
        self._tell()
        return True

    def _judge(self, problems: Mapping[int, str], begun: Mapping[int, int], waiting: Mapping[int, WaitingEpisode]) -> None:
        """Give up what was begun too often, and let the other problems wait for another try. `begun`: starts that are noted since."""
        starts = {row: waiting[row].starts + begun.get(row, 0) for row in {*begun, *problems}}
        lost = {row for row in problems if starts[row] >= MAX_STARTS} | {row for row in begun if starts[row] > MAX_STARTS}
        reasons = {row: problems.get(row) or NEVER_FINISHED.format(starts=MAX_STARTS) for row in lost}
        self._give_up([waiting[row] for row in sorted(lost)], reasons)
        again = {row: problem for row, problem in problems.items() if row not in lost}
        if again:
            self._backlog.note_problems(again)

    def _complete(self, found: Sequence[Extracted], waiting: Mapping[int, WaitingEpisode]) -> dict[int, str]:
        """Commit results; where they do not go in together, one by one. What is wrong with those that do not go in at all, by row."""
        if not found:
            return {}
        start = perf_counter()
        try:
            done = self._backlog.complete(found)
        except Exception as failure:
            if len(found) > 1:
                return {row: problem for each in found for row, problem in self._complete([each], waiting).items()}
            logger.exception("the result of an episode cannot be committed")
            return {found[0].row: f"what was found in it cannot be committed: {failure}"}
        self._meters.batch(len(done), perf_counter() - start)
        for number in {receipt.transaction for receipt in done.values()}:
            together = [waiting[row].trace for row, receipt in done.items() if receipt.transaction == number]
            note(logger, "committed", together, transaction=number)
        for each in found:
            if each.row in done:
                self._meters.outcome(Ending.COMMITTED if each.claims else Ending.EMPTY)
        return {}

    def _give_up(self, lost: Sequence[WaitingEpisode], reasons: dict[int, str]) -> None:
        if not lost:
            return
        for each in lost:
            logger.error("the episode %s is given up: %s; trace=%s", each.key, reasons[each.row], each.trace, extra={"trace": each.trace})
            self._meters.outcome(Ending.FAILED)
            self._meters.failed(reasons[each.row])
        self._backlog.give_up([Failed(each.row, reasons[each.row]) for each in lost])
        self.drop(lost)
        self._tell()

    def _tell(self) -> None:
        with self._progress:
            self._progress.notify_all()


def chunked(waiting: Sequence[WaitingEpisode], most: int) -> Iterator[list[WaitingEpisode]]:
    """Chunks of at most `most` episodes and CHUNK_TEXT characters. What came to nothing before goes alone: it may take others along."""
    chunk: list[WaitingEpisode] = []
    length = 0
    for each in waiting:
        if each.starts or each.problem is not None:
            yield [each]
            continue
        if chunk and (len(chunk) == most or length + len(each.draft.content) > CHUNK_TEXT):
            yield chunk
            chunk, length = [], 0
        chunk.append(each)
        length += len(each.draft.content)
    if chunk:
        yield chunk
