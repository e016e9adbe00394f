"""Random histories of a namespace on a grid of quarter days, so that coincidences are the rule.

Claims are those of `tests.graph.belief.strategies`, told in names and EDTF: their grid of microseconds becomes one of six hours,
an aligned granule a day, any other a month.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from graph.belief.traits import traits_of
from ontology.claim import ClaimDraft, ClaimKind, Modality, ObjectDraft
from ontology.edtf import Stated, parse_edtf
from ontology.episode import EpisodeDraft
from ontology.instant import HOUR, UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant, format_instant
from ontology.vocabulary import Vocabulary
from tests.graph.belief.strategies import GRID, claims

STEP = 6 * HOUR
NAMES = (("Anna", "anna"), ("Bob", "BOB"), ("Carl", "Carl"))
FAMILIES = (
    ("works_at",),
    ("deputy",),
    ("likes", "dislikes"),
    ("born_on",),
    ("visited",),
    ("reports_to", "manager_of"),
    ("spouse_of",),
    ("friend_of",),
    ("plans_to", "works_at"),
)
"""Predicates that bear on each other; a history is about one or two families."""
POINTS: tuple[Instant, ...] = tuple(
    at + beside for at in (*(STEP * n for n in range(-1, GRID + 2)), STEP * 4 * 31) for beside in (-1, 0, 1)
)


@dataclass(frozen=True)
class Told:
    """An episode and what is found in it; `held`: by the threat scan."""

    draft: EpisodeDraft
    claims: tuple[ClaimDraft, ...]
    stated: bool = False
    held: bool = False


@dataclass(frozen=True)
class Withdrawn:
    """A retraction by external ID."""

    external_id: str


Event = Told | Withdrawn


def at(instant: Instant) -> str:
    """An instant of the claims' grid as text."""
    return format_instant(instant * STEP)


def _text(stated: Stated | None) -> str | None:
    if stated is None:
        return None
    if stated.lo in (UNBOUNDED_PAST, UNBOUNDED_FUTURE):
        return ".."
    if stated.hi - stated.lo == 1:
        return at(stated.lo)
    if stated.lo % 4 == 0 and stated.hi - stated.lo == 4:
        return f"1970-01-{stated.lo // 4 + 1:02d}"
    return "1970-01"


@st.composite
def drafts(draw: st.DrawFn, vocabulary: Vocabulary, predicates: Sequence[str], *, exact: bool = False) -> ClaimDraft:
    """One claim by names."""
    predicate = draw(st.sampled_from(predicates))
    claim = draw(claims(traits_of(vocabulary.canonical(predicate).predicate)))
    subject, object, wrong = (draw(st.sampled_from(NAMES)) for _ in range(3))
    start, end = (
        None if exact and text is not None and "T" not in text else text for text in map(_text, (claim.valid_from, claim.valid_to))
    )
    replaces = ObjectDraft(wrong[0]) if claim.kind is ClaimKind.CORRECTION and draw(st.booleans()) else None
    return ClaimDraft(
        draw(st.sampled_from(subject)),
        predicate,
        ObjectDraft(draw(st.sampled_from(object))),
        qualifier=draw(st.sampled_from(["", "", "", "q"])),
        polarity=claim.polarity,
        kind=claim.kind,
        modality=draw(st.sampled_from([Modality.ASSERTED] * 6 + [Modality.REPORTED, Modality.HYPOTHETICAL])),
        valid_from=start,
        valid_to=end,
        replaces=replaces,
        additive=claim.additive,
        confidence=draw(st.sampled_from([1.0, 0.9, 0.9, 0.4])),
        start=0,
        end=4,
        subject_type=draw(st.sampled_from([None, "Person", "Place"])),
    )


@st.composite
def tales(draw: st.DrawFn, vocabulary: Vocabulary, *, largest: int = 5, exact: bool = False) -> list[Told]:
    """Episodes, some of which are revisions of each other. The text tells each from the others."""
    families = draw(st.lists(st.sampled_from(FAMILIES), min_size=1, max_size=2, unique=True))
    predicates = [name for family in families for name in family]
    found = []
    for number in range(draw(st.integers(1, largest))):
        said = draw(st.integers(0, GRID))
        revised = draw(st.one_of(st.none(), st.none(), st.integers(0, GRID)))
        draft = EpisodeDraft(
            f"text {number}",
            draw(st.sampled_from(["chat", "chat", "notes"])),
            external_id=draw(st.sampled_from(["1", "2", "3", "4"])),
            group=draw(st.sampled_from(["g", "h"])),
            speaker=draw(st.sampled_from([None, "Anna"])),
            said_at=at(said),
            revised_at=None if revised is None else at(revised),
            rank=draw(st.sampled_from([0, 0, 0, 1])),
        )
        kept = tuple(draw(st.lists(drafts(vocabulary, predicates, exact=exact), min_size=1, max_size=3)))
        found.append(Told(draft, kept, stated=draw(st.booleans()), held=draw(st.integers(0, 9)) == 9))
    return found


@st.composite
def histories(draw: st.DrawFn, vocabulary: Vocabulary, *, largest: int = 5, exact: bool = False) -> list[Event]:
    """Episodes with retractions among them, some before their episodes."""
    events: list[Event] = list(draw(tales(vocabulary, largest=largest, exact=exact)))
    for external_id in draw(st.lists(st.sampled_from(["1", "2", "3", "5"]), max_size=2)):
        events.insert(draw(st.integers(0, len(events))), Withdrawn(external_id))
    return events


def _retold(event: Event, spell: Callable[[str], str]) -> Event:
    """The same with every time put otherwise."""
    if isinstance(event, Withdrawn):
        return event

    def again(text: str | None) -> str | None:
        return text if text is None or "T" not in text else spell(text)

    draft = replace(event.draft, said_at=again(event.draft.said_at), revised_at=again(event.draft.revised_at))
    kept = tuple(replace(claim, valid_from=again(claim.valid_from), valid_to=again(claim.valid_to)) for claim in event.claims)
    return replace(event, draft=draft, claims=kept)


def moved(event: Event, by: Instant) -> Event:
    """The same with every exact time moved."""
    return _retold(event, lambda text: format_instant(parse_edtf(text).lo + by))


def respelled(event: Event, hours: int) -> Event:
    """The same with every exact time in another zone."""
    offset = f"{'-' if hours < 0 else '+'}{abs(hours):02d}:00"
    return _retold(event, lambda text: format_instant(parse_edtf(text).lo + hours * HOUR).removesuffix("Z") + offset)
