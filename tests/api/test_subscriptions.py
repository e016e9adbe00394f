"""`Subscription.ingestJob` over graphql-transport-ws and Server-Sent Events, with a real server."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from websockets.exceptions import ConnectionClosed

from api.app import create_app
from api.service import Service
from api.watches import Watches
from tests.api.clients import OverHttp, served
from tests.api.conftest import Borrowed
from tests.api.following import Event, followed, socket, stream, subscribe, tell, told
from tests.api.jobs import CANCEL, WATCH, counts, ended, handed_in, said

_numbers = count()
FAILURES = """subscription($id: ID!) { ingestJob(id: $id) { state
  failures { edges { node { message episode { externalId content } } } } } }"""


@pytest.fixture(scope="module")
def app(service: Service) -> Starlette:
    """The application over the shared service."""
    return create_app(partial(Borrowed, service.graph, service.ingestion))


@pytest.fixture(scope="module")
def address(app: Starlette) -> Iterator[str]:
    """Where it answers."""
    with served(app) as url:
        yield url


@pytest.fixture
def client(http: httpx.Client, address: str) -> OverHttp:
    """A client in a new namespace."""
    return OverHttp(http, address, f"followed-{next(_numbers)}")


def until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not done():
        assert time.monotonic() < end
        time.sleep(0.01)


def over_sse(client: OverHttp, query: str, id: str, method: str = "POST") -> list[Event]:
    with stream(client.http, client.url, client.namespace, query, {"id": id}, method=method) as events:
        return list(events)


def over_socket(client: OverHttp, query: str, id: str) -> list[Event]:
    with socket(client.url, client.namespace, init={}) as connection:
        subscribe(connection, "1", query, id=id)
        return list(followed(connection, "1"))


Follow = Callable[[OverHttp, str, str], list[Event]]
TRANSPORTS = [over_sse, partial(over_sse, method="GET"), over_socket]


@pytest.mark.parametrize("follow", TRANSPORTS)
def test_a_job_is_told_at_once_and_after_each_step_until_it_ends(client: OverHttp, follow: Follow, tmp_path: Path) -> None:
    go = tmp_path / "go"
    job = handed_in(client, said("one", f"wait for {go}"), said("two", "Ada likes jazz"))
    threading.Timer(0.6, go.touch).start()
    *steps, last = follow(client, WATCH, job["id"])
    assert last == ("complete", None)
    jobs = [carried["data"]["ingestJob"] for _, carried in steps]
    assert {name for name, _ in steps} == {"next"}
    assert counts(jobs[0]) == {"accepted": 2, "pending": 2}
    assert (jobs[-1]["state"], counts(jobs[-1])) == ("SUCCEEDED", {"accepted": 2, "committed": 2, "empty": 1})
    done = [each["progress"]["committed"] for each in jobs]
    assert done == sorted(done)
    assert all(one != next for one, next in pairwise(jobs))
    assert [each["finishedAt"] is None for each in jobs] == [True] * (len(jobs) - 1) + [False]


@pytest.mark.parametrize("follow", TRANSPORTS)
def test_an_ended_job_is_told_once(client: OverHttp, follow: Follow) -> None:
    job = ended(client, handed_in(client, said("one")))
    assert follow(client, WATCH, job["id"]) == [("next", {"data": {"ingestJob": job}}), ("complete", None)]


def test_an_unknown_job_is_not_found(client: OverHttp) -> None:
    other = handed_in(client.at(f"{client.namespace}-other"), said("one"))["id"]
    for id in ("nothing", other):
        (name, errors), *_ = over_socket(client, WATCH, id)
        assert (name, errors[0]["extensions"]["code"]) == ("error", "NOT_FOUND")
        (name, carried), last = over_sse(client, WATCH, id)
        assert (name, carried["data"], carried["errors"][0]["extensions"]["code"]) == ("next", None, "NOT_FOUND")
        assert last == ("complete", None)


@pytest.mark.parametrize("follow", TRANSPORTS)
def test_what_belongs_to_a_step_is_read_along_with_it(client: OverHttp, follow: Follow) -> None:
    job = ended(client, handed_in(client, said("one", idempotencyKey="k"), said("two", idempotencyKey="k")))
    (_, carried), _ = follow(client, FAILURES, job["id"])
    (edge,) = carried["data"]["ingestJob"]["failures"]["edges"]
    assert edge["node"]["episode"] == {"externalId": "one", "content": "Ada likes tea"}


@pytest.mark.parametrize("follow", TRANSPORTS)
def test_a_malformed_subscription_is_refused(client: OverHttp, follow: Follow) -> None:
    for document in ("subscription { nothing }", "subscription($id: ID!) { ingestJob(id: $id) { state", "query { nothing }"):
        name, carried = follow(client, document, "x")[0]
        errors = carried if name == "error" else carried["errors"]
        assert errors[0]["extensions"]["code"] == "BAD_USER_INPUT"


def test_a_cancelled_job_ends_its_subscriptions(client: OverHttp, tmp_path: Path) -> None:
    go = tmp_path / "go"
    job = handed_in(client, said("one", f"wait for {go}"))
    with socket(client.url, client.namespace, init={}) as connection:
        subscribe(connection, "1", WATCH, id=job["id"])
        steps = followed(connection, "1")
        assert next(steps)[1]["data"]["ingestJob"]["progress"]["pending"] == 1
        client.ok(CANCEL, id=job["id"])
        *_, (_, last), end = steps
    go.touch()
    assert (last["data"]["ingestJob"]["state"], end) == ("CANCELLED", ("complete", None))


def test_queries_and_mutations_run_over_both_too(client: OverHttp) -> None:
    query = "query { stats { episodes } health { ok } }"
    mutation = "mutation { rebuildIndex { ok } }"
    assert over_sse(client, query, "")[0] == ("next", {"data": {"stats": {"episodes": 0}, "health": {"ok": True}}})
    for document in (query, mutation):
        (name, carried), last = over_socket(client, document, "")
        assert (name, "errors" in carried, last) == ("next", False, ("complete", None))


def test_a_mutation_is_not_run_by_get(client: OverHttp) -> None:
    name, carried = over_sse(client, "mutation { rebuildIndex { ok } }", "", "GET")[0]
    assert (name, carried["data"]) == ("next", None)
    assert "errors" in carried


def test_the_protocol_of_sockets_is_kept(client: OverHttp) -> None:
    with socket(client.url, client.namespace) as connection:
        subscribe(connection, "1", WATCH, id="x")
        with pytest.raises(ConnectionClosed) as closed:
            connection.recv(timeout=30)
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 4401
    with socket(client.url, client.namespace, init={}) as connection:
        tell(connection, type="ping")
        assert told(connection) == {"type": "pong"}
        tell(connection, type="nonsense")
        with pytest.raises(ConnectionClosed) as closed:
            connection.recv(timeout=30)
        assert closed.value.rcvd is not None and closed.value.rcvd.code == 4400


def test_the_namespace_may_be_named_when_the_connection_begins(client: OverHttp) -> None:
    job = ended(client, handed_in(client, said("one")))
    with socket(client.url, None, init={"Erstwhile-Namespace": client.namespace}) as connection:
        subscribe(connection, "1", WATCH, id=job["id"])
        assert next(followed(connection, "1")) == ("next", {"data": {"ingestJob": job}})


def followers(app: Starlette) -> int:
    watches = app.state.watches
    assert isinstance(watches, Watches)
    return watches.followers


def test_who_goes_away_leaves_nothing_behind(client: OverHttp, app: Starlette, tmp_path: Path) -> None:
    go = tmp_path / "go"
    job = handed_in(client, said("one", f"wait for {go}"))
    with stream(client.http, client.url, client.namespace, WATCH, {"id": job["id"]}) as events:
        next(events)
        assert followers(app) == 1
    until(lambda: followers(app) == 0)
    with socket(client.url, client.namespace, init={}) as connection:
        for id in ("1", "2"):
            subscribe(connection, id, WATCH, id=job["id"])
            told(connection)
        assert followers(app) == 2
        tell(connection, type="complete", id="1")
        until(lambda: followers(app) == 1)
    until(lambda: followers(app) == 0)
    go.touch()


def test_many_follow_one_job(client: OverHttp, tmp_path: Path) -> None:
    go = tmp_path / "go"
    job = handed_in(client, said("one", f"wait for {go}"), said("two", "Ada likes jazz"))

    def follow(number: int) -> Any:
        with socket(client.url, client.namespace, init={}) as connection:
            for id in range(10):
                subscribe(connection, str(id), WATCH, id=job["id"])
            begun.wait(30)
            ends: dict[str, str] = {}
            while len(ends) < 10:
                message = told(connection)
                if message["type"] == "next":
                    last[number, message["id"]] = message["payload"]["data"]["ingestJob"]
                else:
                    ends[message["id"]] = message["type"]
            return set(ends.values())

    last: dict[tuple[int, str], Any] = {}
    begun = threading.Barrier(9)
    with ThreadPoolExecutor(8) as threads:
        found = [threads.submit(follow, number) for number in range(8)]
        begun.wait(30)
        go.touch()
        assert [each.result() for each in found] == [{"complete"}] * 8
    assert len(last) == 80
    assert all(each["state"] == "SUCCEEDED" for each in last.values())


def test_a_server_that_stops_ends_what_is_followed(service: Service, http: httpx.Client, tmp_path: Path) -> None:
    go = tmp_path / "go"
    app = create_app(partial(Borrowed, service.graph, service.ingestion))
    with served(app) as url:
        client = OverHttp(http, url, f"followed-{next(_numbers)}")
        job = handed_in(client, said("one", f"wait for {go}"))
        with stream(http, url, client.namespace, WATCH, {"id": job["id"]}) as events:
            next(events)
            watches = app.state.watches
            watches.close()
            name, carried = next(events)
            assert (name, carried["errors"][0]["extensions"]["code"]) == ("next", "OVERLOADED")
            assert list(events) == [("complete", None)]
    go.touch()
