"""The jobs that an import made on a server: how far they are, and what became of their episodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Event, Lock
from typing import Any

from api.cli.documents import JOB_FAILURES, job_progress
from api.cli.link import Link, Unreachable
from api.cli.patience import Patience
from workers.bulk import Tally

_ASKED = 20
"""Jobs that one question asks about."""
_SHORTEST, _LONGEST = 0.1, 2.0
"""Seconds between questions."""
_FAILURES = 100


class SentJobs:
    """Jobs by their IDs, with the progress that was told last. Adding is thread-safe."""

    def __init__(self, link: Link, patience: Patience, stop: Event) -> None:
        self._link, self._patience, self._stop = link, patience, stop
        self._open: dict[str, Mapping[str, int]] = {}
        self._ended: list[tuple[str, Mapping[str, int]]] = []
        self._lock = Lock()
        self._failures: list[str] = []

    def add(self, job: Mapping[str, Any]) -> None:
        """A job as the server answered it."""
        with self._lock:
            self._open[job["id"]] = job["progress"]

    def follow(self, told: Callable[[Tally], None], *, wait: bool = True) -> None:
        """Ask how far the jobs are until all have ended, or `stop` is set; once where nobody waits. Raises as `Patience.rest`, Refused."""
        pause = _SHORTEST
        while self._open:
            self._ask()
            told(self.outcomes())
            if not wait or not self._open or self._stop.wait(pause):
                break
            pause = min(pause * 1.5, _LONGEST)

    def outcomes(self) -> Tally:
        """What became of the episodes of all jobs, as far as it is known; those that wait are among the accepted."""
        tally = Tally(failures=list(self._failures))
        with self._lock:
            counts = [*self._open.values(), *(progress for _, progress in self._ended)]
        for each in counts:
            tally.accepted += each["committed"] + each["pending"]
            tally.empty += each["empty"]
            tally.pending += each["pending"]
            tally.known += each["deduplicated"]
            tally.held_back += each["quarantined"]
            tally.failed += each["failed"]
        return tally

    def _ask(self) -> None:
        with self._lock:
            ids = list(self._open)
        for at in range(0, len(ids), _ASKED):
            if at and self._stop.is_set():
                return
            part = ids[at : at + _ASKED]
            answer = self._execute(job_progress(len(part)), {f"i{place}": id for place, id in enumerate(part)})
            for place, id in enumerate(part):
                self._note(id, answer[f"j{place}"])

    def _note(self, id: str, job: Mapping[str, Any] | None) -> None:
        with self._lock:
            progress = self._open[id] if job is None else job["progress"]
            if job is not None and job["finishedAt"] is None:
                self._open[id] = progress
                return
            del self._open[id]
            if job is None:
                # Its data are others than before; what is not known to be done is to be sent again.
                progress = {**progress, "failed": progress["failed"] + progress["pending"], "pending": 0}
                self._failures.append(f"job {id}: the server does not know it any more; run the command again with --fresh")
            self._ended.append((id, progress))
        if job is not None and progress["failed"]:
            found = self._execute(JOB_FAILURES, {"id": id, "first": _FAILURES})["ingestJob"]
            self._failures += [_told(edge["node"]) for edge in found["failures"]["edges"]]

    def _execute(self, document: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        attempt = 0
        while True:
            try:
                answer = self._link.execute(document, variables)
            except Unreachable as failure:
                self._patience.rest(failure.message, attempt, failure.retry_after)
                attempt += 1
                continue
            self._patience.renew()
            return answer


def _told(failure: Mapping[str, Any]) -> str:
    episode = failure["episode"]
    named = " ".join(str(episode[part]) for part in ("source", "group", "externalId") if episode[part])
    return f"{named}: {failure['message']}"
