"""What goes through Redis: tasks of waiting episodes, and what became of each. JSON, checked strictly on arrival."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from hashlib import sha256
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ontology.claim import ClaimDraft, ClaimKind, Modality, ObjectDraft
from ontology.episode import Turn
from workers.dispatching import Kind

VERSION: Literal[1] = 1
"""Of the form of messages; others are refused."""
LARGEST = 8 * 1024 * 1024
"""Bytes of a message at most."""
LONGEST_REASON = 300

Name = Annotated[str, Field(max_length=100_000)]
Row = Annotated[int, Field(ge=0)]


class Malformed(Exception):
    """A message that is none. It says nothing of its content."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, hide_input_in_errors=True)


class TaskEpisode(_Strict):
    """An episode of a task. `begun` counts its starts before, `trace` is that of its request; the rest is what extraction reads."""

    row: Row
    round: Row
    begun: Row
    key: Name
    id: str
    text: str
    said: int
    speaker: str | None = None
    addressee: str | None = None
    trace: str | None = None
    time_zone: str | None = None
    project: str | None = None
    about: str | None = None

    @property
    def turn(self) -> Turn:
        """What extraction reads: all of it, whatever a turn comes to have."""
        return Turn(**{field.name: getattr(self, field.name) for field in fields(Turn)})


class ExtractTask(_Strict):
    """Episodes to be extracted with one vocabulary."""

    v: Literal[1]
    chunk: Name
    queue: Name
    vocabulary: Name
    episodes: Annotated[list[TaskEpisode], Field(min_length=1, max_length=1000)]


class ClaimMessage(_Strict):
    """A claim with its words. Fields as those of `ClaimDraft`; objects are (text, datatype)."""

    quote: str
    subject: Name
    predicate: Name
    object: tuple[Name, str | None]
    start: Row
    end: Row
    qualifier: Name = ""
    polarity: bool = True
    kind: ClaimKind = ClaimKind.STATE
    modality: Modality = Modality.ASSERTED
    valid_from: Name | None = None
    valid_to: Name | None = None
    replaces: tuple[Name, str | None] | None = None
    additive: bool = False
    attributed_to: Name | None = None
    rule: Name = ""
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0
    subject_type: Name | None = None
    object_type: Name | None = None
    act: bool = False

    @classmethod
    def of(cls, claim: ClaimDraft, text: str) -> ClaimMessage:
        """A claim that was found in a text."""
        return cls(
            quote=text[claim.start : claim.end],
            subject=claim.subject,
            predicate=claim.predicate,
            object=(claim.object.text, claim.object.datatype),
            start=claim.start,
            end=claim.end,
            qualifier=claim.qualifier,
            polarity=claim.polarity,
            kind=claim.kind,
            modality=claim.modality,
            valid_from=claim.valid_from,
            valid_to=claim.valid_to,
            replaces=None if claim.replaces is None else (claim.replaces.text, claim.replaces.datatype),
            additive=claim.additive,
            attributed_to=claim.attributed_to,
            rule=claim.rule,
            confidence=claim.confidence,
            subject_type=claim.subject_type,
            object_type=claim.object_type,
            act=claim.act,
        )

    @property
    def draft(self) -> ClaimDraft:
        """The claim."""
        return ClaimDraft(
            subject=self.subject,
            predicate=self.predicate,
            object=ObjectDraft(*self.object),
            qualifier=self.qualifier,
            polarity=self.polarity,
            kind=self.kind,
            modality=self.modality,
            valid_from=self.valid_from,
            valid_to=self.valid_to,
            replaces=None if self.replaces is None else ObjectDraft(*self.replaces),
            additive=self.additive,
            attributed_to=self.attributed_to,
            start=self.start,
            end=self.end,
            rule=self.rule,
            confidence=self.confidence,
            subject_type=self.subject_type,
            object_type=self.object_type,
            act=self.act,
        )


class Result(_Strict):
    """What became of an episode. `digest` is that of the text that was read; `begun` counts the starts, this one included."""

    v: Literal[1]
    kind: Kind
    row: Row
    round: Row
    key: Name
    begun: Row = 0
    digest: Name = ""
    vocabulary: Name = ""
    extractor: Name = ""
    reason: Annotated[str, Field(max_length=LONGEST_REASON)] = ""
    seconds: Annotated[float, Field(ge=0)] = 0.0
    claims: list[ClaimMessage] = Field(default_factory=list)


class EmbedTask(_Strict):
    """Texts to be embedded by the embedder of this ID."""

    v: Literal[1]
    id: Name
    embedder: Name
    texts: Annotated[list[str], Field(min_length=1, max_length=1000)]


class Embedded(_Strict):
    """Vectors of texts: rows of `dim` little-endian float32, in base64. `refused`: there are none at this worker, whatever the text;
    `failed`: not of these texts.
    """

    v: Literal[1]
    id: Name
    dim: Row = 0
    vectors: str = ""
    refused: Annotated[str, Field(max_length=LONGEST_REASON)] = ""
    failed: Annotated[str, Field(max_length=LONGEST_REASON)] = ""


M = TypeVar("M", bound=BaseModel)
_FIELDS = frozenset(name for kind in (TaskEpisode, ExtractTask, ClaimMessage, Result, EmbedTask, Embedded) for name in kind.model_fields)


def packed(message: BaseModel) -> bytes:
    """A message as the bytes that are signed and sent."""
    return message.model_dump_json(exclude_defaults=True).encode()


def unpacked(kind: type[M], body: bytes) -> M:
    """A message of a kind. Raises Malformed."""
    if len(body) > LARGEST:
        raise Malformed(f"larger than {LARGEST} bytes")
    try:
        return kind.model_validate_json(body)
    except ValidationError as failure:
        raise Malformed(_place(failure)) from None


def _place(failure: ValidationError) -> str:
    first = failure.errors(include_input=False, include_url=False, include_context=False)[0]
    # Only names of ours: an unknown field's name is content too.
    return f"malformed at {'.'.join(str(part) for part in first['loc'] if isinstance(part, int) or part in _FIELDS)}: {first['type']}"


def digest_of(text: str) -> str:
    """Tells whether two texts are the same."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Unfit(Exception):
    """A result that does not fit its episode, and why, without its content."""

    why: str


def fitting(result: Result, text: str) -> Sequence[ClaimDraft]:
    """The claims of a result whose words stand in the text that the ledger has. Raises Unfit."""
    if result.digest != digest_of(text):
        raise Unfit("of another text")
    for claim in result.claims:
        if not claim.start <= claim.end <= len(text) or text[claim.start : claim.end] != claim.quote:
            raise Unfit("citing what does not stand in the text")
        if not claim.subject or not claim.predicate:
            raise Unfit("claiming something of nothing")
    return [claim.draft for claim in result.claims]
