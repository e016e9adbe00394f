"""What the facade answers with: plain rows, complete for the page they belong to, so that nothing is fetched item by item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar

from graph.belief.weighing import Conflict, Support
from ontology.claim import ClaimDraft, ClaimKind, Modality
from ontology.episode import EpisodeDraft, EpisodeStatus
from ontology.instant import Instant

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Basis:
    """The point on the three clocks that a snapshot stands on. `recorded_at` is the time of `transaction`."""

    namespace: str
    valid_at: Instant
    recorded_at: Instant
    transaction: int
    evidence_until: Instant | None = None


@dataclass(frozen=True, slots=True)
class EntityView:
    """An entity on a basis. `discriminator` tells it from another of its name, where a split has made it."""

    key: str
    name: str
    type: str | None = None
    aliases: tuple[str, ...] = ()
    discriminator: str | None = None


@dataclass(frozen=True, slots=True)
class LiteralView:
    """A literal value."""

    key: str
    value: str
    datatype: str


class Reason(StrEnum):
    """Kinds of ending (`InvalidationReason` of the schema)."""

    SUPERSEDED = "SUPERSEDED"
    CONTRADICTED = "CONTRADICTED"
    EXPLICIT_END = "EXPLICIT_END"
    CORRECTED = "CORRECTED"
    CLIPPED = "CLIPPED"
    RETRACTED = "RETRACTED"
    REJECTED = "REJECTED"
    REIDENTIFIED = "REIDENTIFIED"


@dataclass(frozen=True, slots=True)
class EpisodeView:
    """An episode on a basis. `revision` names this copy of the key; `content` is the scrubbed text."""

    key: str
    revision: str
    content: str | None
    source: str
    external_id: str | None
    group: str | None
    speaker: str | None
    addressee: str | None
    said_at: Instant
    recorded_at: Instant
    status: EpisodeStatus
    flags: tuple[str, ...]
    metadata: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class EvidenceView:
    """Words in an episode: `quote` is `content[start:end]`; `claim` is the claim's ID, `extractor` its name and version or `client`."""

    claim: str
    episode: EpisodeView
    quote: str
    start: int
    end: int
    extractor: str


@dataclass(frozen=True, slots=True)
class ClaimView:
    """A claim on a basis: what one place of one episode says. `valid_from` and `valid_to` are EDTF texts as stated.

    `candidate`: it makes no belief (too little confidence, a plan, an undated act, or a join that its own group alone tells).
    `rejected`: a person declared it wrong (`rejection` says why). Subject and object are entities of the basis.
    """

    id: str
    subject: EntityView
    predicate: str
    qualifier: str
    object: EntityView | LiteralView
    polarity: bool
    kind: ClaimKind
    modality: Modality
    valid_from: str | None
    valid_to: str | None
    said_at: Instant
    confidence: float
    rule: str
    additive: bool
    candidate: bool
    rejected: bool
    rejection: str | None
    evidence: EvidenceView


@dataclass(frozen=True, slots=True)
class SuspectedSplit:
    """A sign that one name denotes two: at `at` two values of a one-valued slot are attested by separate groups.

    `values` are their names, the first the better attested one. The evidence for the second stands in `groups` (or, where it
    has none, `sources`): splitting these off with `discriminator` resolves it.
    """

    entity: EntityView
    predicate: str
    qualifier: str
    at: Instant
    values: tuple[str, str]
    groups: tuple[str, ...]
    sources: tuple[str, ...]
    discriminator: str


@dataclass(frozen=True, slots=True)
class UndeclaredPredicate:
    """A predicate that extraction or a client coined and that is used much: `claims` on `subjects` subjects.

    `several` of these have more than one live value; `examples` are some of their newest quotes.
    """

    name: str
    claims: int
    subjects: int
    several: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What a write would do, nothing stored: the claims it would record, the statements it would open and end."""

    claims: tuple[ClaimView, ...]
    asserted: tuple[StatementView, ...]
    invalidated: tuple[StatementView, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VersionView:
    """One rectangle: valid `[v_from, v_to)`, believed from `tx_from_at` until `tx_to_at` (None: still)."""

    v_from: Instant
    v_to: Instant
    tx_from_at: Instant
    tx_to_at: Instant | None


@dataclass(frozen=True, slots=True)
class StatementView:
    """A statement on a basis: one rectangle of a proposition and what the evidence says of it at the basis' instant.

    Unbounded ends are UNBOUNDED_PAST and UNBOUNDED_FUTURE; `from_stated` and `to_stated` are EDTF texts where a claim states
    that bound. `swapped`: shown from the other side of an inverse pair or symmetric predicate than it is stored in.
    `key` is in terms of the basis' entities; `stored_key`, by which `statement` finds it on any basis, in those that it was
    stored under. `invalidation`, `history` and `provenance` are filled only where asked for (`Want`).
    """

    key: str
    subject: EntityView
    predicate: str
    qualifier: str
    object: EntityView | LiteralView
    polarity: bool
    v_from: Instant
    v_to: Instant
    from_stated: str | None
    to_stated: str | None
    tx_from_at: Instant
    tx_to_at: Instant | None
    support: Support
    conflict: Conflict
    certain: bool
    text: str
    confidence: float
    last_attested_at: Instant
    evidence_count: int
    swapped: bool = False
    stored_key: str = ""
    invalidation: InvalidationView | None = None
    history: tuple[VersionView, ...] = ()
    provenance: tuple[EvidenceView, ...] = ()


@dataclass(frozen=True, slots=True)
class InvalidationView:
    """Why a statement stopped holding: `rule` is the detector that fired, `by` what replaced or denied it.

    `transaction` is the number of the transaction that decided it, `decided_at` its time. Without evidence it is the one that withdrew
    what the statement rested on.
    """

    reason: Reason
    rule: str
    by: StatementView | None
    evidence: EvidenceView | None
    decided_at: Instant
    transaction: int = 0


@dataclass(frozen=True, slots=True)
class SegmentView:
    """A maximal interval in which a slot's values are the same."""

    v_from: Instant
    v_to: Instant
    statements: tuple[StatementView, ...]


