"""The enums of the contract. Values equal names, so that a domain value translates by its name."""

from __future__ import annotations

from enum import Enum

import strawberry
from strawberry import enum_value


@strawberry.enum(description="The stable error codes.")
class ErrorCode(Enum):
    """`extensions.code` of a top-level error, `code` of an error in a mutation's result."""

    BAD_USER_INPUT = enum_value("BAD_USER_INPUT", description="Malformed, out of range, or an empty or inverted interval.")
    NOT_FOUND = enum_value("NOT_FOUND", description="No such object in this namespace.")
    IDEMPOTENCY_CONFLICT = enum_value("IDEMPOTENCY_CONFLICT", description="The idempotency key was used with another payload.")
    ONTOLOGY_VIOLATION = enum_value("ONTOLOGY_VIOLATION", description="The statement breaks the ontology.")
    ERASED = enum_value("ERASED", description="Erased; nothing of it can be shown.")
    OVERLOADED = enum_value("OVERLOADED", description="The queue is full; try again after `retryAfter` seconds.")
    UNAUTHENTICATED = enum_value("UNAUTHENTICATED", description="No or wrong credentials.")
    FORBIDDEN = enum_value("FORBIDDEN", description="The credentials do not reach this namespace or action.")
    QUERY_TOO_COMPLEX = enum_value("QUERY_TOO_COMPLEX", description="The query is too deep, too large or too dear.")
    INTERNAL_SERVER_ERROR = enum_value(
        "INTERNAL_SERVER_ERROR", description="A fault of the service; `extensions.requestId` names it in the log."
    )


@strawberry.enum(description="The stages of an episode.")
class EpisodeStatus(Enum):
    """As `ontology.episode.EpisodeStatus`."""

    PENDING = enum_value("PENDING", description="Recorded, not yet in the graph.")
    EXTRACTED = enum_value("EXTRACTED", description="In the graph.")
    QUARANTINED = enum_value("QUARANTINED", description="Held back by the threat scan: stored, not extracted, not recalled.")
    FAILED = enum_value("FAILED", description="Given up after the last retry.")
    RETRACTED = enum_value("RETRACTED", description="Withdrawn: no longer evidence, still on record.")
    ERASED = enum_value("ERASED", description="Its content is gone.")


@strawberry.enum(description="The role of an entity in a statement.")
class StatementRole(Enum):
    """Which side of a statement."""

    SUBJECT = "SUBJECT"
    OBJECT = "OBJECT"
    ANY = "ANY"


@strawberry.enum
class Support(Enum):
    """Whether evidence covers the instant."""

    ATTESTED = enum_value("ATTESTED", description="Evidence covers the instant.")
    PROJECTED = enum_value("PROJECTED", description="Carried forward from the last evidence.")


@strawberry.enum
class Conflict(Enum):
    """Whether other evidence disagrees."""

    NONE = "NONE"
    RESOLVED = enum_value("RESOLVED", description="Other evidence disagrees; rank or recency decided.")
    TIED = enum_value("TIED", description="Equal evidence disagrees: all tied values are returned.")


@strawberry.enum
class Certainty(Enum):
    """POSSIBLE inside the granule of an imprecise bound."""

    CERTAIN = "CERTAIN"
    POSSIBLE = "POSSIBLE"


@strawberry.enum(description="Kinds of ending.")
class InvalidationReason(Enum):
    """As `graph.views.Reason`."""

    SUPERSEDED = enum_value("SUPERSEDED", description="A newer value of a functional predicate.")
    CONTRADICTED = enum_value("CONTRADICTED", description="The opposite polarity.")
    EXPLICIT_END = enum_value("EXPLICIT_END", description="The evidence itself states an end.")
    CORRECTED = enum_value("CORRECTED", description="A correction: it was never so.")
    CLIPPED = enum_value("CLIPPED", description="A bounded rival ended; nothing attests a return.")
    RETRACTED = enum_value("RETRACTED", description="Its evidence was retracted.")
    REJECTED = enum_value("REJECTED", description="Its claim was rejected.")
    REIDENTIFIED = enum_value("REIDENTIFIED", description="Its entity was merged or split.")


