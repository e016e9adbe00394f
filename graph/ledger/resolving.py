"""From changed claims to changed statements: which propositions a change touches, and which rectangles open and close."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from graph.ledger.bulk import BulkInsert
from graph.ledger.chunks import among, rows_among
from graph.ledger.evidence import Evidence, Place, Units, Visibility
from graph.ledger.schema import OPEN, statements
from ontology.names import Keys
from ontology.vocabulary import Vocabulary

_OPEN_STATEMENTS = select(statements.c.row, statements.c.base, statements.c.polarity, statements.c.v_from, statements.c.v_to).where(
    among(statements.c.base), statements.c.tx_to == OPEN
)
_CLOSE = update(statements).where(statements.c.row == bindparam("at")).values(tx_to=bindparam("end"))
_OPEN = BulkInsert(statements)


_NOTHING: Mapping[tuple[int, int], int] = {}


@dataclass(frozen=True, slots=True)
class Resolved:
    """How many rectangles a transaction opened and closed."""

    opened: int
    closed: int


class Touched:
    """Propositions and one-valued slots that changed claims bear on."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self.places: dict[str, Place] = {}
        self.rows: dict[str, Mapping[str, Any]] = {}

    def add(self, row: Mapping[str, Any]) -> None:
        """Note the proposition of a claim row (and what it speaks of, for new statements)."""
        proposition = row["proposition"]
        if proposition not in self.places:
            self.places[proposition] = Place(proposition, row["slot"], row["inverse_slot"], row["predicate"])
            self.rows[proposition] = row

    def load(self, changed: Iterable[Mapping[str, Any]]) -> None:
        """Load all that decides about what the changed claims touch.

        A change may, through corrections, reach other propositions; each of them reaches the one-valued slots that it stands
        in; and each proposition of those slots is decided by its other side's slot too, which is loaded but not reached.
        """
        replaced = set()
        for row in changed:
            self.add(row)
            if row["replaces_proposition"]:
                replaced.add(row["replaces_proposition"])
        self._load_slots(self.places.values())
        alone = [
            place.proposition
            for place in self.places.values()
            if not self._evidence.traits(place.predicate).one_valued or place.inverse_slot
        ]
        self._evidence.load_propositions({*alone, *replaced})
        self._note_loaded()
        if any(place.inverse_slot for place in self.places.values()):
            self._load_slots(self.places.values())
            self._note_loaded()
            reached = dict(self.places)
            self._load_slots(reached.values())
            self._evidence.close()

    def _note_loaded(self) -> None:
        for row in self._evidence.rows.values():
            if row.proposition not in self.places:
                self.add(dict(row._mapping))

    def _load_slots(self, places: Iterable[Place]) -> None:
        own, paired = set(), set()
        for place in places:
            one, other = self._evidence.traits(place.predicate), self._evidence.inverse_traits(place.predicate)
            if place.inverse_slot is None:
                if one.one_valued:
                    own.add(place.slot)
                continue
            if one.one_valued:
                paired.add(place.slot)
            if other.one_valued:
                paired.add(place.inverse_slot)
        self._evidence.load_slots(own, inverse=False)
        self._evidence.load_slots(paired, inverse=True)


def resolve(
    connection: Connection,
    keys: Keys,
    vocabulary: Vocabulary,
    namespace: str,
    transaction: int,
    changed: Collection[Mapping[str, Any]],
) -> Resolved:
    """Bring the stored rectangles in line with the claims that are visible now.

    `changed` are rows of believed claims that came into the set or left it with this transaction.
    """
    if not changed:
        return Resolved(0, 0)
    evidence = Evidence(connection, vocabulary, Visibility(transaction))
    touched = Touched(evidence)
    touched.load(changed)
    units = Units(evidence)
    stored: dict[tuple[str, bool], dict[tuple[int, int], int]] = {}
    for now in rows_among(connection, _OPEN_STATEMENTS, touched.places.keys()):
        stored.setdefault((now.base, now.polarity), {})[now.v_from, now.v_to] = now.row
    opened: list[dict[str, Any]] = []
    closed: list[dict[str, int]] = []
    for proposition, place in touched.places.items():
        row = touched.rows[proposition]
        for polarity, wanted in units.spans(place):
            have = stored.get((proposition, polarity), _NOTHING)
            closed += [{"at": at, "end": transaction} for span, at in have.items() if span not in wanted]
            opened += [_rectangle(keys, namespace, row, polarity, span, transaction) for span in wanted if span not in have]
    if closed:
        connection.execute(_CLOSE, closed)
    _OPEN(connection, opened)
    return Resolved(len(opened), len(closed))


def _rectangle(
    keys: Keys, namespace: str, row: Mapping[str, Any], polarity: bool, span: tuple[int, int], transaction: int
) -> dict[str, Any]:
    base = row["proposition"]
    return {
        "namespace": namespace,
        "proposition": base if polarity else keys.proposition(row["slot"], row["object"], False),
        "base": base,
        "slot": row["slot"],
        "inverse_slot": row["inverse_slot"],
        "subject": row["subject"],
        "predicate": row["predicate"],
        "qualifier": row["qualifier"],
        "object": row["object"],
        "object_is_literal": row["datatype"] is not None,
        "polarity": polarity,
        "v_from": span[0],
        "v_to": span[1],
        "tx_from": transaction,
        "tx_to": OPEN,
    }
