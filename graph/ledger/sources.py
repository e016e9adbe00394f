"""Episodes as readers see them on a basis."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, case, or_, select

from graph.ledger.chunks import among, rows_among
from graph.ledger.history import transaction_times
from graph.ledger.schema import episodes, failures, retractions
from graph.views import EpisodeView
from ontology.episode import EpisodeStatus
from ontology.instant import Instant


def status_at(transaction: int) -> ColumnElement[str]:
    """The status of an episode as it was at a transaction, as an expression over `episodes` joined to `retractions`."""
    held = and_(episodes.c.tx_held <= transaction, or_(episodes.c.tx_released.is_(None), episodes.c.tx_released > transaction))
    given_up = select(failures.c.row).where(
        failures.c.key == episodes.c.key,
        failures.c.revision == episodes.c.revision,
        failures.c.tx_from <= transaction,
        failures.c.tx_to > transaction,
    )
    return case(
        (episodes.c.status == EpisodeStatus.ERASED, EpisodeStatus.ERASED),
        (and_(retractions.c.tx.is_not(None), retractions.c.tx <= transaction), EpisodeStatus.RETRACTED),
        (held, EpisodeStatus.QUARANTINED),
        (given_up.exists(), EpisodeStatus.FAILED),
        (and_(episodes.c.tx_extracted.is_not(None), episodes.c.tx_extracted <= transaction), EpisodeStatus.EXTRACTED),
        else_=EpisodeStatus.PENDING,
    )


def episodes_at(transaction: int) -> Any:
    """A selection of all episode columns with `shown_status`, retractions joined."""
    joined = episodes.outerjoin(retractions, retractions.c.key == episodes.c.key)
    return select(episodes, status_at(transaction).label("shown_status")).select_from(joined).where(episodes.c.tx_recorded <= transaction)


def current_copy(transaction: int) -> ColumnElement[bool]:
    """Of the copies of a key recorded by a transaction only the greatest."""
    other = episodes.alias()
    greater = select(other.c.row).where(
        other.c.key == episodes.c.key,
        other.c.tx_recorded <= transaction,
        or_(
            other.c.revised > episodes.c.revised,
            and_(other.c.revised == episodes.c.revised, other.c.order_text > episodes.c.order_text),
        ),
    )
    return ~greater.exists()


def views_of(connection: Connection, rows: Collection[Any]) -> list[EpisodeView]:
    """Views of rows of `episodes_at`."""
    times = transaction_times(connection, {row.tx_recorded for row in rows})
    return [_view(row, times[row.tx_recorded]) for row in rows]


def episode_views(connection: Connection, wanted: Collection[tuple[str, str]], transaction: int) -> dict[tuple[str, str], EpisodeView]:
    """Views of episodes by (key, revision)."""
    if not wanted:
        return {}
    query = episodes_at(transaction).where(among(episodes.c.key))
    rows = [row for row in rows_among(connection, query, {key for key, _ in wanted}) if (row.key, row.revision) in set(wanted)]
    return {(view.key, view.revision): view for view in views_of(connection, rows)}


def _view(row: Any, recorded_at: Instant) -> EpisodeView:
    return EpisodeView(
        row.key,
        row.revision,
        row.content,
        row.source,
        row.external_id,
        row.grp,
        row.speaker,
        row.addressee,
        row.said,
        recorded_at,
        EpisodeStatus(row.shown_status),
        tuple(row.flags or ()),
        row.metadata,
    )
