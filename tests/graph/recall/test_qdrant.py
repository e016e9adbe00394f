"""A Qdrant server: what it is sent and when, which collections there are, and what happens where it fails."""

from __future__ import annotations

import json
from collections.abc import Callable

import httpx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qdrant_client import QdrantClient, models

from graph.recall import qdrant, qdrant_dense
from graph.recall.dense import Around, DenseUnavailable, Life
from graph.recall.points import INDEXES, Space, above, below, during, payload
from graph.recall.qdrant import Qdrant
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST
from tests.graph.recall.dense_places import LOCAL_WARNINGS, Local, emptied, on
from tests.graph.recall.test_dense_contract import ALWAYS, NOW, check, everyone, put, units

pytestmark = [pytest.mark.filterwarnings(each) for each in LOCAL_WARNINGS]


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qdrant, "_BACK_OFF", 0.0)


@pytest.fixture
def client() -> Local:
    return emptied()


def collections(client: QdrantClient) -> set[str]:
    return {each.name for each in client.get_collections().collections}


# ---------------------------------------------------------------- numbers


@settings(max_examples=100)
@given(st.integers(UNBOUNDED_PAST, UNBOUNDED_FUTURE), st.integers(-2, 2))
def test_bounds_are_moved_outward_only(value: int, beside: int) -> None:
    other = min(max(value + beside, UNBOUNDED_PAST), UNBOUNDED_FUTURE)
    kept = payload(Life(value, value, value, ((value, value, value, value),)))
    if value <= other:
        assert kept["tx_from"] <= above(other)
        assert kept["spans"][0]["v_from"] <= above(other)
        assert kept["said"] <= above(other)
    else:
        assert kept["tx_to"] > below(other)
        assert kept["spans"][0]["v_to"] > below(other)


def test_bounds_keep_back_what_is_a_microsecond_away_in_our_days() -> None:
    now = 1_767_225_600_000_000
    assert payload(Life(1, now, now + 1, None))["said"] > above(now)
    assert payload(Life(1, now, now, None))["tx_to"] <= below(now)


def test_the_number_of_a_point_is_that_of_its_document_in_its_space() -> None:
    space, other = Space("claims:n"), Space("claims:m")
    assert space.point(7) == Space("claims:n").point(7) != other.point(7)
    found = [models.Record(id=space.point(doc)) for doc in (0, 7, 2**40)]
    assert Space.docs(found).tolist() == [0, 7, 2**40]


# ---------------------------------------------------------------- what is sent


def test_documents_that_do_not_count_are_filtered_before_they_are_ranked(client: Local, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qdrant_dense, "FEW", 2)
    server = on(client)
    dense = server("n", "claims")
    vectors = units(150)
    over = Life(1, UNBOUNDED_FUTURE, 0, ((0, 10, 1, UNBOUNDED_FUTURE),))
    put(dense, vectors, {doc: ALWAYS if doc % 20 == 0 else over for doc in range(150)})
    admitted = everyone(vectors)
    admitted[np.arange(150) % 20 > 0] = False
    client.asked.clear()
    check(dense, vectors, vectors[1], admitted, 3, Around(1, 50, None))
    assert client.asked == ["query_points"]
    # Where they may count, it is asked for more until enough are admitted.
    check(dense, vectors, vectors[1], admitted, 3, Around(1, 5, None))
    assert client.asked.count("query_points") > 2


def test_the_filter_knows_the_basis(client: Local) -> None:
    server = on(client)
    dense = server("n", "claims")
    lives = [ALWAYS, Life(2, 4, 100, ()), Life(2, 4, 100, ((0, 10, 2, 3), (20, 30, 3, 4))), Life(2, 4, 100, None)]
    put(dense, units(4), dict(enumerate(lives)))

    def found(around: Around) -> list[int]:
        docs, _ = client.scroll(server.collection, during(Space("claims:n"), around))
        return sorted(Space.docs(docs).tolist())

    assert found(Around(1, 5, None)) == [0]
    assert found(Around(2, 5, None)) == [0, 2, 3]
    assert found(Around(3, 5, None)) == [0, 3]
    assert found(Around(3, 20, None)) == [0, 2, 3]
    assert found(Around(4, 20, None)) == [0]
    assert found(Around(4, None, None)) == [0, 1, 2, 3], "the past"
    assert found(Around(3, 5, 100)) == [0, 1, 2, 3], "resolved anew"
    assert found(Around(3, 5, 99)) == [0]


