"""What the evidence of a whole namespace says: until when all that is open was attested, and what is contested when.

One pass over the claims as columns, and of what these do not settle another over the claims themselves. Where that is most of all, over
all of them, a part at a time: of one slot all together, or of a predicate that is kept from both sides, since there corrections may
lead on from slot to slot.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, or_, select

from graph.belief.lasting import last_attested
from graph.ledger import claim_columns
from graph.ledger.bulk_evidence import BULK, PLACES, BulkEvidence, in_bulk, placed
from graph.ledger.chunks import among, rows_among
from graph.ledger.claim_columns import VISIBLE
from graph.ledger.evidence import Units, replaced_place
from graph.ledger.identity import ClaimRow, Identity, Place, Visibility, place_of
from graph.ledger.plain_evidence import plain
from graph.ledger.rectangles import load
from graph.ledger.resolving import Touched
from graph.ledger.schema import claims
from graph.ledger.told_identity import OF_IDENTITY
from ontology.errors import QueryTooComplex
from ontology.instant import UNBOUNDED_FUTURE, Instant
from ontology.vocabulary import Vocabulary

BUDGET = 2_000_000
"""Most claims that one survey looks at; a million take 10 seconds of CPU and 1.5 GB, half of which is kept."""
TOGETHER = 500
"""Claims that are looked at together, if their slots have no more: more take more memory and no less time."""
MOST_APART = 0.5
"""Share of the claims up to which those that columns do not settle are looked up; of more all are read through."""
MOST_CHANGED = 50_000
"""Changed claims up to which a survey is carried forward to another transaction: looking anew at what more touch takes no less time."""

_PAIRED = select(claims.c.predicate).distinct().where(claims.c.inverse_slot.is_not(None), *VISIBLE)
_ALONE = select(*BULK).where(claims.c.predicate.not_in(bindparam("paired", expanding=True)), *VISIBLE).order_by(claims.c.slot)
_OF_PREDICATE = select(*BULK).where(claims.c.predicate == bindparam("predicate"), *VISIBLE)
_PLACED = select(*PLACES).where(among(claims.c.row))
# With an end of the range the partial index serves.
_NAMED = select(claims.c.subject, claims.c.object, claims.c.replaces_subject, claims.c.replaces_object).where(
    OF_IDENTITY, claims.c.subject >= "", *VISIBLE
)


def _between(column: ColumnElement[int]) -> ColumnElement[bool]:
    return and_(column > bindparam("before"), column <= bindparam("transaction"))


_CHANGED = (
    select(*BULK)
    .where(
        claims.c.namespace == bindparam("namespace"),
        claims.c.believed,
        or_(_between(claims.c.tx_from), _between(claims.c.tx_to)),
        claims.c.tx_from < claims.c.tx_to,
    )
    .limit(MOST_CHANGED + 1)
)

Value = tuple[str, bool]
"""A proposition's key, as the basis reads it, and a polarity."""
Span = tuple[Instant, Instant]
Opened = Mapping[Value, Instant]
"""Since when each value holds that holds without end."""


@dataclass(slots=True)
class Found:
    """`attested`: of values that hold without end, when evidence last attested them (`StatementView.last_attested_at`). `contested`:
    the spans in which a value is held against evidence to the contrary; outside its intervals they say nothing.
    """

    attested: dict[Value, Instant] = field(default_factory=dict)
    contested: dict[Value, tuple[Span, ...]] = field(default_factory=dict)

    def look(self, evidence: BulkEvidence, places: Iterable[Place], opened: Opened) -> None:
        """Take in what loaded evidence says of some propositions."""
        units = Units(evidence)
        for place in places:
            base = place.proposition
            starts = [(polarity, start) for polarity in (True, False) if (start := opened.get((base, polarity))) is not None]
            atom = units.sole(place)
            if atom is not None:
                # The commonest: nothing stands beside a single piece of evidence.
                self.attested |= {(base, polarity): last_attested((atom,), start, UNBOUNDED_FUTURE) for polarity, start in starts}
                continue
            for polarity, start in starts:
                self.attested[base, polarity] = units.last_attested(place, polarity, start)
            for unit in units.both(place):
                if unit.contested:
                    for value in ((base, True), (base, False)):
                        if spans := unit.contested.get(value):
                            self.contested[value] = (*self.contested.get(value, ()), *spans)

    def without(self, places: Mapping[str, Place]) -> Found:
        """The same, as long as nothing is said of some propositions."""
        return Found(
            {value: at for value, at in self.attested.items() if value[0] not in places},
            {value: spans for value, spans in self.contested.items() if value[0] not in places},
        )


