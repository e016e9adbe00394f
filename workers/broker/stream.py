"""The stream of results as its one reader sees it: each entry once, those of an earlier process first, until they are settled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from redis import Redis
from redis.exceptions import ResponseError

from workers.broker.connection import GROUP, OWNER

LONGEST_WAIT = 1.0
"""Seconds that Redis is asked to wait for an entry at a time; under the time after which it counts as gone."""

Fields = Mapping[bytes, bytes]
_FIRST = "0"


class Emptied(Exception):
    """The stream or its group is gone."""


class ResultStream:
    """Reads and settles entries. Everything raises what the client raises. Of one thread."""

    def __init__(self, client: Redis, name: str) -> None:
        self._client, self._name = client, name
        self._held: set[str] = set()
        self._unsettled: set[str] = set()
        # What was handed out and is not settled is read first: from here on. None: all of it was.
        self._from: str | None = _FIRST

    def begin(self) -> None:
        """Make sure that there is a stream with our group, which reads it from its first entry."""
        try:
            self._client.xgroup_create(self._name, GROUP, id=_FIRST, mkstream=True)
        except ResponseError as failure:
            if "BUSYGROUP" not in str(failure):
                raise

    def forget(self) -> None:
        """It is another stream, of which nothing was read."""
        self._held.clear()
        self._unsettled.clear()
        self._from = _FIRST

    def reread(self) -> None:
        """A call failed: what it was handed is known to Redis alone."""
        self._from = _FIRST

    def read(self, limit: int, wait: float) -> list[tuple[str, Fields]]:
        """Up to `limit` entries that were not read before, after at most `wait` seconds, or LONGEST_WAIT. Raises Emptied."""
        while self._from is not None:
            entries = self._read(self._from, limit, None)
            if not entries:
                self._from = None
                break
            self._from = entries[-1][0]
            # Deleted ones are still named as handed out.
            gone = [id for id, fields in entries if fields is None]
            if gone:
                self._client.xack(self._name, GROUP, *gone)
            fresh = [(id, fields) for id, fields in entries if fields is not None and id not in self._held]
            if fresh:
                return fresh
        # Redis takes 0 for ever; for no time at all it is not asked to wait.
        block = max(1, int(min(wait, LONGEST_WAIT) * 1000)) if wait > 0 else None
        return [(id, fields or {}) for id, fields in self._read(">", limit, block) if id not in self._held]

    def _read(self, place: str, limit: int, block: int | None) -> list[tuple[str, Fields | None]]:
        try:
            answer: Any = self._client.xreadgroup(GROUP, OWNER, {self._name: place}, count=limit, block=block)
        except ResponseError as failure:
            if "NOGROUP" not in str(failure):
                raise
            raise Emptied from None
        return [(id.decode(), fields or None) for _, entries in answer or [] for id, fields in entries]

    def hold(self, ids: Iterable[str]) -> None:
        """Entries are with somebody who will have them settled: they are not read again."""
        self._held.update(ids)

    def done(self, ids: Iterable[str]) -> None:
        """Entries are to be taken off, by the next `settle`."""
        self._unsettled.update(ids)

    def settle(self) -> None:
        """Take off what is done."""
        if not self._unsettled:
            return
        done = list(self._unsettled)
        with self._client.pipeline(transaction=True) as pipe:
            pipe.xack(self._name, GROUP, *done)
            pipe.xdel(self._name, *done)
            pipe.execute()
        self._unsettled.difference_update(done)
        self._held.difference_update(done)
