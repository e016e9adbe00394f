"""Personalised PageRank from what was found, over the graph of the same basis, by forward push.

Andersen, Chung and Lang, "Local Graph Partitioning using PageRank Vectors" (2006): mass is pushed on from the nodes that hold most
for their number of edges, until none holds enough. The work is bounded by edges, never by time; a node with very many edges
keeps what it has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph.recall.admission import Admission
from graph.recall.columns import Bools, Floats, Ints
from graph.recall.reading import ALWAYS

DAMPING = 0.5
LEAST = 1e-4
"""Mass for each edge below which a node pushes nothing on."""
MOST_EDGES = 200_000
"""Edges that are looked at, about."""
ROUNDS = 24
_AT_A_TIME = 50_000


@dataclass(frozen=True, slots=True)
class Walked:
    """Nodes that were reached, ascending, their scores, and from which node each was reached first (itself: where it began)."""

    nodes: Ints
    scores: Floats
    came_from: Ints

    def ways(self) -> Callable[[int], tuple[int, ...]]:
        """What tells the nodes from a beginning to a node."""
        before = dict(zip(self.nodes.tolist(), self.came_from.tolist(), strict=True))

        def way(node: int) -> tuple[int, ...]:
            found = [node]
            while before[found[-1]] != found[-1]:
                found.append(before[found[-1]])
            return tuple(found[::-1])

        return way


class Edges:
    """The edges of the nodes of an admission."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self._reading = admission.reading
        self._weights = admission.weights()
        # One row of flags for all reasons: rectangles, claims and episodes, each from its own place on.
        counting = (admission.rectangles[: self._reading.state.rectangles.size], admission.claims, admission.episodes)
        self._firsts = np.cumsum([0, *map(len, counting[:-1])])
        moved = (self._reading.moved_rectangles, self._reading.moved_claims, None)
        self._stay = self._move = self._flags(counting, (None, None, None))
        if self._reading.edges is not None:
            here = [None if each is None else each[: len(rows)] for each, rows in zip(moved, counting, strict=True)]
            self._stay = self._flags(counting, [None if each is None else ~each for each in here])
            self._move = self._flags(counting, here)

    @staticmethod
    def _flags(counting: Sequence[Bools], where: Sequence[Bools | None]) -> Bools:
        return np.concatenate([rows if mine is None else rows & mine for rows, mine in zip(counting, where, strict=True)])

    def of(self, nodes: Ints) -> tuple[Ints, Ints, Floats]:
        """The edges of some nodes that count, node by node: its place, the node at the other end, and the weight."""
        owner, (other, reasons, predicate) = self._reading.state.edges.among(nodes, "other", "reason", "predicate")
        counts = np.flatnonzero(self._stay[self._firsts[reasons % 3] + reasons // 3])
        owner, other, predicate = owner[counts], other[counts], predicate[counts]
        if self._reading.edges is not None:
            owners, (others, reasons, predicates) = self._reading.edges.among(nodes, "other", "reason", "predicate")
            counts = np.flatnonzero(self._moved(nodes[owners], others, reasons))
            owner = np.concatenate((owner, owners[counts]))
            order = np.argsort(owner, kind="stable")
            owner, other = owner[order], np.concatenate((other, others[counts]))[order]
            predicate = np.concatenate((predicate, predicates[counts]))[order]
        return owner, other.astype(np.int64), self._weights[predicate]

    def sizes(self, nodes: Ints) -> Ints:
        """How many edges nodes have, those that do not count among them."""
        counts = self._reading.state.edges.counts(nodes)
        return counts if self._reading.edges is None else counts + self._reading.edges.counts(nodes)

    def ranks(self, nodes: Ints) -> Ints:
        """An order of nodes by their keys: their numbers depend on how the history was divided, and on what was asked before."""
        indexed = self._reading.indexed
        names = (indexed.things.names, indexed.bases.names, indexed.episode_keys.names)
        distinct, place = np.unique(nodes, return_inverse=True)
        keys = np.array([names[node % 3][node // 3] for node in distinct.tolist()])
        ranks = np.empty(len(distinct), np.int64)
        ranks[np.lexsort((keys, distinct % 3))] = np.arange(len(distinct))
        return ranks[place]

    def _moved(self, nodes: Ints, others: NDArray[np.int32], reasons: NDArray[np.int32]) -> Bools:
        """Which edges of the reading's own count."""
        always = reasons == ALWAYS
        reasons = np.where(always, 0, reasons)
        found: Bools = self._move[self._firsts[reasons % 3] + reasons // 3]
        # What a limit makes: there where its proposition holds. One end of each such edge is a proposition.
        mine = np.flatnonzero(always)
        bases = np.where(nodes[mine] % 3 == 1, nodes[mine], others[mine]) // 3
        found[mine] = self._admission.holds[bases * 2 + 1]
        return found


class _Around:
    """The nodes that were looked at or seen from there, numbered as they come, and the edges of each that was looked at together."""

    def __init__(self, edges: Edges, most: int, seeds: Ints) -> None:
        self._edges = edges
        self._left = most
        self.nodes = seeds
        self._sorted, self._order = seeds, np.arange(len(seeds))
        self._parts: list[tuple[Ints, Ints, Floats]] = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
        self.looked = np.zeros(len(seeds), np.bool_)
        self.degrees = np.zeros(len(seeds), np.int64)
        """How many edges each node has that was looked at; what is too much counts as a node that nothing leads away from."""

    def look(self, ready: Ints, rest: Floats) -> None:
        """Look at nodes, those with most mass first where the work is not enough for all."""
        fresh = ready[~self.looked[ready]]
        if not len(fresh):
            return
        fresh = fresh[np.lexsort((self.nodes[fresh], -rest[fresh]))]
        self.looked[fresh] = True
        # So many at a time that what is looked at in vain is bounded too.
        part = np.cumsum(self._edges.sizes(self.nodes[fresh])) // _AT_A_TIME
        for some in np.split(fresh, np.flatnonzero(np.diff(part)) + 1):
            if not self._add(some):
                break

    def _add(self, fresh: Ints) -> bool:
        """Look at some nodes; whether the work was enough for all. What is too much counts as a node that nothing leads away from."""
        owner, other, weight = self._edges.of(self.nodes[fresh])
        degrees = np.bincount(owner, minlength=len(fresh))
        # No mass is enough for a node with so many edges: it costs nothing.
        few = degrees * LEAST < 1
        within = few & (np.cumsum(np.where(few, degrees, 0)) <= self._left)
        enough = bool(within.sum() == few.sum())
        if not within.all():
            kept = within[owner]
            owner, other, weight = owner[kept], other[kept], weight[kept]
            degrees = np.where(within, degrees, 0)
        self._left -= len(owner)
        self.degrees[fresh] = degrees
        self._parts.append((fresh[owner], self._numbered(other), weight / np.bincount(owner, weight, minlength=len(fresh))[owner]))
        return enough

    def _numbered(self, others: Ints) -> Ints:
        """The numbers of nodes, new ones for those that were not seen before."""
        distinct = np.unique(others)
        place = np.minimum(np.searchsorted(self._sorted, distinct), len(self._sorted) - 1)
        new = distinct[self._sorted[place] != distinct]
        if len(new):
            self.nodes = np.concatenate((self.nodes, new))
            self._order = np.argsort(self.nodes)
            self._sorted = self.nodes[self._order]
            self.looked, self.degrees = _longer(self.looked, len(new)), _longer(self.degrees, len(new))
        return self._order[np.searchsorted(self._sorted, others)]

    def edges(self) -> tuple[Ints, Ints, Floats]:
        """All edges of the nodes that were looked at: the numbers of both ends, and its share of what the first one pushes on."""
        if len(self._parts) > 1:
            owners, others, shares = zip(*self._parts, strict=True)
            self._parts = [(np.concatenate(owners), np.concatenate(others), np.concatenate(shares))]
        return self._parts[0]


def _longer(values: NDArray[Any], by: int) -> NDArray[Any]:
    return np.concatenate((values, np.zeros(by, values.dtype)))


def walk(edges: Edges, seeds: Ints, mass: Floats, *, damping: float = DAMPING, most_edges: int = MOST_EDGES) -> Walked:
    """PageRank of the nodes around `seeds` (distinct), which begin with a share of the mass each. `scores` sum to at most 1."""
    order = np.argsort(seeds)
    seeds = seeds[order].astype(np.int64)
    teleport = mass[order] / mass.sum()
    around = _Around(edges, most_edges, seeds)
    # By the numbers of the nodes; a sender of -1: not reached.
    rest, scores, senders = teleport.copy(), np.zeros(len(seeds)), np.arange(len(seeds))
    for _ in range(ROUNDS):
        ready = np.flatnonzero(rest > LEAST)
        around.look(ready, rest)
        nodes = around.nodes
        fresh = len(nodes) - len(rest)
        if fresh:
            rest, scores = _longer(rest, fresh), _longer(scores, fresh)
            senders = np.concatenate((senders, np.full(fresh, -1)))
        ready = ready[rest[ready] > LEAST * around.degrees[ready]]
        if not len(ready):
            break
        pushed = np.zeros(len(rest))
        pushed[ready] = damping * rest[ready]
        scores[ready] += (1 - damping) * rest[ready]
        rest[ready] = 0
        # Over all edges, most of which are pushed along again and again: choosing among them costs more.
        owner, other, share = around.edges()
        flow = pushed[owner] * share
        new = np.flatnonzero((senders[other] < 0) & (flow > 0))
        if len(new):
            first = new[_greatest(edges, nodes[owner[new]], flow[new], other[new])]
            senders[other[first]] = owner[first]
        rest += np.bincount(other, flow, minlength=len(rest))
        rest[: len(seeds)] += float(pushed[ready[around.degrees[ready] == 0]].sum()) * teleport
    reached = np.flatnonzero(senders >= 0)
    reached = reached[np.argsort(around.nodes[reached])]
    return Walked(around.nodes[reached], scores[reached], around.nodes[senders[reached]])


def _greatest(edges: Edges, senders: Ints, flow: Floats, place: Ints) -> Ints:
    """Of what arrives at each place the greatest flow; of equal ones, but for rounding, that of the sender whose key is the least."""
    flow = np.round(flow, 12)
    order = np.lexsort((-flow, place))
    flow, place = flow[order], place[order]
    heads = np.concatenate(([True], place[1:] != place[:-1]))
    most = np.flatnonzero(flow == flow[heads][np.cumsum(heads) - 1])
    if len(most) > np.count_nonzero(heads):
        most = most[np.lexsort((edges.ranks(senders[order[most]]), place[most]))]
        most = most[np.concatenate(([True], place[most][1:] != place[most][:-1]))]
    return order[most]
