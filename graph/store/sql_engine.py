"""The reference engine: graph queries over the ledger's own tables. Never behind, never unreadable."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Engine, and_, func, select, union

from graph.ledger.schema import components, episodes, settings, statements, things, transactions
from graph.store.pattern_plan import Found, Plan
from graph.store.port import Batch, BatchRefused, GraphBasis
from graph.store.sql_members import who
from graph.store.sql_paths import paths
from graph.store.sql_patterns import match
from graph.store.walk import members_of, walk
from ontology.names import Keys

# Databases limit the number of bound values.
_CHUNK = 400


def holds(basis: GraphBasis) -> ColumnElement[bool]:
    """The rectangles of the basis' namespace that contain its instant and transaction, of some that are looked up by key.

    Behind a function the namespace cannot be searched for: else SQLite walks all that it has as soon as a few keys are looked up
    together (600 ms at a million statements).
    """
    return and_(
        func.coalesce(statements.c.namespace, "") == basis.namespace,
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

    def watermark(self) -> int:
        """The ledger's last transaction."""
        with self._engine.connect() as connection:
            return connection.scalar(select(func.coalesce(func.max(transactions.c.number), 0))) or 0

    def apply(self, batch: Batch) -> None:
        """Nothing, for a batch of the ledger; BatchRefused for one of transactions that it does not have."""
        if not batch.after < batch.upto <= self.watermark():
            raise BatchRefused(f"the ledger has no transactions ({batch.after}, {batch.upto}]")

    def load(self, parts: Iterable[Batch]) -> None:
        """As `apply`, for every part."""
        for part in parts:
            self.apply(part)

    def neighbors(self, basis: GraphBasis, entity: str, depth: int, limit: int) -> list[tuple[str, int]]:
        """Breadth first, one query for each few hundred entities of a level."""
        with self._engine.connect() as connection:

            def adjacent(keys: Collection[str]) -> set[str]:
                return {key for part in chunks(list(keys)) for key in _adjacent(connection, basis, part)}

            return walk(who(connection, basis), entity, depth, limit, adjacent)

    def statements_in_slot(self, basis: GraphBasis, subject: str, predicate: str, qualifier: str = "") -> list[int]:
        """One index seek for each key of the subject."""
        with self._engine.connect() as connection:
            keys = self._keys = self._keys or keys_of(connection)
            if keys is None:
                return []
            members = members_of(who(connection, basis), subject)
            slots = [keys.slot(basis.namespace, member, predicate, qualifier) for member in members]
            return _rows(connection, basis, statements.c.slot, slots)

    def statements_about(self, basis: GraphBasis, entity: str) -> list[int]:
        """Two index seeks for each key of the entity: a condition with OR would use neither index."""
        with self._engine.connect() as connection:
            members = members_of(who(connection, basis), entity)
            return _rows(connection, basis, statements.c.subject, members, statements.c.object)

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


def _rows(connection: Connection, basis: GraphBasis, column: Column[str], keys: Sequence[str], *others: Column[str]) -> list[int]:
    found: set[int] = set()
    for part in chunks(keys):
        sides = [select(statements.c.row).where(side.in_(part), holds(basis)) for side in (column, *others)]
        found.update(connection.scalars(union(*sides) if others else sides[0]))
    return sorted(found)


def _adjacent(connection: Connection, basis: GraphBasis, keys: Sequence[str]) -> set[str]:
    ours = and_(holds(basis), statements.c.polarity, statements.c.object_is_literal.is_(False))
    forth = select(statements.c.object).where(statements.c.subject.in_(keys), ours)
    back = select(statements.c.subject).where(statements.c.object.in_(keys), ours)
    return set(connection.scalars(union(forth, back)))
