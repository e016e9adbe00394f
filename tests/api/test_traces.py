"""One trace from a request to the commit of what it handed in: that of `traceparent`, else the request's ID."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from itertools import count
from typing import Any

import httpx
import pytest

from tests.api.clients import OverHttp
from tests.api.following import socket, subscribe, told
from tests.api.jobs import INGEST, RETRY, STATE, WATCH, ended, said, stated
from tests.api.stating import ASSERT

_numbers = count()
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"
ONE = """mutation($input: EpisodeInput!, $wait: Boolean) { ingestEpisode(input: $input, wait: $wait) { __typename } }"""


@pytest.fixture
def client(http: httpx.Client, url: str) -> OverHttp:
    return OverHttp(http, url, f"traced-{next(_numbers)}")


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """What the work logs."""
    with caplog.at_level(logging.INFO, "workers"):
        yield caplog


def steps(log: pytest.LogCaptureFixture, trace: str) -> list[str]:
    """The steps that the log tells of a trace."""
    found = [record for record in log.records if getattr(record, "trace", None) == trace]
    assert all(record.getMessage().endswith(f"trace={trace}") for record in found)
    return [record.getMessage().split()[0] for record in found]


def handed_in(client: OverHttp, *episodes: dict[str, Any], **headers: str) -> dict[str, Any]:
    answer = client.send(INGEST, {"input": list(episodes)}, headers)
    job: dict[str, Any] = answer.data["ingestEpisodes"]["job"]
    return job


def test_the_trace_of_the_caller_stands_at_each_step(client: OverHttp, log: pytest.LogCaptureFixture) -> None:
    job = handed_in(client, said("one"), said("two", "Ada likes jazz"), traceparent=PARENT)
    assert job["trace"] == TRACE
    ended(client, job)
    found = steps(log, TRACE)
    assert found[0] == "accepted"
    assert set(found) == {"accepted", "sent", "received", "committed"}
    assert found[-1] == "committed"
    committed = [record.getMessage() for record in log.records if record.getMessage().startswith("committed")]
    assert sum(int(line.split("episodes=")[1].split()[0]) for line in committed if TRACE in line) == 2


def test_without_it_the_id_of_the_request_is_the_trace(client: OverHttp, log: pytest.LogCaptureFixture) -> None:
    job = handed_in(client, said("one"), **{"X-Request-ID": "my-request-7"})
    assert job["trace"] == "my-request-7"
    ended(client, job)
    assert "committed" in steps(log, "my-request-7")


@pytest.mark.parametrize(
    "parent",
    [
        "",
        "nonsense",
        f"ff-{TRACE}-00f067aa0ba902b7-01",
        f"00-{'0' * 32}-00f067aa0ba902b7-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-00f067aa0ba902b7-01",
        f"00-{TRACE}-00f067aa0ba902b7",
        f"00-{TRACE}'; drop-00f067aa0ba902b7-01",
    ],
)
def test_a_malformed_traceparent_is_passed_over(client: OverHttp, parent: str) -> None:
    job = handed_in(client, said("one"), traceparent=parent, **{"X-Request-ID": "the-id"})
    assert job["trace"] == "the-id"


def test_a_later_version_of_traceparent_may_say_more(client: OverHttp) -> None:
    assert handed_in(client, said("one"), traceparent=f"01-{TRACE}-00f067aa0ba902b7-01-more")["trace"] == TRACE


def test_every_way_of_writing_is_traced(client: OverHttp, log: pytest.LogCaptureFixture) -> None:
    answer = client.send(STATE, {"input": [stated("a")]}, {"X-Request-ID": "batch"})
    assert answer.data["assertStatementsBatch"]["job"]["trace"] == "batch"
    assert steps(log, "batch") == ["committed"]
    client.send(ASSERT, {"input": stated("b")}, {"X-Request-ID": "single"})
    assert steps(log, "single") == ["committed"]
    client.send(ONE, {"input": said("c")}, {"X-Request-ID": "waiting"})
    assert steps(log, "waiting") == ["committed"]
    client.send(ONE, {"input": said("d"), "wait": False}, {"X-Request-ID": "later"})
    ended(client, handed_in(client, said("d")))
    assert steps(log, "later") == ["accepted", "sent", "received", "committed"]


def test_what_is_sent_again_bears_the_trace_of_who_asked_for_it(client: OverHttp, log: pytest.LogCaptureFixture) -> None:
    job = ended(client, handed_in(client, said("bad", "fail"), **{"X-Request-ID": "first"}))
    assert job["progress"]["failed"] == 1
    given_up = [record for record in log.records if "is given up" in record.getMessage()]
    assert [record.__dict__["trace"] for record in given_up] == ["first"]
    client.send(RETRY, {"id": job["id"]}, {"X-Request-ID": "second"})
    ended(client, job)
    assert "sent" in steps_of_any(log, "second")


def steps_of_any(log: pytest.LogCaptureFixture, trace: str) -> list[str]:
    return [record.getMessage().split()[0] for record in log.records if getattr(record, "trace", None) == trace]


def test_a_socket_has_a_trace_too(client: OverHttp) -> None:
    with socket(client.url, client.namespace, init={}) as connection:
        subscribe(connection, "1", INGEST, input=[said("one")])
        job = told(connection)["payload"]["data"]["ingestEpisodes"]["job"]
        assert job["trace"]
        assert told(connection)["type"] == "complete"
        subscribe(connection, "2", WATCH, id=job["id"])
        assert told(connection)["payload"]["data"]["ingestJob"]["trace"] == job["trace"]
