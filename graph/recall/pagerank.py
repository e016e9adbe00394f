"""Personalised PageRank from what was found, over the graph of the same basis, by forward push.

Andersen, Chung and Lang, "Local Graph Partitioning using PageRank Vectors" (2006): mass is pushed on from the nodes that hold most
for their number of edges, until none holds enough. The work is bounded by edges, never by time; a node with very many edges
keeps what it has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graph.recall.admission import Admission
from graph.recall.columns import Floats, Ints
from graph.recall.reading import ALWAYS

DAMPING = 0.5
LEAST = 1e-5
"""Mass for each edge below which a node pushes nothing on."""
MOST_EDGES = 200_000
"""Edges that are looked at, about."""
ROUNDS = 24
_AT_A_TIME = 64


@dataclass(frozen=True, slots=True)
class Walked:
    """Nodes that were reached, ascending, their scores, and from which node each was reached first (itself: where it began)."""

    nodes: Ints
    scores: Floats
    came_from: Ints

    def way(self, node: int) -> list[int]:
        """The nodes from a beginning to a node."""
        found = [node]
        while True:
            place = int(np.searchsorted(self.nodes, found[-1]))
            before = int(self.came_from[place])
            if before == found[-1]:
                return found[::-1]
            found.append(before)


class Edges:
    """The edges of the nodes of an admission."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self._reading = admission.reading
        self._weights = admission.weights()

    def of(self, nodes: Ints) -> tuple[Ints, Ints, Floats]:
        """The edges of some nodes that count, node by node: its place, the node at the other end, and the weight."""
        owners, (others, reasons, predicates) = self._reading.state.edges.among(nodes, "other", "reason", "predicate")
        counts = self._counts(others, reasons, moved=False)
        parts = [(owners[counts], others[counts], predicates[counts])]
        if self._reading.edges is not None:
            owners, (others, reasons, predicates) = self._reading.edges.among(nodes, "other", "reason", "predicate")
            counts = self._counts(others, reasons, moved=True, owners=nodes[owners])
            parts.append((owners[counts], others[counts], predicates[counts]))
        owner = np.concatenate([part[0] for part in parts])
        other = np.concatenate([part[1] for part in parts]).astype(np.int64)
        weight = self._weights[np.concatenate([part[2] for part in parts])]
        if len(parts) > 1:
            order = np.argsort(owner, kind="stable")
            return owner[order], other[order], weight[order]
        return owner, other, weight

    def ranks(self, nodes: Ints) -> Ints:
        """An order of nodes by their keys: their numbers depend on how the history was divided, and on what was asked before."""
        indexed = self._reading.indexed
        names = (indexed.things.names, indexed.bases.names, indexed.episode_keys.names)
        distinct, place = np.unique(nodes, return_inverse=True)
        keys = np.array([names[node % 3][node // 3] for node in distinct.tolist()])
        ranks = np.empty(len(distinct), np.int64)
        ranks[np.lexsort((keys, distinct % 3))] = np.arange(len(distinct))
        return ranks[place]

    def _counts(
        self, others: NDArray[np.int32], reasons: NDArray[np.int32], *, moved: bool, owners: Ints | None = None
    ) -> NDArray[np.bool_]:
        """Which edges count: those whose rectangle or document does, each where its reading has it."""
        admission, reading = self._admission, self._reading
        numbers, kinds = reasons // 3, reasons % 3
        found = np.zeros(len(reasons), np.bool_)
        for kind, (rows, elsewhere) in enumerate(
            ((admission.rectangles, reading.moved_rectangles), (admission.claims, reading.moved_claims), (admission.episodes, None))
        ):
            mine = np.flatnonzero((kinds == kind) & (reasons != ALWAYS))
            at = numbers[mine]
            known = at < len(rows)
            mine, at = mine[known], at[known]
            counted = rows[at]
            if elsewhere is not None:
                counted = counted & (elsewhere[at] == moved)
            found[mine] = counted
        if owners is not None:
            # What a limit makes: there where its proposition holds. One end of each such edge is a proposition.
            mine = np.flatnonzero(reasons == ALWAYS)
            bases = np.where(owners[mine] % 3 == 1, owners[mine], others[mine]) // 3
            found[mine] = admission.holds[bases * 2 + 1]
        return found


class _Around:
    """The edges of the nodes that were looked at, each node's together."""

    def __init__(self, edges: Edges, most: int) -> None:
        self._edges = edges
        self._left = most
        self._others = np.zeros(0, np.int64)
        self._weights = np.zeros(0)
        self._spans: dict[int, tuple[int, int]] = {}

    def look(self, nodes: Ints) -> None:
        """Look at nodes, those named first before others where the work is not enough for all."""
        fresh = np.array([node for node in nodes.tolist() if node not in self._spans], np.int64)
        if not len(fresh):
            return
        start, size = 0, _AT_A_TIME
        while start < len(fresh):
            enough = self._add(fresh[start : start + size])
            start, size = start + size, 4 * size
            if not enough:
                self._spans |= dict.fromkeys(fresh[start:].tolist(), (0, 0))
                break

    def _add(self, fresh: Ints) -> bool:
        """Look at some nodes; whether the work was enough for all. What is too much counts as a node that nothing leads away from."""
        owner, other, weight = self._edges.of(fresh)
        degrees = np.bincount(owner, minlength=len(fresh))
        ends = np.cumsum(degrees)
        # No mass is enough for a node with so many edges: it costs nothing.
        few = degrees * LEAST < 1
        within = few & (np.cumsum(np.where(few, degrees, 0)) <= self._left)
        self._left -= int(degrees[within].sum())
        base = len(self._others)
        for node, end, degree, fits in zip(fresh.tolist(), ends.tolist(), degrees.tolist(), within.tolist(), strict=True):
            self._spans[node] = (base + end - degree, base + end) if fits else (0, 0)
        self._others = np.concatenate((self._others, other))
        self._weights = np.concatenate((self._weights, weight))
        return np.array_equal(within, few)

    def of(self, nodes: Ints) -> tuple[Ints, Ints, Floats]:
        """The edges of nodes that were looked at: the place of the node, the node at the other end, and the weight."""
        spans = np.array([self._spans[node] for node in nodes.tolist()], np.int64).reshape(-1, 2)
        lengths = spans[:, 1] - spans[:, 0]
        owner = np.repeat(np.arange(len(nodes)), lengths)
        offsets = np.repeat(spans[:, 0] - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths)
        places = np.arange(len(owner)) + offsets
        return owner, self._others[places], self._weights[places]

    def degrees(self, nodes: Ints) -> Ints:
        """How many edges nodes have that were looked at."""
        return np.array([end - start for start, end in (self._spans[node] for node in nodes.tolist())], np.int64)


def walk(edges: Edges, seeds: Ints, mass: Floats, *, damping: float = DAMPING, most_edges: int = MOST_EDGES) -> Walked:
    """PageRank of the nodes around `seeds` (distinct), which begin with a share of the mass each. `scores` sum to at most 1."""
    order = np.argsort(seeds)
    seeds = seeds[order].astype(np.int64)
    teleport = mass[order] / mass.sum()
    around = _Around(edges, most_edges)
    nodes, rest, scores, came_from = seeds, teleport.copy(), np.zeros(len(seeds)), seeds.copy()
    for _ in range(ROUNDS):
        ready = np.flatnonzero(rest > LEAST)
        ready = ready[np.lexsort((nodes[ready], -rest[ready]))]
        around.look(nodes[ready])
        ready = np.sort(ready[rest[ready] > LEAST * around.degrees(nodes[ready])])
        if not len(ready):
            break
        pushing = nodes[ready]
        amounts = rest[ready]
        rest[ready] = 0
        scores[ready] += (1 - damping) * amounts
        owner, other, weight = around.of(pushing)
        total = np.bincount(owner, weight, minlength=len(ready)).astype(np.float64)
        going = damping * amounts
        flow = going[owner] * weight / total[owner]
        lost = float(going[total == 0].sum())
        reached, place = np.unique(other, return_inverse=True)
        arrived = np.bincount(place, flow, minlength=len(reached)).astype(np.float64)
        first = _greatest_first(edges, pushing[owner], flow, place)
        first = first[np.concatenate(([True], place[first][1:] != place[first][:-1]))] if len(first) else first
        nodes, rest, scores, came_from = _merged(
            (nodes, rest, scores, came_from), reached, arrived, pushing[owner[first]], seeds, lost * teleport
        )
    return Walked(nodes, scores, came_from)


def _greatest_first(edges: Edges, senders: Ints, flow: Floats, place: Ints) -> Ints:
    """The order of what arrives: place by place, the greatest flow first; of equal ones, but for rounding, by the senders' keys."""
    flow = np.round(flow, 12)
    order = np.lexsort((-flow, place))
    if np.any((np.diff(place[order]) == 0) & (np.diff(flow[order]) == 0)):
        return np.lexsort((edges.ranks(senders), -flow, place))
    return order


def _merged(
    known: tuple[Ints, Floats, Floats, Ints], reached: Ints, arrived: Floats, senders: Ints, seeds: Ints, returned: Floats
) -> tuple[Ints, Floats, Floats, Ints]:
    """The nodes with those that were reached: what arrived, and who sent it to those that were not known."""
    nodes, rest, scores, came_from = known
    together = np.union1d(nodes, reached)
    at, new = np.searchsorted(together, nodes), np.searchsorted(together, reached)
    merged_rest, merged_scores = np.zeros(len(together)), np.zeros(len(together))
    merged_from = np.zeros(len(together), np.int64)
    merged_from[new] = senders
    merged_from[at] = came_from
    merged_rest[at] = rest
    merged_scores[at] = scores
    merged_rest[new] += arrived
    merged_rest[np.searchsorted(together, seeds)] += returned
    return together, merged_rest, merged_scores, merged_from
