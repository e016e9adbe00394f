"""Random operations on a small world, with who-is-who in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from hypothesis import strategies as st

from graph.belief.checks import checked_bounds
from graph.belief.traits import traits_of
from ontology.claim import ClaimDraft, ClaimKind, ObjectDraft
from ontology.edtf import parse_edtf
from ontology.episode import EpisodeDraft
from ontology.errors import InvalidInput
from ontology.instant import Instant
from ontology.vocabulary import Vocabulary
from tests.graph.belief.strategies import GRID
from tests.graph.ledger.identity_operations import SAME, Divided, Merged, Operation, Rejected, raw
from tests.graph.ledger.identity_worlds import NAMES
from tests.graph.ledger.strategies import Told, Withdrawn, at, drafts

FAMILIES = (("works_at",), ("likes", "dislikes"), ("born_on",), ("visited",), ("reports_to", "manager_of"), ("spouse_of",), ("friend_of",))
PLACES = "abcd"
"""Each claim's evidence is one letter of its episode, so that readers can tell which claim it is."""


@st.composite
def facts(draw: st.DrawFn, vocabulary: Vocabulary, predicates: Sequence[str], said: Instant) -> ClaimDraft:
    """A claim that its episode may make."""
    claim = draw(drafts(vocabulary, predicates))
    subject, object, wrong = (draw(st.sampled_from(NAMES)) for _ in range(3))
    literal = "xsd:string" if claim.predicate == "likes" and draw(st.integers(0, 4)) == 4 else None
    kept = claim.replaces and ObjectDraft(wrong, literal)
    claim = replace(claim, subject=subject, object=ObjectDraft(object, literal), replaces=kept, subject_type=None)
    return claim if _accepted(claim, vocabulary, said) else replace(claim, valid_from=None, valid_to=None)


def _accepted(claim: ClaimDraft, vocabulary: Vocabulary, said: Instant) -> bool:
    start = None if claim.valid_from is None else parse_edtf(claim.valid_from, side="from")
    end = None if claim.valid_to is None else parse_edtf(claim.valid_to, side="to")
    try:
        checked_bounds(claim.kind, start, end, said, traits_of(vocabulary.canonical(claim.predicate).predicate))
    except InvalidInput:
        return False
    return True


@st.composite
def joins(draw: st.DrawFn) -> ClaimDraft:
    """A join, at times a denial, a candidate or a correction of an earlier one."""
    subject, other, wrong = draw(st.permutations(NAMES))[:3]
    kind = draw(st.sampled_from([ClaimKind.STATE] * 6 + [ClaimKind.CORRECTION]))
    return ClaimDraft(
        subject,
        SAME,
        ObjectDraft(other),
        polarity=draw(st.sampled_from([True] * 5 + [False])),
        kind=kind,
        replaces=ObjectDraft(wrong) if kind is ClaimKind.CORRECTION else None,
        confidence=draw(st.sampled_from([1.0, 0.9, 0.9, 0.9, 0.4])),
    )


@st.composite
def tales(draw: st.DrawFn, vocabulary: Vocabulary, predicates: Sequence[str], label: str, *, identity: bool) -> Told:
    """An episode of a few claims, which a client states or a text tells in one of three groups, or none."""
    said = draw(st.integers(0, GRID))
    instant = parse_edtf(at(said)).lo
    claim = st.one_of(facts(vocabulary, predicates, instant), *([joins(), facts(vocabulary, predicates, instant)] if identity else []))
    draft = EpisodeDraft(
        f"{PLACES} {label}",
        draw(st.sampled_from(["chat", "chat", "notes"])),
        external_id=label,
        group=draw(st.sampled_from(["g", "g", "h", "i", None])),
        said_at=at(said),
        rank=draw(st.sampled_from([0, 0, 0, 1])),
    )
    return Told(draft, tuple(draw(st.lists(claim, min_size=1, max_size=3))), stated=draw(st.sampled_from([False, False, True])))


@st.composite
def stories(draw: st.DrawFn, vocabulary: Vocabulary, *, largest: int = 4, identity: bool = True, by_key: bool = True) -> list[Operation]:
    """Episodes with revisions, retractions, and with `identity` joins; with `by_key` also merges, splits, rejections and restores.

    Only episodes that are never revised have claims rejected: which claim is meant then depends on no order.
    """
    predicates = [name for family in draw(st.lists(st.sampled_from(FAMILIES), min_size=1, max_size=2, unique=True)) for name in family]
    told = [draw(tales(vocabulary, predicates, f"e{n}", identity=identity)) for n in range(draw(st.integers(2, largest)))]
    found: list[Operation] = list(told)
    if draw(st.integers(0, 3)) == 3:
        old = told[0].draft
        newer = draw(tales(vocabulary, predicates, "e0", identity=identity))
        revised = replace(newer.draft, content=f"{PLACES} e0 again", source=old.source, revised_at=at(GRID + 1))
        found.insert(draw(st.integers(0, len(found))), replace(newer, draft=revised))
    if draw(st.integers(0, 2)) == 2:
        found.insert(draw(st.integers(0, len(found))), Withdrawn(draw(st.sampled_from([one.draft.external_id or "" for one in told]))))
    if not by_key:
        return found
    for number in range(draw(st.integers(0, 3))):
        label, place = f"m{number}", draw(st.integers(1, len(found)))
        one, other = draw(st.permutations(NAMES))[:2]
        merged = Merged(label, (raw(one), raw(other)), 0)
        groups, sources = draw(st.sampled_from([(("g",), ()), ((), ("notes",)), (("h",), ("chat",)), (("g", "h"), ())]))
        divided = Divided(label, one, "2", 0, groups, sources)
        rejected = Rejected(draw(st.sampled_from([*(f"e{n}" for n in range(1, len(told))), "m0", "m0"])), draw(st.integers(0, 1)))
        which = draw(st.integers(0, 3))
        chosen: Operation = merged if which == 0 else divided if which == 1 else rejected
        found.insert(place, chosen)
        if chosen == rejected and draw(st.booleans()):
            found.append(replace(rejected, restore=True))
    return found


def predicates_of(operations: Iterable[Operation]) -> list[str]:
    """The predicates of facts that some operations speak of."""
    return sorted({claim.predicate for one in operations if isinstance(one, Told) for claim in one.claims} - {SAME})
