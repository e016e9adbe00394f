"""Which claims speak of which rectangles: the feed's ASSERTED_IN edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, or_, select

from graph.ledger.schema import OPEN, claims, episodes, statements
from graph.store.port import AssertionRow
from ontology.claim import ClaimKind

# What tells that something is over speaks for the time before and against the time after: of both polarities.
TELLS_AN_END: ColumnElement[bool] = or_(
    claims.c.kind == ClaimKind.END.value,
    and_(claims.c.kind == ClaimKind.STATE.value, claims.c.from_lo.is_(None), claims.c.to_hi <= claims.c.said),
)

_SPAN = (claims.c.row, claims.c.start, claims.c.end, claims.c.tx_from, claims.c.tx_to)
_REVISION = and_(episodes.c.key == claims.c.episode, episodes.c.revision == claims.c.revision)
_SPEAKS = and_(claims.c.believed, or_(claims.c.polarity == statements.c.polarity, TELLS_AN_END))


def _assertion(row: Sequence[int], upto: int) -> AssertionRow:
    statement, episode, claim, start, end, tx_from, tx_to = row
    return AssertionRow(statement, episode, claim, start, end, tx_from, tx_to if tx_to <= upto else OPEN)


class Evidence:
    """Pairs of rectangle and claim whose lives in transaction time overlap; a pair belongs to the transaction that makes it one."""

    def of_statements(self, connection: Connection, ours: ColumnElement[bool], upto: int) -> list[AssertionRow]:
        """Pairs of the statements selected by `ours` with claims up to a transaction."""
        alive = and_(claims.c.tx_from <= upto, claims.c.tx_from < statements.c.tx_to, claims.c.tx_to > statements.c.tx_from)
        query = _pairs().where(ours, alive)
        return sorted(_assertion(row, upto) for row in connection.execute(query).all())

    def of_claims(self, connection: Connection, after: int, upto: int) -> list[AssertionRow]:
        """Pairs of the claims of the transactions `(after, upto]` with statements from before."""
        new = and_(claims.c.tx_from > after, claims.c.tx_from <= upto)
        standing = and_(statements.c.tx_from <= after, statements.c.tx_to > claims.c.tx_from)
        return sorted(_assertion(row, upto) for row in connection.execute(_pairs().where(new, standing)).all())


def _pairs() -> Select[Any]:
    """Statements and believed claims on the propositions that they affirm or deny, with the row of the claim's revision."""
    both = statements.join(claims, claims.c.proposition == statements.c.base).join(episodes, _REVISION)
    return select(statements.c.row, episodes.c.row, *_SPAN).select_from(both).where(_SPEAKS)
