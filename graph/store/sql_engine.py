"""The reference engine: graph queries over the ledger's own tables. Never behind, never unreadable."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, String, and_, bindparam, func, select, union, union_all

from graph.ledger.schema import components, episodes, settings, statements, things, transactions
from graph.ledger.standing import standing
from graph.store.lookup import Lookup, cursor_of
from graph.store.pattern_plan import Found, Plan
from graph.store.port import Batch, BatchRefused, GraphBasis, Part
from graph.store.sql_members import who
from graph.store.sql_paths import paths
from graph.store.sql_patterns import match
from graph.store.walk import walk
from ontology.names import Keys

# Databases limit the number of bound values.
_CHUNK = 400

_KEY = bindparam("key", type_=String)
_HELD = and_(
    statements.c.namespace == bindparam("namespace"),
    *(statements.c.v_from <= bindparam("valid_at"), statements.c.v_to > bindparam("valid_at")),
    standing(statements),
)
_IN_SLOT = select(statements.c.row).where(statements.c.slot == _KEY, _HELD)
_ABOUT = union(*(select(statements.c.row).where(side == _KEY, _HELD) for side in (statements.c.subject, statements.c.object)))
_ROOT = select(components.c.root).where(components.c.member == _KEY, standing(components)).scalar_subquery()
_TOGETHER = select(components.c.member).where(components.c.root == _ROOT, standing(components))
"""All keys of the entity that a key belongs to; none for one that stands alone."""


def holds(basis: GraphBasis) -> ColumnElement[bool]:
    """The rectangles of the basis' namespace that contain its instant and transaction."""
    return and_(
        statements.c.namespace == basis.namespace,
        statements.c.v_from <= basis.valid_at,
        statements.c.v_to > basis.valid_at,
        statements.c.tx_from <= basis.transaction,
        statements.c.tx_to > basis.transaction,
    )


def chunks(keys: Sequence[Any], size: int = _CHUNK) -> Iterator[Sequence[Any]]:
    """Slices of at most `size`."""
    for start in range(0, len(keys), size):
        yield keys[start : start + size]


def keys_of(connection: Connection) -> Keys | None:
    """What makes the ledger's keys; None where it has no secret yet, and so no keys."""
    secret = connection.scalar(select(settings.c.value).where(settings.c.name == "secret"))
    return None if secret is None else Keys(bytes(secret))


class SqlStore:
    """Implements GraphStore. There is nothing to follow: `apply` only checks that the batch lies within the ledger."""

    engine = "sql"

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._keys: Keys | None = None
        self._in_slot, self._about, self._together = (Lookup(engine, query) for query in (_IN_SLOT, _ABOUT, _TOGETHER))

    def watermark(self) -> int:
        """The ledger's last transaction."""
        with self._engine.connect() as connection:
            return connection.scalar(select(func.coalesce(func.max(transactions.c.number), 0))) or 0

    def apply(self, batch: Batch) -> None:
        """Nothing, for a batch of the ledger; BatchRefused for one of transactions that it does not have."""
        if not batch.after < batch.upto <= self.watermark():
            raise BatchRefused(f"the ledger has no transactions ({batch.after}, {batch.upto}]")

    def load(self, parts: Iterable[Part]) -> None:
        """As `apply`, for every part."""
        for part in parts:
            if part.upto > self.watermark():
                raise BatchRefused(f"the ledger has no transaction {part.upto}")

    def neighbors(self, basis: GraphBasis, entity: str, depth: int, limit: int) -> list[tuple[str, int]]:
        """Breadth first, one query for each few hundred entities of a level."""
        with self._engine.connect() as connection:

            def adjacent(keys: Collection[str]) -> set[str]:
                return {key for part in chunks(list(keys)) for key in _adjacent(connection, basis, part)}

            return walk(who(connection, basis), entity, depth, limit, adjacent)

    def statements_in_slot(self, basis: GraphBasis, subject: str, predicate: str, qualifier: str = "") -> list[int]:
        """One index seek for each key of the subject."""
        keys = self._own_keys()
        if keys is None:
            return []
        return self._seek(self._in_slot, basis, subject, lambda member: keys.slot(basis.namespace, member, predicate, qualifier))

    def statements_about(self, basis: GraphBasis, entity: str) -> list[int]:
        """Two index seeks for each key of the entity: a condition with OR would use neither index."""
        return self._seek(self._about, basis, entity, lambda member: member)

    def _own_keys(self) -> Keys | None:
        if self._keys is None:
            with self._engine.connect() as connection:
                self._keys = keys_of(connection)
        return self._keys

    def _seek(self, lookup: Lookup, basis: GraphBasis, entity: str, key_of: Callable[[str], str]) -> list[int]:
        """The rows under the keys made of each key of an entity. What holds at a transaction is the same ever after: see Lookup."""
        values = {"namespace": basis.namespace, "valid_at": basis.valid_at, "transaction": basis.transaction}
        with cursor_of(self._engine) as cursor:
            members = [member for (member,) in self._together.rows(cursor, values | {"key": entity})] or [entity]
            return sorted({row for member in members for (row,) in lookup.rows(cursor, values | {"key": key_of(member)})})

    def match(self, basis: GraphBasis, plan: Plan, first: int, after: Sequence[Any] | None = None) -> list[Found]:
        """One query."""
        with self._engine.connect() as connection:
            return match(connection, basis, plan, first, after)

    def paths(self, basis: GraphBasis, start: str, end: str, max_hops: int, limit: int) -> list[list[int]]:
        """Breadth first from both ends."""
        with self._engine.connect() as connection:
            return paths(connection, basis, start, end, max_hops, limit)

    def counts(self) -> dict[str, int]:
        """Nodes as the graph would have them; edges that follow from statements alone."""
        named = union(
            select(things.c.key), select(statements.c.subject), select(statements.c.object), select(components.c.member)
        ).subquery()
        countable = {
            "Entity": func.count(named.c.key),
            "MEMBER_OF": func.count(components.c.row),
            "Episode": func.count(episodes.c.row),
            "Predicate": func.count(statements.c.predicate.distinct()),
            "Slot": func.count(statements.c.slot.distinct()),
            "Statement": func.count(statements.c.row),
        }
        with self._engine.connect() as connection:
            counted = {name: connection.scalar(select(expression)) or 0 for name, expression in countable.items()}
        return counted | dict.fromkeys(("SUBJECT", "OBJECT", "IN_SLOT"), counted["Statement"])

    def close(self) -> None:
        """Nothing: the ledger's database is not this engine's own."""


def _adjacent(connection: Connection, basis: GraphBasis, keys: Sequence[str]) -> set[str]:
    ours = and_(holds(basis), statements.c.polarity, statements.c.object_is_literal.is_(False))
    forth = select(statements.c.object).where(statements.c.subject.in_(keys), ours)
    back = select(statements.c.subject).where(statements.c.object.in_(keys), ours)
    # Told apart here: in SQLite that costs more.
    return set(connection.scalars(union_all(forth, back)).all())