@dataclass(frozen=True, slots=True)
class TimelineView:
    """A slot over all valid time; `subject` is None where nothing is known of it on the basis."""

    subject: EntityView | None
    predicate: str
    qualifier: str
    segments: tuple[SegmentView, ...]


class Truth(StrEnum):
    """Answer to `ask`."""

    YES = "YES"
    NO = "NO"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class AnswerView:
    """Three-valued answer and the statements that say so."""

    value: Truth
    statements: tuple[StatementView, ...]


class Want(StrEnum):
    """Parts of a statement that are only fetched where asked for.

    TRANSACTION is the transaction period: it costs nothing and is always there, but under a said-time limit, where it stands at the
    basis' time unless asked for. BARE is the opposite of all: nothing is wanted that the evidence tells (support to evidence count,
    text, stated bounds), so those fields stand at their defaults. Together with a part other than TRANSACTION it has no effect.
    """

    BARE = "bare"

    TRANSACTION = "transaction"
    INVALIDATION = "invalidation"
    HISTORY = "history"
    PROVENANCE = "provenance"


@dataclass(frozen=True, slots=True)
class StatementFilter:
    """Which statements; all given fields must match. `subjects` and `objects` are keys; `valid_during` is `[from, to)`."""

    subjects: tuple[str, ...] | None = None
    objects: tuple[str, ...] | None = None
    predicates: tuple[str, ...] | None = None
    aspects: tuple[str, ...] | None = None
    polarity: bool | None = None
    min_confidence: float | None = None
    group: str | None = None
    source: str | None = None
    speaker: str | None = None
    valid_during: tuple[Instant, Instant] | None = None
    include_invalidated: bool = False


EVERYTHING = StatementFilter()
"""The filter that leaves nothing out."""


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Items in order, the keyset position of each (JSON-ready; pass one back as `after`), and whether more follow.

    `end` is where to go on, where that is not behind the last item: a page that had to look through much may bring less than there is.
    """

    items: tuple[T, ...]
    positions: tuple[tuple[Any, ...], ...]
    has_next: bool
    end: tuple[Any, ...] | None = None


@dataclass(frozen=True, slots=True)
class EntityRef:
    """An entity by key, or by name or alias."""

    key: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """An object by entity key, by name, or as a literal (`literal` with `datatype`)."""

    key: str | None = None
    name: str | None = None
    literal: str | None = None
    datatype: str | None = None


@dataclass(frozen=True, slots=True)
class StatedClaim:
    """A claim as a client states it: the draft's names unless `subject_key` or `object_key` gives an entity; `at` for one time.

    `quote` must stand in the episode's content where it is given. In `draft`, spans are ignored. `scope_group` and `scope_source`
    make a denial that two are one a split: in such episodes the subject's name speaks of the object.
    """

    draft: ClaimDraft
    subject_key: str | None = None
    object_key: str | None = None
    replaces_key: str | None = None
    at: str | None = None
    quote: str | None = None
    scope_group: str | None = None
    scope_source: str | None = None


@dataclass(frozen=True, slots=True)
class TransactionView:
    """A commit."""

    number: int
    at: Instant
    kind: str
    actor: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class Receipt:
    """What recording an episode did. `transaction` is 0 while it is pending."""

    episode_key: str
    deduplicated: bool
    transaction: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangeReceipt:
    """What a write that names claims or entities did: its transaction (the first one's where it was known), and whether it was.

    `claims` are IDs: those rejected or restored, or the joins and splits that were stated. `entity` is the key of the entity that
    a join or a split made.
    """

    transaction: int
    deduplicated: bool
    claims: tuple[str, ...]
    entity: str | None = None


@dataclass(frozen=True, slots=True)
class Reextraction:
    """What extracting an episode again changed: claim IDs that are new, gone and kept. `transaction` is 0 where nothing changed."""

    episode_key: str
    transaction: int
    added: tuple[str, ...]
    gone: tuple[str, ...]
    kept: int


@dataclass(frozen=True, slots=True)
class PendingEpisode:
    """An episode to extract; `said` is the reference for relative dates that the ledger has, `row` its place in the ledger."""

    namespace: str
    key: str
    said: Instant
    draft: EpisodeDraft
    flags: tuple[str, ...] = ()
    row: int = 0


@dataclass(frozen=True, slots=True)
class StatsView:
    """Counts of a namespace."""

    episodes: int
    entities: int
    statements: int
    current: int
    slots: int
    transactions: int
    pending_episodes: int


@dataclass(frozen=True, slots=True)
class ComponentHealth:
    """One part of the service; `degraded` says what it does without."""

    name: str
    ok: bool
    degraded: str | None = None
    latency_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Lags:
    """How far behind the ledger is what follows it: transactions of the graph and of the recall index, texts without their vectors."""

    graph: int = 0
    index: int = 0
    texts: int = 0


Positions = Sequence[Any]
