"""Subgraphs and whole namespaces of edges, in either engine."""

from __future__ import annotations

from collections.abc import Sequence

from graph.ledger.schema import OPEN
from graph.store.port import Edge, GraphBasis, GraphStore
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST
from tests.graph.store.conftest import Follow
from tests.graph.store.ledgers import LedgerBuilder, Proposition
from tests.graph.store.pictures import rectangles

ALWAYS = [(UNBOUNDED_PAST, UNBOUNDED_FUTURE)]


def knows(*pairs: str | tuple[str, str]) -> dict[Proposition, list[tuple[int, int]]]:
    """Statements that hold always: "ab" says that a knows b."""
    return {Proposition(subject, "knows", value): ALWAYS for subject, value in map(tuple, pairs)}


def rows(store: GraphStore, basis: GraphBasis, entities: Sequence[str], depth: int = 1, limit: int = 100) -> list[int]:
    """The rows of a subgraph."""
    return [edge.row for edge in store.subgraph(basis, entities, depth, limit)]


def test_statements_come_nearest_first_and_then_by_row(follow: Follow, ledger: LedgerBuilder) -> None:
    # Rows: 1 d-e, 2 c-a, 3 b-d, 4 a-b, 5 x-y, 6 b-c.
    ledger.commit(knows("de", "ca", "bd", "ab", "xy", "bc"))
    store, basis, key = follow(), GraphBasis("default", 0, 1), ledger.entity
    assert store.subgraph(basis, [key("a")], 1, 9) == [
        Edge(2, key("c"), "knows", key("a"), True),
        Edge(4, key("a"), "knows", key("b"), True),
    ]
    assert [rows(store, basis, [key("a")], depth) for depth in (0, 2, 3)] == [[], [2, 4, 3, 6], [2, 4, 3, 6, 1]]
    assert [rows(store, basis, [key("a")], 3, limit) for limit in (1, 2, 3, 4)] == [[2], [2, 4], [2, 4, 3], [2, 4, 3, 6]]
    assert rows(store, basis, [key("a"), key("x"), key("a")]) == [2, 4, 5]
    assert rows(store, basis, [key("e"), key("a")], 2) == [1, 2, 4, 3, 6]


def test_denials_and_literals_are_edges_that_lead_no_further(follow: Follow, ledger: LedgerBuilder) -> None:
    ledger.commit({Proposition("Ann", "knows", "Bo", False): ALWAYS, Proposition("Ann", "age", "31"): ALWAYS})
    ledger.commit({Proposition("Bo", "age", "31"): ALWAYS, Proposition("Bo", "knows", "Cy"): ALWAYS})
    store, basis = follow(), GraphBasis("default", 0, 2)
    ann, bo, age = ledger.entity("Ann"), ledger.entity("Bo"), ledger.object_key(Proposition("Ann", "age", "31"))
    assert store.subgraph(basis, [ann], 3, 9) == [Edge(1, ann, "knows", bo, False), Edge(2, ann, "age", age, True)]
    assert rows(store, basis, [bo], 3) == [1, 3, 4]
    assert rows(store, basis, [age], 3) == []


def test_only_what_holds_at_the_instant_and_the_transaction_is_there(follow: Follow, ledger: LedgerBuilder) -> None:
    acme, initech = Proposition("Ann", "works_at", "Acme"), Proposition("Ann", "works_at", "Initech")
    ledger.commit({acme: [(0, UNBOUNDED_FUTURE)], **knows(("Acme", "Bo"), ("Initech", "Cy"))})
    ledger.commit({acme: [(0, 5)], initech: [(5, UNBOUNDED_FUTURE)]})
    store, ann = follow(), ledger.entity("Ann")

    def found(valid_at: int, transaction: int) -> list[int]:
        return rows(store, GraphBasis("default", valid_at, transaction), [ann], 2)

    assert [found(-1, 2), found(4, 2), found(5, 2)] == [[], [4, 2], [5, 3]]
    assert [found(4, 1), found(5, 1), found(5, 0)] == [[1, 2], [1, 2], []]


def test_entities_are_joined_and_parted_as_of_the_transaction(follow: Follow, ledger: LedgerBuilder) -> None:
    ledger.commit(knows("ab", "cd", "ef", "bc"))
    ledger.identify("bc", "de")
    ledger.identify("de")
    store, key = follow(), ledger.entity
    bc, de = min(key("b"), key("c")), min(key("d"), key("e"))
    whole = [
        Edge(1, key("a"), "knows", bc, True),
        Edge(2, bc, "knows", de, True),
        # It joins an entity to itself: an edge, but no way.
        Edge(4, bc, "knows", bc, True),
        Edge(3, de, "knows", key("f"), True),
    ]
    for name in "bc":
        assert store.subgraph(GraphBasis("default", 0, 2), [key(name)], 2, 9) == whole
    assert rows(store, GraphBasis("default", 0, 2), [key("b"), key("c")], 1) == [1, 2, 4]
    assert rows(store, GraphBasis("default", 0, 1), [key("b")], 2) == [1, 4, 2]
    assert rows(store, GraphBasis("default", 0, 3), [key("b")], 3) == [1, 4, 2, 3]
    assert store.subgraph(GraphBasis("default", 0, 3), [key("d")], 1, 9) == [Edge(2, key("c"), "knows", de, True), whole[3]]


