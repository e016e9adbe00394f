"""Identity as the tables have it: components and denotations at a transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, bindparam, literal, null, select, union_all

from graph.belief.identity import Group, Identities, Split
from graph.ledger.chunks import among, rows_among
from graph.ledger.identity import Identity, KnownIdentity
from graph.ledger.schema import components, denotations
from graph.ledger.standing import standing
from ontology.names import Keys
from ontology.vocabulary import Vocabulary

_COMPONENTS = (
    select(
        literal("member").label("what"),
        components.c.member.label("key"),
        components.c.root.label("target"),
        null().label("scope_group"),
        null().label("scope_source"),
        literal(0).label("rank"),
        literal(0).label("said"),
        null().label("claim"),
    ),
    standing(components),
)
_DENOTATIONS = (
    select(
        denotations.c.kind,
        denotations.c.key,
        denotations.c.target,
        denotations.c.scope_group,
        denotations.c.scope_source,
        denotations.c.rank,
        denotations.c.said,
        denotations.c.claim,
    ),
    standing(denotations),
)
_BEARING = union_all(
    _COMPONENTS[0].where(among(components.c.member), _COMPONENTS[1]),
    _DENOTATIONS[0].where(among(denotations.c.key), _DENOTATIONS[1]),
    _DENOTATIONS[0].where(among(denotations.c.target), _DENOTATIONS[1]),
)
_MEMBERS = select(components.c.member, components.c.root).where(among(components.c.root), standing(components))


_ALL_MEMBERS = select(components.c.member, components.c.root).where(components.c.namespace == bindparam("namespace"), standing(components))
_ALL_DENOTATIONS = (
    _DENOTATIONS[0].add_columns(denotations.c.kind.label("what")).where(denotations.c.namespace == bindparam("namespace"), _DENOTATIONS[1])
)
ASKED_SINGLY = 32
"""Look-ups after which all is read at once."""
MOST_READ = 200_000
"""Most rows that are read at once."""


class StoredIdentity(Identity):
    """Identity as the tables have it at a transaction."""

    def __init__(
        self,
        connection: Connection,
        keys: Keys,
        namespace: str,
        vocabulary: Vocabulary,
        transaction: int,
        known: KnownIdentity | None = None,
    ) -> None:
        super().__init__(connection, keys, namespace, vocabulary, known)
        self._transaction = transaction

    def _find(self, keys: set[str]) -> set[str]:
        self._shared.asked += 1
        if self._shared.kept and self._shared.asked > ASKED_SINGLY and self._read_whole():
            return set()
        rows = list(rows_among(self._connection, _BEARING, keys, transaction=self._transaction))
        return self._take(rows) if rows else set()

    def _read_whole(self) -> bool:
        """Read all that the namespace has, where that is not too much: whoever reads on has nothing to look up."""
        values = {"namespace": self.namespace, "transaction": self._transaction}
        members = list(self._connection.execute(_ALL_MEMBERS, values))
        rules = list(self._connection.execute(_ALL_DENOTATIONS, values)) if len(members) <= MOST_READ else []
        if len(members) + len(rules) > MOST_READ:
            self._shared.kept = False
            return False
        if rules:
            self._take(rules)
        self._note(Identities(roots={row.member: row.root for row in members}))
        self._shared.whole = True
        return True

    def _take(self, rows: Sequence[Row[Any]]) -> set[str]:
        found = Identities()
        for row in rows:
            if row.what == "split":
                splits = found.splits.setdefault(row.key, [])
                split = Split(row.rank, row.said, row.claim, row.target, row.scope_group, row.scope_source)
                splits += [] if split in splits else [split]
            elif row.what == "join":
                found.joins[Group(row.scope_group, row.scope_source), row.key] = row.target
        roots = {row.target for row in rows if row.what == "member"}
        for row in rows_among(self._connection, _MEMBERS, roots, transaction=self._transaction):
            found.roots[row.member] = row.root
        for key, splits in found.splits.items():
            known = self.state.splits.get(key, [])
            splits += [split for split in known if split not in splits]
            splits.sort(reverse=True)
        self._note(found)
        return {*found.roots, *(key for row in rows for key in (row.key, row.target))}
