"""Rejecting and restoring claims: a judgement on what was read in a text, not on the world."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, bindparam, func, insert, select, update

from graph.ledger.bulk import BulkInsert
from graph.ledger.chunks import among, rows_among
from graph.ledger.committing import Commit
from graph.ledger.readings import read_now, rejected_among
from graph.ledger.schema import OPEN, claims, rejections
from graph.views import ChangeReceipt
from ontology.echo import echo
from ontology.errors import InvalidInput, NotFound
from ontology.names import is_text, normalise

MAX_CLAIMS = 1000
MAX_REASON = 1000

_KNOWN = (
    select(claims.c.id, func.min(claims.c.tx_from).label("recorded"))
    .where(among(claims.c.id), claims.c.namespace == bindparam("namespace"))
    .group_by(claims.c.id)
)
_IN_SET = select(claims).where(among(claims.c.id), claims.c.tx_to == OPEN)
_RESTORED = (
    select(rejections.c.claim, func.max(rejections.c.tx_to).label("at")).where(among(rejections.c.claim)).group_by(rejections.c.claim)
)
_LEAVE = update(claims).where(claims.c.row == bindparam("at")).values(tx_to=bindparam("until"))
_LIFT = update(rejections).where(rejections.c.claim == bindparam("of"), rejections.c.tx_to == OPEN).values(tx_to=bindparam("until"))
_AGAIN = BulkInsert(claims)


def checked_ids(ids: Sequence[str]) -> list[str]:
    """The IDs without repetitions, or InvalidInput: 1 to 1,000."""
    if not 1 <= len(ids) <= MAX_CLAIMS:
        raise InvalidInput(
            f"name 1 to {MAX_CLAIMS:,} claims; these are {len(ids):,}", path=("claims",), reason="TOO_MANY" if ids else "MISSING"
        )
    return list(dict.fromkeys(ids))


def checked_reason(reason: str) -> str:
    """The reason without outer spaces, or InvalidInput: 1 to 1,000 characters, one of them visible."""
    stripped = reason.strip()
    if len(stripped) > MAX_REASON:
        raise InvalidInput(
            f"a reason has at most {MAX_REASON:,} characters; this one has {len(stripped):,}", path=("reason",), reason="TOO_LONG"
        )
    if not is_text(stripped):
        raise InvalidInput("a reason cannot hold NUL characters or lone surrogates", path=("reason",), reason="INVALID_TEXT")
    if not normalise(stripped):
        raise InvalidInput("say in a few visible words why", path=("reason",), reason="EMPTY")
    return stripped


def reject(connection: Connection, commit: Commit, namespace: str, ids: Sequence[str], reason: str) -> ChangeReceipt:
    """Take claims out of the set for as long as they stand rejected. Those that do already stay as they are.

    Raises NotFound naming the first ID that the namespace does not know.
    """
    _recorded(connection, namespace, ids)
    standing = rejected_among(connection, ids)
    new = [id for id in ids if id not in standing]
    if not new:
        return ChangeReceipt(max(standing.values()), True, tuple(ids))
    commit.needed = True
    gone = list(rows_among(connection, _IN_SET, new))
    for row in gone:
        commit.leave(dict(row._mapping))
    if gone:
        connection.execute(_LEAVE, [{"at": row.row, "until": commit.number} for row in gone])
    rows = [{"namespace": namespace, "claim": id, "reason": reason, "tx_from": commit.number, "tx_to": OPEN} for id in new]
    connection.execute(insert(rejections), rows)
    return ChangeReceipt(commit.number, False, tuple(ids))


def restore(connection: Connection, commit: Commit, namespace: str, ids: Sequence[str]) -> ChangeReceipt:
    """Take rejections back: claims that the current copy of their episode still reads come into the set again.

    Raises NotFound naming the first ID that the namespace does not know. What is not rejected stays as it is; where none is, the
    answer is the transaction since which that is so: the one that restored the last of them, or else recorded it.
    """
    recorded = _recorded(connection, namespace, ids)
    standing = rejected_among(connection, ids)
    if not standing:
        recorded |= {row.claim: row.at for row in rows_among(connection, _RESTORED, ids)}
        return ChangeReceipt(max(recorded.values()), True, tuple(ids))
    commit.needed = True
    connection.execute(_LIFT, [{"of": id, "until": commit.number} for id in standing])
    back = []
    for row in read_now(connection, standing.keys(), standing).values():
        claim = {name: value for name, value in row._mapping.items() if name != "row"} | {"tx_from": commit.number, "tx_to": OPEN}
        commit.enter(claim)
        back.append(claim)
    _AGAIN(connection, back)
    return ChangeReceipt(commit.number, False, tuple(ids))


def _recorded(connection: Connection, namespace: str, ids: Collection[str]) -> dict[str, int]:
    """The transactions that recorded some claims first."""
    known = {row.id: row.recorded for row in rows_among(connection, _KNOWN, ids, namespace=namespace)}
    for id in ids:
        if id not in known:
            raise NotFound(f"there is no claim with the ID {echo(id, 80)} in this namespace; `claims` lists them", id=id)
    return known
