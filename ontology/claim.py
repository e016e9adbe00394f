"""Claims: what the evidence says.

A `ClaimDraft` is a claim by names, as extraction or a client states it; a `Claim` is one by keys, as belief sees it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ontology.edtf import Stated
from ontology.instant import Instant

CANDIDATE_BELOW = 0.5
"""Claims of smaller confidence are kept and listed, but make no belief."""


class ClaimKind(StrEnum):
    """How a claim bears on others (DESIGN section 2)."""

    STATE = "STATE"
    CHANGE = "CHANGE"
    CORRECTION = "CORRECTION"
    PATCH = "PATCH"
    END = "END"


class Modality(StrEnum):
    """Asserted and reported claims make belief; the others are kept and listed."""

    ASSERTED = "ASSERTED"
    REPORTED = "REPORTED"
    PLANNED = "PLANNED"
    DESIRED = "DESIRED"
    HYPOTHETICAL = "HYPOTHETICAL"


@dataclass(frozen=True, slots=True)
class ObjectDraft:
    """An object by name, or a literal where `datatype` is given."""

    text: str
    datatype: str | None = None


@dataclass(frozen=True, slots=True)
class ClaimDraft:
    """A claim by names. Times are EDTF texts (None: not stated), `start` and `end` characters of the episode's text.

    Subject and predicate stand as the text says them, before inverses and antonyms are folded. `rule` names what found it,
    `attributed_to` who said it where it is reported.
    """

    subject: str
    predicate: str
    object: ObjectDraft
    qualifier: str = ""
    polarity: bool = True
    kind: ClaimKind = ClaimKind.STATE
    modality: Modality = Modality.ASSERTED
    valid_from: str | None = None
    valid_to: str | None = None
    replaces: ObjectDraft | None = None
    additive: bool = False
    attributed_to: str | None = None
    start: int = 0
    end: int = 0
    rule: str = ""
    confidence: float = 1.0
    subject_type: str | None = None
    object_type: str | None = None
    act: bool = False
    """An act in the past ("we won a trophy"), told with a verb that the vocabulary does not know: over, and no state that ended."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim by keys: what the resolver reads. `place` is its position in the episode; `object` and `replaces` are object keys.

    `rank` is the source's trust, already lowered by one for a reported claim. Only claims that make belief come here.
    """

    id: str
    episode: str
    place: int
    slot: str
    object: str
    said: Instant
    polarity: bool = True
    kind: ClaimKind = ClaimKind.STATE
    valid_from: Stated | None = None
    valid_to: Stated | None = None
    rank: int = 0
    additive: bool = False
    replaces: str | None = None
