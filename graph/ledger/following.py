"""Following the ledger: its transactions, cut into batches for what is kept up with them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Column, Connection, Engine, func, select

from graph.ledger.schema import transactions
from ontology.instant import Instant


class Followed:
    """The transactions of one ledger. `events` are where changes of each kind of row that is followed are dated."""

    def __init__(self, engine: Engine, events: Sequence[Column[int]], batch_rows: int) -> None:
        self._engine = engine
        self._events = events
        self._batch_rows = batch_rows

    def last(self) -> int:
        """The last transaction; 0 before the first."""
        with self._engine.connect() as connection:
            return connection.scalar(select(func.coalesce(func.max(transactions.c.number), 0))) or 0

    def time_of(self, transaction: int) -> Instant | None:
        """When a transaction was recorded; None where the ledger has none of that number. 0 for transaction 0."""
        if transaction == 0:
            return 0
        with self._engine.connect() as connection:
            return connection.scalar(select(transactions.c.at).where(transactions.c.number == transaction))

    def _end(self, connection: Connection, after: int, upto: int) -> int | None:
        """Where the batch that begins after `after` ends: at an existing transaction."""
        end = upto
        for column in self._events:
            in_range = select(column).where(column > after, column <= end).order_by(column)
            beyond = connection.scalar(in_range.limit(1).offset(self._batch_rows))
            if beyond is not None:
                end = max(after + 1, beyond - 1)
        number = transactions.c.number
        within = connection.scalar(select(func.max(number)).where(number > after, number <= end))
        first: int | None = connection.scalar(select(func.min(number)).where(number > end, number <= upto))
        return within or first
