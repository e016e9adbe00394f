"""The claims that count at the sweep's instant, grouped by what decides between them."""

from __future__ import annotations

from heapq import heappop, heappush
from operator import neg
from typing import Generic, TypeVar

from graph.belief.items import Atom
from graph.belief.weighing import Begun, Key
from ontology.instant import Instant

K = TypeVar("K", Key, tuple[int, Instant])


class Groups(Generic[K]):
    """Atoms by key and value, with the greatest key at hand: a heap whose stale entries are dropped when met."""

    def __init__(self) -> None:
        self._members: dict[K, dict[str, dict[int, Atom]]] = {}
        self._heap: list[tuple[tuple[int, ...], K]] = []

    def add(self, key: K, atom: Atom) -> None:
        members = self._members.get(key)
        if members is None:
            members = self._members[key] = {}
            heappush(self._heap, (tuple(map(neg, key)), key))
        members.setdefault(atom.value, {})[id(atom)] = atom

    def remove(self, key: K, atom: Atom) -> None:
        members = self._members[key]
        own = members[atom.value]
        del own[id(atom)]
        if not own:
            del members[atom.value]

    def top(self) -> K | None:
        """The greatest key that has members."""
        while self._heap:
            key = self._heap[0][1]
            if self._members[key]:
                return key
            heappop(self._heap)
            del self._members[key]
        return None

    def of(self, key: K) -> dict[str, dict[int, Atom]]:
        """The members of a key, by value."""
        return self._members.get(key, {})


class Side:
    """The claims of one side at the sweep's instant."""

    def __init__(self) -> None:
        self.attesting: Groups[tuple[int, Instant]] = Groups()
        self.live: Groups[Key] = Groups()
        self.alive: dict[str, int] = {}
        self.ended: Key | None = None
        self.ended_of: dict[str, Key] = {}

    def begin(self, begun: Begun) -> None:
        value = begun.atom.value
        self.live.add(begun.key, begun.atom)
        self.alive[value] = self.alive.get(value, 0) + 1

    def finish(self, begun: Begun) -> None:
        value = begun.atom.value
        self.live.remove(begun.key, begun.atom)
        if self.alive[value] == 1:
            del self.alive[value]
        else:
            self.alive[value] -= 1
        if not begun.atom.patch:
            self.ended = max(self.ended, begun.key) if self.ended else begun.key
            before = self.ended_of.get(value)
            self.ended_of[value] = max(before, begun.key) if before else begun.key
