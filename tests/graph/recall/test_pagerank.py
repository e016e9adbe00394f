"""Forward push on made-up graphs: near to power iteration, bounded in the edges that it looks at, whatever hubs there are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from random import Random
from typing import cast

import numpy as np
import pytest

from graph.recall.columns import Floats, Ints
from graph.recall.pagerank import LEAST, MOST_EDGES, Edges, walk
from tests.graph.recall.oracle import Edge, pagerank


class Drawn:
    """Stands for the edges of an admission; counts those that are looked at."""

    def __init__(self, pairs: Iterable[tuple[int, int, float]] = ()) -> None:
        self.edges: Mapping[int, list[tuple[int, float]]] = defaultdict(list)
        self.looked_at = 0
        self.asked: list[int] = []
        for one, other, weight in pairs:
            self.edges[one].append((other, weight))
            self.edges[other].append((one, weight))

    def of(self, nodes: Ints) -> tuple[Ints, Ints, Floats]:
        self.asked += nodes.tolist()
        rows = [(place, other, weight) for place, node in enumerate(nodes.tolist()) for other, weight in self.edges.get(node, ())]
        self.looked_at += len(rows)
        owner, other, weight = zip(*rows, strict=True) if rows else ((), (), ())
        return np.array(owner, np.int64), np.array(other, np.int64), np.array(weight, np.float64)

    def sizes(self, nodes: Ints) -> Ints:
        return np.array([len(self.edges.get(node, ())) for node in nodes.tolist()], np.int64)

    def ranks(self, nodes: Ints) -> Ints:
        return nodes

    def walk(self, mass: Mapping[int, float]) -> dict[int, float]:
        """The scores from some seeds."""
        found = walk(cast(Edges, self), np.array(list(mass), np.int64), np.array(list(mass.values())))
        return dict(zip(found.nodes.tolist(), found.scores.tolist(), strict=True))

    def exactly(self, mass: Mapping[int, float]) -> dict[int, float]:
        """The same by power iteration."""
        edges = {("n", str(node)): [Edge(("n", str(other)), weight) for other, weight in found] for node, found in self.edges.items()}
        scores = pagerank(edges, {("n", str(node)): part for node, part in mass.items()})
        return {int(node): score for (_, node), score in scores.items()}


@pytest.mark.parametrize("seed", range(6))
def test_scores_are_near_to_those_of_power_iteration(seed: int) -> None:
    chance = Random(seed)
    size = chance.choice([5, 20, 60])
    drawn = Drawn((chance.randrange(size), chance.randrange(size), chance.choice([0.3, 0.5, 1.0])) for _ in range(2 * size))
    mass = {chance.randrange(size): chance.random() for _ in range(3)}
    found, exact = drawn.walk(mass), drawn.exactly(mass)
    degrees = sum(map(len, drawn.edges.values()))
    for node, score in exact.items():
        assert found.get(node, 0.0) == pytest.approx(score, abs=LEAST * degrees)
    assert sum(found.values()) <= 1 + 1e-9


def test_what_reaches_a_node_without_edges_begins_anew() -> None:
    drawn = Drawn([(0, 1, 1.0)])
    drawn.edges[1].clear()
    found = drawn.walk({0: 1.0})
    assert found == pytest.approx(drawn.exactly({0: 1.0}), abs=1e-4)
    assert sum(found.values()) == pytest.approx(1, abs=1e-4)


def test_no_edges_at_all_leave_the_seeds_their_shares() -> None:
    assert Drawn().walk({3: 1.0, 5: 3.0}) == pytest.approx({3: 0.25, 5: 0.75}, abs=1e-4)


def test_a_hub_is_looked_at_once_and_keeps_what_it_has() -> None:
    hub, many = 0, 100_000
    drawn = Drawn([(hub, node, 1.0) for node in range(1, many + 1)] + [(1, many + 1, 1.0), (many + 1, many + 2, 1.0)])
    found = drawn.walk({1: 1.0})
    assert drawn.asked.count(hub) == 1
    assert drawn.looked_at < many + 100
    assert found[many + 1] > found[many + 2] > 0
    assert len(found) < 10


def test_the_work_ends_when_many_large_nodes_are_reached() -> None:
    each, hubs = 2_000, 2_000
    others = list(range(10_000, 10_000 + each))

    class Large(Drawn):
        def of(self, nodes: Ints) -> tuple[Ints, Ints, Floats]:
            found = super().of(nodes[nodes > hubs])
            large = np.flatnonzero((nodes > 0) & (nodes <= hubs))
            self.looked_at += each * len(large)
            first = np.flatnonzero(nodes == 0)
            owner = np.concatenate((np.repeat(first, hubs), np.repeat(large, each)))
            other = np.concatenate((np.tile(np.arange(1, hubs + 1), len(first)), np.tile(others, len(large))))
            assert not len(found[0])
            return owner, other.astype(np.int64), np.ones(len(owner))

        def sizes(self, nodes: Ints) -> Ints:
            return np.where(nodes == 0, hubs, np.where(nodes <= hubs, each, 0))

    drawn = Large()
    drawn.walk({0: 1.0})
    # A portion more than the bound, not the four million that there are.
    assert drawn.looked_at < MOST_EDGES + 60_000
    assert drawn.looked_at > MOST_EDGES // 2


def test_what_comes_first_is_looked_at_by_mass_and_then_by_number() -> None:
    drawn = Drawn([(0, 5, 1.0), (0, 3, 3.0), (0, 4, 1.0), (5, 6, 1.0), (4, 7, 1.0)])
    drawn.walk({0: 1.0})
    assert drawn.asked[:4] == [0, 3, 4, 5]