class Surveyor:
    """Looks at the evidence of one namespace on one basis."""

    def __init__(self, connection: Connection, vocabulary: Vocabulary, visibility: Visibility, identity: Identity) -> None:
        self._connection = connection
        self._vocabulary = vocabulary
        self._visibility = visibility
        self._identity = identity
        self._values = {"namespace": identity.namespace, **visibility.values}
        self._looked_at = 0

    def concerned(self) -> set[str]:
        """The keys that may denote something else than themselves; all that bears on them is loaded then."""
        if self._identity.nothing_joined:
            return set()
        named = {key for row in self._connection.execute(_NAMED, self._values) for key in row if key is not None}
        self._identity.load(named)
        return self._identity.concerned()

    def everything(self, opened: Opened) -> Found:
        """All propositions: most as columns, the others one by one. Raises QueryTooComplex where that are more claims than the budget."""
        concerned = self.concerned()
        evidence = claim_columns.read(self._connection, self._values, concerned, BUDGET - self._looked_at)
        if evidence is None:
            raise _too_many()
        known = evidence.propositions.of
        if not known:
            return Found()
        starts = np.full(2 * len(known), UNBOUNDED_FUTURE, np.int64)
        numbers = [2 * known.get(base, -1) + (not positive) for base, positive in opened]
        number = np.array(numbers, np.int64)
        known_here = number >= 0
        starts[number[known_here]] = np.fromiter(opened.values(), np.int64, len(opened))[known_here]
        found = plain(evidence, self._vocabulary, starts)
        apart = found.apart.copy()
        apart[number[known_here & ~found.settled[number]] // 2] = True
        aside = apart[evidence.proposition]
        if np.count_nonzero(aside) > len(evidence) * MOST_APART:
            return self.one_by_one(opened)
        told = known_here & found.settled[number] & ~apart[number // 2]
        attested = found.attested[number].tolist()
        all_told = Found({value: attested[place] for place, value in enumerate(opened) if told[place]})
        # Of what may denote several things each claim is read by itself.
        firsts = np.unique(np.where(aside & ~evidence.apart, evidence.proposition, -1), return_index=True)[1]
        rows = np.concatenate([firsts[aside[firsts]], np.flatnonzero(evidence.apart)])
        self._take_apart(all_told, np.unique(evidence.row[rows]).tolist(), opened)
        return all_told

    def _take_apart(self, found: Found, rows: Collection[int], opened: Opened) -> None:
        """Take in what is said of the propositions of some claims, a part at a time."""
        told = list(placed(rows_among(self._connection, _PLACED, rows)))
        self._identity.load({key for row in told for key in (row.subject, row.object)})
        places = {place.proposition: place for place in map(place_of, map(self._identity.settled, told))}
        ordered = sorted(places.values(), key=lambda place: (place.predicate, place.slot, place.proposition))
        for start in range(0, len(ordered), TOGETHER):
            part = ordered[start : start + TOGETHER]
            evidence = self._evidence()
            load(evidence, part)
            found.look(evidence, part, opened)

    def one_by_one(self, opened: Opened) -> Found:
        """The same without columns: quicker where most claims bear on each other."""
        found = Found()
        paired = sorted(self._connection.scalars(_PAIRED, self._values))
        with closing(self._parts(paired)) as parts:
            for part in parts:
                evidence = self._evidence()
                evidence.take(part)
                found.look(evidence, {row.proposition: place_of(row) for row in evidence.rows.values()}.values(), opened)
        return found

    def some(self, places: Collection[Place], opened: Opened) -> Found:
        """Some propositions, as the basis reads them."""
        evidence = self._evidence()
        load(evidence, places)
        self._count(len(evidence.rows))
        found = Found()
        found.look(evidence, places, opened)
        return found

    def carried(self, earlier: Found, before: int, opened: Opened) -> Found | None:
        """What was found at an earlier transaction, looked at again where claims have come and gone since; None: too many have.

        Only where everybody was then who they are now.
        """
        changed = list(in_bulk(self._connection.execute(_CHANGED, {**self._values, "before": before})))
        if len(changed) > MOST_CHANGED:
            return None
        self._count(len(changed))
        self._identity.load({key for row in changed for key in (row.subject, row.object)})
        settled = list(map(self._identity.settled, changed))
        evidence = self._evidence()
        touched = Touched(evidence)
        replaced = [place for row in settled if (place := replaced_place(row)) is not None]
        touched.load({row.proposition: place_of(row) for row in settled}.values(), replaced)
        self._count(len(evidence.rows))
        found = earlier.without(touched.places)
        found.look(evidence, touched.places.values(), opened)
        return found

    def _evidence(self) -> BulkEvidence:
        return BulkEvidence(self._connection, self._vocabulary, self._visibility, self._identity)

    def _parts(self, paired: list[str]) -> Generator[list[ClaimRow], None, None]:
        """All visible claims in parts that bear on no other part."""
        concerned = self.concerned()
        apart: list[ClaimRow] = []
        part: list[ClaimRow] = []
        for _, rows in groupby(self._rows(_ALONE, {"paired": paired}), attrgetter("slot")):
            slot = list(rows)
            if slot[0].subject in concerned:
                # Others may stand in its slot as the basis reads them.
                apart += slot
                continue
            part += slot
            if len(part) >= TOGETHER:
                yield part
                part = []
        yield part
        yield from self._by_slot(apart)
        for predicate in paired:
            yield list(self._rows(_OF_PREDICATE, {"predicate": predicate}))

    def _by_slot(self, rows: list[ClaimRow]) -> Iterator[list[ClaimRow]]:
        slots = {row.row: self._identity.settled(row).slot for row in rows}
        rows.sort(key=lambda row: slots[row.row])
        part: list[ClaimRow] = []
        for _, mine in groupby(rows, lambda row: slots[row.row]):
            part += mine
            if len(part) >= TOGETHER:
                yield part
                part = []
        yield part

    def _rows(self, query: Select[Any], values: Mapping[str, Any]) -> Iterator[ClaimRow]:
        with self._connection.execute(query, {**self._values, **values}, execution_options={"yield_per": TOGETHER}) as found:
            for rows in found.partitions():
                self._count(len(rows))
                yield from in_bulk(rows)

    def _count(self, more: int) -> None:
        self._looked_at += more
        if self._looked_at > BUDGET:
            raise _too_many()


def _too_many() -> QueryTooComplex:
    return QueryTooComplex(f"more than {BUDGET:,} claims would have to be weighed; filter by subjects or predicates")
