"""Pieces of evidence as columns are those that are made one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.belief.atom_columns import ClaimColumns, Int, atoms, may_oppose
from graph.belief.opposed import may_oppose as may_oppose_slowly
from graph.belief.traits import Traits
from graph.belief.unit import Unit
from ontology.claim import Claim, ClaimKind
from ontology.edtf import FOR_EVER, Stated
from ontology.vocabulary import Temporality
from tests.graph.belief.strategies import TRAITS, units

LASTING = {name: traits for name, traits in TRAITS.items() if traits.temporal is not Temporality.EVENT}


def columns(claims: Sequence[Claim], traits: Traits) -> ClaimColumns:
    def bounds(stated: Sequence[Stated | None]) -> Iterator[Int]:
        told = [each or FOR_EVER for each in stated]
        yield np.array([each.lo for each in told], np.int64)
        yield np.array([each.hi for each in told], np.int64)

    from_lo, from_hi = bounds([claim.valid_from for claim in claims])
    to_lo, to_hi = bounds([claim.valid_to for claim in claims])
    return ClaimColumns(
        np.array([claim.polarity for claim in claims], bool),
        np.array([claim.kind is ClaimKind.STATE for claim in claims], bool),
        np.array([claim.kind is ClaimKind.CHANGE for claim in claims], bool),
        np.array([claim.kind is ClaimKind.END for claim in claims], bool),
        np.full(len(claims), traits.temporal is Temporality.STATIC),
        from_lo,
        from_hi,
        to_lo,
        to_hi,
        np.array([claim.said for claim in claims], np.int64),
        np.array([claim.rank for claim in claims], np.int64),
    )


def agree(several: Sequence[Sequence[Claim]], traits: Traits) -> None:
    """The claims of some units read together with each unit read by itself."""
    told = [[claim for claim in claims if claim.kind is not ClaimKind.CORRECTION] for claims in several]
    together = [(number, claim) for number, claims in enumerate(told) for claim in claims]
    if not together:
        return
    made = atoms(columns([claim for _, claim in together], traits))
    slowly = [Unit(claims, traits) for claims in told]
    values = sorted({(claim.object, positive) for _, claim in together for positive in (True, False)})
    side, unit, rank, said = [], [], [], []
    found = []
    for place, claim in enumerate(made.claim.tolist()):
        number, told_by = together[claim]
        unit.append(number)
        side.append(values.index((told_by.object, bool(made.positive[place]))))
        rank.append(told_by.rank)
        said.append(told_by.said)
        span = (int(made.first[place]), int(made.last[place])) if made.attests[place] else None
        bounds = [int(column[place]) for column in (made.start, made.latest_start, made.end, made.horizon)]
        found.append((number, told_by.id, bool(made.positive[place]), bool(made.shadow[place]), *bounds, span))
    expected = [
        (
            number,
            atom.made_by.id,
            atom.positive,
            atom.shadow,
            *(atom.start, atom.latest_start, atom.end, atom.horizon),
            atom.attested,
        )
        for number, each in enumerate(slowly)
        for atom in each.atoms
    ]
    assert sorted(found, key=str) == sorted(expected, key=str)
    units_of, side_of, rank_of, said_of = (np.array(each, np.int64) for each in (unit, side, rank, said))
    marked = may_oppose(made, units_of, side_of, rank_of, said_of, len(slowly)).tolist()
    for number, each in enumerate(slowly):
        # Nothing that is contested is left out, and little else is looked at than before.
        assert marked[number] or not may_oppose_slowly(each.atoms)
        assert marked[number] or not each.contested


@pytest.mark.parametrize("name", LASTING)
def test_columns_make_the_pieces_of_evidence_that_claims_make(name: str) -> None:
    _examined(name, 15)


@pytest.mark.deep
@pytest.mark.parametrize("name", LASTING)
def test_columns_make_the_pieces_of_evidence_that_very_many_claims_make(name: str) -> None:
    _examined(name, 2000)


def _examined(name: str, examples: int) -> None:
    traits = LASTING[name]

    @settings(max_examples=examples, deadline=None)
    @given(st.lists(units(traits, largest=5), min_size=1, max_size=3))
    def check(several: list[list[Claim]]) -> None:
        agree(several, traits)

    check()
