"""Evidence of very many propositions: the same claims, of each no more than belief asks for."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple, cast

from sqlalchemy import Select

from graph.ledger.chunks import rows_among
from graph.ledger.evidence import Evidence, Queries
from graph.ledger.identity import ClaimRow
from graph.ledger.schema import claims

_WHERE = (
    *("subject", "predicate", "qualifier", "object", "slot", "inverse_slot", "proposition", "grp", "source", "scope_group", "scope_source"),
    *("replaces_proposition", "replaces_subject", "replaces_object"),
)
_WHAT = (
    *("row", "id", "episode", "place", "polarity", "kind", "from_lo", "from_hi", "from_text", "to_lo", "to_hi", "to_text"),
    *("said", "rank", "additive", "datatype", "tx_from", "tx_to"),
)
PLACES = tuple(claims.c[name] for name in _WHERE)
"""What tells where a claim stands, by any identity."""
BULK = (*PLACES, *(claims.c[name] for name in _WHAT))
"""The same, and what belief asks of a claim."""

# Reading a name of them costs a tenth of what it costs of a row of the database.
_Placed = NamedTuple("_Placed", [(column.name, Any) for column in PLACES])  # type: ignore[misc]
_Told = NamedTuple("_Told", [(column.name, Any) for column in BULK])  # type: ignore[misc]


def placed(rows: Iterable[Any]) -> Iterable[ClaimRow]:
    """Rows of PLACES, as claims are read."""
    return cast(Iterable[ClaimRow], map(_Placed._make, rows))


def in_bulk(rows: Iterable[Any]) -> Iterable[ClaimRow]:
    """Rows of BULK, as claims are read."""
    return cast(Iterable[ClaimRow], map(_Told._make, rows))


class BulkEvidence(Evidence):
    """Evidence for resolving alone: its rows have the columns of BULK."""

    _queries = Queries(BULK)

    def _rows(self, query: Select[Any], keys: Collection[str]) -> Iterable[ClaimRow]:
        return in_bulk(rows_among(self._connection, query, keys, **self._visibility))

    def _note_told(self, row: ClaimRow, told: ClaimRow) -> None:
        """Nothing is stored of what is resolved so."""

    def take(self, rows: Iterable[ClaimRow]) -> None:
        """Take in claims that were read by someone else: of whatever bears on each other, all."""
        self._add(rows, lambda row: True)
