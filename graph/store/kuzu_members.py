"""Who is who in the graph: the MEMBER_OF edges from each joined key to the root of its entity."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

Rows = Callable[[str, Mapping[str, Any]], list[list[Any]]]
"""Answers a query that is worth preparing."""

SCAN_FROM = 16
"""From so many keys on, one scan is cheaper than a look-up of each."""

FIRST_JOINS = "MATCH (:Entity)-[m:MEMBER_OF]->(:Entity) RETURN m.namespace, min(m.tx_from)"
"""(namespace, the transaction of its first join), once when a graph is opened."""

_STANDS = "m.tx_from <= $tx AND $tx < m.tx_to"
_ROOT = f"MATCH (a:Entity {{key: $key}})-[m:MEMBER_OF]->(b:Entity) WHERE {_STANDS} RETURN a.key, b.key"
_ROOTS = f"MATCH (a:Entity)-[m:MEMBER_OF]->(b:Entity) WHERE a.key IN $keys AND {_STANDS} RETURN a.key, b.key"
_MEMBERS = f"MATCH (b:Entity {{key: $key}})<-[m:MEMBER_OF]-(a:Entity) WHERE {_STANDS} RETURN a.key, b.key"
_MEMBERS_OF_MANY = f"MATCH (b:Entity)<-[m:MEMBER_OF]-(a:Entity) WHERE b.key IN $keys AND {_STANDS} RETURN a.key, b.key"


class Members:
    """Implements Who by the graph as of a transaction."""

    def __init__(self, rows: Rows, transaction: int) -> None:
        self._rows, self._transaction = rows, transaction

    def roots(self, keys: Collection[str]) -> Mapping[str, str]:
        """The root of each key that is joined with another."""
        return dict(self._find(_ROOT, _ROOTS, keys))

    def members(self, roots: Collection[str]) -> set[str]:
        """All keys of some entities."""
        return {*roots, *(member for member, _ in self._find(_MEMBERS, _MEMBERS_OF_MANY, roots))}

    def _find(self, one: str, many: str, keys: Collection[str]) -> list[list[Any]]:
        if len(keys) < SCAN_FROM:
            return [row for key in keys for row in self._rows(one, {"key": key, "tx": self._transaction})]
        return self._rows(many, {"keys": list(keys), "tx": self._transaction})
