"""What every place of vectors must do: one suite over memory, the local mode of Qdrant's client, and a server where there is one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from graph.recall import dense as dense_module
from graph.recall import qdrant_dense
from graph.recall.columns import Bools, Ints
from graph.recall.dense import MARGIN, Around, Dense, Life, Vectors, exact
from graph.recall.space import PARTS
from ontology.instant import UNBOUNDED_FUTURE as FUTURE
from ontology.instant import UNBOUNDED_PAST as PAST
from tests.graph.recall.dense_places import KINDS, LOCAL_WARNINGS, SERVER, place

pytestmark = [pytest.mark.filterwarnings(each) for each in LOCAL_WARNINGS]

ALWAYS = Life(1, FUTURE, 0, None)
NOW = Around(1, 0, None)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    if request.param == "server" and not SERVER:
        pytest.skip("ERSTWHILE_TEST_QDRANT_URL names no server")
    return str(request.param)


@pytest.fixture
def dense(kind: str) -> Iterator[Dense]:
    with place(kind) as factory:
        yield factory("n", "claims")


def units(rows: int, dim: int = 8, seed: int = 1) -> Vectors:
    drawn = np.random.default_rng(seed).normal(size=(rows, dim))
    return np.array(drawn / np.linalg.norm(drawn, axis=1, keepdims=True), np.float32)


def put(dense: Dense, vectors: Vectors, lives: dict[int, Life] | None = None, first: int = 0) -> None:
    docs = np.arange(first, first + len(vectors))
    dense.describe(lives if lives is not None else dict.fromkeys(docs.tolist(), ALWAYS))
    dense.put(docs, vectors)


def top(vectors: Vectors, query: Vectors, admitted: Bools, limit: int) -> set[int]:
    """The admitted documents of the greatest scores, and all that come as close to the last as rounding does."""
    docs = np.flatnonzero(admitted)
    scores = exact(query, vectors[docs])
    least = np.sort(scores)[-min(limit, len(docs))] if len(docs) else 0.0
    return set(docs[scores >= least].tolist())


def check(dense: Dense, vectors: Vectors, query: Vectors, admitted: Bools, limit: int, around: Around = NOW) -> Ints:
    found = dense.nearest(query, admitted, around, limit)
    needed = top(vectors, query, admitted, limit)
    assert needed <= set(found.tolist())
    assert admitted[found].all()
    assert found.tolist() == sorted(set(found.tolist()))
    scores = exact(query, vectors[found])
    least = min(exact(query, vectors[np.array(sorted(needed), np.int64)]), default=0.0)
    assert (scores >= least - 2 * MARGIN).all(), "what is far from the last is not weighed"
    return found


def everyone(vectors: Vectors) -> Bools:
    return np.ones(len(vectors), np.bool_)


@pytest.mark.parametrize("limit", [1, 7, 1000])
def test_finds_the_nearest_up_to_any_limit(dense: Dense, limit: int) -> None:
    vectors = units(120)
    put(dense, vectors)
    found = check(dense, vectors, vectors[3], everyone(vectors), limit)
    assert 3 in found
    assert len(found) >= min(limit, 120)


def test_finds_nothing_before_the_first_vector_and_where_nobody_is_admitted(dense: Dense) -> None:
    assert not len(dense.nearest(units(1)[0], np.zeros(0, np.bool_), NOW, 0))
    vectors = units(5)
    put(dense, vectors)
    assert not len(dense.nearest(vectors[0], np.zeros(5, np.bool_), NOW, 3))


@pytest.mark.parametrize("few", [0, 1000])
def test_finds_the_admitted_where_most_are_not(dense: Dense, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qdrant_dense, "FEW", few)
    vectors = units(200)
    admitted = np.random.default_rng(2).random(200) < 0.05
    put(dense, vectors)
    query = vectors[int(np.flatnonzero(~admitted)[0])]
    for limit in (1, 5, 20):
        check(dense, vectors, query, admitted, limit)


@pytest.mark.parametrize("few", [0, 1000])
def test_loses_none_of_equal_scores(dense: Dense, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qdrant_dense, "FEW", few)
    vectors = np.repeat(units(4), 60, axis=0)
    put(dense, vectors)
    found = check(dense, vectors, vectors[0], everyone(vectors), 3)
    assert set(range(60)) <= set(found.tolist())


def test_grows_over_blocks_and_requests(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense_module, "BLOCK", 64)
    monkeypatch.setattr(qdrant_dense, "BATCH", 50)
    monkeypatch.setattr(qdrant_dense, "FEW", 10)
    with place(kind) as factory:
        dense = factory("n", "claims")
        vectors = units(300)
        for start in (0, 10, 140, 141):
            stop = {0: 10, 10: 140, 140: 141, 141: 300}[start]
            put(dense, vectors[start:stop], first=start)
            some = vectors[:stop]
            check(dense, some, vectors[5], everyone(some), 12)
        np.testing.assert_array_equal(dense.vectors(np.arange(300)), vectors)


def test_vectors_come_back_bit_for_bit_in_the_order_asked_for(dense: Dense) -> None:
    vectors = units(50, dim=96)
    vectors[7] = 0
    vectors[7, :3] = (1e-30, -0.0, np.nextafter(np.float32(1), np.float32(0)))
    put(dense, vectors)
    docs = np.array([49, 7, 0, 23, 7])
    found = dense.vectors(docs)
    assert found.dtype == np.float32
    assert found.tobytes() == vectors[docs].tobytes()
    assert dense.vectors(np.zeros(0, np.int64)).shape[0] == 0


def test_a_vector_that_is_put_again_takes_the_place_of_the_old(dense: Dense) -> None:
    vectors = units(20)
    put(dense, vectors)
    dense.vectors(np.arange(20))
    vectors[4] = -vectors[4]
    dense.put(np.array([4]), vectors[4:5])
    check(dense, vectors, vectors[4], everyone(vectors), 1)
    assert dense.vectors(np.array([4])).tobytes() == vectors[4:5].tobytes()


def test_documents_get_vectors_in_any_order_and_others_never(dense: Dense) -> None:
    vectors = units(30)
    late = np.array([25, 3, 11])
    dense.describe(dict.fromkeys(range(30), ALWAYS))
    dense.put(late, vectors[late])
    admitted = np.zeros(30, np.bool_)
    admitted[late] = True
    check(dense, vectors, vectors[3], admitted, 10)


def test_parts_and_namespaces_share_nothing(kind: str) -> None:
    with place(kind) as factory:
        vectors = units(12)
        places = [factory(namespace, part) for namespace in ("n", "m") for part in PARTS]
        for number, dense in enumerate(places):
            put(dense, np.roll(vectors, number, axis=0))
        for number, dense in enumerate(places):
            mine = np.roll(vectors, number, axis=0)
            check(dense, mine, vectors[0], everyone(vectors), 3)
            np.testing.assert_array_equal(dense.vectors(np.arange(12)), mine)


def test_what_changed_its_life_is_found_by_the_new_one(dense: Dense, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qdrant_dense, "FEW", 10)
    vectors = units(120)
    told = Life(1, FUTURE, 0, ((0, 10, 1, FUTURE),))
    put(dense, vectors, dict.fromkeys(range(120), told))
    check(dense, vectors, vectors[0], everyone(vectors), 5, Around(1, 9, None))
    dense.describe(dict.fromkeys(range(0, 120, 2), Life(1, FUTURE, 0, ((0, 10, 1, 2), (5, 20, 2, FUTURE)))))
    dense.describe(dict.fromkeys(range(1, 120, 2), Life(1, 2, 0, ((0, 10, 1, 2),))))
    admitted = everyone(vectors)
    admitted[1::2] = False
    check(dense, vectors, vectors[1], admitted, 5, Around(2, 19, None))
    check(dense, vectors, vectors[1], everyone(vectors), 5, Around(1, 9, None))


def test_is_closed(dense: Dense) -> None:
    put(dense, units(3))
    assert not dense.behind
    dense.send()
    dense.close()


# ---------------------------------------------------------------- any documents, any basis

EDGES = [PAST, PAST + 1, -(2**62) - 1, -(2**53) - 1, -(2**53), -1, 0, 1, 1_767_225_600_000_001, 2**53, 2**53 + 1, 2**53 + 2]
EDGES += [2**62 - 1, 2**62, FUTURE - 1, FUTURE]
instants = st.one_of(st.sampled_from(EDGES), st.integers(PAST, FUTURE), st.integers(-4, 4))
transactions = st.integers(1, 4)


@st.composite
def intervals(draw: st.DrawFn, ends: st.SearchStrategy[int]) -> tuple[int, int]:
    one, other = sorted((draw(ends), draw(st.one_of(ends, st.just(FUTURE)))))
    return one, other + (one == other and other < FUTURE)


@st.composite
def lives(draw: st.DrawFn) -> Life:
    tx_from, tx_to = draw(intervals(transactions))
    spans = [(*draw(intervals(instants)), *draw(intervals(transactions))) for _ in range(draw(st.integers(0, 3)))]
    return Life(tx_from, tx_to, draw(instants), draw(st.sampled_from([None, tuple(spans)])))


def counts(life: Life, around: Around) -> bool:
    """Whether a document counts on a basis, as the index would say."""
    if not life.tx_from <= around.transaction < life.tx_to or (around.said_until is not None and life.said > around.said_until):
        return around.valid_at is None and life.tx_from <= around.transaction and around.said_until is None
    if around.valid_at is None or around.said_until is not None or life.spans is None:
        return True
    return any(a <= around.valid_at < b and c <= around.transaction < d for a, b, c, d in life.spans)


class Case(NamedTuple):
    lives: list[Life]
    vectors: NDArray[np.float32]
    query: NDArray[np.float32]
    around: Around
    allowed: list[bool]
    limit: int


@st.composite
def cases(draw: st.DrawFn) -> Case:
    told = draw(st.lists(lives(), min_size=1, max_size=14))
    # Few directions, so that many scores are equal.
    rows = st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0]), min_size=3, max_size=3)
    vectors = np.array([draw(rows) for _ in range(len(told) + 1)], np.float32)
    around = Around(draw(transactions), draw(st.none() | instants), draw(st.none() | instants))
    allowed = [draw(st.integers(0, 9)) > 0 for _ in told]
    return Case(told, vectors[:-1], vectors[-1], around, allowed, draw(st.integers(1, 5)))


@settings(max_examples=30, deadline=None)
@given(cases())
def test_all_give_the_same_order_of_any_documents_on_any_basis(case: Case) -> None:
    admitted = np.array([allowed and counts(life, case.around) for life, allowed in zip(case.lives, case.allowed, strict=True)])
    orders = []
    for kind in ("matrix", "qdrant"):
        with pytest.MonkeyPatch.context() as patch, place(kind) as factory:
            patch.setattr(qdrant_dense, "FEW", 0)
            patch.setattr(qdrant_dense, "ROOM", 1)
            dense = factory("n", "claims")
            put(dense, case.vectors, dict(enumerate(case.lives)))
            found = check(dense, case.vectors, case.query, admitted, case.limit, case.around)
            scores = exact(case.query, dense.vectors(found))
            orders.append([found[place] for place in np.lexsort((found, -scores))[: case.limit]])
    assert orders[0] == orders[1]