def test_only_what_differs_is_sent_again(client: Local) -> None:
    vectors = units(40)
    put(on(client)("n", "claims"), vectors)
    again = on(client)("n", "claims")
    client.asked.clear()
    put(again, vectors)
    assert "batch_update_points" not in client.asked
    vectors[3] = -vectors[3]
    again.describe({4: Life(1, 2, 0, None)})
    again.put(np.arange(40), vectors)
    assert client.asked.count("batch_update_points") == 2
    check(again, vectors, vectors[3], everyone(vectors), 5)
    again.describe({4: Life(1, 2, 0, None)})
    assert client.asked.count("batch_update_points") == 2


def test_what_is_told_before_the_vector_goes_with_it(client: Local) -> None:
    server = on(client)
    dense = server("n", "claims")
    dense.describe({0: Life(1, 2, 0, None)})
    assert client.asked == []
    dense.put(np.array([0]), units(1))
    (point,) = client.scroll(server.collection)[0]
    assert (point.payload or {})["tx_to"] == 2


def test_vectors_are_fetched_where_they_are_not_at_hand(client: Local, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qdrant_dense, "RECENT", 5)
    dense = on(client)("n", "claims")
    vectors = units(30)
    put(dense, vectors)
    check(dense, vectors, vectors[0], everyone(vectors), 10)
    assert dense.vectors(np.arange(30)).tobytes() == vectors.tobytes()


# ---------------------------------------------------------------- collections


def test_one_collection_for_a_ledger_and_an_embedder_and_old_ones_go(client: Local) -> None:
    vectors = units(3)
    old, other, new = on(client), on(client, ledger="another"), on(client, embedder="better")
    for server in (old, other):
        put(server("n", "claims"), vectors)
        put(server("m", "episodes"), vectors)
    assert collections(client) == {old.collection, other.collection}
    put(new("n", "claims"), units(3, dim=12))
    assert collections(client) == {new.collection, other.collection}


def test_indexes_are_made_of_all_that_is_filtered(client: Local, monkeypatch: pytest.MonkeyPatch) -> None:
    made: dict[str, object] = {}

    def note(collection: str, name: str, field_schema: object) -> None:
        made[name] = field_schema

    monkeypatch.setattr(Local, "create_payload_index", lambda self, *args, **kwargs: note(*args, **kwargs))
    put(on(client)("n", "claims"), units(1))
    assert made == INDEXES
    assert isinstance(made["space"], models.KeywordIndexParams)
    assert made["space"].is_tenant
    asked = json.dumps(during(Space("claims:n"), Around(1, 2, None)).model_dump(exclude_none=True))
    asked += json.dumps(during(Space("claims:n"), Around(1, 2, 3)).model_dump(exclude_none=True))
    assert {name for name in made if f'"{name.removeprefix("spans[].")}"' in asked} == set(made)


def test_a_collection_of_other_vectors_is_made_anew(client: Local) -> None:
    put(on(client)("n", "claims"), units(3))
    dense = on(client)("n", "claims")
    vectors = units(3, dim=12)
    put(dense, vectors)
    check(dense, vectors, vectors[0], everyone(vectors), 2)


def test_who_clears_begins_with_nothing(client: Local) -> None:
    server = on(client)
    put(server("n", "claims"), units(30))
    server.clear()
    vectors = units(3, seed=2)
    dense = server("n", "claims")
    put(dense, vectors)
    assert client.count(server.collection).count == 3
    check(dense, vectors, vectors[0], everyone(vectors), 2)


# ---------------------------------------------------------------- failures


