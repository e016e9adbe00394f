"""Why a statement stopped holding: the detector that fired and the claim that decided it, or the transaction that withdrew it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy import Connection, or_, select

from graph.belief.identity import IDENTITY
from graph.belief.items import Atom
from graph.belief.turning import Turning, displaced
from graph.ledger.evidence import Evidence, Units
from graph.ledger.identity import ClaimRow, Identity, Place, place_of
from graph.ledger.rectangles import Rectangle
from graph.ledger.schema import claims, transactions
from graph.views import Reason
from ontology.instant import UNBOUNDED_FUTURE, Instant


@dataclass(frozen=True, slots=True)
class Ending:
    """`by` is the (proposition, polarity) that took over at `at`, as known at transaction `shown`; `claim` what says so.

    `decided` is the transaction since which that is believed: without a claim the one that withdrew what the statement rested on.
    """

    reason: Reason
    rule: str
    by: tuple[Place, bool] | None
    claim: ClaimRow | None
    at: Instant
    decided: int
    shown: int

    @property
    def withdrawn(self) -> bool:
        """Whether no words ended it: what it rested on was withdrawn, or who is who has changed."""
        return self.rule in WITHDRAWING


WITHDRAWING = frozenset({"retraction", "rejection", "revision", "re-extraction", "joined", "split", "parted", "vocabulary"})
"""The rules by which a statement ends without words about it."""


class Scenes(Protocol):
    """Evidence as of a transaction."""

    @property
    def connection(self) -> Connection: ...

    def scene(self, transaction: int, shown: Collection[Rectangle], *, who: int | None = None) -> SceneLike: ...


class SceneLike(Protocol):
    """Evidence, its units, and who was who."""

    evidence: Evidence
    units: Units
    identity: Identity

    def read(self, row: Rectangle) -> Rectangle: ...


def ending_of(scenes: Scenes, row: Rectangle, transaction: int, *, at: Instant | None = None) -> Ending | None:
    """What ended a rectangle, as known at a transaction; None while it is believed and open.

    Of one that is no longer believed: what ended it at `at`, by default the first instant of it that the value has lost.
    """
    if row.tx_to > transaction:
        if row.v_to == UNBOUNDED_FUTURE:
            return None
        return _told(scenes.scene(transaction, [row]), row, row.v_to, row.tx_from, transaction)
    before, after = scenes.scene(row.tx_to - 1, [row]), scenes.scene(row.tx_to, [row])
    cited = _cited(before, row)
    gone = [claim for claim in cited if not _speaks(after, claim, row)]
    lost = _first_lost(after, row) if at is None else at
    if reidentified := _reidentified(scenes, before, after, row, lost, moved=bool(gone)):
        return reidentified
    if gone and len(gone) == len(cited):
        return withdrawal(scenes.connection, row.v_from if lost is None else lost, row.tx_to)
    if lost is None:
        return _extended(scenes, before, after, row)
    masks = [mask for claim in cited if (mask := after.evidence.masked.get(claim.id)) is not None]
    if masks:
        latest = max(masks, key=lambda mask: (mask.said, mask.place))
        correcting = after.evidence.rows[latest.id]
        return Ending(Reason.CORRECTED, "correction", (place_of(correcting), latest.polarity), correcting, lost, row.tx_to, row.tx_to)
    told = _told(after, row, lost, row.tx_to, row.tx_to)
    if told.claim is not None and told.claim.id not in before.evidence.rows:
        return told
    # What stands against it now did so before: then it is not that which has ended it.
    return _withdrawn(scenes, before, after, lost, row.tx_to) or told


def _withdrawn(scenes: Scenes, before: SceneLike, after: SceneLike, at: Instant, decided: int) -> Ending | None:
    """How a transaction withdrew something of the evidence; None where it only brought words."""
    left, came = before.evidence.rows.keys() - after.evidence.rows.keys(), after.evidence.rows.keys() - before.evidence.rows.keys()
    # Nothing came and nothing left: other traits make other belief of the same words.
    return withdrawal(scenes.connection, at, decided) if left or not came else None


_WITHDRAWALS = {
    "retract": (Reason.RETRACTED, "retraction"),
    "reject": (Reason.REJECTED, "rejection"),
    "reextract": (Reason.CORRECTED, "re-extraction"),
    "ontology": (Reason.CORRECTED, "vocabulary"),
}


def withdrawal(connection: Connection, at: Instant, decided: int) -> Ending:
    """How a transaction withdrew claims: by its kind; what only records takes back what it has a newer copy of."""
    kind = connection.execute(select(transactions.c.kind).where(transactions.c.number == decided)).scalar()
    reason, rule = _WITHDRAWALS.get(kind or "", (Reason.CORRECTED, "revision"))
    return Ending(reason, rule, None, None, at, decided, decided)


def _first_lost(after: SceneLike, row: Rectangle) -> Instant | None:
    """The first instant of a rectangle at which its value holds no more; None: all of it is believed, in other bounds."""
    at = row.v_from
    read = after.read(row)
    spans = next((spans for polarity, spans in after.units.spans(read.place) if polarity == row.polarity), [])
    for start, end in spans:
        if start <= at < end:
            at = end
    return at if at < row.v_to else None


def _extended(scenes: Scenes, before: SceneLike, after: SceneLike, row: Rectangle) -> Ending:
    """Why a rectangle has become part of a larger one of its value: by new words, else because something else was withdrawn."""
    read = after.read(row)
    cited = after.units.cited(read.place, row.polarity, row.v_from - 1, row.v_to + 1)
    new = [atom for atom in cited if atom.made_by.id not in before.evidence.rows]
    if not new and (withdrawn := _withdrawn(scenes, before, after, row.v_from, row.tx_to)):
        return withdrawn
    claim = _strongest(after, new or cited)
    return Ending(Reason.SUPERSEDED, "extended", (read.place, row.polarity), claim, row.v_from, row.tx_to, row.tx_to)


def _reidentified(
    scenes: Scenes, before: SceneLike, after: SceneLike, row: Rectangle, lost: Instant | None, *, moved: bool
) -> Ending | None:
    """Whether a rectangle ended because of who is who: with everyone as they were it would still stand.

    `moved`: some claim that it cited speaks of it no more.
    """
    keys = (row.subject, row.object)
    parted = any(before.identity.members(key) != after.identity.members(key) for key in keys)
    if not parted and not moved:
        return None
    unmoved = scenes.scene(row.tx_to, [row], who=row.tx_to - 1)
    read = unmoved.read(row)
    if not any(polarity == row.polarity and (row.v_from, row.v_to) in spans for polarity, spans in unmoved.units.spans(read.place)):
        return None
    members = {member for scene in (before, after) for key in keys for member in scene.identity.members(key)}
    named = {source for scene in (before, after) for member in members for source in (member, *scene.identity.sources(member))}
    came = select(claims).where(
        claims.c.predicate == IDENTITY,
        claims.c.believed,
        claims.c.tx_from == row.tx_to,
        claims.c.tx_to > row.tx_to,
        claims.c.said <= after.evidence.said_until,
        or_(claims.c.subject.in_(named), claims.c.object.in_(named)),
    )
    decisive = max(scenes.connection.execute(came), key=lambda claim: (claim.rank, claim.said, claim.id), default=None)
    rule = "parted" if decisive is None else "split" if decisive.scope_group is not None or decisive.scope_source is not None else "joined"
    taken = (after.read(row).place, row.polarity)
    return Ending(Reason.REIDENTIFIED, rule, taken, decisive, row.v_from if lost is None else lost, row.tx_to, row.tx_to)


def _speaks(scene: SceneLike, claim: ClaimRow, row: Rectangle) -> bool:
    """Whether a claim is evidence for the proposition of a rectangle."""
    found = scene.evidence.rows.get(claim.id)
    return found is not None and found.proposition == scene.read(row).base


def _cited(scene: SceneLike, row: Rectangle) -> list[ClaimRow]:
    row = scene.read(row)
    atoms = scene.units.cited(row.place, row.polarity, row.v_from, row.v_to)
    return [scene.evidence.rows[atom.made_by.id] for atom in atoms]


def _told(scene: SceneLike, stored: Rectangle, at: Instant, decided: int, shown: int) -> Ending:
    """What stands against a value at the first instant at which it no longer holds."""
    row = scene.read(stored)
    found = scene.units.end_of(row.place, row.polarity, at)
    if found is None:
        raise AssertionError(f"{row} holds at {at}, where it ended")
    if not found.atoms and (moved := _moved(scene, row)) is not None:
        found, at = moved, max(moved.atoms, key=_strength).start
    return _ending(scene, row, found, at, decided, shown)


def _moved(scene: SceneLike, row: Rectangle) -> Turning | None:
    """What has moved the imprecise start of a value out of its rectangle."""
    units = (scene.units.unit(side, row.base) for side in scene.units.sides(row.place))
    return next((found for unit in units if (found := displaced(unit, row.base, row.polarity, row.v_from, row.v_to))), None)


def _ending(scene: SceneLike, row: Rectangle, found: Turning, at: Instant, decided: int, shown: int) -> Ending:
    claim = _strongest(scene, found.atoms)
    rival = None
    if not found.own and found.rule != "bounded-rival" and found.atoms:
        best = max(found.atoms, key=_strength)
        place = place_of(scene.evidence.rows[best.made_by.id]) if best.value != row.base else row.place
        rival = (place, best.positive)
    return Ending(Reason[found.turn.name], found.rule, rival, claim, at, decided, shown)


def _strongest(scene: SceneLike, atoms: Collection[Atom]) -> ClaimRow | None:
    best = max(atoms, key=_strength, default=None)
    return None if best is None else scene.evidence.rows[best.made_by.id]


def _strength(atom: Atom) -> tuple[object, ...]:
    return atom.strength, atom.made_by.id
