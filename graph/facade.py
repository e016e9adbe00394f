"""The facade: everything that other packages may do with the graph. Importing it opens nothing and loads no Kuzu."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from graph.drift import Changes, DifferenceView, Drift, Patterns
from graph.recall.views import DEFAULTS, Context, Recalled, RecallOptions
from graph.views import (
    EVERYTHING,
    AnswerView,
    Basis,
    ChangeReceipt,
    ClaimView,
    ComponentHealth,
    EntityRef,
    EntityView,
    EpisodeView,
    Lags,
    ObjectRef,
    Page,
    PendingEpisode,
    Positions,
    Receipt,
    Reextraction,
    Rehearsal,
    StatedClaim,
    StatementFilter,
    StatementView,
    StatsView,
    SuspectedSplit,
    TimelineView,
    TransactionView,
    UndeclaredPredicate,
    Want,
)
from graph.work import Backlog, Jobs
from ontology.claim import ClaimDraft
from ontology.episode import EpisodeDraft, EpisodeStatus
from ontology.instant import Instant
from ontology.vocabulary import Vocabulary


class Snapshot(Protocol):
    """One consistent view of a namespace. Reading creates nothing; a name unknown on the basis is an entity without statements.

    `after` is a position of an earlier page; `first` the most items wanted. `want` names the costly parts to fill in.
    """

    basis: Basis

    @property
    def drift(self) -> Drift:
        """What the basis says of change."""
        ...

    @property
    def patterns(self) -> Patterns:
        """Questions over several hops."""
        ...

    def key_of(self, ref: EntityRef) -> str:
        """The key that a reference denotes on this basis (that of the name itself where nothing is known of it)."""
        ...

    def entity(self, ref: EntityRef) -> EntityView | None: ...

    def entities(
        self, *, name: str | None = None, type: str | None = None, first: int = 20, after: Positions | None = None
    ) -> Page[EntityView]: ...

    def statements(
        self, filter: StatementFilter, *, first: int = 20, after: Positions | None = None, want: frozenset[Want] = frozenset()
    ) -> Page[StatementView]: ...

    def statements_about(
        self,
        key: str,
        role: str,
        filter: StatementFilter,
        *,
        first: int = 20,
        after: Positions | None = None,
        want: frozenset[Want] = frozenset(),
    ) -> Page[StatementView]:
        """`role` is SUBJECT, OBJECT or ANY."""
        ...

    def statement(
        self, key: str, v_from: Instant, *, swapped: bool = False, closed: bool = False, want: frozenset[Want] = frozenset()
    ) -> StatementView | None:
        """The statement of a proposition that begins at an instant; `closed`: the one that the transaction of the basis closed."""
        ...

    def timeline(self, subject: EntityRef, predicate: str, qualifier: str = "", *, want: frozenset[Want] = frozenset()) -> TimelineView: ...

    def ask(
        self, subject: EntityRef, predicate: str, object: ObjectRef, qualifier: str = "", *, want: frozenset[Want] = frozenset()
    ) -> AnswerView: ...

    def episode(self, key: str) -> EpisodeView | None: ...

    def episodes(
        self,
        *,
        group: str | None = None,
        source: str | None = None,
        status: Sequence[EpisodeStatus] | None = None,
        first: int = 20,
        after: Positions | None = None,
    ) -> Page[EpisodeView]: ...

    def episode_statements(
        self, key: str, *, first: int = 20, after: Positions | None = None, want: frozenset[Want] = frozenset()
    ) -> Page[StatementView]: ...

    def claims(
        self,
        filter: StatementFilter,
        *,
        candidate: bool | None = None,
        rejected: bool | None = None,
        first: int = 20,
        after: Positions | None = None,
    ) -> Page[ClaimView]:
        """Claims recorded and said by the basis, newest said first: those in the set and rejected ones, not those withdrawn.

        `candidate` and `rejected` choose, where given. Raises InvalidInput for `valid_during` and `include_invalidated`.
        """
        ...

    def suspected_splits(self, key: str) -> tuple[SuspectedSplit, ...]:
        """Signs that an entity is two of one name."""
        ...

    def suspects(self, *, first: int = 20, after: Positions | None = None) -> Page[EntityView]:
        """Entities with suspected splits, by name."""
        ...

    def undeclared(self, *, least: int = 5) -> list[UndeclaredPredicate]:
        """Undeclared predicates with at least so many claims, most used first."""
        ...

    def neighbors(self, key: str, *, depth: int = 1, first: int = 20, after: Positions | None = None) -> Page[EntityView]: ...

    @property
    def index_version(self) -> str:
        """Version of the recall index and embedder on this basis: with it recall is the same again. `none` without an index."""
        ...

    def recall(
        self,
        query: str,
        *,
        options: RecallOptions = DEFAULTS,
        filter: StatementFilter = EVERYTHING,
        first: int = 10,
        after: Positions | None = None,
        want: frozenset[Want] = frozenset(),
    ) -> Recalled:
        """What bears on a question among what holds on this basis, best first. An arm that fails is named in `degraded`.

        Raises InvalidInput, QueryTooComplex (too much to resolve again under a said-time limit).
        """
        ...

    def context(
        self,
        query: str,
        *,
        token_budget: int = 1500,
        options: RecallOptions = DEFAULTS,
        filter: StatementFilter = EVERYTHING,
        want: frozenset[Want] = frozenset(),
    ) -> Context:
        """What recall finds as a block of text for a prompt: the same bytes for the same basis and query.

        Its statements have their provenance, and what `want` names. Raises InvalidInput too for a budget in which the best statement
        has no room, naming the least one.
        """
        ...


class Graph(Protocol):
    """The graph of one data folder. Thread-safe; writes are serialised."""

    @property
    def backlog(self) -> Backlog:
        """The episodes that wait for extraction."""
        ...

    @property
    def jobs(self) -> Jobs:
        """What hands in many episodes at once."""
        ...

    @property
    def changes(self) -> Changes:
        """What commits opened, closed and joined, in their order."""
        ...

    def snapshot(
        self,
        namespace: str,
        *,
        valid_at: Instant | None = None,
        recorded_at: Instant | None = None,
        evidence_until: Instant | None = None,
        transaction: int | None = None,
        now: Instant | None = None,
    ) -> Snapshot:
        """A snapshot; a missing axis is as in `asOf`. `transaction` pins a basis that an ID or cursor names."""
        ...

    def diff(
        self,
        start: Snapshot,
        end: Snapshot,
        filter: StatementFilter = EVERYTHING,
        *,
        first: int = 20,
        after: Positions | None = None,
        want: frozenset[Want] = frozenset(),
    ) -> Page[DifferenceView]:
        """What two snapshots of one namespace tell differently: by belief, then by the world; by subject, predicate and object.

        Affirmations are compared; denials where `filter.polarity` is false. The filter chooses differences with a statement, before
        or after, that matches. Raises InvalidInput (a filter that asks for a time, two namespaces), QueryTooComplex.
        """
        ...

    def record_stated(
        self,
        namespace: str,
        episode: EpisodeDraft,
        claims: Sequence[StatedClaim],
        flags: Sequence[str] = (),
        *,
        drop_bad_dates: bool = False,
        actor: str = "local",
        idempotency_key: str | None = None,
    ) -> Receipt:
        """One episode (scrubbed) with the statements that the client states and its flags: one transaction.

        `episode.content` may be empty here.

        Raises InvalidInput, OntologyViolation, NotFound (an entity key that is unknown).
        """
        ...

    def record_extracted(
        self,
        namespace: str,
        episodes: Sequence[tuple[EpisodeDraft, Sequence[ClaimDraft], Sequence[str]]],
        *,
        extractor: str,
        actor: str = "local",
        quarantined: Sequence[bool] | None = None,
        idempotency_key: str | None = None,
    ) -> list[Receipt]:
        """Episodes (scrubbed) with the claims that extraction found and their flags, in one transaction.

        Quarantined ones are recorded without claims.
        """
        ...

    def accept(
        self,
        namespace: str,
        episodes: Sequence[tuple[EpisodeDraft, Sequence[str]]],
        *,
        actor: str = "local",
        idempotency_key: str | None = None,
        trace: str | None = None,
    ) -> list[Receipt]:
        """Record episodes (scrubbed) as PENDING: on disk when the call returns. `trace` names the request that they came with."""
        ...

    def known(self, namespace: str, episodes: Iterable[EpisodeDraft]) -> list[bool]:
        """Which of the episodes are in the ledger already, as they are."""
        ...

    def retract(
        self,
        namespace: str,
        *,
        key: str | None = None,
        source: str | None = None,
        external_id: str | None = None,
        reason: str | None,
        actor: str = "local",
    ) -> Receipt:
        """Withdraw an episode by key, or by source and external ID (then it may arrive later). Raises NotFound for an unknown key."""
        ...

    def release(self, namespace: str, key: str, *, reason: str, actor: str = "local", trace: str | None = None) -> Receipt:
        """Let an episode through that is held back: it waits for extraction from now on. Twice is once: the first transaction answers.

        Raises NotFound, InvalidInput (it is not held back).
        """
        ...

    def reject(self, namespace: str, claims: Sequence[str], *, reason: str, actor: str = "local") -> ChangeReceipt:
        """Declare claims wrong: they stop being evidence, also when their episode is extracted again. Raises NotFound, InvalidInput."""
        ...

    def restore(self, namespace: str, claims: Sequence[str], *, reason: str | None = None, actor: str = "local") -> ChangeReceipt:
        """Take rejections back. Raises NotFound, InvalidInput."""
        ...

    def merge(self, namespace: str, entities: Sequence[str], *, reason: str | None = None, actor: str = "local") -> ChangeReceipt:
        """State that entities (keys, 2 or more) are one. Raises NotFound, InvalidInput."""
        ...

    def split(
        self,
        namespace: str,
        entity: str,
        *,
        groups: Sequence[str] = (),
        sources: Sequence[str] = (),
        discriminator: str,
        name: str | None = None,
        reason: str | None = None,
        actor: str = "local",
    ) -> ChangeReceipt:
        """State that the evidence of episodes of some groups and sources speaks of another entity of the same name.

        All names by which those episodes call the entity are split off, and are names of one; `name`: that one only.
        Raises NotFound, InvalidInput.
        """
        ...

    def rehearse_stated(
        self, namespace: str, episode: EpisodeDraft, claims: Sequence[StatedClaim], *, drop_bad_dates: bool = False
    ) -> Rehearsal:
        """What `record_stated` would do; raises what it would raise."""
        ...

    def rehearse_extracted(
        self,
        namespace: str,
        episode: EpisodeDraft,
        claims: Sequence[ClaimDraft],
        flags: Sequence[str],
        *,
        extractor: str,
        quarantined: bool = False,
    ) -> Rehearsal:
        """What `record_extracted` would do with one episode."""
        ...

    def extracted(
        self, namespace: str, *, since: Instant | None = None, source: str | None = None, after: int = 0, limit: int = 100
    ) -> list[PendingEpisode]:
        """Current copies of extracted episodes of speech, in the order of their rows: `row > after`, said at or after `since`."""
        ...

    def reextract(
        self, namespace: str, episode: PendingEpisode, claims: Sequence[ClaimDraft], *, extractor: str, actor: str = "local"
    ) -> Reextraction:
        """Put the claims of an extracted episode in the place of those that it has, in one transaction where they differ."""
        ...

    def rehearse_vocabulary(self, vocabulary: Vocabulary) -> dict[str, tuple[int, int]]:
        """How many statements putting a vocabulary in force would open and close, for each namespace that it touches."""
        ...

    def opened_by(self, namespace: str, transaction: int, *, want: frozenset[Want] = frozenset()) -> list[StatementView]:
        """Statements that begin to be believed with a transaction, as of it."""
        ...

    def closed_by(self, namespace: str, transaction: int, *, want: frozenset[Want] = frozenset()) -> list[StatementView]:
        """Statements that a transaction ended: no longer believed, or now with an end. Their invalidation is always told."""
        ...

    def transactions(self, namespace: str, *, first: int = 20, after: Positions | None = None) -> Page[TransactionView]: ...

    def stats(self, namespace: str) -> StatsView: ...

    def health(self) -> list[ComponentHealth]: ...

    def lags(self) -> Lags:
        """How far behind the ledger is what follows it. Does not wait for any of it."""
        ...

    def vocabulary(self) -> Vocabulary: ...

    def await_transaction(self, number: int, timeout: float = 10.0) -> None:
        """Wait until the graph has followed to a transaction. Raises Overloaded naming the watermark."""
        ...

    def rebuild(self) -> None:
        """Rebuild the graph projection from the ledger."""
        ...

    def rebuild_index(self) -> None:
        """Rebuild the recall index from the ledger; vectors that are cached are not made again."""
        ...

    def when_indexed(self, call: Callable[[], None]) -> None:
        """Have `call` made, by another thread, when the index has followed the ledger: there may be texts without vectors."""
        ...

    def unembedded(self, limit: int = 256) -> list[str]:
        """Texts of which the index wants vectors, none twice, oldest first. Empty where there is no embedder."""
        ...

    def record_vectors(self, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Keep the vectors (n, dim) that the index' embedder made of some texts: they are found by them from now on."""
        ...

    def close(self) -> None: ...
