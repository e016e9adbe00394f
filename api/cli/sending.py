"""The sink of bulk imports into a server: batches of episodes become its jobs."""

from __future__ import annotations

from collections.abc import Sequence

from api.cli.documents import ASSERT_MANY, INGEST_MANY
from api.cli.importing import episode_input, stated_input
from api.cli.link import Link, Refused, TooLarge, Unreachable
from api.cli.patience import Patience
from api.cli.sent_jobs import SentJobs
from workers.bulk import Tally, place_of
from workers.readers import Draft, StatedEpisode

BATCH, MAX_BATCH = 100, 1000
"""Episodes of a call, where nothing else is asked for and at most."""
_MASKED = 3
"""So often a call that the server failed at is tried before its episodes are tried apart."""


class RemoteSink:
    """Sends batches to a server, and again where it does not answer or has no room. Called from several threads.

    What is counted as accepted is on the disk of the server; what becomes of it the jobs tell. Raises Refused where it refuses everything
    (a wrong key, another service), GaveUp and Stopped.
    """

    def __init__(self, link: Link, patience: Patience, jobs: SentJobs) -> None:
        self._link, self._patience, self._jobs = link, patience, jobs

    def take(self, drafts: Sequence[Draft]) -> Tally:
        """Send a batch, what states its claims in a call of its own; what the server refuses is named."""
        tally = self._send(INGEST_MANY, [draft for draft in drafts if not isinstance(draft, StatedEpisode)])
        tally.add(self._send(ASSERT_MANY, [draft for draft in drafts if isinstance(draft, StatedEpisode)]))
        return tally

    def _send(self, document: str, drafts: Sequence[Draft]) -> Tally:
        tally, left = Tally(), list(drafts)
        attempt = masked = 0
        while left:
            self._patience.check()
            try:
                result = self._link.execute(document, {"input": [_input(draft) for draft in left]})["made"]
            except Unreachable as failure:
                self._patience.rest(failure.message, attempt, failure.retry_after)
                attempt += 1
                continue
            except Refused as failure:
                if failure.code == "INTERNAL_SERVER_ERROR" and masked + 1 < _MASKED:
                    self._patience.rest(failure.message, masked)
                    masked += 1
                elif failure.code == "OVERLOADED":
                    self._patience.rest(failure.message, attempt)
                    attempt += 1
                elif isinstance(failure, TooLarge) or failure.code == "INTERNAL_SERVER_ERROR" or "$input" in failure.message:
                    tally.add(self._apart(document, left, failure.message))
                    break
                else:
                    raise
                continue
            if result["__typename"] == "OverloadedError":
                self._patience.rest("the server is full", 0, result["retryAfter"])
                continue
            self._patience.renew()
            if result["__typename"] == "IngestEpisodesPayload":
                self._jobs.add(result["job"])
                tally.accepted += len(left)
                break
            place = _index(result.get("path") or ())
            if place is None or place >= len(left):
                tally.add(self._apart(document, left, result["message"]))
                break
            tally.fail(place_of(left.pop(place)), result["message"])
        return tally

    def _apart(self, document: str, drafts: Sequence[Draft], why: str) -> Tally:
        """Half by half, so that one that cannot be taken costs itself alone."""
        tally = Tally()
        if len(drafts) == 1:
            tally.fail(place_of(drafts[0]), why)
            return tally
        middle = len(drafts) // 2
        tally.add(self._send(document, drafts[:middle]))
        tally.add(self._send(document, drafts[middle:]))
        return tally


def _input(draft: Draft) -> dict[str, object]:
    return stated_input(draft) if isinstance(draft, StatedEpisode) else episode_input(draft)


def _index(path: Sequence[str]) -> int | None:
    """The place in the call that an error's path names (`input.3.saidAt`)."""
    return next((int(part) for part in path[:2] if part.isascii() and part.isdigit()), None)
