"""Paths over the graph."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from graph.store.kuzu_members import SCAN_FROM, Rows
from graph.store.path_search import Link
from graph.store.port import GraphBasis

_HOLDS = (
    "s.namespace = $namespace AND s.v_from <= $at AND $at < s.v_to AND s.tx_from <= $tx AND $tx < s.tx_to AND s.polarity AND NOT s.literal"
)
_LINK = "RETURN DISTINCT s.row, s.proposition, s.subject, s.object LIMIT $most"
_TOUCHING = f"MATCH (:Entity {{key: $key}})<-[:SUBJECT|OBJECT]-(s:Statement) WHERE {_HOLDS} {_LINK}"
_TOUCHING_MANY = f"MATCH (e:Entity)<-[:SUBJECT|OBJECT]-(s:Statement) WHERE e.key IN $keys AND {_HOLDS} {_LINK}"
_DEGREE = "MATCH (:Entity {key: $key})<-[:SUBJECT|OBJECT]-(s:Statement) RETURN count(*)"
_DEGREES = "MATCH (e:Entity)<-[:SUBJECT|OBJECT]-(s:Statement) WHERE e.key IN $keys RETURN count(*)"


class GraphLinks:
    """Implements Links by the graph's edges on a basis."""

    def __init__(self, rows: Rows, basis: GraphBasis) -> None:
        self._rows = rows
        self._values = {"namespace": basis.namespace, "at": basis.valid_at, "tx": basis.transaction}

    def touching(self, keys: Sequence[str], towards: Collection[str] | None, most: int) -> Collection[Link]:
        """From the node of each key, of many by a scan; what leads elsewhere than `towards` is left to the caller."""
        if len(keys) >= SCAN_FROM:
            return {Link(*row) for row in self._rows(_TOUCHING_MANY, self._values | {"keys": list(keys), "most": most})}
        found: set[Link] = set()
        for key in keys:
            found.update(Link(*row) for row in self._rows(_TOUCHING, self._values | {"key": key, "most": most}))
            if len(found) >= most:
                break
        return found

    def number(self, keys: Sequence[str], most: int) -> int:
        """All edges, whatever holds."""
        if len(keys) >= SCAN_FROM:
            return int(self._rows(_DEGREES, {"keys": list(keys)})[0][0])
        return sum(int(self._rows(_DEGREE, {"key": key})[0][0]) for key in keys)
