"""Inputs of mutations, and how they become drafts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import strawberry
from strawberry import UNSET

from api.identity import key_in
from api.scalars import EDTF, JSON
from api.schema.building import planned
from api.schema.enums import BadDatePolicy, ClaimKind
from api.schema.inputs import EntityRef, LiteralInput, ObjectInput, given
from graph.views import StatedClaim
from ontology import claim
from ontology.claim import ClaimDraft, ObjectDraft
from ontology.episode import EpisodeDraft
from ontology.errors import InvalidInput
from workers.readers.claude_code import project_of

MAX_STATEMENTS = 1000


@planned
@strawberry.input(description="An episode to record.")
class EpisodeInput:
    """As `ontology.episode.EpisodeDraft`."""

    content: str = strawberry.field(description="1 to 100,000 characters.")
    source: str
    external_id: str | None = UNSET
    group: str | None = UNSET
    speaker: str | None = UNSET
    addressee: str | None = UNSET
    said_at: EDTF | None = strawberry.field(
        description="When it was said; an imprecise time counts from its first instant. Default: now.", default=UNSET
    )
    time_zone: str | None = strawberry.field(
        description="IANA zone for wall times in the text and in this input. Default: UTC.", default=UNSET
    )
    rank: int | None = strawberry.field(description="Trust of the source, higher wins where evidence disagrees. Default 0.", default=0)
    metadata: JSON | None = UNSET
    revised_at: EDTF | None = strawberry.field(
        description="When the source changed it; decides which copy of one external ID is current.", default=UNSET
    )
    idempotency_key: str | None = strawberry.field(
        description="Same key and payload: the first result again. Default: hash of the episode.", default=UNSET
    )


@strawberry.input(description="An episode by the names its source knows.")
class EpisodeRef:
    """Source and external ID."""

    source: str
    external_id: str


@planned
@strawberry.input(description="A statement as a client states it.")
class StatementInput:
    """As `graph.views.StatedClaim`."""

    subject: EntityRef
    predicate: str
    qualifier: str | None = ""
    object: ObjectInput
    polarity: bool | None = strawberry.field(description="False to deny.", default=True)
    kind: ClaimKind | None = ClaimKind.STATE
    valid_from: EDTF | None = strawberry.field(
        description="Default: when it was said for STATE, CHANGE and PATCH; none for END, CORRECTION and events.", default=UNSET
    )
    valid_to: EDTF | None = strawberry.field(description="Default: open.", default=UNSET)
    at: EDTF | None = strawberry.field(description="Instead of from and to: an event at one time.", default=UNSET)
    replaces: ObjectInput | None = strawberry.field(
        description="With CORRECTION: the value that was wrong. Default: the earlier span of the same value.", default=UNSET
    )
    quote: str | None = strawberry.field(description="The words; with `content` they must stand in it.", default=UNSET)
    additive: bool | None = strawberry.field(
        description='It does not rule out other values of a one-valued predicate ("also").', default=False
    )
    confidence: float | None = strawberry.field(description="Below 0.5 it is kept as a candidate and makes no belief.", default=1.0)


@planned
@strawberry.input(description="An episode with its statements.")
class AssertStatementsInput:
    """An episode whose claims the client states."""

    source: str
    external_id: str | None = UNSET
    group: str | None = UNSET
    speaker: str | None = UNSET
    said_at: EDTF | None = UNSET
    time_zone: str | None = UNSET
    rank: int | None = 0
    metadata: JSON | None = UNSET
    content: str | None = strawberry.field(
        description="The text that the statements come from; their `quote` must stand in it.", default=UNSET
    )
    statements: list[StatementInput] = strawberry.field(description="1 to 1,000.")
    on_bad_date: BadDatePolicy | None = strawberry.field(
        description=("DROP_DATE keeps a statement whose date cannot be read, without the date; REFUSE refuses the whole input."),
        default=BadDatePolicy.REFUSE,
    )
    idempotency_key: str | None = UNSET


def _metadata(value: JSON | None) -> Mapping[str, Any]:
    found = given(value)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise InvalidInput("metadata is a JSON object", path=("metadata",), reason="INVALID_METADATA")
    return found


def _project(metadata: Mapping[str, Any]) -> str | None:
    """What "we" denotes: the project that the metadata names, else that of its working directory."""
    named = metadata.get("project")
    return named if isinstance(named, str) and named.strip() else project_of(metadata.get("cwd"))


def episode_draft(input: EpisodeInput) -> EpisodeDraft:
    """The episode to record. Raises InvalidInput."""
    metadata = _metadata(input.metadata)
    return EpisodeDraft(
        content=input.content,
        source=input.source,
        external_id=given(input.external_id),
        group=given(input.group),
        speaker=given(input.speaker),
        addressee=given(input.addressee),
        said_at=given(input.said_at),
        time_zone=given(input.time_zone),
        rank=input.rank or 0,
        metadata=metadata,
        revised_at=given(input.revised_at),
        project=_project(metadata),
        speech=metadata.get("speech") is not False,
    )


def stated_episode(input: AssertStatementsInput) -> EpisodeDraft:
    """The episode that stated statements belong to. Raises InvalidInput."""
    return EpisodeDraft(
        content=given(input.content) or "",
        source=input.source,
        external_id=given(input.external_id),
        group=given(input.group),
        speaker=given(input.speaker),
        said_at=given(input.said_at),
        time_zone=given(input.time_zone),
        rank=input.rank or 0,
        metadata=_metadata(input.metadata),
    )


def drops_bad_dates(input: AssertStatementsInput) -> bool:
    """Whether a statement whose date cannot be read is kept without the date."""
    return input.on_bad_date is BadDatePolicy.DROP_DATE


def _object(input: ObjectInput) -> tuple[ObjectDraft, str | None]:
    """(draft, entity key where one was given)."""
    if isinstance(input.literal, LiteralInput):
        return ObjectDraft(input.literal.value, input.literal.datatype or "xsd:string"), None
    if isinstance(input.name, str):
        return ObjectDraft(input.name), None
    return ObjectDraft(""), key_in(str(input.entity))


def _stated(input: StatementInput) -> StatedClaim:
    target, object_key = _object(input.object)
    wrong, replaces_key = (None, None) if not isinstance(input.replaces, ObjectInput) else _object(input.replaces)
    draft = ClaimDraft(
        subject=input.subject.name if isinstance(input.subject.name, str) else "",
        predicate=input.predicate,
        object=target,
        qualifier=input.qualifier or "",
        polarity=input.polarity is not False,
        kind=claim.ClaimKind[(input.kind or ClaimKind.STATE).name],
        valid_from=given(input.valid_from),
        valid_to=given(input.valid_to),
        replaces=wrong,
        additive=bool(input.additive),
        rule="client",
        confidence=1.0 if input.confidence is None else input.confidence,
    )
    return StatedClaim(
        draft,
        subject_key=None if isinstance(input.subject.name, str) else key_in(str(input.subject.id)),
        object_key=object_key,
        replaces_key=replaces_key,
        at=given(input.at),
        quote=given(input.quote),
    )


def stated_claims(input: AssertStatementsInput) -> list[StatedClaim]:
    """The claims of the input. Raises InvalidInput where there are none or too many."""
    if not 1 <= len(input.statements) <= MAX_STATEMENTS:
        raise InvalidInput(
            f"statements takes 1 to {MAX_STATEMENTS:,}, not {len(input.statements):,}", path=("statements",), reason="OUT_OF_RANGE"
        )
    return [_stated(each) for each in input.statements]