def test_of_a_hub_the_first_are_taken_also_on_the_way_back(follow: Follow, ledger: LedgerBuilder) -> None:
    ledger.commit(knows(("spoke3", "rim3"), *[("hub", f"spoke{number}") for number in range(30)]))
    ledger.commit(knows(*[(f"spoke{number}", f"rim{number}") for number in range(30) if number != 3], ("hub", "hub")))
    store, basis, hub = follow(), GraphBasis("default", 0, 2), ledger.entity("hub")
    spokes, rims = list(range(2, 32)), [1, *range(32, 61)]
    assert [rows(store, basis, [hub], 1, limit) for limit in (5, 30, 31, 99)] == [spokes[:5], spokes, [*spokes, 61], [*spokes, 61]]
    assert [rows(store, basis, [hub], 2, limit) for limit in (33, 99)] == [[*spokes, 61, 1, 32], [*spokes, 61, *rims]]
    # The hub's statements on the second level include the one that led to it.
    assert [rows(store, basis, [ledger.entity("rim3")], 3, limit) for limit in (3, 4)] == [[1, 5, 2], [1, 5, 2, 3]]


def test_a_wide_level_of_joined_entities_is_walked_as_a_narrow_one(follow: Follow, ledger: LedgerBuilder) -> None:
    ledger.commit(knows(*[("hub", f"spoke{number}") for number in range(20)], *[(f"other{n}", f"rim{n}") for n in range(20)]))
    ledger.identify(*[(f"spoke{number}", f"other{number}") for number in range(20)])
    found = follow().subgraph(GraphBasis("default", 0, 2), [ledger.entity("hub")], 2, 100)
    assert [edge.row for edge in found] == list(range(1, 41))
    assert {edge.object for edge in found[:20]} == {edge.subject for edge in found[20:]}


def test_what_is_unknown_or_of_another_namespace_has_no_edges(follow: Follow, history: LedgerBuilder) -> None:
    store = follow()
    assert rows(store, GraphBasis("default", 3, 25), []) == rows(store, GraphBasis("default", 3, 25), ["0" * 32], 3) == []
    assert rows(store, GraphBasis("elsewhere", 3, 25), [history.entity("n1")], 3) == []
    assert rectangles(store, 25, "elsewhere") == rectangles(store, 0) == []


def test_edges_are_all_rectangles_as_they_stood_at_a_transaction(follow: Follow, ledger: LedgerBuilder) -> None:
    acme, age = Proposition("Ann", "works_at", "Acme"), Proposition("Ann", "age", "31", False)
    ledger.commit({acme: ALWAYS, age: [(3, 9)]})
    ledger.commit({acme: [(0, 5)]})
    ledger.identify(["Ann", "Acme"])
    store = follow()
    ann, value, number = ledger.entity("Ann"), ledger.entity("Acme"), ledger.object_key(age)
    denied = (2, ann, "age", number, True, False, 3, 9, 1, OPEN)
    assert rectangles(store, 1) == [(1, ann, "works_at", value, False, True, *ALWAYS[0], 1, OPEN), denied]
    now = [(1, ann, "works_at", value, False, True, *ALWAYS[0], 1, 2), denied, (3, ann, "works_at", value, False, True, 0, 5, 2, OPEN)]
    assert rectangles(store, 2) == rectangles(store, 3) == now
    edges = store.edges("default", 3)
    assert [edges.hold(*at).tolist() for at in ((4, 3), (4, 1), (9, 3))] == [[False, True, True], [True, True, False], [False] * 3]


def test_a_walk_over_all_edges_finds_the_subgraph(follow: Follow, history: LedgerBuilder) -> None:
    store = follow()
    for valid_at, transaction in ((4, 25), (7, 12)):
        edges = store.edges("default", transaction)
        held = [row for row, holds in zip(rectangles(store, transaction), edges.hold(valid_at, transaction), strict=True) if holds]
        for number in range(6):
            reached, expected = {history.entity(f"n{number}")}, list[int]()
            for _ in range(3):
                near = [r for r in held if (r[1] in reached or (r[3] in reached and not r[4])) and r[0] not in expected]
                expected += [r[0] for r in near]
                reached |= {key for r in near if r[5] and not r[4] for key in (r[1], r[3])}
            assert rows(store, GraphBasis("default", valid_at, transaction), [history.entity(f"n{number}")], 3) == expected
