"""Random claims of one unit on a grid of a few microseconds, so that coincidences are the rule."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from graph.belief.checks import checked_bounds
from graph.belief.traits import Traits
from ontology.claim import Claim, ClaimKind
from ontology.edtf import FOR_EVER, FROM_EVER, Stated
from ontology.errors import InvalidInput
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant
from ontology.vocabulary import Temporality

GRID = 12
"""Claims speak of the instants 0 to GRID; granules may reach a little further."""
INSTANTS: tuple[Instant, ...] = (UNBOUNDED_PAST, *range(-2, GRID + 8), UNBOUNDED_FUTURE - 1)
"""Every instant at which something may change, those beside it, and the ends of time."""
VALUES = ("a", "b", "c")
TRAITS: dict[str, Traits] = {
    f"{'one' if one else 'many'}-{temporal.lower()}-{'resume' if resumes else 'clip'}": Traits(one, temporal, resumes)
    for one in (True, False)
    for temporal in Temporality
    for resumes in (False, True)
    if not (one and temporal is Temporality.EVENT) and not (resumes and temporal is not Temporality.STATE)
}
"""Every combination that `traits_of` can give and that differs."""

_instants = st.integers(0, GRID)
_exact = _instants.map(lambda at: Stated(at, at + 1, str(at)))
_granules = st.tuples(_instants, st.sampled_from([2, 3, 4, 6])).map(lambda g: Stated(g[0], sum(g), f"{g[0]}+{g[1]}"))
_aligned = st.integers(0, 2).map(lambda n: Stated(n * 4, n * 4 + 4, f"{n}th"))


def _bounds(ever: Stated, *, ends: bool) -> st.SearchStrategy[Stated | None]:
    return st.one_of(st.none(), _exact, _aligned, _granules, *([st.just(ever)] if ends else []))


def accepted(claim: Claim, traits: Traits) -> bool:
    """Whether the claim may be recorded."""
    try:
        checked_bounds(claim.kind, claim.valid_from, claim.valid_to, claim.said, traits)
    except InvalidInput:
        return False
    return True


@st.composite
def claims(draw: st.DrawFn, traits: Traits, *, unbounded: bool = True) -> Claim:
    """One claim that `checked_bounds` accepts; where a drawn bound would be refused it is not stated."""
    kind = draw(st.sampled_from([ClaimKind.STATE, *ClaimKind, ClaimKind.CORRECTION]))
    replaces = draw(st.one_of(st.none(), st.sampled_from(VALUES))) if kind is ClaimKind.CORRECTION else None
    claim = Claim(
        id="",
        episode=draw(st.sampled_from(["e", "f"])),
        place=draw(st.integers(0, 2)),
        slot="s",
        object=draw(st.sampled_from(VALUES if traits.one_valued else VALUES[:2])),
        said=draw(_instants),
        polarity=draw(st.sampled_from([True, True, True, False])),
        kind=kind,
        valid_from=draw(_bounds(FROM_EVER, ends=unbounded)),
        valid_to=draw(_bounds(FOR_EVER, ends=unbounded)),
        rank=draw(st.sampled_from([0, 0, 0, 1, -1])),
        additive=draw(st.sampled_from([False, False, False, True])),
        replaces=replaces,
    )
    for changed in (
        claim,
        replace(claim, valid_to=None),
        replace(claim, valid_from=None),
        replace(claim, valid_from=None, valid_to=None),
    ):
        if accepted(changed, traits):
            return changed
    raise AssertionError(f"a claim without bounds is refused: {claim}")


def units(traits: Traits, *, largest: int = 7, unbounded: bool = True) -> st.SearchStrategy[list[Claim]]:
    """The claims of a unit, numbered."""
    return st.lists(claims(traits, unbounded=unbounded), min_size=1, max_size=largest).map(
        lambda found: [replace(claim, id=f"c{number}") for number, claim in enumerate(found)]
    )
