"""The feed: what the ledger's tables say happened in a range of transactions, as what recall indexes.

A history gives the same documents however it is divided into batches. Rows that close after a batch come with their end already;
nobody stands on that transaction before the batch that tells of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

from sqlalchemy import Column, ColumnElement, Connection, Engine, and_, case, func, or_, select

from graph.ledger.chunks import among, rows_among
from graph.ledger.following import Followed
from graph.ledger.schema import OPEN, claims, episodes, retractions, statements, transactions
from ontology.claim import ClaimKind
from ontology.episode import EpisodeStatus
from ontology.instant import Instant

BATCH_ROWS = 20_000
"""About how many rows of a kind one batch has, unless one transaction alone has more."""
AROUND = 300
"""Characters before and after the words of a claim among which its sentence is looked for."""

_EVENTS: tuple[Column[int], ...] = (statements.c.tx_from, statements.c.tx_to, claims.c.tx_from, claims.c.tx_to, episodes.c.tx_recorded)


class RectangleRow(NamedTuple):
    """A rectangle, as stored."""

    row: int
    base: str
    polarity: bool
    subject: str
    predicate: str
    qualifier: str
    object: str
    object_is_literal: bool
    paired: bool
    v_from: Instant
    v_to: Instant
    tx_from: int
    tx_to: int


class ClaimDocument(NamedTuple):
    """A claim that can make belief, with what its document is written from: `window` is text around its words, which stand in
    `window[start:end]`.
    """

    row: int
    id: str
    episode: str
    group: str | None
    source: str
    speaker: str | None
    subject: str
    predicate: str
    qualifier: str
    object: str
    literal: bool
    paired: bool
    proposition: str
    slot: str
    inverse_slot: str | None
    replaced: str | None
    replaced_subject: str | None
    replaced_object: str | None
    polarity: bool
    ends: bool
    is_split: bool
    confidence: float
    subject_text: str
    object_text: str
    window: str
    start: int
    end: int
    said: Instant
    tx_from: int
    tx_to: int


class EpisodeRow(NamedTuple):
    """A copy of an episode."""

    row: int
    key: str
    group: str | None
    source: str
    speaker: str | None
    said: Instant


class EpisodeEvent(NamedTuple):
    """A copy becomes the one that is found (`comes`), or is it no longer."""

    transaction: int
    comes: bool
    episode: EpisodeRow


@dataclass(slots=True)
class Changes:
    """What a batch brings to one namespace; `ended` and `closed` are (row, tx_to)."""

    rectangles: list[RectangleRow] = field(default_factory=list)
    closed: list[tuple[int, int]] = field(default_factory=list)
    claims: list[ClaimDocument] = field(default_factory=list)
    ended: list[tuple[int, int]] = field(default_factory=list)
    episodes: list[EpisodeEvent] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Batch:
    """What happened in the transactions `(after, upto]`, by namespace. `at` is the time of `upto`."""

    after: int
    upto: int
    at: Instant
    changes: Mapping[str, Changes]


_RECTANGLES = select(
    statements.c.namespace,
    statements.c.row,
    statements.c.base,
    statements.c.polarity,
    statements.c.subject,
    statements.c.predicate,
    statements.c.qualifier,
    statements.c.object,
    statements.c.object_is_literal,
    statements.c.inverse_slot.is_not(None),
    statements.c.v_from,
    statements.c.v_to,
    statements.c.tx_from,
    statements.c.tx_to,
)
_WINDOW_FROM: ColumnElement[int] = case((claims.c.start > AROUND, claims.c.start - AROUND), else_=0)
# A state that is told as over and has no start is an END, and so is what a correction says is right; an exact end is that instant,
# of a granule the whole counts.
_OVER = and_(
    claims.c.kind.in_([str(ClaimKind.STATE), str(ClaimKind.CORRECTION)]),
    claims.c.from_lo.is_(None),
    claims.c.to_lo <= claims.c.said,
    or_(claims.c.to_hi <= claims.c.said, claims.c.to_hi == claims.c.to_lo + 1),
)
_CLAIMS = (
    select(
        claims.c.namespace,
        claims.c.row,
        claims.c.id,
        claims.c.episode,
        claims.c.grp,
        claims.c.source,
        episodes.c.speaker,
        claims.c.subject,
        claims.c.predicate,
        claims.c.qualifier,
        claims.c.object,
        claims.c.datatype.is_not(None).label("literal"),
        claims.c.inverse_slot.is_not(None).label("paired"),
        claims.c.proposition,
        claims.c.slot,
        claims.c.inverse_slot,
        claims.c.replaces_proposition,
        claims.c.replaces_subject,
        claims.c.replaces_object,
        claims.c.polarity,
        or_(claims.c.kind == str(ClaimKind.END), _OVER).label("ends"),
        or_(claims.c.scope_group.is_not(None), claims.c.scope_source.is_not(None)).label("is_split"),
        claims.c.confidence,
        claims.c.subject_text,
        claims.c.object_text,
        func.coalesce(func.substr(episodes.c.content, _WINDOW_FROM + 1, claims.c.end - _WINDOW_FROM + AROUND), "").label("window"),
        (claims.c.start - _WINDOW_FROM).label("start"),
        (claims.c.end - _WINDOW_FROM).label("end"),
        claims.c.said,
        claims.c.tx_from,
        claims.c.tx_to,
    )
    .join(episodes, and_(episodes.c.key == claims.c.episode, episodes.c.revision == claims.c.revision))
    .where(claims.c.believed, claims.c.tx_from < claims.c.tx_to)
)
_TOUCHING = (
    (episodes.c.key, episodes.c.tx_recorded),
    (episodes.c.key, episodes.c.tx_extracted),
    (episodes.c.key, episodes.c.tx_released),
    (retractions.c.key, retractions.c.tx),
)
_COPIES = (
    select(
        episodes.c.namespace,
        episodes.c.row,
        episodes.c.key,
        episodes.c.grp,
        episodes.c.source,
        episodes.c.speaker,
        episodes.c.said,
        episodes.c.revised,
        episodes.c.order_text,
        episodes.c.status,
        episodes.c.speech,
        episodes.c.tx_recorded,
        episodes.c.tx_held,
        episodes.c.tx_released,
        func.length(func.coalesce(episodes.c.content, "")).label("length"),
        retractions.c.tx.label("retracted"),
    )
    .select_from(episodes.outerjoin(retractions, retractions.c.key == episodes.c.key))
    .where(among(episodes.c.key))
)
_CONTENTS = select(episodes.c.row, episodes.c.speaker, episodes.c.content).where(among(episodes.c.row))


class Feed(Followed):
    """Reads one ledger."""

    def __init__(self, engine: Engine, *, batch_rows: int = BATCH_ROWS) -> None:
        super().__init__(engine, _EVENTS, batch_rows)

    def batches(self, after: int, upto: int) -> Iterator[Batch]:
        """Batches of the transactions `(after, upto]`, in order, each of bounded size unless one transaction alone is larger."""
        while after < upto:
            with self._engine.connect() as connection:
                end = self._end(connection, after, upto)
                if end is None:
                    return
                at = connection.scalar(select(transactions.c.at).where(transactions.c.number == end)) or 0
                batch = Batch(after, end, at, self._changes(connection, after, end))
            yield batch
            after = end

    def _changes(self, connection: Connection, after: int, upto: int) -> dict[str, Changes]:
        found: dict[str, Changes] = defaultdict(Changes)
        opened = _RECTANGLES.where(statements.c.tx_from > after, statements.c.tx_from <= upto).order_by(statements.c.row)
        for namespace, *values in connection.execute(opened):
            found[namespace].rectangles.append(RectangleRow(*values))
        told = _CLAIMS.where(claims.c.tx_from > after, claims.c.tx_from <= upto).order_by(claims.c.row)
        for namespace, *values in connection.execute(told):
            found[namespace].claims.append(ClaimDocument(*values))
        for table in (statements, claims):
            ended = select(table.c.namespace, table.c.row, table.c.tx_to).where(
                table.c.tx_to > after, table.c.tx_to <= upto, table.c.tx_from <= after
            )
            if table is claims:
                ended = ended.where(claims.c.believed, claims.c.tx_from < claims.c.tx_to)
            for namespace, row, tx_to in connection.execute(ended.order_by(table.c.row)):
                (found[namespace].closed if table is statements else found[namespace].ended).append((row, tx_to))
        for namespace, event in _events(connection, after, upto):
            found[namespace].episodes.append(event)
        return dict(found)

    def claims(self, rows: Sequence[int]) -> list[ClaimDocument]:
        """Claims by their rows."""
        with self._engine.connect() as connection:
            return [ClaimDocument._make(row[1:]) for row in rows_among(connection, _CLAIMS.where(among(claims.c.row)), rows)]

    def contents(self, rows: Sequence[int]) -> dict[int, tuple[str | None, str]]:
        """Speaker and text of copies of episodes by their rows."""
        with self._engine.connect() as connection:
            return {row.row: (row.speaker, row.content or "") for row in rows_among(connection, _CONTENTS, rows)}


def _events(connection: Connection, after: int, upto: int) -> list[tuple[str, EpisodeEvent]]:
    """What becomes of episodes in `(after, upto]`: of the copies of a key the greatest that is recorded is found, until it is withdrawn."""
    touched = (select(key).where(at > after, at <= upto) for key, at in _TOUCHING)
    keys = {key for query in touched for key in connection.scalars(query)}
    copies: dict[str, list[Any]] = defaultdict(list)
    for row in rows_among(connection, _COPIES, keys):
        copies[row.key].append(row)
    events: list[tuple[str, EpisodeEvent]] = []
    for known in copies.values():
        for row, start, end in _lives(known):
            episode = EpisodeRow(row.row, row.key, row.grp, row.source, row.speaker, row.said)
            if after < start <= upto:
                events.append((row.namespace, EpisodeEvent(start, True, episode)))
            if after < end <= upto:
                events.append((row.namespace, EpisodeEvent(end, False, episode)))
    return sorted(events, key=lambda each: (each[1].transaction, each[1].comes, each[1].episode.said, each[1].episode.key))


def _lives(copies: Sequence[Any]) -> Iterator[tuple[Any, int, int]]:
    """Which copy of one episode is found in which transactions `[from, to)`: none while it is held back, no empty one, and none that
    nobody said.
    """
    ends = copies[0].retracted or OPEN
    recorded = sorted({copy.tx_recorded for copy in copies if copy.tx_recorded < ends})
    shown: list[tuple[Any, int, int]] = []
    for start, end in pairwise([*recorded, ends]):
        best = max((copy for copy in copies if copy.tx_recorded <= start), key=lambda copy: (copy.revised, copy.order_text))
        if shown and shown[-1][0].row == best.row:
            shown[-1] = (best, shown[-1][1], end)
        else:
            shown.append((best, start, end))
    for copy, start, end in shown:
        if copy.status == EpisodeStatus.ERASED or not copy.speech or not copy.length:
            continue
        # Found while it waited, not while it was held back, and again when it was released.
        held = OPEN if copy.tx_held is None else copy.tx_held
        released = OPEN if copy.tx_released is None else copy.tx_released
        for begin, until in ((start, min(end, held)), (max(start, released), end)):
            if begin < until:
                yield copy, begin, until
