"""From a relation in a clause to a claim: kind, polarity, modality and bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from extraction.calendar import Granule
from extraction.dating import Stretch, resolve
from extraction.predication import Clause, lemma
from extraction.times import When, count_of
from ontology.claim import ClaimDraft, ClaimKind, Modality, ObjectDraft
from ontology.edtf import OPEN
from ontology.patterns import Tense
from ontology.vocabulary import Predicate, Temporality


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation by names, ready to be dated: `kind` is the pattern's, None where the clause decides."""

    predicate: Predicate
    subject: str
    object: str
    rule: str
    confidence: float
    kind: ClaimKind | None = None
    polarity: bool = True
    qualifier: str = ""
    replaces: str | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """What a clause lends to its relations: bounds and aspects. `stretch` joins its times; `looks` is its direction in time."""

    tense: Tense
    stretch: Stretch
    since: bool
    negated: bool
    never: bool
    ended: bool
    begun: bool
    also: bool
    progressive: bool
    now: bool
    scheduled: bool


def looks_forward(clause: Clause) -> bool:
    """Whether a clause's undated times lie ahead; those of the present do ("the lease ends 31 January")."""
    return clause.tense not in (Tense.PAST, Tense.PERFECT)


def frame(clause: Clause, said: Granule, extra: Sequence[When] = ()) -> Frame:
    """The frame of a clause said on a day."""
    forward = looks_forward(clause)
    lo = hi = None
    point = since = scheduled = False
    for when in [*clause.whens, *extra]:
        if when.role == "duration" and clause.tense is Tense.PAST:
            continue
        if clause.tense is Tense.PERFECT and when.lo is not None and when.lo.groupdict().get("hence"):
            # "not in three years" looks back.
            when = When(when.start, when.end, "duration", count=count_of(when.lo["hence_n"]), unit=when.lo["hence_u"])
        stretch = resolve(when, said, forward)
        if stretch is None:
            continue
        if when.role in ("since", "duration", "span"):
            since = True
        if (
            clause.tense is Tense.PRESENT
            and stretch.point
            and stretch.lo is not None
            and stretch.lo.first <= said.first <= stretch.lo.last
            and lemma(clause.head) not in ("start", "begin")
        ):
            continue
        lo, hi = lo or stretch.lo, hi or stretch.hi
        point = point or stretch.point
    if lo is not None and hi is not None and lo.first > hi.last:
        hi = None
    if lo is not None:
        scheduled = lo.first > said.first
    return Frame(
        clause.tense,
        Stretch(lo, hi, point),
        since,
        clause.negated,
        clause.never,
        clause.no_longer or clause.former,
        clause.begun,
        clause.also,
        clause.progressive,
        clause.now,
        scheduled or clause.tense is Tense.FUTURE,
    )


def drafted(relation: Relation, frame: Frame, span: tuple[int, int], source: str | None, denied: bool) -> ClaimDraft:
    """The claim of a relation. A reported one is attributed to `source`; a denied one has the other polarity."""
    kind, lo, hi = bounds(relation, frame)
    polarity = relation.polarity and not frame.negated
    if denied:
        polarity = not polarity
    from_text = str(lo) if lo is not None else None
    if frame.never and not polarity and from_text is None and relation.predicate.temporal is not Temporality.EVENT:
        from_text = OPEN
    if kind is ClaimKind.END and not polarity:
        kind = ClaimKind.STATE
    return ClaimDraft(
        subject=relation.subject,
        predicate=relation.predicate.name,
        object=ObjectDraft(relation.object, relation.predicate.literal_range),
        qualifier=relation.qualifier,
        polarity=polarity,
        kind=kind,
        modality=Modality.REPORTED if source else Modality.ASSERTED,
        valid_from=from_text,
        valid_to=str(hi) if hi is not None else None,
        replaces=ObjectDraft(relation.replaces, relation.predicate.literal_range) if relation.replaces else None,
        additive=frame.also and kind is ClaimKind.STATE and relation.predicate.cardinality == "one",
        attributed_to=source,
        start=span[0],
        end=span[1],
        rule=relation.rule,
        confidence=round(relation.confidence, 2),
        act=kind is ClaimKind.END and not relation.predicate.declared and relation.kind is not ClaimKind.END and not frame.ended,
    )


def bounds(relation: Relation, frame: Frame) -> tuple[ClaimKind, Granule | None, Granule | None]:
    """Kind and bounds of a relation in a clause.

    A point is where an event lies, where a change begins and where an ending ends; "since" ends what is "no longer".
    """
    lo, hi, point = frame.stretch.lo, frame.stretch.hi, frame.stretch.point
    predicate = relation.predicate
    if predicate.temporal is Temporality.STATIC:
        return ClaimKind.END if relation.kind is ClaimKind.END and predicate.name != "born_in" else ClaimKind.STATE, None, None
    if predicate.temporal is Temporality.EVENT:
        return ClaimKind.STATE, lo, hi if point or hi is not None else lo
    if relation.kind is ClaimKind.END or frame.ended:
        if point or not frame.since:
            return ClaimKind.END, None if point else lo, hi
        return (ClaimKind.END, None, lo) if hi is None else (ClaimKind.END, lo, hi)
    change = relation.kind is ClaimKind.CHANGE or frame.begun
    if not predicate.declared and not change:
        return _open(frame, lo, hi, point)
    if change and lo is not None and hi is not None and not point:
        return ClaimKind.STATE, lo, hi
    if change:
        return ClaimKind.CHANGE, lo, None if point else hi
    if frame.tense is Tense.PAST:
        if frame.negated:
            return ClaimKind.STATE, lo, hi
        if lo is not None and hi is not None:
            return ClaimKind.STATE, lo, hi
        return ClaimKind.END, lo, hi
    if frame.scheduled and lo is not None:
        return ClaimKind.CHANGE, lo, None if point else hi
    if frame.tense is Tense.FUTURE:
        return ClaimKind.CHANGE, lo, None if point else hi
    if point:
        # "I lived there in 2019" is past; in the present a point with nothing ahead is no bound.
        return ClaimKind.STATE, None, None
    return ClaimKind.STATE, lo, hi


def _open(frame: Frame, lo: Granule | None, hi: Granule | None, point: bool) -> tuple[ClaimKind, Granule | None, Granule | None]:
    """An open predicate: an act in the past is over, a habit goes on, a date ahead is an appointment."""
    if frame.tense is Tense.PAST or (frame.tense is Tense.PERFECT and not frame.since and not frame.progressive and not frame.negated):
        if lo is not None and not frame.negated:
            # Bounded and over: it says nothing of the time after.
            return ClaimKind.STATE, lo, hi if hi is not None else lo
        return (ClaimKind.STATE if frame.negated else ClaimKind.END), lo, hi
    if frame.scheduled and lo is not None:
        return ClaimKind.CHANGE, lo, hi
    return ClaimKind.STATE, None if point else lo, None if point else hi