@strawberry.enum
class Truth(Enum):
    """Answer to `ask`."""

    YES = "YES"
    NO = enum_value("NO", description="Denied, or a rival value holds.")
    UNKNOWN = enum_value("UNKNOWN", description="No evidence either way.")


@strawberry.enum
class Cardinality(Enum):
    """How many values a slot has at a time."""

    ONE = "ONE"
    MANY = "MANY"


@strawberry.enum
class AfterRival(Enum):
    """What becomes of a value when a bounded rival has ended."""

    CLIP = enum_value("CLIP", description="Unknown until attested again.")
    RESUME = enum_value("RESUME", description="It holds again.")


@strawberry.enum
class Temporality(Enum):
    """How a predicate behaves in time."""

    STATE = "STATE"
    EVENT = "EVENT"
    STATIC = "STATIC"


@strawberry.enum(description="Whose truth and which part of life or work it belongs to.")
class Aspect(Enum):
    """As `ontology.vocabulary.Aspect`."""

    IDENTITY = "IDENTITY"
    KNOWLEDGE = "KNOWLEDGE"
    BELIEF = "BELIEF"
    PREFERENCE = "PREFERENCE"
    HABIT = "HABIT"
    GOAL = "GOAL"
    TASK = "TASK"
    DIRECTIVE = "DIRECTIVE"
    DECISION = "DECISION"
    EVENT = "EVENT"
    PROBLEM = "PROBLEM"
    RELATIONSHIP = "RELATIONSHIP"


@strawberry.enum(description="How a claim bears on earlier ones.")
class ClaimKind(Enum):
    """As `ontology.claim.ClaimKind`."""

    STATE = enum_value("STATE", description="It is so, at least from `validFrom` until it was said.")
    CHANGE = enum_value("CHANGE", description="It became so at `validFrom`; what was before stays true before.")
    CORRECTION = enum_value("CORRECTION", description="What was said earlier was wrong.")
    PATCH = enum_value("PATCH", description="So in this bounded span only; what lies under it resumes.")
    END = enum_value("END", description="It is so no longer: it ended at `validTo`, or at some time before it was said.")


@strawberry.enum
class Modality(Enum):
    """As `ontology.claim.Modality`."""

    ASSERTED = "ASSERTED"
    REPORTED = "REPORTED"
    PLANNED = "PLANNED"
    DESIRED = "DESIRED"
    HYPOTHETICAL = "HYPOTHETICAL"


@strawberry.enum
class RecallArm(Enum):
    """As `graph.recall.views.Arm`."""

    VECTOR = enum_value("VECTOR", description="Cosine similarity.")
    BM25 = enum_value("BM25", description="Okapi BM25.")
    PAGERANK = enum_value("PAGERANK", description="Personalised PageRank.")


@strawberry.enum
class Fusion(Enum):
    """As `graph.recall.views.Fusion`."""

    CONVEX = enum_value("CONVEX", description="Weighted sum of normalised scores.")
    RRF = enum_value("RRF", description="Reciprocal rank fusion.")


@strawberry.enum
class RecallKind(Enum):
    """As `graph.recall.views.Kind`."""

    STATEMENT = "STATEMENT"
    EPISODE = "EPISODE"


@strawberry.enum
class BadDatePolicy(Enum):
    """What to do with a statement whose date cannot be read."""

    REFUSE = "REFUSE"
    DROP_DATE = "DROP_DATE"


@strawberry.enum(description="What became of what is compared.")
class DifferenceKind(Enum):
    """As `graph.drift.DifferenceKind`."""

    ADDED = enum_value("ADDED", description="Nothing was there before.")
    REMOVED = enum_value("REMOVED", description="Nothing is there after.")
    CHANGED = enum_value("CHANGED", description="Other values of a one-valued slot.")


@strawberry.enum(description="Why two bases differ.")
class DifferenceCause(Enum):
    """As `graph.drift.Cause`."""

    WORLD = enum_value("WORLD", description="The world moved on.")
    BELIEF = enum_value("BELIEF", description="The same instant is seen differently.")
