"""The traits of a predicate that belief depends on."""

from __future__ import annotations

from dataclasses import dataclass

from ontology.vocabulary import AfterRival, Cardinality, Predicate, Temporality


@dataclass(frozen=True, slots=True)
class Traits:
    """How the claims of one slot are weighed."""

    one_valued: bool = False
    temporal: Temporality = Temporality.STATE
    resumes: bool = False


def traits_of(predicate: Predicate) -> Traits:
    """The traits of a predicate. Events have no rivals, whatever their cardinality."""
    return Traits(
        predicate.cardinality is Cardinality.ONE and predicate.temporal is not Temporality.EVENT,
        predicate.temporal,
        predicate.after_rival is AfterRival.RESUME,
    )
