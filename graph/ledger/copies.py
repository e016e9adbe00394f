"""Episodes as they were handed in: those that may be extracted again."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, select

from graph.ledger.schema import OPEN, claims, episodes
from graph.views import PendingEpisode
from ontology.episode import EpisodeDraft
from ontology.instant import Instant


def extracted(
    connection: Connection, namespace: str, *, since: Instant | None, source: str | None, after: int, limit: int
) -> list[PendingEpisode]:
    """Copies of speech that are evidence by extraction, in the order of their rows: `row > after`, said at or after `since`.

    What a client stated is not among them: no text says it again.
    """
    stated = select(claims.c.row).where(
        claims.c.episode == episodes.c.key, claims.c.revision == episodes.c.revision, claims.c.extractor == "client"
    )
    query = select(episodes).where(
        episodes.c.namespace == namespace,
        episodes.c.row > after,
        episodes.c.status == "EXTRACTED",
        episodes.c.speech,
        episodes.c.tx_from.is_not(None),
        episodes.c.tx_to == OPEN,
        ~stated.exists(),
    )
    if since is not None:
        query = query.where(episodes.c.said >= since)
    if source is not None:
        query = query.where(episodes.c.source == source)
    return [_episode(row) for row in connection.execute(query.order_by(episodes.c.row).limit(limit))]


def _episode(row: Row[Any]) -> PendingEpisode:
    return PendingEpisode(row.namespace, row.key, row.said, draft_of(row), tuple(row.flags or ()), row.row)


def draft_of(row: Row[Any]) -> EpisodeDraft:
    """An episode of the ledger as it was handed in."""
    return EpisodeDraft(
        content=row.content or "",
        source=row.source,
        external_id=row.external_id,
        group=row.grp,
        speaker=row.speaker,
        addressee=row.addressee,
        said_at=row.said_text,
        time_zone=row.time_zone,
        rank=row.rank,
        metadata=row.metadata or {},
        revised_at=row.revised_text,
        speech=row.speech,
        project=row.project,
    )
