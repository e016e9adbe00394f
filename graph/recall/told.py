"""What a said-time limit changes on a basis."""

from __future__ import annotations

from sqlalchemy import select

from graph.ledger.details import Describer
from graph.ledger.evidence import Evidence, Units
from graph.ledger.identity import ClaimRow, place_of
from graph.ledger.rectangles import Rectangle, load
from graph.ledger.schema import OPEN, claims
from graph.ledger.standing import believed_at
from graph.recall.reading import Told
from graph.views import Basis


def told_until(describer: Describer, basis: Basis) -> Told:
    """Resolve again what a claim bears on that was said after the limit."""
    until = basis.evidence_until or 0
    query = select(claims).where(
        claims.c.namespace == basis.namespace, claims.c.believed, believed_at(claims, basis.transaction), claims.c.said > until
    )
    identity = describer.identity
    rows = list(describer.connection.execute(query))
    identity.load({key for row in rows for key in (row.subject, row.object)})
    slots = {row.slot for row in rows}
    beside: list[ClaimRow] = list(describer.connection.execute(select(claims).where(claims.c.slot.in_(slots)))) if slots else []
    places = {place.proposition: place for place in (place_of(identity.settled(row)) for row in [*rows, *beside])}
    evidence = Evidence(describer.connection, describer._vocabulary, describer.visibility(basis.transaction), identity)
    load(evidence, list(places.values()))
    units = Units(evidence)
    found = []
    for base, place in places.items():
        for polarity, spans in units.spans(place):
            for v_from, v_to in spans:
                where = (base, base, place.slot, place.inverse_slot, place.subject, place.predicate, place.qualifier, place.object)
                found.append(Rectangle(*where, polarity, v_from, v_to, basis.transaction, OPEN))
    gone = {key for place in places.values() for key in identity.kept_under(place)}
    return Told(gone, found)
