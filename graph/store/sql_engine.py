"""The reference engine: graph queries over the ledger's own tables. Never behind, never unreadable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, and_, func, select, union

from graph.ledger.schema import episodes, statements, things, transactions
from graph.store.port import Batch, BatchRefused, GraphBasis

# Databases limit the number of bound values.
_CHUNK = 400


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


class SqlStore:
    """Implements GraphStore. There is nothing to follow: `apply` only checks that the batch lies within the ledger."""

    engine = "sql"

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

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
        found: list[tuple[str, int]] = []
        seen = {entity}
        frontier = [entity]
        with self._engine.connect() as connection:
            for hops in range(1, depth + 1):
                reached = {key for part in chunks(frontier) for key in _adjacent(connection, basis, part)} - seen
                frontier = sorted(reached)
                seen |= reached
                found += [(key, hops) for key in frontier]
                if len(found) >= limit or not frontier:
                    break
        return found[:limit]

    def statements_in_slot(self, basis: GraphBasis, slot: str) -> list[int]:
        """One index seek."""
        query = select(statements.c.row).where(statements.c.slot == slot, holds(basis)).order_by(statements.c.row)
        with self._engine.connect() as connection:
            return list(connection.scalars(query))

    def statements_about(self, basis: GraphBasis, entity: str) -> list[int]:
        """Two index seeks: a condition with OR would use neither index."""
        sides = [select(statements.c.row).where(column == entity, holds(basis)) for column in (statements.c.subject, statements.c.object)]
        with self._engine.connect() as connection:
            return sorted(connection.scalars(union(*sides)))

    def counts(self) -> dict[str, int]:
        """Nodes as the graph would have them; edges that follow from statements alone."""
        countable = {
            "Entity": func.count(things.c.key.distinct()),
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
    return set(connection.scalars(union(forth, back)))
