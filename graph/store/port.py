"""The port of the graph projection. Engines: `kuzu`, `ladybug`, and the ledger's own tables as reference.

Rows are named tuples, not dataclasses: there are many, and they are handed on column by column.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from graph.store.pattern_plan import Found, Plan
from ontology.instant import Instant
from ontology.names import Keys


class EntityRow(NamedTuple):
    """An entity or literal; `datatype` is None for an entity."""

    key: str
    namespace: str
    datatype: str | None


class SlotRow(NamedTuple):
    """A slot, in the direction in which its statements are stored."""

    key: str
    namespace: str
    subject: str
    predicate: str
    qualifier: str


class StatementRow(NamedTuple):
    """A rectangle under the keys that it is stored under. `row` is its number in the ledger, `base` the key of what it affirms or
    denies; `tx_to` is OPEN unless it was closed inside the batch that opens it.
    """

    row: int
    namespace: str
    proposition: str
    base: str
    slot: str
    subject: str
    predicate: str
    qualifier: str
    object: str
    object_is_literal: bool
    polarity: bool
    v_from: Instant
    v_to: Instant
    tx_from: int
    tx_to: int


class MembershipRow(NamedTuple):
    """A key belongs to the entity whose key is `root` in `[tx_from, tx_to)`; so does the root itself."""

    member: str
    root: str
    namespace: str
    tx_from: int
    tx_to: int


class EpisodeRow(NamedTuple):
    """One revision of an episode; its text stays in the ledger. `row` is its number there."""

    row: int
    key: str
    namespace: str
    said: Instant


class AssertionRow(NamedTuple):
    """A claim of an episode speaks of a rectangle's proposition in `[start, end)` of its text, as evidence in `[tx_from, tx_to)`.

    Statement, episode and claim are row numbers of the ledger.
    """

    statement: int
    episode: int
    claim: int
    start: int
    end: int
    tx_from: int
    tx_to: int


class WithdrawalRow(NamedTuple):
    """A claim of an earlier batch stopped being evidence at `tx_to`."""

    episode: int
    claim: int
    tx_to: int


class EndingRow(NamedTuple):
    """A rectangle ended by another (INVALIDATED_BY), or replaced by another of its own proposition (REVISES, no reason)."""

    statement: int
    by: int
    reason: str | None
    rule: str | None


@dataclass(frozen=True, slots=True)
class Batch:
    """What happened in the transactions `(after, upto]`; applied whole or not at all. `at` is the time of transaction `upto`.

    Entities, slots and episodes are those that were not there before; no row comes twice in any division of a history.
    """

    after: int
    upto: int
    at: Instant
    entities: Sequence[EntityRow] = ()
    slots: Sequence[SlotRow] = ()
    episodes: Sequence[EpisodeRow] = ()
    opened: Sequence[StatementRow] = ()
    closed: Sequence[tuple[int, int]] = ()
    """(row, tx_to) of statements that an earlier batch opened."""
    assertions: Sequence[AssertionRow] = ()
    withdrawn: Sequence[WithdrawalRow] = ()
    endings: Sequence[EndingRow] = ()
    joined: Sequence[MembershipRow] = ()
    parted: Sequence[MembershipRow] = ()
    """Memberships of an earlier batch that ended."""

    def size(self) -> int:
        """How many rows it writes, edges to entities and slots aside."""
        nodes = (self.entities, self.slots, self.episodes, self.opened)
        edges = (self.assertions, self.endings, self.joined)
        return sum(len(part) for part in (*nodes, *edges)) + self.changed()

    def changed(self) -> int:
        """How many rows of earlier batches it changes."""
        return len(self.closed) + len(self.withdrawn) + len(self.parted)


class Part(NamedTuple):
    """Rows of one table of the graph, as an Arrow table of its columns: what a whole history up to a transaction left there."""

    upto: int
    at: Instant
    table: str
    rows: Any


@dataclass(frozen=True, slots=True)
class GraphBasis:
    """Where a graph query stands: one namespace, one instant, one transaction."""

    namespace: str
    valid_at: Instant
    transaction: int


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a graph has followed which ledger: `at` is the time of the last transaction applied (0, 0 for none)."""

    ledger: str
    transaction: int
    at: Instant


def ledger_of(keys: Keys) -> str:
    """Identity of the ledger that keys belong to."""
    return keys.digest("ledger")


class GraphUnreadable(Exception):
    """The projection's files cannot be opened or answer nonsense; it must be rebuilt from the ledger."""


class GraphGivenUp(Exception):
    """Loading the graph has killed the process too often; it is not loaded again before something else is tried."""


class GraphClosed(Exception):
    """The graph was closed while a call was on its way to it; nothing is wrong with the files."""


class BatchRefused(Exception):
    """The batch does not begin where the graph stands."""


class GraphStore(Protocol):
    """A graph of rectangles that follows the ledger. Thread-safe; reads see the last applied batch, writes are serialised.

    Reads raise GraphUnreadable or GraphClosed. An answer for a transaction up to the watermark never changes. An entity is what
    any of its keys denotes as of the basis' transaction: everything that is stored under a key that is joined with it is its own.
    """

    engine: str

    def watermark(self) -> int:
        """The last transaction applied; 0 for an empty graph."""
        ...

    def apply(self, batch: Batch) -> None:
        """Apply a batch atomically, watermark included. Raises BatchRefused unless `batch.after` is the watermark."""
        ...

    def load(self, parts: Iterable[Part]) -> None:
        """Fill an empty graph with the parts of one history (one `upto`); not atomic. Raises BatchRefused if it is not empty."""
        ...

    def neighbors(self, basis: GraphBasis, entity: str, depth: int, limit: int) -> list[tuple[str, int]]:
        """(entity key, hops) within `depth` hops over positive statements that hold on the basis, nearest first, then by key.

        Keys are those of entities, the least of their members. Literals are no neighbours, the entity itself neither, by whatever
        names a statement joins it to itself; an unknown one has none.
        """
        ...

    def statements_in_slot(self, basis: GraphBasis, subject: str, predicate: str, qualifier: str = "") -> list[int]:
        """Row numbers of the statements stored in a slot of an entity (not its inverse) that hold on the basis, ascending."""
        ...

    def statements_about(self, basis: GraphBasis, entity: str) -> list[int]:
        """Row numbers of the statements with the entity as subject or object that hold on the basis, ascending."""
        ...

    def match(self, basis: GraphBasis, plan: Plan, first: int, after: Sequence[Any] | None = None) -> list[Found]:
        """The first ways in which all steps of a plan hold on the basis, after a position: by the propositions of their statements in
        the order of the steps, then by the sides from which these are seen.

        A statement that joins an entity to itself is seen from one side. Raises QueryTooComplex where too much would have to be joined.
        """
        ...

    def paths(self, basis: GraphBasis, start: str, end: str, max_hops: int, limit: int) -> list[list[int]]:
        """Rows of statements: the first `limit` shortest paths of up to `max_hops` over positive statements between entities that hold
        on the basis, each walked in either direction; by the propositions of their statements in order.

        None between an entity and itself. Raises QueryTooComplex where too much would have to be read.
        """
        ...

    def counts(self) -> dict[str, int]:
        """Rows by table of the graph: nodes and edges."""
        ...

    def close(self) -> None:
        """Release the files. A second call does nothing."""
        ...
