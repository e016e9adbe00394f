"""From changed claims to changed statements: which propositions a change touches, and which rectangles open and close."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from graph.ledger.bulk import BulkInsert
from graph.ledger.chunks import among, rows_among
from graph.ledger.evidence import Evidence, Units, load_slots
from graph.ledger.identity import Identity, Place, place_of
from graph.ledger.schema import OPEN, statements
from ontology.names import Keys

_OPEN_STATEMENTS = select(statements.c.row, statements.c.base, statements.c.polarity, statements.c.v_from, statements.c.v_to).where(
    among(statements.c.base), statements.c.tx_to == OPEN
)
_CLOSE = update(statements).where(statements.c.row == bindparam("at")).values(tx_to=bindparam("end"))
_OPEN = BulkInsert(statements)


_NOTHING: Mapping[tuple[int, int], list[int]] = {}


@dataclass(frozen=True, slots=True)
class Resolved:
    """How many rectangles a transaction opened and closed."""

    opened: int
    closed: int


class Touched:
    """Propositions and one-valued slots that a change bears on."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self.places: dict[str, Place] = {}

    def load(self, changed: Iterable[Place], replaced: Collection[Place]) -> None:
        """Load all that decides about what changed: propositions, and those that its corrections replace.

        A change may, through corrections, reach other propositions; each of them reaches the one-valued slots that it stands
        in; and each proposition of those slots is decided by its other side's slot too, which is loaded but not reached.
        """
        for place in changed:
            self.places.setdefault(place.proposition, place)
        load_slots(self._evidence, self.places.values())
        alone = [place for place in self.places.values() if not self._evidence.traits(place.predicate).one_valued or place.inverse_slot]
        self._evidence.load_propositions([*alone, *replaced])
        self._note_loaded()
        if any(place.inverse_slot for place in self.places.values()):
            # Others stand in one slot, which is loaded.
            load_slots(self._evidence, [place for place in self.places.values() if place.inverse_slot])
            self._note_loaded()
            load_slots(self._evidence, [place for place in self.places.values() if place.inverse_slot])
            self._evidence.close()

    def _note_loaded(self) -> None:
        for row in self._evidence.rows.values():
            if row.proposition not in self.places:
                self.places[row.proposition] = place_of(row)


def resolve(
    connection: Connection,
    keys: Keys,
    namespace: str,
    transaction: int,
    evidence: Evidence,
    changed: Collection[Place],
    replaced: Collection[Place],
    literals: Mapping[str, bool],
) -> Resolved:
    """Bring the stored rectangles in line with the claims that are visible now.

    `changed` are the places, as `evidence` reads them, of what came into the set, left it or denotes something else with this
    transaction, `replaced` those that its corrections name. `literals` tell of objects' keys whether they are literals.
    """
    if not changed:
        return Resolved(0, 0)
    touched = Touched(evidence)
    touched.load(changed, replaced)
    units = Units(evidence)
    stored = _stored(connection, evidence.identity, touched.places)
    kinds = {row.object: row.datatype is not None for row in evidence.rows.values()} | dict(literals)
    opened: list[dict[str, Any]] = []
    closed: list[dict[str, int]] = []
    for proposition, place in touched.places.items():
        for polarity, wanted in units.spans(place):
            have = stored.get((proposition, polarity), _NOTHING)
            closed += [{"at": at, "end": transaction} for span, rows in have.items() for at in (rows[1:] if span in wanted else rows)]
            opened += [
                _rectangle(keys, namespace, evidence.told(place), kinds.get(place.object, False), polarity, span, transaction)
                for span in wanted
                if span not in have
            ]
    if closed:
        connection.execute(_CLOSE, closed)
    # The feed of changes tells them in the order of their rows: newest first, as statements are listed, then as they were told.
    opened.sort(key=lambda row: -row["v_from"])
    _OPEN(connection, opened)
    return Resolved(len(opened), len(closed))


def _stored(
    connection: Connection, identity: Identity, places: Mapping[str, Place]
) -> dict[tuple[str, bool], dict[tuple[int, int], list[int]]]:
    """The rows of open rectangles by proposition, polarity and span, the oldest first.

    They may be stored under any keys of the proposition's entities; where two were one by then, twice.
    """
    under = {key: proposition for proposition, place in places.items() for key in identity.kept_under(place)}
    stored: dict[tuple[str, bool], dict[tuple[int, int], list[int]]] = {}
    for now in rows_among(connection, _OPEN_STATEMENTS, under.keys()):
        spans = stored.setdefault((under[now.base], now.polarity), {})
        spans.setdefault((now.v_from, now.v_to), []).append(now.row)
    for spans in stored.values():
        for rows in spans.values():
            rows.sort()
    return stored


def _rectangle(
    keys: Keys, namespace: str, place: Place, literal: bool, polarity: bool, span: tuple[int, int], transaction: int
) -> dict[str, Any]:
    return {
        "namespace": namespace,
        "proposition": place.proposition if polarity else keys.denial(place.proposition),
        "base": place.proposition,
        "slot": place.slot,
        "inverse_slot": place.inverse_slot,
        "subject": place.subject,
        "predicate": place.predicate,
        "qualifier": place.qualifier,
        "object": place.object,
        "object_is_literal": literal,
        "polarity": polarity,
        "v_from": span[0],
        "v_to": span[1],
        "tx_from": transaction,
        "tx_to": OPEN,
    }
