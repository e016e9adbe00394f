"""What extraction reads in an episode's copy, claim by claim: the rows in the set, and those that a rejection alone keeps out.

A claim has a row for each time that it came into the set, under one ID. The last row of an ID in a copy says how it stands:

- open: it is in the set;
- closed by the transaction that rejected it, or inserted without a life (`tx_from` = `tx_to`) while it stood rejected: it is read
  there and rejected;
- closed otherwise, or with `tx_to` UNREAD: it is no longer read there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from sqlalchemy import ColumnElement, Connection, and_, or_, select

from graph.ledger.chunks import among, rows_among
from graph.ledger.identity import ClaimRow
from graph.ledger.schema import OPEN, claims, episodes, rejections

UNREAD = 0
"""`tx_to` of the row which notes that a claim, while it stood rejected, was found no more."""

_STANDING = select(rejections.c.claim, rejections.c.tx_from).where(among(rejections.c.claim), rejections.c.tx_to == OPEN)
_OF_IDS = (
    select(claims)
    .join(episodes, and_(episodes.c.key == claims.c.episode, episodes.c.revision == claims.c.revision))
    .where(among(claims.c.id), episodes.c.tx_from.is_not(None), episodes.c.tx_to == OPEN)
    .order_by(claims.c.row)
)


def rejected_among(connection: Connection, ids: Collection[str]) -> dict[str, int]:
    """The claims that stand rejected now, with the transaction that rejected them."""
    return {row.claim: row.tx_from for row in rows_among(connection, _STANDING, ids)}


def read_now(connection: Connection, ids: Collection[str], rejected: Mapping[str, int]) -> dict[str, ClaimRow]:
    """The last rows of claims, where the copy that is evidence now reads them."""
    return _read(rows_among(connection, _OF_IDS, ids), rejected)


def read_in(connection: Connection, episode: str, revision: str, rejected: Mapping[str, int]) -> dict[str, ClaimRow]:
    """The last row of each claim that the current copy of an episode reads, in the order of rows."""
    query = select(claims).where(claims.c.episode == episode, claims.c.revision == revision).order_by(claims.c.row)
    return _read(connection.execute(query), rejected)


def _read(rows: Iterable[ClaimRow], rejected: Mapping[str, int]) -> dict[str, ClaimRow]:
    last = {row.id: row for row in rows}
    return {id: row for id, row in last.items() if row.tx_to == OPEN or _kept_out(row, rejected.get(id))}


def _kept_out(row: ClaimRow, rejected: int | None) -> bool:
    return rejected is not None and (row.tx_to == rejected or (row.tx_to == row.tx_from and rejected <= row.tx_from))


def kept_out() -> ColumnElement[bool]:
    """The same in SQL: of a row of `claims` that is the last of its ID, joined to the rejection that stands on it."""
    lifeless = and_(claims.c.tx_to == claims.c.tx_from, rejections.c.tx_from <= claims.c.tx_from)
    return and_(rejections.c.row.is_not(None), or_(claims.c.tx_to == rejections.c.tx_from, lifeless))
