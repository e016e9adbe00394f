"""Random joins, splits and rejections in a real ledger: a graph that follows, one that is built whole, the tables, and a plain walk
over what the ledger's snapshot says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import count, product
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from graph.ledger.database import open_database
from graph.ledger.identity import Place
from graph.ledger.schema import OPEN, claims, statements, things
from graph.ledger.stored_identity import StoredIdentity
from graph.service import LedgerGraph
from graph.store.feed import Feed
from graph.store.kuzu_engine import KuzuStore
from graph.store.port import GraphBasis, GraphStore
from graph.store.sql_engine import SqlStore
from graph.views import EntityRef, EntityView, StatementFilter, StatementView
from ontology.loading import load_vocabulary
from ontology.vocabulary import Vocabulary
from tests.graph.ledger.conftest import EPOCH, SPEC, NoProjection
from tests.graph.ledger.identity_checks import a_join_of
from tests.graph.ledger.identity_saying import Case
from tests.graph.ledger.identity_strategies import predicates_of, stories
from tests.graph.ledger.identity_worlds import NAMES, Story
from tests.graph.ledger.strategies import POINTS
from tests.graph.ledger.worlds import pages
from tests.graph.store.conftest import ENGINE, SETTINGS
from tests.graph.store.pictures import picture

VOCABULARY = load_vocabulary(SPEC / "vectors_ontology.yaml")


def vocabulary_at(_transaction: int) -> Vocabulary:
    return VOCABULARY


class World:
    """A ledger for all examples, each in a namespace of its own, and the engines over it."""

    def __init__(self, folder: Path) -> None:
        ticks = count(EPOCH, 1_000_000)
        self.folder = folder
        self._numbers = count()
        self.engine = open_database(f"sqlite:///{folder / 'ledger.db'}")
        self.graph = LedgerGraph(self.engine, VOCABULARY, lambda _: NoProjection(), clock=lambda: next(ticks))
        self.sql = SqlStore(self.engine)
        self.kuzu = KuzuStore(folder / f"graph.{ENGINE}", Feed(self.engine, vocabulary_at).keys, SETTINGS)

    def follow(self) -> None:
        for batch in Feed(self.engine, vocabulary_at).batches(self.kuzu.watermark()):
            self.kuzu.apply(batch)

    def is_as_built_whole(self) -> bool:
        feed = Feed(self.engine, vocabulary_at)
        whole = KuzuStore(self.folder / f"whole-{next(self._numbers)}.kuzu", feed.keys, SETTINGS)
        try:
            whole.load(feed.whole(feed.last()))
            return picture(whole) == picture(self.kuzu)
        finally:
            whole.close()

    def pairs(self) -> set[tuple[int, int]]:
        """Which statements which claims speak of, asked of every two that were believed at one time, when the later came."""
        known: dict[tuple[int, str], StoredIdentity] = {}
        found = set()
        with self.engine.connect() as connection:
            told = [row for row in connection.execute(select(claims).where(claims.c.believed)) if row.tx_from < row.tx_to]
            for row, claim in product(connection.execute(select(statements)).all(), told):
                at = max(row.tx_from, claim.tx_from)
                if row.namespace != claim.namespace or at >= min(row.tx_to, claim.tx_to):
                    continue
                if (at, row.namespace) not in known:
                    known[at, row.namespace] = StoredIdentity(connection, self.graph.keys, row.namespace, VOCABULARY, at)
                identity = known[at, row.namespace]
                identity.load({row.subject, row.object, claim.subject, claim.object})
                place = Place(row.base, row.slot, row.inverse_slot, row.predicate, row.subject, row.qualifier, row.object)
                over = claim.kind == "STATE" and claim.from_lo is None and claim.to_hi is not None and claim.to_hi <= claim.said
                both = over or claim.kind == "END"
                if identity.settled(claim).proposition == identity.here(place).proposition and (both or claim.polarity == row.polarity):
                    found.add((row.row, claim.row))
        return found

    def close(self) -> None:
        self.kuzu.close()
        self.graph.close()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    found = World(tmp_path)
    yield found
    found.close()


class Plain:
    """Walks over the statements of a snapshot, one by one."""

    def __init__(self, snapshot: Any) -> None:
        self._snapshot = snapshot
        self._views: list[StatementView] = pages(lambda after: snapshot.statements(StatementFilter(), first=100, after=after))

    def root(self, key: str) -> str:
        return cast(str, self._snapshot.key_of(EntityRef(key=key)))

    def neighbors(self, key: str, depth: int) -> list[tuple[str, int]]:
        near: dict[str, set[str]] = defaultdict(set)
        for view in self._views:
            if view.polarity and isinstance(view.object, EntityView):
                one, other = self.root(view.subject.key), self.root(view.object.key)
                near[one].add(other)
                near[other].add(one)
        hops = {self.root(key): 0}
        for step in range(1, depth + 1):
            for reached in {other for one in hops for other in near[one]} - hops.keys():
                hops[reached] = step
        return sorted(((other, step) for other, step in hops.items() if step), key=lambda found: (found[1], found[0]))

    def about(self, key: str, predicate: str | None = None) -> int:
        """How many statements there are about an entity, or in a slot of it."""
        mine = pages(lambda after: self._snapshot.statements_about(self.root(key), "ANY", StatementFilter(), first=100, after=after))
        if predicate is None:
            return len(mine)
        slot = (self.root(key), predicate, "")
        return sum((self.root(view.subject.key), view.predicate, view.qualifier) == slot for view in self._views)


def agree(engines: list[GraphStore], snapshot: Any, keys: list[str], predicates: list[str]) -> None:
    """Both engines say of entities what a plain walk over a snapshot finds."""
    basis, plain = GraphBasis(snapshot.basis.namespace, snapshot.basis.valid_at, snapshot.basis.transaction), Plain(snapshot)
    for key in keys:
        for depth in (1, 3):
            assert [engine.neighbors(basis, key, depth, 100) for engine in engines] == [plain.neighbors(key, depth)] * 2
        about, other = (engine.statements_about(basis, key) for engine in engines)
        assert (about, len(about)) == (other, plain.about(key))
        for predicate in predicates:
            slot, again = (engine.statements_in_slot(basis, key, predicate) for engine in engines)
            assert (slot, len(slot)) == (again, plain.about(key, predicate))


@pytest.mark.parametrize("number", [2, pytest.param(30, marks=pytest.mark.deep)])
def test_engines_walk_a_random_world_as_its_snapshots_do(world: World, number: int) -> None:
    @settings(
        max_examples=number,
        derandomize=number == 2,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(st.data())
    def run(data: st.DataObject) -> None:
        operations = data.draw(stories(VOCABULARY))
        for number in range(data.draw(st.integers(0, 2))):
            pair = data.draw(st.permutations(NAMES))[:2]
            operations.insert(data.draw(st.integers(1, len(operations))), a_join_of(*pair, label=f"join {number}"))
        follow_at = data.draw(st.sets(st.integers(0, len(operations) - 1), max_size=2))
        story = Story(world.graph, order=data.draw(st.permutations(NAMES)))
        for place, one in enumerate(operations):
            story.do(one)
            if place in follow_at:
                world.follow()
        world.follow()
        keys = [story.key((name.lower(), discriminator)) for name in NAMES for discriminator in ("", "2")]
        predicates = [name for name in predicates_of(operations) if VOCABULARY.canonical(name).predicate.name == name]
        earlier = data.draw(st.sampled_from([one.transaction for one in story.done] or [0]))
        for transaction in {earlier, story.snapshot().basis.transaction}:
            snapshot = story.snapshot(valid_at=data.draw(st.sampled_from(POINTS)), transaction=transaction)
            agree([world.kuzu, world.sql], snapshot, keys, predicates)

    run()
    assert world.is_as_built_whole()
    asserted = world.kuzu.query("MATCH (s:Statement)-[a:ASSERTED_IN]->(:Episode) RETURN s.row, a.claim")
    assert len(asserted) == len({tuple(pair) for pair in asserted})
    assert {tuple(pair) for pair in asserted} == world.pairs()


def cited(world: World) -> dict[str, list[str]]:
    """The words of the claims that the graph gives as evidence, by those of each believed statement about liking."""
    world.follow()
    assert world.is_as_built_whole()
    with world.engine.connect() as connection:
        names = {row.key: row.name for row in connection.execute(select(things).where(things.c.tx_to == OPEN))}
        words = {row.row: f"{row.subject_text} {row.object_text}" for row in connection.execute(select(claims))}
        rows = connection.execute(select(statements).where(statements.c.tx_to == OPEN, statements.c.predicate == "likes")).all()
    asked = "MATCH (s:Statement {row: $row})-[a:ASSERTED_IN]->(:Episode) RETURN a.claim"
    return {
        f"{names[row.subject]} {names[row.object]}": sorted(words[claim] for (claim,) in world.kuzu.query(asked, {"row": row.row}))
        for row in rows
    }


def test_a_name_that_only_stands_for_another_is_in_the_graph_and_its_claims_are_evidence(world: World) -> None:
    case = Case(VOCABULARY, world.graph)
    case.told("2024-01-01", "Robert also_known_as Bob", "Bob likes Cy", group="one")
    assert cited(world) == {"Robert Cy": ["Bob Cy"]}
    case.told("2024-01-02", "Bob likes Cy", group="two")
    assert cited(world) == {"Robert Cy": ["Bob Cy"], "Bob Cy": ["Bob Cy"]}


def test_claims_on_one_name_are_evidence_of_what_is_stored_under_another_once_they_are_joined(world: World) -> None:
    case = Case(VOCABULARY, world.graph)
    case.stated("2024-01-01", "Robert likes Cy")
    case.stated("2024-01-02", "Bob likes Di")
    case.merge("Robert", "Bob")
    assert cited(world) == {"Bob Cy": ["Robert Cy"], "Bob Di": ["Bob Di"]}
    case.stated("2024-01-03", "Bob likes Cy", "Robert likes Di")
    assert cited(world) == {"Bob Cy": ["Bob Cy", "Robert Cy"], "Bob Di": ["Bob Di", "Robert Di"]}


def test_after_a_split_each_of_two_has_its_own_evidence(world: World) -> None:
    case = Case(VOCABULARY, world.graph)
    case.told("2024-01-01", "Bob likes Cy", group="one")
    case.split("Bob", groups=["two"])
    case.told("2024-01-02", "Bob likes Cy", group="two")
    world.follow()
    with world.engine.connect() as connection:
        rows = connection.execute(select(statements.c.row, statements.c.subject).where(statements.c.predicate == "likes")).all()
    asked = "MATCH (s:Statement {row: $row})-[a:ASSERTED_IN]->(e:Episode) RETURN e.row"
    evidence = [world.kuzu.query(asked, {"row": row.row}) for row in rows]
    assert len({row.subject for row in rows}) == 2
    assert sorted(map(len, evidence)) == [1, 1]
    assert evidence[0] != evidence[1]
