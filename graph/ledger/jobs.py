"""Jobs in the ledger: which episodes a call handed in, and how far they have come. Everything that changes is read from the episodes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, and_, bindparam, case, exists, func, insert, select, update

from graph.ledger.chunks import among, rows_among
from graph.ledger.schema import OPEN, claims, deliveries, episodes, failures, job_items, jobs, transactions
from graph.work import JobState, JobView, Progress
from ontology.instant import Instant
from ontology.names import Keys


@dataclass(frozen=True, slots=True)
class Item:
    """One episode of a job: `known` by the ledger before, or `refused`."""

    key: str
    revision: str
    known: bool = False
    refused: str | None = None


_STATUS = case(
    (job_items.c.refused.is_not(None), "failed"),
    (episodes.c.status == "PENDING", "pending"),
    (episodes.c.status == "FAILED", "failed"),
    (job_items.c.known, "deduplicated"),
    (episodes.c.status == "QUARANTINED", "quarantined"),
    else_="committed",
)
_CLAIMED = exists().where(claims.c.episode == job_items.c.key, claims.c.revision == job_items.c.revision)
_GIVEN_UP = and_(failures.c.key == job_items.c.key, failures.c.revision == job_items.c.revision, failures.c.tx_to == OPEN)
_OF_JOB = and_(episodes.c.key == job_items.c.key, episodes.c.revision == job_items.c.revision)
_DONE = func.max(case((episodes.c.status == "FAILED", failures.c.tx_from), else_=func.coalesce(episodes.c.tx_extracted, 0)))
_COUNTS = (
    select(
        job_items.c.job,
        _STATUS.label("outcome"),
        case((_STATUS == "committed", ~_CLAIMED), else_=False).label("empty"),
        func.count().label("number"),
        _DONE.label("done"),
        func.sum(func.coalesce(deliveries.c.starts, 0) + func.coalesce(deliveries.c.round, 0)).label("starts"),
        func.count(deliveries.c.sent).label("sent"),
    )
    .select_from(
        job_items.join(episodes, _OF_JOB).outerjoin(failures, _GIVEN_UP).outerjoin(deliveries, deliveries.c.episode == episodes.c.row)
    )
    .where(job_items.c.job.in_(bindparam("jobs", expanding=True)))
    .group_by(job_items.c.job, "outcome", "empty")
)
_FAILED = (
    select(job_items.c.place, job_items.c.key, job_items.c.revision, job_items.c.refused, failures.c.reason, failures.c.attempts)
    .select_from(job_items.join(episodes, _OF_JOB).outerjoin(failures, _GIVEN_UP))
    .where(job_items.c.job == bindparam("of"), _STATUS == "failed", job_items.c.place > bindparam("after"))
    .order_by(job_items.c.place)
)
_ROWS = (
    select(episodes.c.row)
    .select_from(job_items.join(episodes, _OF_JOB))
    .where(job_items.c.job == bindparam("of"), episodes.c.status == bindparam("is"), job_items.c.refused.is_(None))
    .order_by(job_items.c.place)
)


def create(
    connection: Connection, keys: Keys, namespace: str, kind: str, actor: str, trace: str | None, at: Instant, items: Sequence[Item]
) -> int:
    """Write a job down; its row."""
    last = connection.scalar(select(func.coalesce(func.max(jobs.c.row), 0))) or 0
    row = last + 1
    values = {"row": row, "id": keys.digest("job", namespace, str(row), str(at)), "namespace": namespace, "kind": kind, "actor": actor}
    connection.execute(insert(jobs), {**values, "trace": trace, "created": at})
    connection.execute(
        insert(job_items),
        [
            {"job": row, "place": place, "key": item.key, "revision": item.revision, "known": item.known, "refused": item.refused}
            for place, item in enumerate(items)
        ],
    )
    return row


def named(connection: Connection, namespace: str, id: str) -> Row[Any] | None:
    """The row of a job by its ID."""
    return connection.execute(select(jobs).where(jobs.c.namespace == namespace, jobs.c.id == id)).first()


def by_row(connection: Connection, row: int) -> Row[Any]:
    """The row of a job."""
    return connection.execute(select(jobs).where(jobs.c.row == row)).one()


def newest(connection: Connection, namespace: str, before: int | None, limit: int) -> list[Row[Any]]:
    """Rows of jobs, newest first."""
    query = select(jobs).where(jobs.c.namespace == namespace)
    if before is not None:
        query = query.where(jobs.c.row < before)
    return list(connection.execute(query.order_by(jobs.c.row.desc()).limit(limit)))


def views(connection: Connection, found: Collection[Row[Any]]) -> list[JobView]:
    """Jobs as they stand, all at one moment."""
    counts: dict[int, list[Row[Any]]] = {row.row: [] for row in found}
    for count in connection.execute(_COUNTS, {"jobs": list(counts)}) if counts else ():
        counts[count.job].append(count)
    ends = {count.done or 0 for each in counts.values() for count in each}
    query = select(transactions.c.number, transactions.c.at).where(among(transactions.c.number))
    times: dict[int, Instant] = {row.number: row.at for row in rows_among(connection, query, ends)}
    return [_view(row, counts[row.row], times) for row in found]


def failed(connection: Connection, job: int, after: int, limit: int) -> list[Row[Any]]:
    """The failed items of a job after a place: place, key, revision, refused, reason, attempts."""
    return list(connection.execute(_FAILED.limit(limit), {"of": job, "after": after}))


def episodes_of(connection: Connection, job: int, status: str) -> list[int]:
    """Rows of the episodes of a job that have a status."""
    return list(dict.fromkeys(connection.scalars(_ROWS, {"of": job, "is": status})))


def set_cancelled(connection: Connection, job: int, at: Instant | None) -> None:
    """A job was cancelled; None: it goes on."""
    connection.execute(update(jobs).where(jobs.c.row == job).values(cancelled=at))


def _view(row: Row[Any], counts: Sequence[Row[Any]], times: dict[int, Instant]) -> JobView:
    numbers = {outcome: sum(count.number for count in counts if count.outcome == outcome) for outcome in _OUTCOMES}
    empty = sum(count.number for count in counts if count.outcome == "committed" and count.empty)
    progress = Progress(accepted=sum(numbers.values()), empty=empty, **numbers)
    last = max((times.get(count.done, 0) for count in counts), default=0)
    if row.cancelled is not None and not progress.pending:
        state = JobState.CANCELLED
    elif not progress.pending:
        state = JobState.PARTIAL if progress.failed else JobState.SUCCEEDED
    elif progress.committed or any(count.starts or count.sent for count in counts):
        state = JobState.RUNNING
    else:
        state = JobState.QUEUED
    finished = None if progress.pending else max(last, row.created)
    return JobView(row.id, row.namespace, row.kind, state, progress, row.created, finished, row.trace)


_OUTCOMES = ("committed", "deduplicated", "quarantined", "failed", "pending")
