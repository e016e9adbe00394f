"""A service with API keys: who is let in, to what, and under which name."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from api.app import create_app
from api.credentials import LOCAL
from api.exposure import Exposure
from api.guard import Guard, ServiceWide
from api.headers import NAMESPACE_HEADER
from api.service import Service
from tests.api.clients import OverHttp
from tests.api.conftest import Borrowed
from tests.api.keyed import Keys, keyed_service
from tests.api.stating import ASSERT

STATS = "{ stats { episodes } }"
REBUILD = "mutation { rebuildGraph { ok } }"
PROTOCOL = "graphql-transport-ws"


@pytest.fixture(scope="module")
def keys() -> Keys:
    return Keys()


@pytest.fixture(scope="module")
def keyed(service: Service, keys: Keys) -> Iterator[str]:
    with keyed_service(service, keys) as url:
        yield url


@pytest.fixture
def ask(keyed: str, http: httpx.Client) -> Any:
    def post(key: str | None, query: str = STATS, namespace: str | None = None, **body: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        if namespace is not None:
            headers[NAMESPACE_HEADER] = namespace
        return http.post(f"{keyed}/graphql", json={"query": query, **body}, headers=headers)

    return post


def code(reply: Any) -> str:
    body = reply.json()
    assert body["data"] is None
    return str(body["errors"][0]["extensions"]["code"])


@pytest.mark.parametrize("wrong", [None, "wrong", "erstwhile_" + "A" * 43])
def test_without_a_key_that_is_known_nothing_is_answered(ask: Any, wrong: str | None) -> None:
    reply = ask(wrong)
    assert (reply.status_code, code(reply)) == (401, "UNAUTHENTICATED")
    assert reply.headers["WWW-Authenticate"].startswith("Bearer")
    assert reply.headers["X-Request-ID"]
    assert "wrong" not in reply.text and "AAAA" not in reply.text


def test_every_path_but_those_of_load_balancers_needs_a_key(keyed: str, http: httpx.Client) -> None:
    for path in ("/graphql", "/metrics", "/", "/nothing", "/livez/", "/livez/x", "//livez", "/LIVEZ", "/graphql/../livez/../graphql"):
        assert http.get(f"{keyed}{path}").status_code == 401, path
    for path in ("/livez", "/readyz"):
        assert http.get(f"{keyed}{path}").status_code == 200, path


def test_the_editor_in_the_browser_is_off_where_there_are_keys(keyed: str, http: httpx.Client, keys: Keys) -> None:
    page = {"Accept": "text/html"}
    assert http.get(f"{keyed}/graphql", headers=page).status_code == 401
    reply = http.get(f"{keyed}/graphql", headers={**page, "Authorization": f"Bearer {keys.admin}"})
    assert reply.status_code == 404
    assert "<script" not in reply.text


@pytest.mark.parametrize("name", ["admin", "writer", "reader"])
def test_a_key_opens_every_namespace_that_it_is_not_limited_to(ask: Any, keys: Keys, name: str) -> None:
    for namespace in ("default", "keyed-1"):
        assert ask(getattr(keys, name), namespace=namespace).json()["data"]["stats"]["episodes"] >= 0


def test_a_limited_key_reaches_its_namespaces_alone(ask: Any, keys: Keys) -> None:
    for namespace in ("keyed-1", "keyed-2"):
        assert "errors" not in ask(keys.limited, namespace=namespace).json()
    # None at all is the default one, which is no exception.
    others: list[str | None] = [None, "default", "keyed", "keyed-11", "KEYED-1", "no namespace", "*"]
    for other in others:
        reply = ask(keys.limited, namespace=other)
        assert (reply.status_code, code(reply)) == (403, "FORBIDDEN"), other
        assert "keyed-1" not in reply.text


def test_a_transaction_bears_the_name_of_its_key(ask: Any, keys: Keys) -> None:
    statement = {"subject": {"name": "Ada"}, "predicate": "works_at", "object": {"name": "Acme"}}
    for number, key in enumerate((keys.writer, keys.limited)):
        input = {"source": "test", "externalId": str(number), "saidAt": "2024-01-01", "statements": [statement]}
        reply = ask(key, ASSERT, "keyed-1", variables={"input": input}).json()
        assert reply["data"]["assertStatements"]["__typename"] == "AssertStatementsPayload"
    found = ask(keys.reader, "{ transactions(first: 2) { edges { node { actor } } } }", "keyed-1").json()
    assert {edge["node"]["actor"] for edge in found["data"]["transactions"]["edges"]} == {"ana", "cleo"}


@pytest.mark.parametrize(
    ("query", "operation"),
    [
        ('mutation { ingestEpisode(input: {content: "x", source: "t"}) { __typename } }', None),
        (REBUILD, None),
        (f"query Harmless {STATS} mutation Other {{ rebuildGraph {{ ok }} }}", "Other"),
        ("mutation { __typename }", None),
    ],
)
def test_a_key_for_reading_runs_no_mutation(ask: Any, keys: Keys, query: str, operation: str | None) -> None:
    before = ask(keys.admin, "{ stats { episodes transactions } }").json()
    reply = ask(keys.reader, query, operationName=operation)
    assert (reply.status_code, code(reply)) == (200, "FORBIDDEN")
    assert ask(keys.admin, "{ stats { episodes transactions } }").json() == before


def test_a_rebuild_concerns_all_and_needs_an_admin(ask: Any, keys: Keys) -> None:
    for query in (REBUILD, "mutation { rebuildIndex { ok } }"):
        for key in (keys.writer, keys.limited):
            assert code(ask(key, query, "keyed-1")) == "FORBIDDEN"
    assert ask(keys.admin, REBUILD).json()["data"]["rebuildGraph"]["ok"]


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("name", ["A", "B", None, "", "C"])
def test_of_two_operations_in_a_document_the_one_that_runs_is_judged(ask: Any, keys: Keys, order: int, name: str | None) -> None:
    both = [f"query A {STATS}", "mutation B { rebuildGraph { ok } }"]
    reply = ask(keys.reader, " ".join(both[order:] + both[:order]), operationName=name)
    assert "rebuildGraph" not in (reply.json()["data"] or {}) if reply.status_code == 200 else reply.status_code == 400
    if name in ("A", "B"):
        assert ("errors" in reply.json()) is (name == "B")


def test_neither_key_nor_header_is_logged(ask: Any, keys: Keys, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        ask("erstwhile_stray")
        ask(keys.reader, "{ nothing }")
        ask(keys.writer)
    refusals = [record for record in caplog.records if record.name == "api.guard"]
    assert len(refusals) == 1 and "not known" in refusals[0].getMessage()
    for record in caplog.records:
        # httpx logs its own requests here, in the client's place.
        if not record.name.startswith(("httpx", "httpcore")):
            assert "erstwhile_" not in record.getMessage()


def test_what_tells_of_all_namespaces_is_closed_to_keys_of_some(keys: Keys) -> None:
    async def metrics(request: Any) -> PlainTextResponse:
        return PlainTextResponse("up 1\n")

    route = Route("/metrics", ServiceWide(Starlette(routes=[Route("/metrics", metrics)])))
    with TestClient(Starlette(routes=[route], middleware=[Middleware(Guard, keys.ring)])) as client:
        assert client.get("/metrics").status_code == 401
        replies = {key: client.get("/metrics", headers={"Authorization": f"Bearer {key}"}) for key in (keys.reader, keys.limited)}
        assert replies[keys.reader].text == "up 1\n"
        assert (replies[keys.limited].status_code, code(replies[keys.limited])) == (403, "FORBIDDEN")
    with TestClient(Starlette(routes=[route], middleware=[Middleware(Guard, None)])) as client:
        assert client.get("/metrics").text == "up 1\n"
    # Without the guard before it, it lets nobody in.
    with TestClient(Starlette(routes=[route])) as client:
        assert client.get("/metrics").status_code == 401


def test_without_keys_everybody_is_local(url: str, http: httpx.Client) -> None:
    client = OverHttp(http, url, "keyless")
    client.ok('mutation { ingestEpisode(input: {content: "Ada works_at Acme", source: "t"}) { __typename } }')
    rows = client.ok("{ transactions(first: 1) { edges { node { actor } } } }")["transactions"]["edges"]
    assert rows[0]["node"]["actor"] == LOCAL.actor
    assert client.send(STATS, headers={"Authorization": "Bearer anything"}).errors == []


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""])
def test_a_page_from_elsewhere_cannot_write_without_asking_first(url: str, http: httpx.Client, kind: str) -> None:
    # Browsers send these anywhere without a preflight. Without keys, whoever gets this far may do everything.
    body = '{"query": "mutation { ingestEpisode(input: {content: \\"x\\", source: \\"t\\"}) { __typename } }"}'
    namespace = f"forged-{len(kind)}"
    headers = {"Origin": "http://evil.example", NAMESPACE_HEADER: namespace}
    assert http.post(f"{url}/graphql", content=body, headers={**headers, "Content-Type": kind}).status_code == 400
    query = {"query": "mutation { rebuildGraph { ok } }"}
    assert http.get(f"{url}/graphql", params=query, headers=headers).status_code == 400
    assert OverHttp(http, url, namespace).ok(STATS)["stats"]["episodes"] == 0
    good = http.post(f"{url}/graphql", content=body, headers={**headers, "Content-Type": "application/json"})
    assert good.json()["data"]["ingestEpisode"]["__typename"] == "IngestEpisodePayload"


@pytest.fixture
def sockets(service: Service, keys: Keys) -> Iterator[TestClient]:
    app = create_app(lambda: Borrowed(service.graph, service.ingestion), exposure=Exposure(("testserver",), keys.ring))
    with TestClient(app) as client:
        while client.get("/readyz").status_code != 200:
            time.sleep(0.01)
        yield client


def begun(sockets: TestClient, headers: dict[str, str], payload: dict[str, Any] | None) -> Any:
    with sockets.websocket_connect("/graphql", [PROTOCOL], headers=headers) as socket:
        socket.send_json({"type": "connection_init", **({} if payload is None else {"payload": payload})})
        first = socket.receive_json()
        socket.send_json({"id": "1", "type": "subscribe", "payload": {"query": "{ stats { episodes } }"}})
        return first["type"], socket.receive_json()


@pytest.mark.parametrize("place", ["header", "payload", "both"])
def test_a_web_socket_says_who_it_is_in_its_header_or_its_first_message(sockets: TestClient, keys: Keys, place: str) -> None:
    stated = {"Authorization": f"Bearer {keys.limited}", NAMESPACE_HEADER: "keyed-2"}
    key, namespace = ({name: stated[name]} for name in stated)
    headers, payload = {"header": (stated, None), "payload": ({}, stated), "both": (key, namespace)}[place]
    first, answer = begun(sockets, headers, payload)
    assert first == "connection_ack"
    assert answer["payload"]["data"]["stats"]["episodes"] >= 0


def test_a_web_socket_that_does_not_say_so_is_closed(sockets: TestClient, keys: Keys) -> None:
    good = f"Bearer {keys.limited}"
    for payload in (None, {}, {"Authorization": "Bearer wrong"}, {"Authorization": good}, {"Authorization": good, NAMESPACE_HEADER: "b"}):
        with pytest.raises(WebSocketDisconnect) as closed:
            begun(sockets, {}, payload)
        assert closed.value.code == 4403, payload


@pytest.mark.parametrize("wrong", ["Bearer wrong", "Basic x", ""])
def test_a_web_socket_with_a_wrong_header_is_not_opened(sockets: TestClient, wrong: str) -> None:
    with pytest.raises(WebSocketDisconnect) as closed, sockets.websocket_connect("/graphql", [PROTOCOL], headers={"Authorization": wrong}):
        pass
    assert (closed.value.code, closed.value.reason) == (1008, "UNAUTHENTICATED")


def test_before_it_has_said_who_it_is_nothing_is_run(sockets: TestClient) -> None:
    with sockets.websocket_connect("/graphql", [PROTOCOL]) as socket:
        socket.send_json({"id": "1", "type": "subscribe", "payload": {"query": STATS}})
        with pytest.raises(WebSocketDisconnect) as closed:
            socket.receive_json()
        assert closed.value.code == 4401
