"""Since when the evidence under a said-time limit has said what it says on a basis, told without a replay from the beginning.

What is believed of a proposition can only change with a transaction that changes a claim which bears on it. So these are gone
through backwards, no further than what is asked about was believed, over claims that are read once. A proposition that had one such
transaction needs nothing to be resolved.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property

from sqlalchemy import Connection

from graph.ledger.bulk_evidence import BulkEvidence
from graph.ledger.evidence import Evidence, Units
from graph.ledger.identity import ClaimRow, Identity, KnownIdentity, Place, Visibility
from graph.ledger.rectangles import Rectangle, load, read_as
from graph.ledger.told_identity import EverJoined, ToldIdentity
from ontology.errors import QueryTooComplex
from ontology.instant import Instant
from ontology.vocabulary import Vocabulary

BUDGET = 200_000
"""Most claims that are weighed again for one answer, each as often as it is; some 5 s."""

Replay = Callable[[Collection[Place]], Collection[Rectangle]]
"""Every rectangle that some propositions had up to the basis."""
Value = tuple[bool, Instant, Instant]
"""Polarity, and from when to when."""


class Beginnings:
    """First transactions of what is believed on one basis. What has been read is kept for what is asked next."""

    def __init__(
        self, connection: Connection, vocabulary: Vocabulary, identity: Identity, transaction: int, said_until: Instant, replay: Replay
    ) -> None:
        """`identity` is that of the basis. `replay` answers of what names speak of that came to denote something else."""
        self._connection = connection
        self._vocabulary = vocabulary
        self._identity = identity
        self._transaction = transaction
        self._said_until = said_until
        self._replay = replay
        self._pasts: dict[str, _Past | None] = {}
        self._weighed = 0

    def of(self, rows: Collection[Rectangle]) -> dict[Rectangle, int]:
        """The transactions since when the evidence has always said so, of rectangles that are believed on the basis.

        Raises QueryTooComplex where more claims than the budget have to be weighed again.
        """
        self._identity.load({key for row in rows for key in (row.subject, row.object)})
        read = {row: read_as(self._identity, row) for row in rows}
        fresh = {now.base: now.place for now in read.values() if now.base not in self._pasts}
        if fresh:
            self._look_up(fresh)
        found = {}
        for row, now in read.items():
            past = self._pasts[now.base]
            value = (now.polarity, now.v_from, now.v_to)
            found[row] = self._replayed(now.place, value) if past is None else past.begun(now.place, value, self._count)
        return found

    def _replayed(self, place: Place, value: Value) -> int:
        base = self._identity.here(place).proposition
        same = (row for row in self._replay([place]) if (row.base, row.polarity, row.v_from, row.v_to) == (base, *value))
        found: int = next(row.tx_from for row in same if row.tx_to > self._transaction)
        return found

    def _look_up(self, places: Mapping[str, Place]) -> None:
        """Read all claims that ever bore on some propositions, and which of them bear on each other."""
        identity = self._identity
        visibility = Visibility(self._transaction, self._said_until, ever=True)
        of = (self._connection, identity.keys, identity.namespace, self._vocabulary, visibility)
        joined = EverJoined(*of, KnownIdentity(empty=True) if identity.nothing_joined else None)
        joined.load({key for place in places.values() for key in (place.subject, place.object)})
        evidence = _Ever(self._connection, self._vocabulary, visibility, joined)
        load(evidence, list(map(joined.here, places.values())))
        nobody = ToldIdentity(*of, KnownIdentity(empty=True))
        groups = _Groups()
        for row in evidence.every.values():
            groups.join(row.proposition, _linked(evidence, row))
        told: dict[str, list[ClaimRow]] = defaultdict(list)
        for row in evidence.every.values():
            told[groups.of(row.proposition)].append(row)
        pasts: dict[str, _Past | None] = {}
        for group, rows in told.items():
            moved = not joined.trivial and any(joined.concerns(key) for row in rows for key in _named(row))
            by = (self._connection, self._vocabulary, nobody, self._transaction, self._said_until)
            pasts[group] = None if moved else _Past(rows, *by)
        for base, place in places.items():
            self._pasts[base] = pasts.get(groups.of(joined.here(place).proposition))

    def _count(self, more: int) -> None:
        self._weighed += more
        if self._weighed > BUDGET:
            raise QueryTooComplex(
                f"more than {BUDGET:,} claims would have to be weighed again to tell, with `evidenceUntil`, when this was first said: "
                "ask for fewer statements, or without `transactionTime`"
            )


class _Past:
    """All claims that ever bore on some propositions that bear on each other, under names that always denoted themselves."""

    def __init__(
        self,
        rows: Collection[ClaimRow],
        connection: Connection,
        vocabulary: Vocabulary,
        identity: Identity,
        transaction: int,
        said_until: Instant,
    ) -> None:
        self._rows = rows
        self._by = (connection, vocabulary)
        self._identity = identity
        self._said_until = said_until
        self._moments: list[int] = sorted({at for row in rows for at in (row.tx_from, row.tx_to) if at <= transaction}, reverse=True)
        self._units: dict[int, Units] = {}

    @cached_property
    def _first(self) -> Mapping[str, int]:
        """The transaction of the first claim on each proposition: before it nothing was said of that."""
        found: dict[str, int] = {}
        for row in self._rows:
            found[row.proposition] = min(row.tx_from, found.get(row.proposition, row.tx_from))
        return found

    def begun(self, place: Place, value: Value, count: Callable[[int], None]) -> int:
        """The transaction since when a value has always been believed. `count` is told of claims that are weighed again."""
        first, *earlier = self._moments
        for moment in earlier:
            if moment < self._first[place.proposition] or value not in self._values(place, moment, count):
                break
            first = moment
        return first

    def _values(self, place: Place, moment: int, count: Callable[[int], None]) -> set[Value]:
        units = self._units.get(moment)
        if units is None:
            rows = [row for row in self._rows if row.tx_from <= moment < row.tx_to]
            count(len(rows))
            evidence = BulkEvidence(*self._by, Visibility(moment, self._said_until), self._identity)
            evidence.take(rows)
            units = self._units[moment] = Units(evidence)
        return {(polarity, *span) for polarity, spans in units.spans(place) for span in spans}


class _Ever(BulkEvidence):
    """Claims that ever counted, as often as they came into the set."""

    def __init__(self, connection: Connection, vocabulary: Vocabulary, visibility: Visibility, identity: Identity) -> None:
        super().__init__(connection, vocabulary, visibility, identity)
        self.every: dict[int, ClaimRow] = {}

    def _add(self, rows: Iterable[ClaimRow], belongs: Callable[[ClaimRow], bool]) -> list[ClaimRow]:
        found = super()._add(rows, belongs)
        self.every |= {row.row: row for row in found}
        return found


class _Groups:
    """Propositions that may bear on each other: of one slot, or named by one correction."""

    def __init__(self) -> None:
        self._above: dict[str, str] = {}

    def of(self, key: str) -> str:
        """What is the same for all propositions and slots of a group."""
        above = self._above
        while (parent := above.setdefault(key, key)) != key:
            above[key] = above[parent]
            key = parent
        return key

    def join(self, key: str, others: Iterable[str]) -> None:
        """Make one group of what some keys belong to."""
        mine = self.of(key)
        for other in others:
            self._above[self.of(other)] = mine


def _linked(evidence: Evidence, row: ClaimRow) -> Iterator[str]:
    """What else a claim bears on than its own proposition: one-valued slots, and what it corrects."""
    if evidence.traits(row.predicate).one_valued:
        yield row.slot
    if row.inverse_slot and evidence.inverse_traits(row.predicate).one_valued:
        yield row.inverse_slot
    if row.replaces_proposition is not None:
        yield row.replaces_proposition


def _named(row: ClaimRow) -> Iterator[str]:
    return (key for key in (row.subject, row.object, row.replaces_subject, row.replaces_object) if key is not None)
