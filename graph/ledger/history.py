"""Versions of propositions in transaction time, and the times of transactions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from sqlalchemy import Connection, select

from graph.ledger.chunks import among, rows_among
from graph.ledger.rectangles import COLUMNS, Rectangle, rectangle, replayed
from graph.ledger.schema import OPEN, statements, transactions
from graph.views import Basis, VersionView
from ontology.instant import Instant
from ontology.names import Keys
from ontology.vocabulary import Vocabulary


def transaction_times(connection: Connection, numbers: Collection[int]) -> dict[int, Instant]:
    """When transactions were recorded; 0, before the first, is 1970."""
    wanted = {number for number in numbers if 0 < number < OPEN}
    query = select(transactions.c.number, transactions.c.at).where(among(transactions.c.number))
    return {0: 0} | {row.number: row.at for row in rows_among(connection, query, wanted)}


def versions(
    connection: Connection, keys: Keys, vocabulary: Vocabulary, basis: Basis, shown: Sequence[Rectangle]
) -> dict[str, tuple[VersionView, ...]]:
    """Every rectangle of the propositions of some statements up to the basis, in transaction order."""
    if basis.evidence_until is not None:
        found = replayed(connection, keys, vocabulary, [row.place for row in shown], basis.transaction, basis.evidence_until)
    else:
        query = select(*COLUMNS).where(among(statements.c.proposition), statements.c.tx_from <= basis.transaction)
        found = [rectangle(row) for row in rows_among(connection, query, {row.proposition for row in shown})]
    times = transaction_times(connection, {at for row in found for at in (row.tx_from, row.tx_to)})
    histories: dict[str, list[VersionView]] = defaultdict(list)
    for row in sorted(found, key=lambda row: (row.tx_from, row.v_from)):
        until = times[row.tx_to] if row.tx_to <= basis.transaction else None
        histories[row.proposition].append(VersionView(row.v_from, row.v_to, times[row.tx_from], until))
    return {key: tuple(rows) for key, rows in histories.items()}
