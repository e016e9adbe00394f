"""Episodes that wait for extraction: what is known of each delivery, what it takes to give one up, and to let one through."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, func, insert, literal, select, update

from graph.ledger.chunks import among, rows_among
from graph.ledger.copies import draft_of
from graph.ledger.schema import OPEN, deliveries, episodes, failures
from graph.work import BacklogView, Failed, WaitingEpisode
from ontology.instant import Instant

_JOINED = deliveries.join(episodes, episodes.c.row == deliveries.c.episode)
_TOLD = ("queue", "starts", "round", "accepted", "sent", "problem", "trace")
_WAITING = select(episodes, *(deliveries.c[name].label(f"d_{name}") for name in _TOLD)).select_from(_JOINED)
_BY_ROWS = _WAITING.where(among(deliveries.c.episode))
_UNSENT = _WAITING.where(deliveries.c.sent.is_(None), deliveries.c.queue == bindparam("queue")).order_by(deliveries.c.episode)
_OVERDUE = _WAITING.where(deliveries.c.sent <= bindparam("before")).order_by(deliveries.c.sent, deliveries.c.episode)
_COPIES = _WAITING.where(episodes.c.namespace == bindparam("of"), episodes.c.key == bindparam("key")).order_by(deliveries.c.episode)
_NAMES = select(episodes.c.key, episodes.c.revision).where(among(episodes.c.row))
_BY_KEY = select(episodes).where(episodes.c.namespace == bindparam("of"), episodes.c.key == bindparam("key"))


def begin_waiting(connection: Connection, transaction: int, at: Instant, queue: str, trace: str | None) -> None:
    """What a transaction accepted waits from now on."""
    values = [episodes.c.row, literal(queue), literal(0), literal(0), literal(at), literal(trace)]
    accepted = select(*values).where(episodes.c.tx_recorded == transaction, episodes.c.status == "PENDING")
    connection.execute(insert(deliveries).from_select(["episode", "queue", "starts", "round", "accepted", "trace"], accepted))


def end_waiting(connection: Connection, rows: Collection[int]) -> None:
    """Some episodes wait no more."""
    if rows:
        connection.execute(delete(deliveries).where(deliveries.c.episode == bindparam("at")), [{"at": row} for row in rows])


def end_failures(connection: Connection, rows: Collection[int], transaction: int) -> None:
    """Some episodes are no dead letters any more."""
    names = [(row.key, row.revision) for row in rows_among(connection, _NAMES, rows)]
    if names:
        values = [{"of": key, "copy": revision} for key, revision in names]
        open_now = (failures.c.key == bindparam("of"), failures.c.revision == bindparam("copy"), failures.c.tx_to == OPEN)
        connection.execute(update(failures).where(*open_now).values(tx_to=transaction), values)


def unsent(connection: Connection, queue: str, limit: int) -> list[WaitingEpisode]:
    """Episodes of a queue that are not handed out, oldest first."""
    return [_waiting(row) for row in connection.execute(_UNSENT.limit(limit), {"queue": queue})]


def overdue(connection: Connection, before: Instant, limit: int) -> list[WaitingEpisode]:
    """Episodes that were handed out at `before` or earlier and still wait, the longest first."""
    return [_waiting(row) for row in connection.execute(_OVERDUE.limit(limit), {"before": before})]


def waiting_among(connection: Connection, rows: Collection[int]) -> dict[int, WaitingEpisode]:
    """Those of some episodes that wait, by their rows."""
    return {row.row: _waiting(row) for row in rows_among(connection, _BY_ROWS, rows)}


def waiting_copies(connection: Connection, namespace: str, key: str) -> list[WaitingEpisode]:
    """The copies of an episode that wait, oldest first."""
    return [_waiting(row) for row in connection.execute(_COPIES, {"of": namespace, "key": key})]


def extracted_in(connection: Connection, namespace: str, key: str) -> int:
    """The transaction in which a copy of an episode was last extracted; 0 where none was."""
    query = select(func.max(episodes.c.tx_extracted)).where(episodes.c.namespace == namespace, episodes.c.key == key)
    return connection.scalar(query) or 0


def sent(connection: Connection, rows: Collection[int], at: Instant | None) -> None:
    """Some episodes were handed out; None: they are not any more."""
    _set(connection, [{"at": row, "value": at} for row in rows], sent=bindparam("value"))


def unsend_all(connection: Connection) -> None:
    """Nothing is handed out."""
    connection.execute(update(deliveries).where(deliveries.c.sent.is_not(None)).values(sent=None))


def started(connection: Connection, rows: Sequence[int]) -> None:
    """Some episodes were begun, each as often as it is named."""
    _set(connection, [{"at": row} for row in rows], starts=deliveries.c.starts + 1)


def problem(connection: Connection, problems: dict[int, str]) -> None:
    """What went wrong with some episodes last; they are handed out no longer."""
    _set(connection, [{"at": row, "value": text} for row, text in problems.items()], problem=bindparam("value"), sent=None)


def _set(connection: Connection, values: Sequence[dict[str, Any]], **changes: Any) -> None:
    if values:
        connection.execute(update(deliveries).where(deliveries.c.episode == bindparam("at")).values(**changes), values)


def give_up(connection: Connection, transaction: int, given_up: Sequence[Failed]) -> int:
    """Make dead letters of episodes that wait; how many there were."""
    waiting = waiting_among(connection, [each.row for each in given_up])
    lost = [(each, waiting[each.row]) for each in given_up if each.row in waiting]
    if not lost:
        return 0
    rows = [
        {
            "namespace": one.namespace,
            "key": one.key,
            "revision": one.revision,
            "reason": each.reason,
            "attempts": one.starts,
            "tx_from": transaction,
            "tx_to": OPEN,
        }
        for each, one in lost
    ]
    connection.execute(insert(failures), rows)
    connection.execute(
        update(episodes).where(episodes.c.row == bindparam("at")).values(status="FAILED"), [{"at": each.row} for each, _ in lost]
    )
    end_waiting(connection, [each.row for each, _ in lost])
    return len(lost)


def try_again(connection: Connection, rows: Collection[int], transaction: int, at: Instant, queue: str, trace: str | None) -> None:
    """Let episodes that were given up wait anew, in a new round: what comes of an earlier one still counts."""
    end_failures(connection, rows, transaction)
    for row in rows:
        key = select(episodes.c.key).where(episodes.c.row == row).scalar_subquery()
        rounds = connection.scalar(select(func.count()).select_from(failures).where(failures.c.key == key)) or 0
        connection.execute(update(episodes).where(episodes.c.row == row).values(status="PENDING"))
        values = {"episode": row, "queue": queue, "starts": 0, "round": rounds, "accepted": at, "trace": trace}
        connection.execute(insert(deliveries), values)


def let_through(connection: Connection, namespace: str, key: str, transaction: int, at: Instant, trace: str | None) -> Row[Any] | None:
    """Release the copy of an episode that is held back, so that it waits for extraction.

    The copy as it was: None where the namespace has no such episode; of one that is not held back nothing changes.
    """
    copies = connection.execute(_BY_KEY, {"of": namespace, "key": key}).all()
    held = [copy for copy in copies if copy.status == "QUARANTINED"]
    if not held:
        return max(copies, key=lambda copy: (copy.tx_released or 0, copy.revised, copy.order_text), default=None)
    copy = max(held, key=lambda copy: (copy.revised, copy.order_text))
    changes = {"status": "PENDING", "tx_released": transaction, "tx_extracted": None, "tx_from": None, "tx_to": OPEN}
    connection.execute(update(episodes).where(episodes.c.row == copy.row).values(**changes))
    waits = {"episode": copy.row, "queue": "live", "starts": 0, "round": 0, "accepted": at, "trace": trace}
    connection.execute(insert(deliveries), waits)
    return copy


def backlog(connection: Connection) -> BacklogView:
    """How much waits, of all namespaces."""
    handed_out = func.count(deliveries.c.sent)
    row = connection.execute(select(func.count(), handed_out, func.min(deliveries.c.accepted)).select_from(deliveries)).one()
    return BacklogView(row[0], row[1], row[2])


def by_queue(connection: Connection) -> dict[str, int]:
    """How many episodes of all namespaces wait, by their queue."""
    counted = select(deliveries.c.queue, func.count()).group_by(deliveries.c.queue)
    return {row[0]: row[1] for row in connection.execute(counted)}


def open_failures(connection: Connection) -> dict[str, int]:
    """Dead letters of all namespaces by their reason."""
    counted = select(failures.c.reason, func.count()).where(failures.c.tx_to == OPEN).group_by(failures.c.reason)
    return {row[0]: row[1] for row in connection.execute(counted)}


def _waiting(row: Row[Any]) -> WaitingEpisode:
    return WaitingEpisode(
        row=row.row,
        namespace=row.namespace,
        key=row.key,
        revision=row.revision,
        said=row.said,
        draft=draft_of(row),
        flags=tuple(row.flags or ()),
        queue=row.d_queue,
        starts=row.d_starts,
        round=row.d_round,
        accepted=row.d_accepted,
        sent=row.d_sent,
        problem=row.d_problem,
        trace=row.d_trace,
    )
