"""Why a statement stopped holding: the detector that fired and the claim that decided it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sqlalchemy import Connection, or_, select

from graph.belief.identity import IDENTITY
from graph.belief.items import Atom
from graph.belief.unit import Unit
from graph.belief.weighing import Verdict
from graph.ledger.evidence import Evidence, Units
from graph.ledger.identity import ClaimRow, Identity, Place, place_of
from graph.ledger.rectangles import Rectangle
from graph.ledger.schema import claims, rejections, retractions, transactions
from graph.views import Reason
from ontology.instant import UNBOUNDED_FUTURE, Instant
from ontology.vocabulary import Temporality


@dataclass(frozen=True, slots=True)
class Ending:
    """`by` is the (proposition, polarity) that took over at `at`, `claim` what says so, `decided` a transaction."""

    reason: Reason
    rule: str
    by: tuple[Place, bool] | None
    claim: ClaimRow | None
    at: Instant
    decided: int


class Scenes(Protocol):
    """Evidence as of a transaction."""

    connection: Connection

    def scene(self, transaction: int, shown: list[Rectangle], *, who: int | None = None) -> SceneLike: ...


class SceneLike(Protocol):
    """Evidence, its units, and who was who."""

    evidence: Evidence
    units: Units
    identity: Identity

    def read(self, row: Rectangle) -> Rectangle: ...


def ending_of(scenes: Scenes, row: Rectangle, transaction: int) -> Ending | None:
    """What ended a rectangle, as known at a transaction; None while it is believed and open."""
    if row.tx_to > transaction:
        return None if row.v_to == UNBOUNDED_FUTURE else _weighed(scenes.scene(transaction, [row]), row, row.v_to, row.tx_from)
    before, after = scenes.scene(row.tx_to - 1, [row]), scenes.scene(row.tx_to, [row])
    cited = _cited(before, row)
    gone = [claim for claim in cited if claim.id not in after.evidence.rows]
    if reidentified := _reidentified(scenes, before, after, row, cited):
        return reidentified
    if gone and len(gone) == len(cited):
        withdrawn = select(retractions.c.key).where(retractions.c.key.in_({claim.episode for claim in gone}), retractions.c.tx <= row.tx_to)
        if scenes.connection.execute(withdrawn).first() is not None:
            return Ending(Reason.RETRACTED, "retraction", None, None, row.v_from, row.tx_to)
        wrong = select(rejections.c.row).where(rejections.c.claim.in_({claim.id for claim in gone}), rejections.c.tx_from == row.tx_to)
        if scenes.connection.execute(wrong).first() is not None:
            return Ending(Reason.REJECTED, "rejection", None, None, row.v_from, row.tx_to)
        kind = scenes.connection.execute(select(transactions.c.kind).where(transactions.c.number == row.tx_to)).scalar()
        rule = "re-extraction" if kind == "reextract" else "revision"
        return Ending(Reason.CORRECTED, rule, None, None, row.v_from, row.tx_to)
    masks = [mask for claim in cited if (mask := after.evidence.masked.get(claim.id)) is not None]
    if masks:
        latest = max(masks, key=lambda mask: (mask.said, mask.place))
        correcting = after.evidence.rows[latest.id]
        taken = (place_of(correcting), latest.polarity)
        return Ending(Reason.CORRECTED, "correction", taken, correcting, row.v_from, row.tx_to)
    return _weighed(after, row, row.v_from, row.tx_to)


def _reidentified(scenes: Scenes, before: SceneLike, after: SceneLike, row: Rectangle, cited: list[ClaimRow]) -> Ending | None:
    """Whether a rectangle ended because of who is who: with everyone as they were it would still stand."""
    keys = (row.subject, row.object)
    parted = any(before.identity.members(key) != after.identity.members(key) for key in keys)
    if not parted and all(claim.id in after.evidence.rows for claim in cited):
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
    return Ending(Reason.REIDENTIFIED, rule, taken, decisive, row.v_from, row.tx_to)


def _cited(scene: SceneLike, row: Rectangle) -> list[ClaimRow]:
    row = scene.read(row)
    atoms = scene.units.cited(row.place, row.polarity, row.v_from, row.v_to)
    return [scene.evidence.rows[atom.made_by.id] for atom in atoms]


def _weighed(scene: SceneLike, stored: Rectangle, at: Instant, decided: int) -> Ending:
    """What stands against a value at the first instant at which it no longer holds."""
    row = scene.read(stored)
    for side in scene.units.sides(row.place):
        unit = scene.units.unit(side, row.base)
        outcome = unit.weigh(row.base, at, polarity=row.polarity)
        if outcome.holds:
            # This side would have kept it: the other one ended it.
            continue
        if outcome.verdict is Verdict.NOTHING and (displaced := _displaced(unit, row)) is not None and _own_end(unit, row, at) is None:
            reason, rule, decisive = _read(unit, Verdict.BEATEN, (displaced,), row)
            saying = scene.evidence.rows[displaced.made_by.id]
            return Ending(reason, rule, (place_of(saying), displaced.positive), saying, displaced.start, decided)
        reason, rule, decisive = _read(unit, outcome.verdict, outcome.winners, row)
        atom = decisive or _own_end(unit, row, at)
        claim = scene.evidence.rows.get(atom.made_by.id) if atom is not None else None
        by = (
            (place_of(scene.evidence.rows[decisive.made_by.id]), decisive.positive)
            if decisive is not None and (decisive.value, decisive.positive) != (row.base, row.polarity)
            else None
        )
        return Ending(reason, rule, by if outcome.verdict is Verdict.BEATEN else None, claim, at, decided)
    return Ending(Reason.SUPERSEDED, "revised", None, None, at, decided)


def _read(unit: Unit, verdict: Verdict, winners: tuple[Atom, ...], row: Rectangle) -> tuple[Reason, str, Atom | None]:
    winner = max(winners, key=lambda atom: (atom.strength, atom.made_by.id), default=None)
    if winner is None:
        return Reason.EXPLICIT_END, "bounded", None
    own = winner.value == row.base
    if verdict is Verdict.BEATEN:
        if own and winner.ending:
            return Reason.EXPLICIT_END, "explicit-end", winner
        if own:
            return Reason.CONTRADICTED, "polarity", winner
        if unit.traits.temporal is Temporality.STATIC:
            return Reason.CONTRADICTED, "static-value", winner
        return Reason.SUPERSEDED, "functional-slot", winner
    if own and winner.positive == row.polarity:
        return Reason.EXPLICIT_END, "bounded", winner
    return Reason.CLIPPED, "bounded-rival", winner


def _displaced(unit: Unit, row: Rectangle) -> Atom | None:
    """What has moved an imprecise start away: the strongest evidence against a value that attests an instant of its rectangle."""
    against = [
        atom
        for atom in unit.atoms
        if atom.attested is not None
        and atom.attested[0] < row.v_to
        and row.v_from <= atom.attested[1]
        and (atom.positive != row.polarity if atom.value == row.base else unit.traits.one_valued and atom.positive and row.polarity)
    ]
    return max(against, key=lambda atom: (atom.strength, atom.made_by.id), default=None)


def _own_end(unit: Unit, row: Rectangle, at: Instant) -> Atom | None:
    """The claim of a value that itself ends at an instant."""
    ends = [atom for atom in unit.atoms if atom.value == row.base and atom.positive == row.polarity and atom.end == at]
    return max(ends, key=lambda atom: (atom.strength, atom.made_by.id), default=None)
