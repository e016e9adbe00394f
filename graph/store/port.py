"""The port of the graph projection. Engines: `kuzu`, and the ledger's own tables as reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ontology.instant import Instant


@dataclass(frozen=True, slots=True)
class EntityRow:
    """An entity or literal; `datatype` is None for an entity."""

    key: str
    namespace: str
    datatype: str | None


@dataclass(frozen=True, slots=True)
class StatementRow:
    """A rectangle as it was opened. `row` is its number in the ledger."""

    row: int
    namespace: str
    proposition: str
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


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """An episode; its text stays in the ledger."""

    key: str
    namespace: str
    said: Instant


@dataclass(frozen=True, slots=True)
class AssertionRow:
    """An episode speaks of a rectangle's proposition in `[start, end)` of its text, as evidence in `[tx_from, tx_to)`."""

    statement: int
    episode: str
    claim: str
    start: int
    end: int
    tx_from: int
    tx_to: int


@dataclass(frozen=True, slots=True)
class EndingRow:
    """A rectangle ended by another (INVALIDATED_BY), or replaced by another of its own proposition (REVISES, no reason)."""

    statement: int
    by: int
    reason: str | None
    rule: str | None


@dataclass(frozen=True, slots=True)
class Batch:
    """What happened in the transactions `(after, upto]`; applied whole or not at all."""

    after: int
    upto: int
    entities: Sequence[EntityRow]
    episodes: Sequence[EpisodeRow]
    opened: Sequence[StatementRow]
    closed: Sequence[tuple[int, int]]
    """(row, tx_to)."""
    assertions: Sequence[AssertionRow]
    endings: Sequence[EndingRow]


@dataclass(frozen=True, slots=True)
class GraphBasis:
    """Where a graph query stands: one namespace, one instant, one transaction."""

    namespace: str
    valid_at: Instant
    transaction: int


class GraphUnreadable(Exception):
    """The projection's files cannot be opened or answer nonsense; it must be rebuilt from the ledger."""


class GraphStore(Protocol):
    """A graph of rectangles that follows the ledger. Reads see the last applied batch."""

    engine: str

    def watermark(self) -> int:
        """The last transaction applied; 0 for an empty graph."""
        ...

    def apply(self, batch: Batch) -> None:
        """Apply a batch atomically, watermark included. A batch that was applied before is refused by `after`."""
        ...

    def neighbors(self, basis: GraphBasis, entity: str, depth: int, limit: int) -> list[tuple[str, int]]:
        """(entity key, hops) within `depth` hops over positive statements that hold on the basis, nearest first, then by key."""
        ...

    def statements_in_slot(self, basis: GraphBasis, slot: str) -> list[int]:
        """Row numbers of the statements of a slot that hold on the basis, ascending."""
        ...

    def statements_about(self, basis: GraphBasis, entity: str) -> list[int]:
        """Row numbers of the statements with the entity as subject or object that hold on the basis, ascending."""
        ...

    def counts(self) -> dict[str, int]:
        """Rows by table."""
        ...

    def close(self) -> None:
        """Release the files."""
        ...
