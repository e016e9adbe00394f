"""A service that takes episodes as jobs, as the contract says, and fails as it is told to: behind httpx without a socket, or as an app."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from random import Random
from threading import Event, Lock
from typing import Any

import httpx

from api.cli.documents import INGEST_MANY
from api.cli.link import RemoteLink
from api.cli.patience import Patience
from api.cli.sending import RemoteSink
from api.cli.sent_jobs import SentJobs
from ontology.instant import format_instant, parse_instant

Fault = Callable[[], httpx.Response]
"""Answers in the place of the service, or raises what httpx raises."""


def status(code: int, **headers: str) -> Fault:
    """An answer of another kind."""
    return lambda: httpx.Response(code, text="<html>no GraphQL</html>", headers=headers)


def error(code: str, message: str = "The service failed at this.") -> Fault:
    """A GraphQL error."""
    return lambda: httpx.Response(200, json={"data": None, "errors": [{"message": message, "extensions": {"code": code}}]})


def overloaded(seconds: int) -> Fault:
    """The service has no room."""
    result = {"__typename": "OverloadedError", "code": "OVERLOADED", "message": "full", "retryAfter": seconds}
    return lambda: httpx.Response(200, json={"data": {"made": result}})


def broken(kind: type[httpx.TransportError], after: bool = False) -> Fault:
    """The connection breaks: before the service has heard of it, or `after` it has done its work."""

    def fault() -> httpx.Response:
        raise kind("the connection broke")

    fault.after = after  # type: ignore[attr-defined]
    return fault


@dataclass
class FakeService:
    """Texts with `refuse` are malformed, with `stumble` break the call, with `fail` become dead letters, with `hold` are quarantined.

    `faults` come first, one each call of `ingestEpisodes` (of any question with `everywhere`). `polls` is how often a job is asked for
    before it ends.
    """

    faults: list[Fault] = field(default_factory=list)
    everywhere: bool = False
    polls: int = 1
    most: int = 10**9
    key: str | None = None
    stored: dict[tuple[str, str], str] = field(default_factory=dict)
    calls: list[int] = field(default_factory=list)
    questions: Counter[str] = field(default_factory=Counter)
    jobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    times: list[int] = field(default_factory=list)
    _numbers: Any = field(default_factory=count)
    _lock: Lock = field(default_factory=Lock)

    def handle(self, request: httpx.Request) -> httpx.Response:
        """One request."""
        with self._lock:
            if self.key is not None and request.headers.get("Authorization") != f"Bearer {self.key}":
                return httpx.Response(
                    401, json={"data": None, "errors": [{"message": "no such key", "extensions": {"code": "UNAUTHENTICATED"}}]}
                )
            body = json.loads(request.content)
            name = re.search(r"(?:query|mutation) (\w+)", body["query"])
            assert name is not None
            self.questions[name[1]] += 1
            fault = self.faults.pop(0) if self.faults and (self.everywhere or name[1] == "IngestMany") else None
            if fault is not None and not getattr(fault, "after", False):
                return fault()
            answer = self._answer(name[1], body["variables"], body["query"])
            return answer if fault is None else fault()

    def _answer(self, name: str, variables: dict[str, Any], query: str) -> httpx.Response:
        if name == "IngestMany":
            assert query == INGEST_MANY
            return self._take(variables["input"])
        if name == "JobProgress":
            return _data({f"j{place[1:]}": self._job(id) for place, id in variables.items()})
        if name == "JobFailures":
            return _data({"ingestJob": {"failures": {"edges": [{"node": node} for node in self.jobs[variables["id"]]["failures"]]}}})
        if name == "LastTransaction":
            at = format_instant(self.times[-1] if self.times else 0)
            return _data({"asOf": {"basis": {"transaction": len(self.times), "recordedAt": at}}})
        assert name == "LastTransactionBy"
        return _data({"asOf": {"basis": {"transaction": sum(time <= parse_instant(variables["at"]) for time in self.times)}}})

    def _take(self, episodes: list[dict[str, Any]]) -> httpx.Response:
        texts = [episode["content"] for episode in episodes]
        if len(texts) > self.most:
            return httpx.Response(413, text="too large")
        if any("stumble" in text for text in texts):
            return error("INTERNAL_SERVER_ERROR")()
        for place, text in enumerate(texts):
            if "refuse" in text:
                path = ["input", str(place), "content"]
                result = {"__typename": "InvalidInputError", "code": "BAD_USER_INPUT", "message": "malformed", "path": path}
                return _data({"made": result})
        self.calls.append(len(texts))
        self.times.append((self.times[-1] if self.times else 1_700_000_000_000_000) + 7)
        progress = Counter(accepted=len(texts))
        failures = []
        for episode in episodes:
            key = episode["source"], episode["externalId"]
            known = self.stored.get(key) == episode["content"]
            self.stored[key] = episode["content"]
            outcome = "deduplicated" if known else "quarantined" if "hold" in episode["content"] else "committed"
            if not known and "fail" in episode["content"]:
                outcome = "failed"
                told = {name: episode.get(name) for name in ("source", "group", "externalId")}
                failures.append({"message": "it cannot be extracted", "episode": told})
            progress[outcome] += 1
            progress["empty"] += outcome == "committed" and "empty" in episode["content"]
        id = f"job{next(self._numbers)}"
        names = ("accepted", "committed", "empty", "deduplicated", "quarantined", "failed", "pending")
        self.jobs[id] = {"left": self.polls, "progress": {name: progress[name] for name in names}, "failures": failures}
        waiting = dict.fromkeys(names, 0) | {"accepted": len(texts), "pending": len(texts)}
        return _data({"made": {"__typename": "IngestEpisodesPayload", "job": {"id": id, "progress": waiting}}})

    def _job(self, id: str) -> dict[str, Any] | None:
        job = self.jobs.get(id)
        if job is None:
            return None
        job["left"] -= 1
        if job["left"] <= 0:
            return {"finishedAt": "2026-01-01T00:00:00Z", "progress": job["progress"]}
        waiting = dict.fromkeys(job["progress"], 0) | {"accepted": job["progress"]["accepted"], "pending": job["progress"]["accepted"]}
        return {"finishedAt": None, "progress": waiting}

    def link(self, key: str | None = None) -> RemoteLink:
        """A link to it without a socket."""
        from pydantic import SecretStr

        client = httpx.Client(transport=httpx.MockTransport(self.handle))
        return RemoteLink(client, "http://fake", "default", None if key is None else SecretStr(key))


def _data(data: dict[str, Any]) -> httpx.Response:
    return httpx.Response(200, json={"data": data})


@dataclass
class Sender:
    """A sink to the fake, whose waits take no time: they are in `waits`, what was said of them in `said`."""

    service: FakeService
    seconds: float = 600
    waits: list[float] = field(default_factory=list)
    said: list[str | None] = field(default_factory=list)
    stop: Event = field(default_factory=Event)
    now: float = 0.0

    def __post_init__(self) -> None:
        self.patience = Patience(
            self.seconds, self.stop, tell=self.said.append, random=Random(5).random, wait=self._wait, now=lambda: self.now
        )
        self.link = self.service.link(self.service.key)
        self.jobs = SentJobs(self.link, self.patience, self.stop)
        self.sink = RemoteSink(self.link, self.patience, self.jobs)

    def _wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        self.now += seconds
        return self.stop.is_set()
