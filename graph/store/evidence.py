"""Which claims speak of which rectangles: the feed's ASSERTED_IN edges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, or_, select

from graph.ledger.chunks import among, rows_among
from graph.ledger.details import VocabularyAt
from graph.ledger.schema import OPEN, claims, episodes, statements
from graph.store.mentions import Mentions, Pair, anything_joined, touched
from graph.store.port import AssertionRow
from ontology.claim import ClaimKind
from ontology.names import Keys

# What tells that something is over speaks for the time before and against the time after: of both polarities.
TELLS_AN_END: ColumnElement[bool] = or_(
    claims.c.kind == ClaimKind.END.value,
    and_(claims.c.kind == ClaimKind.STATE.value, claims.c.from_lo.is_(None), claims.c.to_hi <= claims.c.said),
)

_SPAN = (episodes.c.row, claims.c.row.label("claim"), claims.c.start, claims.c.end, claims.c.tx_from, claims.c.tx_to)
_REVISION = and_(episodes.c.key == claims.c.episode, episodes.c.revision == claims.c.revision)
# A claim that never counted has tx_from = tx_to.
_SPEAKS = and_(claims.c.believed, claims.c.tx_to > claims.c.tx_from, or_(claims.c.polarity == statements.c.polarity, TELLS_AN_END))
_SPANS = select(*_SPAN).select_from(claims.join(episodes, _REVISION)).where(among(claims.c.row))


class Evidence:
    """Pairs of rectangle and claim whose lives in transaction time overlap; a pair belongs to the transaction that makes it one.

    Names that denote themselves are matched by the keys of propositions; the others through who is who (`Mentions`).
    """

    def __init__(self, keys: Keys, vocabulary_at: VocabularyAt) -> None:
        self._mentions = Mentions(keys, vocabulary_at)

    def of_statements(self, connection: Connection, ours: ColumnElement[bool], upto: int) -> list[AssertionRow]:
        """Pairs of the statements selected by `ours` with claims up to a transaction.

        Of what was joined or split only with claims that were there before: those that come after have pairs `of_claims`.
        """
        alive = and_(claims.c.tx_from <= upto, claims.c.tx_from < statements.c.tx_to, claims.c.tx_to > statements.c.tx_from)
        joined = anything_joined(connection, upto)
        found = connection.execute(_pairs(joined).where(ours, alive)).all()
        pairs = self._mentions.of_statements(connection, ours) if joined else ()
        return sorted([*(_assertion(row, upto) for row in found), *_assertions(connection, pairs, upto)])

    def of_claims(self, connection: Connection, after: int, upto: int) -> list[AssertionRow]:
        """Pairs of the claims of the transactions `(after, upto]` with statements from before."""
        new = and_(claims.c.tx_from > after, claims.c.tx_from <= upto)
        standing = and_(statements.c.tx_from <= after, statements.c.tx_to > claims.c.tx_from)
        joined = anything_joined(connection, upto)
        found = connection.execute(_pairs(joined).where(new, standing)).all()
        pairs = self._mentions.of_claims(connection, after, upto) if joined else ()
        return sorted([*(_assertion(row, upto) for row in found), *_assertions(connection, pairs, upto)])

    def query(self, connection: Connection, upto: int) -> Select[Any]:
        """All pairs up to a transaction as rows of an AssertionRow's columns, `tx_to` as it is now; not of what was joined or split."""
        alive = and_(claims.c.tx_from <= upto, claims.c.tx_from < statements.c.tx_to, claims.c.tx_to > statements.c.tx_from)
        return _pairs(anything_joined(connection, upto)).where(statements.c.tx_from <= upto, alive)

    def of_mentions(self, connection: Connection, upto: int, size: int) -> Iterator[list[AssertionRow]]:
        """The pairs that `query` leaves out, from about `size` statements or claims at a time."""
        if not anything_joined(connection, upto):
            return

        def of_statements(after: int, end: int) -> Iterable[Pair]:
            return self._mentions.of_statements(connection, and_(statements.c.tx_from > after, statements.c.tx_from <= end))

        def of_claims(after: int, end: int) -> Iterable[Pair]:
            return self._mentions.of_claims(connection, after, end)

        for column, pairs in ((statements.c.tx_from, of_statements), (claims.c.tx_from, of_claims)):
            after = 0
            while after < upto:
                beyond = select(column).where(column > after, column <= upto).order_by(column)
                end = connection.scalar(beyond.limit(1).offset(size)) or upto
                yield sorted(_assertions(connection, pairs(after, end), upto))
                after = end


def _pairs(joined: bool) -> Select[Any]:
    """Statements and believed claims on the propositions that they affirm or deny; not of what was joined or split, where anything was."""
    both = statements.join(claims, claims.c.proposition == statements.c.base).join(episodes, _REVISION)
    query = select(statements.c.row, *_SPAN).select_from(both).where(_SPEAKS)
    return query.where(~touched(statements)) if joined else query


def _assertion(row: Sequence[int], upto: int) -> AssertionRow:
    found = AssertionRow._make(row)
    return found if found.tx_to <= upto else found._replace(tx_to=OPEN)


def _assertions(connection: Connection, pairs: Iterable[Pair], upto: int) -> Iterator[AssertionRow]:
    wanted = list(pairs)
    spans: dict[int, tuple[int, ...]] = {row.claim: tuple(row) for row in rows_among(connection, _SPANS, {claim for _, claim in wanted})}
    return (_assertion((statement, *spans[claim]), upto) for statement, claim in wanted)
