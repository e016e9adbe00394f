"""Preview: what recording something would do, nothing stored."""

from __future__ import annotations

from collections.abc import Iterator

import strawberry

from api.scalars import EDTF
from api.schema.basics import Period, period
from api.schema.enums import ClaimKind, InvalidationReason, Modality
from graph import views
from workers.ingestion import Rehearsed


@strawberry.type(description="A claim as extraction or the client states it.")
class PreviewClaim:
    """As `graph.views.ClaimView`, by names."""

    subject: str
    predicate: str
    qualifier: str
    object: str
    polarity: bool
    kind: ClaimKind
    modality: Modality
    valid_from: EDTF | None
    valid_to: EDTF | None
    rule: str
    confidence: float
    start: int
    end: int
    quote: str = strawberry.field(description="The words: `Preview.content` from `start` to `end`.")
    candidate: bool = strawberry.field(description="It would be kept and make no belief.")


@strawberry.type
class PreviewStatement:
    """As `graph.views.StatementView`, by names."""

    subject: str
    predicate: str
    qualifier: str
    object: str
    polarity: bool
    valid_time: Period
    reason: InvalidationReason | None
    rule: str | None


@strawberry.type
class DroppedClaim:
    """A piece of the text that would make no claim."""

    text: str
    reason: str
    start: int
    end: int


@strawberry.type(description="A dry run.")
class Preview:
    """As `workers.ingestion.Rehearsed`."""

    claims: list[PreviewClaim]
    asserted: list[PreviewStatement] = strawberry.field(description="Would begin to hold.")
    invalidated: list[PreviewStatement] = strawberry.field(description="Would end.")
    dropped: list[DroppedClaim] = strawberry.field(description="What was left out, and why.")
    content: str = strawberry.field(description="The text as it would be stored, secrets replaced; `start` and `end` count in it.")
    flags: list[str] = strawberry.field(description="Findings of the threat and secret scan.")
    warnings: list[str] = strawberry.field(description="Dates dropped under DROP_DATE, as `path: reason`.")


def _value(object: views.EntityView | views.LiteralView) -> str:
    return object.name if isinstance(object, views.EntityView) else object.value


def _claim(view: views.ClaimView) -> PreviewClaim:
    return PreviewClaim(
        subject=view.subject.name,
        predicate=view.predicate,
        qualifier=view.qualifier,
        object=_value(view.object),
        polarity=view.polarity,
        kind=ClaimKind[view.kind.name],
        modality=Modality[view.modality.name],
        valid_from=None if view.valid_from is None else EDTF(view.valid_from),
        valid_to=None if view.valid_to is None else EDTF(view.valid_to),
        rule=view.rule,
        confidence=view.confidence,
        start=view.evidence.start,
        end=view.evidence.end,
        quote=view.evidence.quote,
        candidate=view.candidate,
    )


def _statement(view: views.StatementView) -> PreviewStatement:
    ending = view.invalidation
    return PreviewStatement(
        subject=view.subject.name,
        predicate=view.predicate,
        qualifier=view.qualifier,
        object=_value(view.object),
        polarity=view.polarity,
        valid_time=period(view.v_from, view.v_to, view.from_stated, view.to_stated),
        reason=None if ending is None else InvalidationReason[ending.reason.name],
        rule=None if ending is None else ending.rule,
    )


def _dropped(rehearsed: Rehearsed) -> Iterator[DroppedClaim]:
    clean = rehearsed.clean
    text = clean.episode.content
    if clean.quarantine:
        yield DroppedClaim(text=text, reason=f"held back: {', '.join(clean.flags)}", start=0, end=len(text))
    for piece in rehearsed.dropped:
        yield DroppedClaim(text=text[piece.start : piece.end], reason=piece.reason, start=piece.start, end=piece.end)


def preview(rehearsed: Rehearsed) -> Preview:
    """A dry run as answered."""
    rehearsal = rehearsed.rehearsal
    return Preview(
        claims=[_claim(view) for view in rehearsal.claims],
        asserted=[_statement(view) for view in rehearsal.asserted],
        invalidated=[_statement(view) for view in rehearsal.invalidated],
        dropped=list(_dropped(rehearsed)),
        content=rehearsed.clean.episode.content,
        flags=list(rehearsed.clean.flags),
        warnings=list(rehearsal.warnings),
    )
