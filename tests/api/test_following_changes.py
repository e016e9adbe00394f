"""`Subscription.changes` over graphql-transport-ws and Server-Sent Events, with real servers, slow clients and killed ones."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from api.app import create_app
from api.cursors import encode_cursor
from api.service import Service
from api.watches import Watches
from tests.api.changes import FOLLOW, MERGE, in_words, pulled
from tests.api.clients import OverHttp, served, until_ready
from tests.api.conftest import Borrowed
from tests.api.following import Event, followed, socket, stream, subscribe
from tests.api.stating import state
from tests.api.test_serving import serving, worker_of

_numbers = count()


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
    return OverHttp(http, address, f"fed-{next(_numbers)}")


@contextmanager
def over_sse(client: OverHttp, **variables: Any) -> Iterator[Iterator[Event]]:
    with stream(client.http, client.url, client.namespace, FOLLOW, variables) as events:
        yield events


@contextmanager
def over_socket(client: OverHttp, **variables: Any) -> Iterator[Iterator[Event]]:
    with socket(client.url, client.namespace, init={}) as connection:
        subscribe(connection, "1", FOLLOW, **variables)
        yield followed(connection, "1")


Following = Callable[..., AbstractContextManager[Iterator[Event]]]
TRANSPORTS = [over_sse, over_socket]
each_transport = pytest.mark.parametrize("following", TRANSPORTS)


def edges(events: Iterator[Event]) -> Iterator[dict[str, Any]]:
    """The edges that come; anything else ends the test."""
    for name, carried in events:
        assert name == "next" and "errors" not in carried, (name, carried)
        yield carried["data"]["changes"]


def until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not done():
        assert time.monotonic() < end
        time.sleep(0.01)


def watches_of(app: Starlette) -> Watches:
    found = app.state.watches
    assert isinstance(found, Watches)
    return found


def careers(client: OverHttp) -> None:
    state(client, "1", "2019-01-01", ("Ada", "works_at", "Acme"), ("Bob", "likes", "tea"))
    state(client, "2", "2021-01-01", ("Ada", "works_at", "Beta"))


@each_transport
def test_what_was_committed_before_is_followed_by_what_comes(client: OverHttp, following: Following) -> None:
    careers(client)
    first = pulled(client)[0]["cursor"]
    with following(client, after=first) as events:
        found = list(islice(edges(events), 4))
        state(client, "3", "2022-01-01", ("Bob", "likes", "jazz"))
        ada, bob = (edge["node"]["statement"]["subject"]["key"] for edge in pulled(client)[:2])
        client.ok(MERGE, ids=[ada, bob])
        whole = pulled(client, first)
        found += islice(edges(events), len(whole) - 4)
    # Cursors first: a difference in all of it takes minutes to print.
    assert [edge["cursor"] for edge in found] == [edge["cursor"] for edge in whole]
    assert all(one == other for one, other in zip(found, whole, strict=True))
    assert found[-1]["node"]["kind"] == "IDENTITY"


@each_transport
def test_without_a_cursor_it_begins_now(client: OverHttp, app: Starlette, following: Following) -> None:
    careers(client)
    with following(client) as events:
        until(lambda: watches_of(app).changes.followers == 1)
        state(client, "3", "2022-01-01", ("Bob", "likes", "jazz"))
        assert in_words(next(edges(events))) == "OPENED Bob likes jazz"


@each_transport
def test_a_namespace_without_changes_is_followed_from_its_first(client: OverHttp, app: Starlette, following: Following) -> None:
    with following(client) as events:
        until(lambda: watches_of(app).changes.followers == 1)
        careers(client)
        assert list(islice(edges(events), 5)) == pulled(client)


@each_transport
def test_a_filter_leaves_out_what_does_not_match(client: OverHttp, following: Following) -> None:
    start = pulled(client)
    assert start == []
    careers(client)
    first = pulled(client)[0]["cursor"]
    with following(client, after=first, filter={"predicates": ["works_at"]}) as events:
        assert [in_words(edge) for edge in islice(edges(events), 3)] == [
            "CLOSED Ada works_at Acme",
            "OPENED Ada works_at Beta",
            "OPENED Ada works_at Acme",
        ]
        state(client, "3", "2022-01-01", ("Bob", "likes", "jazz"), ("Bob", "works_at", "Acme"))
        assert in_words(next(edges(events))) == "OPENED Bob works_at Acme"


@each_transport
@pytest.mark.parametrize(
    "variables",
    [
        {"after": "nonsense"},
        {"after": encode_cursor("jobs", (1,), None)},
        {"after": encode_cursor("changes", (1, 9, 9), None)},
        {"after": encode_cursor("changes", (1_000_000, 1, 1), None)},
        {"filter": {"includeInvalidated": True}},
    ],
    ids=["nonsense", "of another kind", "malformed", "of another ledger", "invalidated"],
)
def test_what_cannot_be_followed_is_refused(client: OverHttp, following: Following, variables: dict[str, Any]) -> None:
    with following(client, **variables) as events:
        name, carried = next(events)
    errors = carried if name == "error" else carried["errors"]
    assert errors[0]["extensions"]["code"] == "BAD_USER_INPUT"


@each_transport
def test_who_goes_away_leaves_nothing_behind(client: OverHttp, app: Starlette, following: Following) -> None:
    careers(client)
    with following(client, after=pulled(client)[0]["cursor"]) as events:
        next(edges(events))
        assert watches_of(app).figures == {"jobs": 0, "changes": 1}
        shown = client.http.get(f"{client.url}/metrics").text
        assert 'erstwhile_followers{of="changes"} 1.0' in shown
    until(lambda: watches_of(app).followers == 0)


@each_transport
def test_a_service_that_stops_tells_the_cursor_to_go_on_from(service: Service, http: httpx.Client, following: Following) -> None:
    app = create_app(partial(Borrowed, service.graph, service.ingestion))
    with served(app) as url:
        client = OverHttp(http, url, f"fed-{next(_numbers)}")
        careers(client)
        first, *_, last = pulled(client)
        with following(client, after=first["cursor"]) as events:
            assert len(list(islice(edges(events), 4))) == 4
            # All is told: it waits for what comes.
            time.sleep(0.05)
            watches_of(app).close()
            name, carried = next(events)
            assert (name, [error["extensions"]["code"] for error in carried["errors"]]) == ("next", ["OVERLOADED"])
            assert carried["errors"][0]["extensions"]["cursor"] == last["cursor"]
            assert "subscribe again" in carried["errors"][0]["message"]
            assert list(events) == [("complete", None)]


def test_a_client_that_loses_its_service_goes_on_where_it_was(tmp_path: Path, http: httpx.Client) -> None:
    with serving(tmp_path) as (_, url):
        until_ready(url)
        client = OverHttp(http, url)
        for number in range(10):
            firms = [(f"P{one}", "works_at", f"Firm {number}") for one in range(3)]
            state(client, str(number), f"2020-01-{number + 1:02}", *firms)
        found: list[dict[str, Any]] = []
        cursor = encode_cursor("changes", (0, 0, 0), None)
        for life, following in enumerate(TRANSPORTS):
            with following(client, after=cursor) as events:
                found += islice(edges(events), 17)
                os.kill(worker_of(tmp_path), signal.SIGKILL)
            cursor = found[-1]["cursor"]
            until_ready(url)
            state(client, f"after {life}", f"2020-02-0{life + 1}", ("P0", "works_at", f"Later {life}"))
        with over_socket(client, after=cursor) as events:
            found += islice(edges(events), len(pulled(client, cursor)))
        whole = pulled(client, first=7)
        assert [edge["cursor"] for edge in found] == [edge["cursor"] for edge in whole]
        assert all(one == other for one, other in zip(found, whole, strict=True))
        assert len(found) > 60
