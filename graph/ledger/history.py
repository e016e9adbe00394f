"""Versions of propositions in transaction time, and the times of transactions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from sqlalchemy import Connection, bindparam, select

from graph.ledger.chunks import among, rows_among
from graph.ledger.rectangles import COLUMNS, Rectangle, rectangle, replayed
from graph.ledger.schema import OPEN, statements, transactions
from graph.views import Basis, VersionView
from ontology.instant import Instant
from ontology.names import Keys
from ontology.vocabulary import Vocabulary

_TIMES = select(transactions.c.number, transactions.c.at).where(among(transactions.c.number))
_VERSIONS = select(*COLUMNS).where(among(statements.c.proposition), statements.c.tx_from <= bindparam("transaction"))


def transaction_times(connection: Connection, numbers: Collection[int]) -> dict[int, Instant]:
    """When transactions were recorded; 0, before the first, is 1970."""
    wanted = {number for number in numbers if 0 < number < OPEN}
    return {0: 0} | {row.number: row.at for row in rows_among(connection, _TIMES, wanted)}


def versions(
    connection: Connection, keys: Keys, vocabulary: Vocabulary, basis: Basis, shown: Sequence[Rectangle]
) -> dict[str, tuple[VersionView, ...]]:
    """Every rectangle of the propositions of some statements up to the basis, in transaction order."""
    if basis.evidence_until is not None:
        found = replayed(connection, keys, vocabulary, [row.place for row in shown], basis.transaction, basis.evidence_until)
    else:
        wanted = {row.proposition for row in shown}
        found = [rectangle(row) for row in rows_among(connection, _VERSIONS, wanted, transaction=basis.transaction)]
    times = transaction_times(connection, {at for row in found for at in (row.tx_from, row.tx_to)})
    histories: dict[str, list[VersionView]] = defaultdict(list)
    for row in sorted(found, key=lambda row: (row.tx_from, row.v_from)):
        until = times[row.tx_to] if row.tx_to <= basis.transaction else None
        histories[row.proposition].append(VersionView(row.v_from, row.v_to, times[row.tx_from], until))
    return {key: tuple(rows) for key, rows in histories.items()}
