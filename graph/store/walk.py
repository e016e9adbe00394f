"""Walking from entity to entity, breadth first, where an entity may have several keys."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Protocol


class Who(Protocol):
    """Who is who on a basis. An entity's key is its root, the least of its members."""

    def roots(self, keys: Collection[str]) -> Mapping[str, str]:
        """The root of each key that is joined with another; the others may be left out: each is its own."""
        ...

    def members(self, roots: Collection[str]) -> set[str]:
        """All keys of some entities."""
        ...


class Apart:
    """Every key is an entity of its own: so it is before the first join."""

    def roots(self, keys: Collection[str]) -> Mapping[str, str]:
        """Nothing to tell."""
        return {}

    def members(self, roots: Collection[str]) -> set[str]:
        """The keys themselves."""
        return set(roots)


def members_of(who: Who, key: str) -> list[str]:
    """All keys of the entity that a key belongs to, ascending."""
    return sorted(who.members([who.roots([key]).get(key, key)]))


def walk(who: Who, entity: str, depth: int, limit: int, adjacent: Callable[[Collection[str]], Collection[str]]) -> list[tuple[str, int]]:
    """(root, hops) of the entities within `depth` hops of the one that a key belongs to, nearest first, then by key.

    `adjacent` gives the keys at the other ends of all statements on some keys; it may give those keys as well.
    """
    found: list[tuple[str, int]] = []
    frontier = [who.roots([entity]).get(entity, entity)]
    seen = set(frontier)
    for hops in range(1, depth + 1):
        reached = adjacent(sorted(who.members(frontier)))
        roots = who.roots(reached)
        frontier = sorted({roots.get(key, key) for key in reached} - seen)
        seen.update(frontier)
        found += [(key, hops) for key in frontier]
        if len(found) >= limit or not frontier:
            break
    return found[:limit]
