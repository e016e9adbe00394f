"""Which claims speak of which rectangles: the feed's ASSERTED_IN edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, or_, select

from graph.ledger.schema import OPEN, claims, episodes, statements
from graph.store.port import AssertionRow, StatementRow
from graph.store.sql_engine import chunks
from ontology.claim import ClaimKind
from ontology.names import Keys

# What tells that something is over speaks for the time before and against the time after: of both polarities.
TELLS_AN_END: ColumnElement[bool] = or_(
    claims.c.kind == ClaimKind.END.value,
    and_(claims.c.kind == ClaimKind.STATE.value, claims.c.from_lo.is_(None), claims.c.to_hi <= claims.c.said),
)

_SPAN = (claims.c.row, claims.c.start, claims.c.end, claims.c.tx_from, claims.c.tx_to)


def _select(*columns: Any) -> Select[Any]:
    """Believed claims with the row of their episode's revision."""
    return (
        select(*columns, episodes.c.row, *_SPAN)
        .join(episodes, and_(episodes.c.key == claims.c.episode, episodes.c.revision == claims.c.revision))
        .where(claims.c.believed)
    )


def _assertion(statement: int, row: Sequence[int], upto: int) -> AssertionRow:
    episode, claim, start, end, tx_from, tx_to = row
    return AssertionRow(statement, episode, claim, start, end, tx_from, tx_to if tx_to <= upto else OPEN)


class Evidence:
    """Pairs of rectangle and claim whose lives in transaction time overlap; a pair belongs to the transaction that makes it one.

    `claims.proposition` is the positive one whatever the claim's polarity, `statements.proposition` is not; so denials are
    found by computing the key of the other.
    """

    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    def of_statements(
        self, connection: Connection, opened: Sequence[StatementRow], ours: ColumnElement[bool], upto: int
    ) -> list[AssertionRow]:
        """Pairs of the statements `opened` (selected by `ours`) with claims up to a transaction."""
        alive = and_(claims.c.tx_from <= upto, claims.c.tx_from < statements.c.tx_to, claims.c.tx_to > statements.c.tx_from)
        query = (
            select(statements.c.row, episodes.c.row, *_SPAN)
            .select_from(
                statements.join(claims, claims.c.proposition == statements.c.proposition).join(
                    episodes, and_(episodes.c.key == claims.c.episode, episodes.c.revision == claims.c.revision)
                )
            )
            .where(ours, statements.c.polarity, alive, claims.c.believed, or_(claims.c.polarity, TELLS_AN_END))
        )
        found = [_assertion(row[0], row[1:], upto) for row in connection.execute(query).all()]
        denials: dict[str, list[StatementRow]] = {}
        for statement in opened:
            if not statement.polarity:
                denials.setdefault(self._keys.proposition(statement.slot, statement.object, True), []).append(statement)
        against = or_(claims.c.polarity.is_(False), TELLS_AN_END)
        for part in chunks(list(denials)):
            claimed = _select(claims.c.proposition).where(claims.c.proposition.in_(part), claims.c.tx_from <= upto, against)
            for proposition, *row in connection.execute(claimed):
                found += [
                    _assertion(statement.row, row, upto)
                    for statement in denials[proposition]
                    if row[-2] < statement.tx_to and row[-1] > statement.tx_from
                ]
        return sorted(found)

    def of_claims(self, connection: Connection, after: int, upto: int) -> list[AssertionRow]:
        """Pairs of the claims of the transactions `(after, upto]` with statements from before."""
        new = _select(claims.c.slot, claims.c.object, claims.c.polarity, TELLS_AN_END).where(
            claims.c.tx_from > after, claims.c.tx_from <= upto
        )
        wanted: dict[str, list[Sequence[int]]] = {}
        for slot, value, polarity, ends, *row in connection.execute(new):
            for side in (True, False) if ends else (polarity,):
                wanted.setdefault(self._keys.proposition(slot, value, side), []).append(row)
        found: list[AssertionRow] = []
        lives = (statements.c.proposition, statements.c.row, statements.c.tx_to)
        for part in chunks(list(wanted)):
            query = select(*lives).where(statements.c.proposition.in_(part), statements.c.tx_from <= after, statements.c.tx_to > after)
            for proposition, statement, tx_to in connection.execute(query):
                found += [_assertion(statement, row, upto) for row in wanted[proposition] if row[-2] < tx_to]
        return sorted(found)
