"""Patterns and paths in either engine: the same answers in the same order, and those of trying everything."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.dialects.postgresql.base import RESERVED_WORDS

from graph.store import cypher_patterns, path_search, sql_patterns, sql_work
from graph.store.feed import Feed
from graph.store.kuzu_engine import KuzuStore
from graph.store.pattern_plan import End, Found, Known, Plan, Step, Variable, joined_in_order
from graph.store.pattern_sql import counting_text, match_text, values
from graph.store.port import GraphBasis, GraphStore
from graph.store.sql_engine import SqlStore
from ontology.errors import QueryTooComplex
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST
from tests.graph.store.conftest import SETTINGS, Follow
from tests.graph.store.ledgers import LedgerBuilder, Proposition, make_database, random_history, vocabulary_at
from tests.graph.store.patterns import Plain, pairs, random_plan

ALWAYS = [(UNBOUNDED_PAST, UNBOUNDED_FUTURE)]
X, Y, Z = (Variable(name) for name in "xyz")


def knows(*pairs: str | tuple[str, str]) -> dict[Proposition, list[tuple[int, int]]]:
    """Statements that hold always: "ab" says that a knows b."""
    return {Proposition(subject, "knows", value): ALWAYS for subject, value in map(tuple, pairs)}


def step(subject: End, predicate: str, value: End, *, polarity: bool = True, turned: bool = False, either: bool = False) -> Step:
    """A step in few words."""
    return Step(subject, predicate, value, polarity, turned, either)


def rows(found: list[Found]) -> list[tuple[int, ...]]:
    """The statements of each match."""
    return [each.rows for each in found]


def test_a_variable_in_two_places_joins_what_holds_at_the_instant_and_the_transaction(follow: Follow, ledger: LedgerBuilder) -> None:
    acme, lives = Proposition("Ann", "works_at", "Acme"), Proposition("Ann", "lives_in", "Faro")
    ledger.commit({acme: ALWAYS, lives: [(0, 5)], Proposition("Bo", "lives_in", "Lagos"): ALWAYS})
    ledger.commit({acme: [(UNBOUNDED_PAST, 3)]})
    store, key = follow(), ledger.entity
    plan = Plan((step(X, "works_at", Known(key("Acme"))), step(X, "lives_in", Y)))

    def found(valid_at: int, transaction: int) -> list[Found]:
        return store.match(GraphBasis("default", valid_at, transaction), plan, 9)

    assert plan.variables == ("x", "y")
    assert [(each.rows, each.keys) for each in found(2, 2)] == [((4, 2), (key("Ann"), key("Faro")))]
    assert [rows(found(*at)) for at in ((2, 1), (4, 1), (4, 2), (5, 1), (2, 0))] == [[(1, 2)], [(1, 2)], [], [], []]
    assert store.match(GraphBasis("elsewhere", 2, 2), plan, 9) == []


def test_denials_match_where_they_are_asked_for_and_literals_by_their_key(follow: Follow, ledger: LedgerBuilder) -> None:
    ledger.commit({Proposition("Ann", "uses", "Vim", False): ALWAYS, Proposition("Bo", "uses", "Vim"): ALWAYS})
    ledger.commit({Proposition("Ann", "age", "31"): ALWAYS, Proposition("Bo", "age", "31"): ALWAYS})
    store, basis, key = follow(), GraphBasis("default", 0, 2), ledger.entity
    age = Known(ledger.object_key(Proposition("Ann", "age", "31")))
    assert rows(store.match(basis, Plan((step(X, "uses", Known(key("Vim"))),)), 9)) == [(2,)]
    assert rows(store.match(basis, Plan((step(X, "uses", Y, polarity=False), step(X, "age", age))), 9)) == [(1, 3)]
    of_one_age = store.match(basis, Plan((step(X, "age", Z), step(Y, "age", Z))), 9)
    assert sorted(rows(of_one_age)) == [(3, 3), (3, 4), (4, 3), (4, 4)]
    assert {each.keys[1] for each in of_one_age} == {age.key}
    # A literal is no subject: nobody's age is somebody from the other side.
    assert store.match(basis, Plan((step(X, "age", Y, turned=True),)), 9) == []


def test_a_symmetric_predicate_is_seen_from_both_sides_but_once_of_itself(follow: Follow, ledger: LedgerBuilder) -> None:
    ledger.commit(knows("ab", "cc", "de"))
    ledger.identify("de")
    store, basis, key = follow(), GraphBasis("default", 0, 2), ledger.entity
    found = store.match(basis, Plan((step(X, "knows", Y, either=True),)), 9)
    de = min(key("d"), key("e"))
    assert {(*each.rows, *each.turned, *each.keys) for each in found} == {
        (1, False, key("a"), key("b")),
        (1, True, key("b"), key("a")),
        (2, False, key("c"), key("c")),
        (3, False, de, de),
    }
    assert len(found) == 4
    assert rows(store.match(basis, Plan((step(X, "knows", X, either=True),)), 9)) == sorted(
        [(2,), (3,)], key=lambda row: next(each.propositions for each in found if each.rows == row)
    )


def test_entities_meet_under_all_their_names_as_of_the_transaction(follow: Follow, ledger: LedgerBuilder) -> None:
    bob = {Proposition("Robert", "works_at", "Acme"): ALWAYS, Proposition("Bob", "lives_in", "Faro"): ALWAYS}
    ledger.commit(bob | {Proposition("Rob", "lives_in", "Lagos"): ALWAYS})
    ledger.identify(["Robert", "Bob", "Rob"], ["Acme", "Acme Corp"])
    ledger.identify(["Acme", "Acme Corp"])
    store, key = follow(), ledger.entity
    root = min(map(key, ("Robert", "Bob", "Rob")))
    for name in ("Acme", "Acme Corp"):
        plan = Plan((step(X, "works_at", Known(key(name))), step(X, "lives_in", Y)))
        found = store.match(GraphBasis("default", 0, 2), plan, 9)
        assert sorted((each.rows, each.keys) for each in found) == [((1, 2), (root, key("Faro"))), ((1, 3), (root, key("Lagos")))]
        assert store.match(GraphBasis("default", 0, 1), plan, 9) == store.match(GraphBasis("default", 0, 3), plan, 9) == []


def test_steps_that_share_no_variable_multiply_and_may_match_one_statement(follow: Follow, ledger: LedgerBuilder) -> None:
    ledger.commit(knows("ab", "cd"))
    store, basis = follow(), GraphBasis("default", 0, 1)
    assert len(store.match(basis, Plan((step(X, "knows", Y), step(Z, "knows", Variable("w")))), 9)) == 4
    assert sorted(rows(store.match(basis, Plan((step(X, "knows", Y), step(X, "knows", Y))), 9))) == [(1, 1), (2, 2)]


def paged(store: GraphStore, basis: GraphBasis, plan: Plan, size: int) -> Iterator[Found]:
    """All matches, page by page."""
    page = store.match(basis, plan, size)
    while page:
        yield from page
        page = store.match(basis, plan, size, page[-1].position)


def check(stores: list[GraphStore], ledger: LedgerBuilder, random: Random, length: int, *, names: int = 5, plans: int = 5) -> None:
    """Both engines answer random questions as trying everything does."""
    basis = GraphBasis("default", random.randint(-1, 10), random.choice((length, random.randint(0, length))))
    plain = Plain(ledger, basis)
    for _ in range(plans):
        plan = random_plan(random, ledger, names)
        expected = plain.match(plan)
        size = random.choice((3, 500))
        for store in stores:
            assert list(islice(paged(store, basis, plan, size), 40)) == expected[:40], (store.engine, plan)
    for one, other in random.sample(pairs(names), 4):
        ends = ledger.entity(one), ledger.entity(other)
        hops = random.randint(1, 4)
        found = plain.paths(*ends, hops)
        for store in stores:
            assert store.paths(basis, *ends, hops, 100) == found[:100]
            assert store.paths(basis, *ends, hops, 2) == found[:2]


@pytest.mark.parametrize("number", [2, pytest.param(60, marks=pytest.mark.deep)])
def test_engines_answer_any_question_alike(number: int) -> None:
    @settings(max_examples=number, derandomize=number == 2, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(seed=st.integers(0, 2**32), length=st.integers(8, 30), joins=st.sampled_from((0, 0.2)))
    def run(seed: int, length: int, joins: float) -> None:
        with TemporaryDirectory() as folder:
            engine = make_database(Path(folder) / "ledger.db")
            ledger, random = LedgerBuilder(engine), Random(seed)
            random_history(ledger, random, length, names=5, joins=joins)
            feed = Feed(engine, vocabulary_at)
            kuzu = KuzuStore(Path(folder) / "graph.kuzu", feed.keys, SETTINGS)
            try:
                kuzu.load(feed.whole(feed.last()))
                check([SqlStore(engine), kuzu], ledger, random, length)
            finally:
                kuzu.close()
                engine.dispose()

    run()


def test_of_many_paths_the_first_come_and_parallel_statements_are_paths_of_their_own(follow: Follow, ledger: LedgerBuilder) -> None:
    ledger.commit(knows(*[("a", f"m{number}") for number in range(20)], *[(f"m{number}", "z") for number in range(20)]))
    ledger.commit({Proposition("a", "uses", "m3"): ALWAYS, Proposition("z", "works_at", "z"): ALWAYS})
    store, basis, key = follow(), GraphBasis("default", 0, 2), ledger.entity
    found = store.paths(basis, key("a"), key("z"), 3, 100)
    assert sorted(found) == sorted([*([number, number + 20] for number in range(1, 21)), [41, 24]])
    assert store.paths(basis, key("a"), key("z"), 6, 5) == found[:5]
    assert [path[::-1] for path in store.paths(basis, key("z"), key("a"), 2, 100)] != []
    assert store.paths(basis, key("a"), key("z"), 1, 100) == store.paths(basis, key("a"), key("a"), 6, 100) == []


def test_denials_and_literals_are_on_no_path(follow: Follow, ledger: LedgerBuilder) -> None:
    ledger.commit({Proposition("Ann", "knows", "Bo", False): ALWAYS, Proposition("Ann", "age", "31"): ALWAYS})
    ledger.commit({Proposition("Bo", "age", "31"): ALWAYS, Proposition("Bo", "lives_in", "Faro"): [(0, 5)]})
    store, key = follow(), ledger.entity
    age = ledger.object_key(Proposition("Ann", "age", "31"))
    for basis in (GraphBasis("default", 0, 2), GraphBasis("elsewhere", 0, 2)):
        assert store.paths(basis, key("Ann"), key("Bo"), 6, 100) == store.paths(basis, key("Ann"), age, 6, 100) == []
    assert store.paths(GraphBasis("default", 0, 2), key("Faro"), key("Bo"), 1, 100) == [[4]]
    assert store.paths(GraphBasis("default", 5, 2), key("Faro"), key("Bo"), 1, 100) == []


def test_a_hub_is_read_only_where_nothing_smaller_leads_on(follow: Follow, ledger: LedgerBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.commit(knows(*[("hub", f"s{number}") for number in range(60)], ("s1", "a"), ("s2", "b"), ("b", "c")))
    ledger.commit(knows(*[("other", f"t{number}") for number in range(60)]))
    store, basis, key = follow(), GraphBasis("default", 0, 2), ledger.entity
    monkeypatch.setattr(path_search, "MOST_READ", 30)
    assert store.paths(basis, key("a"), key("b"), 4, 100) == [[61, 2, 3, 62]]
    assert store.paths(basis, key("c"), key("a"), 6, 100) == [[63, 62, 3, 2, 61]]
    assert store.paths(basis, key("hub"), key("c"), 6, 100) == [[3, 62, 63]]
    with pytest.raises(QueryTooComplex, match="maxHops"):
        store.paths(basis, key("hub"), key("other"), 6, 100)


def test_what_would_join_too_much_is_refused_whole_and_the_next_question_is_answered(
    follow: Follow, ledger: LedgerBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.commit(knows(*[(f"a{number}", f"b{number}") for number in range(40)]))
    store, basis = follow(), GraphBasis("default", 0, 1)
    product = Plan((step(X, "knows", Y), step(Z, "knows", Variable("w"))))
    narrow = Plan((step(X, "knows", Known(ledger.entity("b3"))), step(X, "knows", Y)))
    monkeypatch.setattr(cypher_patterns, "MOST_JOINED", 200)
    monkeypatch.setattr(sql_work, "MOST_STEPS", 5_000)
    with pytest.raises(QueryTooComplex, match="name an entity"):
        store.match(basis, product, 20)
    assert rows(store.match(basis, narrow, 20)) == [(4, 4)]


def test_where_a_database_counts_no_work_the_rows_of_each_step_are_counted(ledger: LedgerBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.commit(knows(*[(f"a{number}", f"b{number}") for number in range(40)]))
    basis, w = GraphBasis("default", 0, 1), Variable("w")
    product = Plan((step(X, "knows", Y), step(Z, "knows", w)))
    both_ways = Plan((step(X, "knows", Y, either=True),))
    with ledger.engine.connect() as connection:

        def refused(plan: Plan, most: int) -> bool:
            monkeypatch.setattr(sql_patterns, "MOST_JOINED", most)
            try:
                sql_patterns.check_size(connection, plan, joined_in_order(plan, {}), None, values(basis, plan, {}, None, 20))
            except QueryTooComplex:
                return True
            return False

        assert [refused(product, most) for most in (1_599, 1_600)] == [True, False]
        assert [refused(both_ways, most) for most in (79, 80)] == [True, False]


def test_the_names_in_a_query_are_no_reserved_words() -> None:
    plan = Plan((step(X, "knows", Y, either=True), step(Y, "likes", Known("k"))))
    visits = joined_in_order(plan, {})
    for text in (match_text(plan, visits, {"k"}, after=True), counting_text(plan, visits, {"k"})):
        assert not set(re.findall(r"\bAS (\w+)", text)) & RESERVED_WORDS
