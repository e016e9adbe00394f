"""What the claims said by an instant make of a whole namespace: what they leave as it is stored, and the rest resolved again.

A slot without a claim said later is as stored. Where identity claims were said later, all that names what they speak of is
resolved again too: under the limit it may be of other entities.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, and_, bindparam, select

from graph.ledger.bulk_evidence import BULK, PLACES, BulkEvidence, in_bulk, placed
from graph.ledger.chunks import among, rows_among
from graph.ledger.evidence import IN_SET, Units, replaced_place
from graph.ledger.identity import ClaimRow, Identity, Place, Visibility, place_of
from graph.ledger.rectangles import Rectangle, load
from graph.ledger.resolving import Touched
from graph.ledger.schema import OPEN, claims, episodes
from graph.ledger.told_identity import OF_IDENTITY, ToldIdentity
from ontology.errors import QueryTooComplex
from ontology.instant import UNBOUNDED_FUTURE, Instant
from ontology.names import Keys
from ontology.vocabulary import Vocabulary

BUDGET = 500_000
"""Most claims that one resolution looks at: those said later and those that are read again beside them."""
TOGETHER = 2_000
"""Claims said later whose slots are resolved together; more take more memory and no less time."""

_LATER = (
    select(*PLACES)
    # By the episodes: of claims alone no index leads to those of a namespace.
    .join_from(episodes, claims, and_(claims.c.episode == episodes.c.key, claims.c.revision == episodes.c.revision))
    .where(episodes.c.namespace == bindparam("namespace"), episodes.c.said > bindparam("said_until"), *IN_SET)
    .order_by(claims.c.slot)
)
# With an end of the range the partial index serves.
_IDENTITY_LATER = select(claims.c.subject, claims.c.object, claims.c.replaces_subject, claims.c.replaces_object).where(
    OF_IDENTITY, claims.c.subject >= "", claims.c.namespace == bindparam("namespace"), claims.c.said > bindparam("said_until"), *IN_SET
)
_NAMING = tuple(
    select(*BULK).where(among(column), claims.c.namespace == bindparam("namespace"), *IN_SET)
    for column in (claims.c.subject, claims.c.object)
)


@dataclass(frozen=True, slots=True)
class Resolution:
    """A namespace at a transaction under a said-time limit, as far as it is not as stored.

    `gone` are the keys (`statements.base`) under which the stored rectangles do not count. `rectangles` stand in their place, in
    terms of the entities under the limit: affirmations and denials, over all valid time. Their `tx_from` is the transaction of
    the basis, not the one that first said so: `replayed` tells that of the few that are shown. Where what was believed before
    counts too (`Gathered.past`) they have been replayed all, and their lives are their own.

    `renamed` are the keys of names that may denote something else under the limit than as stored; all that stands on any of them is in
    `gone` or `rectangles`, all other names denote what the tables say. `read` tells of the claims that mention one and were said
    by the limit, by their rows, on which proposition (`Rectangle.base`) they stand.
    """

    gone: frozenset[str] = frozenset()
    rectangles: tuple[Rectangle, ...] = ()
    renamed: frozenset[str] = frozenset()
    read: Mapping[int, str] = field(default_factory=dict)


AS_STORED = Resolution()
"""Nothing was said later."""


def resolved(
    connection: Connection, keys: Keys, vocabulary: Vocabulary, identity: Identity, transaction: int, said_until: Instant
) -> Resolution:
    """What the claims said by an instant make of the namespace of `identity`, which is the one stored at the transaction.

    Raises QueryTooComplex where more claims than the budget have to be looked at.
    """
    resolving = _Resolving(connection, keys, vocabulary, identity, transaction, said_until)
    resolving.rename()
    resolving.resolve()
    return Resolution(frozenset(resolving.gone), tuple(resolving.rectangles), frozenset(resolving.renamed), resolving.read)


class _Resolving:
    """One resolution while it is made."""

    def __init__(
        self, connection: Connection, keys: Keys, vocabulary: Vocabulary, identity: Identity, transaction: int, said_until: Instant
    ) -> None:
        self._connection = connection
        self._keys = keys
        self._vocabulary = vocabulary
        self._identity = identity
        self._transaction = transaction
        self._now = Visibility(transaction, UNBOUNDED_FUTURE)
        self._then = Visibility(transaction, said_until)
        self._values = {"namespace": identity.namespace, **self._then.values}
        self._looked_at = 0
        self._done: set[str] = set()
        self.gone: set[str] = set()
        self.rectangles: list[Rectangle] = []
        self.renamed: set[str] = set()
        self.read: dict[int, str] = {}

    def rename(self) -> None:
        """Resolve what stands on names that identity claims said later speak of, before and under the limit."""
        named = {key for row in self._connection.execute(_IDENTITY_LATER, self._values) for key in _named(row)}
        if not named:
            return
        of = (self._connection, self._keys, self._identity.namespace, self._vocabulary)
        whole = ToldIdentity(*of, self._now)
        whole.load(named)
        self.renamed = set(whole.known)
        then = ToldIdentity(*of, self._then)
        then.load(self.renamed)
        rows = list({row.row: row for query in _NAMING for row in self._among(query, self.renamed)}.values())
        self._count(len(rows))
        # The other names that they mention may be joined too, whatever the limit.
        then.load({key for row in rows for key in _named(row)})
        told = [row for row in rows if row.said <= self._then.said_until]
        self.read = {row.row: then.settled(row).proposition for row in told}
        before = self._touched(BulkEvidence(self._connection, self._vocabulary, self._now, self._identity), rows)
        evidence = BulkEvidence(self._connection, self._vocabulary, self._then, then)
        places = self._touched(evidence, told)
        # What names none of them stands where it stood, and is resolved by what is said of it under the limit.
        both = {base: place for base, place in {**before, **places}.items() if not self.renamed & {place.subject, place.object}}
        load(evidence, list(both.values()))
        self._gone({**before, **both}.values())
        self._make(evidence, {**places, **both}.values())
        self._done |= before.keys()

    def _among(self, query: Any, keys: Collection[str]) -> Iterable[ClaimRow]:
        return in_bulk(rows_among(self._connection, query, keys, **self._values))

    def resolve(self) -> None:
        """Resolve all slots in which a claim was said later, some at a time."""
        # Closed also where the budget is spent: what is left unread would keep the connection in its transaction.
        with closing(self._later()) as parts:
            for later in parts:
                self._count(len(later))
                if self.renamed:
                    later = [row for row in later if row.subject not in self.renamed and row.object not in self.renamed]
                evidence = BulkEvidence(self._connection, self._vocabulary, self._then, self._identity)
                touched = self._touched(evidence, later)
                places = [place for base, place in touched.items() if base not in self._done]
                self._gone(places)
                self._make(evidence, places)

    def _later(self) -> Generator[list[ClaimRow], None, None]:
        """The claims said later, those of one slot together."""
        with self._connection.execute(_LATER, self._values, execution_options={"yield_per": TOGETHER}) as found:
            part: list[ClaimRow] = []
            for _, rows in groupby(placed(found), attrgetter("slot")):
                part += rows
                if len(part) >= TOGETHER:
                    yield part
                    part = []
            if part:
                yield part

    def _touched(self, evidence: BulkEvidence, rows: Collection[ClaimRow]) -> dict[str, Place]:
        """What some claims bear on, as the evidence reads them; loaded, and counted."""
        identity = evidence.identity
        if not identity.nothing_joined:
            identity.load({key for row in rows for key in _named(row)})
        settled = list(map(identity.settled, rows))
        changed = {row.proposition: row for row in settled}
        touched = Touched(evidence)
        touched.load(map(place_of, changed.values()), [place for row in settled if (place := replaced_place(row)) is not None])
        self._count(len(evidence.rows))
        return touched.places

    def _gone(self, places: Iterable[Place]) -> None:
        if self._identity.nothing_joined:
            self.gone.update(place.proposition for place in places)
        else:
            self.gone.update(key for place in places for key in self._identity.kept_under(place))

    def _make(self, evidence: BulkEvidence, places: Iterable[Place]) -> None:
        """The rectangles of propositions that have none yet."""
        units = Units(evidence)
        items = evidence.items
        for place in places:
            base = place.proposition
            if base in self._done:
                continue
            self._done.add(base)
            if base not in items:
                # The commonest: all that is said of it was said later.
                continue
            where = (base, place.slot, place.inverse_slot, place.subject, place.predicate, place.qualifier, place.object)
            for polarity, spans in units.spans(place):
                if spans:
                    key = base if polarity else self._keys.denial(base)
                    self.rectangles += [Rectangle(key, *where, polarity, *span, self._transaction, OPEN) for span in spans]

    def _count(self, more: int) -> None:
        self._looked_at += more
        if self._looked_at > BUDGET:
            raise QueryTooComplex(
                f"more than {BUDGET:,} claims would have to be read again to leave out what was said after `evidenceUntil`; "
                "ask with a later one, or about single entities"
            )


def _named(row: Any) -> Iterator[str]:
    """The keys that a claim names, those of literals too."""
    return (key for key in (row.subject, row.object, row.replaces_subject, row.replaces_object) if key is not None)
