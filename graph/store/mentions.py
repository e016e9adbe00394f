"""ASSERTED_IN edges where names denote something else than themselves: pairs found through who is who.

A pair is read as of the transaction that makes it, which is when the later of its two came: so a history gives the same pairs
however it is divided, and none has to be looked at again. A join or a split that leaves a statement as it is changes none of
its edges; what it opens has all of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, bindparam, exists, or_, select

from graph.ledger.chunks import among, rows_among
from graph.ledger.details import VocabularyAt
from graph.ledger.identity import Identity, Place, place_of
from graph.ledger.schema import claims, components, denotations, statements
from graph.ledger.standing import standing
from graph.ledger.stored_identity import StoredIdentity
from ontology.claim import ClaimKind
from ontology.names import Keys

_TOLD = select(claims).where(claims.c.believed)
_TOLD_UNDER = _TOLD.where(among(claims.c.proposition), standing(claims))
_KEPT_UNDER = select(statements.c.row, statements.c.base, statements.c.polarity).where(
    among(statements.c.base), statements.c.tx_from < bindparam("transaction"), statements.c.tx_to > bindparam("transaction")
)

Pair = tuple[int, int]
"""Row numbers of a statement and a claim."""


def touched(table: Any) -> ColumnElement[bool]:
    """Rows of claims or statements about something that ever was joined or split."""
    places = (components.c.member, denotations.c.key, denotations.c.target)
    return or_(*[exists().where(place == side) for side in (table.c.subject, table.c.object) for place in places])


def anything_joined(connection: Connection, transaction: int) -> bool:
    """Whether anything was joined or split by a transaction, in whatever namespace."""
    tables = (components, denotations)
    return any(connection.execute(select(table.c.row).where(table.c.tx_from <= transaction).limit(1)).first() for table in tables)


class Mentions:
    """Finds the pairs of statements and claims about what was joined or split."""

    def __init__(self, keys: Keys, vocabulary_at: VocabularyAt) -> None:
        self._keys, self._vocabulary_at = keys, vocabulary_at

    def of_statements(self, connection: Connection, ours: ColumnElement[bool]) -> Iterator[Pair]:
        """Pairs of the statements selected with claims that stood when they were opened."""
        opened = connection.execute(select(statements).where(ours, touched(statements))).all()
        for transaction, identity, rows in self._by_transaction(connection, opened):
            places = {row.row: identity.here(_stored(row)) for row in rows}
            identity.load({key for place in places.values() for key in (place.subject, place.object)})
            told = {key for place in places.values() for key in identity.told_under(place)}
            found = list(rows_among(connection, _TOLD_UNDER, told, transaction=transaction))
            identity.load({key for row in found for key in (row.subject, row.object)})
            speaking: dict[str, list[Row[Any]]] = defaultdict(list)
            for claim in found:
                speaking[identity.settled(claim).proposition].append(claim)
            for row in rows:
                for claim in speaking[places[row.row].proposition]:
                    if _speaks(claim, row.polarity):
                        yield row.row, claim.row

    def of_claims(self, connection: Connection, after: int, upto: int) -> Iterator[Pair]:
        """Pairs of the claims of the transactions `(after, upto]` with statements that stood when they came."""
        new = _TOLD.where(claims.c.tx_from > after, claims.c.tx_from <= upto, claims.c.tx_to > claims.c.tx_from, touched(claims))
        for transaction, identity, rows in self._by_transaction(connection, connection.execute(new).all()):
            under: dict[str, list[Row[Any]]] = defaultdict(list)
            for claim in rows:
                for key in identity.kept_under(place_of(identity.settled(claim))):
                    under[key].append(claim)
            for row in rows_among(connection, _KEPT_UNDER, under.keys(), transaction=transaction):
                for claim in under[row.base]:
                    if _speaks(claim, row.polarity):
                        yield row.row, claim.row

    def _by_transaction(self, connection: Connection, rows: Iterable[Row[Any]]) -> Iterator[tuple[int, Identity, Sequence[Row[Any]]]]:
        """The rows that came with each transaction, and who was who then: a transaction belongs to one namespace."""
        found: dict[tuple[int, str], list[Row[Any]]] = defaultdict(list)
        for row in rows:
            found[row.tx_from, row.namespace].append(row)
        for (transaction, namespace), mine in sorted(found.items()):
            identity = StoredIdentity(connection, self._keys, namespace, self._vocabulary_at(transaction), transaction)
            identity.load({key for row in mine for key in (row.subject, row.object)})
            yield transaction, identity, mine


def _stored(row: Row[Any]) -> Place:
    return Place(row.base, row.slot, row.inverse_slot, row.predicate, row.subject, row.qualifier, row.object)


def _speaks(claim: Row[Any], polarity: bool) -> bool:
    """Whether a claim speaks for a proposition or its denial; what tells an end speaks for both (`evidence.TELLS_AN_END`)."""
    over = claim.from_lo is None and claim.to_hi is not None and claim.to_hi <= claim.said
    return claim.polarity == polarity or claim.kind == ClaimKind.END or (claim.kind == ClaimKind.STATE and over)