def test_what_a_server_does_not_take_waits_and_reading_fails_until_then(client: Local) -> None:
    dense = on(client)("n", "claims")
    vectors = units(20)
    over = Life(1, UNBOUNDED_FUTURE, 0, ((0, 10, 1, UNBOUNDED_FUTURE),))
    put(dense, vectors[:10], dict.fromkeys(range(10), over))
    client.down = True
    put(dense, vectors[10:], first=10)
    dense.describe({0: ALWAYS})
    assert dense.behind == 11
    with pytest.raises(DenseUnavailable, match="ConnectionError"):
        dense.nearest(vectors[0], everyone(vectors), NOW, 3)
    np.testing.assert_array_equal(dense.vectors(np.array([12, 11])), vectors[[12, 11]])
    with pytest.raises(DenseUnavailable):
        dense.vectors(np.array([0]))
    client.down = False
    check(dense, vectors, vectors[0], np.arange(20) % 10 == 0, 3, Around(1, 50, None))
    assert dense.behind == 0


def test_a_server_that_fails_is_left_alone_for_a_while(client: Local) -> None:
    server = on(client, pause=60)
    dense = server("n", "claims")
    client.down = True
    put(dense, units(3))
    assert client.asked == ["get_collections"] * qdrant.TRIES
    dense.send()
    assert len(client.asked) == qdrant.TRIES
    client.down = False
    dense.send()
    assert dense.behind == 3


def test_points_that_are_missing_are_told_of(client: Local) -> None:
    server = on(client)
    dense = server("n", "claims")
    vectors = units(5)
    put(dense, vectors)
    client.delete(server.collection, [Space("claims:n").point(2)])
    with pytest.raises(DenseUnavailable, match="rebuild --index"):
        dense.nearest(vectors[0], everyone(vectors), NOW, 5)
    with pytest.raises(DenseUnavailable, match="rebuild --index"):
        dense.vectors(np.array([2]))


def answering(*answers: Callable[[httpx.Request], httpx.Response]) -> tuple[Qdrant, list[httpx.Request]]:
    """A server that answers so, the last way from then on."""
    seen: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return answers[min(len(seen), len(answers)) - 1](request)

    def client() -> QdrantClient:
        transport = httpx.MockTransport(handle)
        return QdrantClient(url="https://qdrant.test:6333", api_key="hush", check_compatibility=False, transport=transport)

    return Qdrant(client, "ledger", "embedder", pause=0), seen


def said(status: int, content: object = None, headers: dict[str, str] | None = None) -> Callable[[httpx.Request], httpx.Response]:
    return lambda request: httpx.Response(status, json=content, headers=headers)


FINE = said(200, {"result": {"collections": []}, "status": "ok", "time": 0.0})


def late(request: httpx.Request) -> httpx.Response:
    raise httpx.ReadTimeout("too late")


@pytest.mark.parametrize(("first", "tries"), [(said(503), 2), (said(429), 2), (said(429, headers={"Retry-After": "1"}), 2), (said(500), 2)])
def test_asks_again_where_a_server_fails_for_a_moment(first: Callable[[httpx.Request], httpx.Response], tries: int) -> None:
    server, seen = answering(first, FINE)
    assert server.ask(lambda client: client.get_collections()).collections == []
    assert len(seen) == tries
    assert seen[0].headers["api-key"] == "hush"


@pytest.mark.parametrize(
    ("answer", "tries", "told"),
    [(said(503), qdrant.TRIES, "503"), (said(401), 1, "401 Unauthorized"), (said(404), 1, "rebuild --index"), (late, 1, "ReadTimeout")],
)
def test_says_how_a_server_fails_without_key_or_address(answer: Callable[[httpx.Request], httpx.Response], tries: int, told: str) -> None:
    server, seen = answering(answer)
    with pytest.raises(DenseUnavailable, match=told) as failure:
        server.ask(lambda client: client.get_collections())
    assert len(seen) == tries
    assert "hush" not in failure.value.message
    assert "qdrant.test" not in failure.value.message


def test_an_address_that_is_none_stops_nobody_who_puts() -> None:
    dense = qdrant.open_qdrant("http://[nowhere", None)("ledger", "embedder")("n", "claims")
    put(dense, units(2))
    assert dense.behind == 2
