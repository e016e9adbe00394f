"""All shortest paths between two entities: breadth first from both ends, always from the one with less to read.

Pure: an engine gives the statements on some keys and says how many there are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from graph.store.walk import Who
from ontology.errors import QueryTooComplex

MOST_READ = 100_000
"""Statements that one search may read. A hub is only read where nothing smaller leads on."""


class Link(NamedTuple):
    """A statement between two entities, under the keys that it is stored under."""

    row: int
    proposition: str
    subject: str
    object: str


class Links(Protocol):
    """The affirmed statements between entities that hold on a basis."""

    def touching(self, keys: Sequence[str], towards: Collection[str] | None, most: int) -> Collection[Link]:
        """Up to so many of those on some keys, each once; with `towards` those alone that lead to such a key (others do no harm)."""
        ...

    def number(self, keys: Sequence[str], most: int) -> int:
        """About how many statements there are on some keys, up to so many."""
        ...


@dataclass(slots=True)
class _Wave:
    """How far a search has come from one end: the entities of its last level, all that it has seen, and the steps between levels."""

    frontier: set[str]
    seen: set[str] = field(default_factory=set)
    steps: list[list[tuple[str, str, str, int]]] = field(default_factory=list)
    """(nearer, proposition, farther, row) of each level."""
    weight: int | None = None

    def weighed(self, who: Who, links: Links) -> int:
        """How much would be read to go on from it."""
        if self.weight is None:
            self.weight = links.number(sorted(who.members(self.frontier)), MOST_READ)
        return self.weight

    def advance(self, steps: list[tuple[str, str, str, int]]) -> None:
        """Go on by the steps to entities not seen before."""
        self.steps.append(steps)
        self.frontier = {farther for _, _, farther, _ in steps}
        self.seen |= self.frontier
        self.weight = None


def shortest_paths(who: Who, start: str, end: str, max_hops: int, limit: int, links: Links) -> list[list[int]]:
    """The rows of the statements of each path, in order from `start`; the first `limit` paths by their propositions.

    None where the ends are one entity, or no path has so few statements. Raises QueryTooComplex where too many would have to be read.
    """
    roots = who.roots({start, end})
    start, end = roots.get(start, start), roots.get(end, end)
    if start == end:
        return []
    here, there = _Wave({start}, {start}), _Wave({end}, {end})
    left = MOST_READ
    for hop in range(1, max_hops + 1):
        wave, other = (here, there) if here.weighed(who, links) <= there.weighed(who, links) else (there, here)
        last = hop == max_hops
        towards = who.members(other.frontier) if last else None
        found = links.touching(sorted(who.members(wave.frontier)), towards, left + 1)
        left -= len(found)
        if left < 0:
            raise too_much_to_read()
        wave.advance(list(_steps(who, wave, found, other.frontier if last else None)))
        if wave.frontier & other.frontier:
            return _told(here, there, start, limit)
        if not wave.frontier:
            break
    return []


def too_much_to_read() -> QueryTooComplex:
    """The refusal of a search that would read too much."""
    return QueryTooComplex("too many statements lie between these two; ask with a smaller maxHops, or with `match` by way of one predicate")


def _steps(who: Who, wave: _Wave, found: Collection[Link], only: Collection[str] | None) -> Iterator[tuple[str, str, str, int]]:
    roots = who.roots({key for link in found for key in (link.subject, link.object)})
    for link in found:
        one, two = roots.get(link.subject, link.subject), roots.get(link.object, link.object)
        for nearer, farther in ((one, two), (two, one)):
            if nearer in wave.frontier and farther not in wave.seen and (only is None or farther in only):
                yield nearer, link.proposition, farther, link.row


def _told(here: _Wave, there: _Wave, start: str, limit: int) -> list[list[int]]:
    """The paths over what the two waves have in common."""
    onward: dict[str, list[tuple[str, int, str]]] = defaultdict(list)
    useful = here.frontier & there.frontier
    for steps in there.steps:
        for nearer, proposition, farther, row in steps:
            onward[farther].append((proposition, row, nearer))
    for steps in reversed(here.steps):
        kept = [step for step in steps if step[2] in useful]
        useful = {nearer for nearer, _, _, _ in kept}
        for nearer, proposition, farther, row in kept:
            onward[nearer].append((proposition, row, farther))
    hops = len(here.steps) + len(there.steps)
    paths: list[list[int]] = []

    def lead(node: str, rows: list[int]) -> None:
        if len(rows) == hops:
            paths.append(rows)
            return
        for _, row, following in sorted(onward[node]):
            if len(paths) < limit:
                lead(following, [*rows, row])

    lead(start, [])
    return paths
