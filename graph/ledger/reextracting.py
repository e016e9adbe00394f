"""Putting the claims of a new extraction in the place of those that an episode has."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from graph.ledger.bulk import BulkInsert
from graph.ledger.committing import Commit
from graph.ledger.identity import ClaimRow
from graph.ledger.preparing import PreparedEpisode
from graph.ledger.readings import UNREAD, read_in, rejected_among
from graph.ledger.schema import OPEN, claims, episodes
from graph.views import Reextraction

# Another version of the extractor that reads the same is no change.
_APART = ("row", "extractor", "tx_from", "tx_to")
_CONTENT = tuple(column.name for column in claims.columns if column.name not in _APART)
_CLOSE = update(claims).where(claims.c.row == bindparam("at")).values(tx_to=bindparam("until"))
_OPEN = BulkInsert(claims)


def reextract(connection: Connection, commit: Commit, prepared: PreparedEpisode) -> Reextraction:
    """Replace the claims of the copy that `prepared` is; nothing where it is no evidence (any more).

    A claim that is read as before keeps its row. One with the same ID that is read otherwise (confidence, span, place, rule or
    types) gets a new row. A rejected one stays out of the set, with its newest reading on record.
    """
    key, revision = prepared.row["key"], prepared.row["revision"]
    copy = connection.execute(
        select(episodes.c.said).where(
            episodes.c.key == key,
            episodes.c.revision == revision,
            episodes.c.status == "EXTRACTED",
            episodes.c.tx_from.is_not(None),
            episodes.c.tx_to == OPEN,
        )
    ).first()
    if copy is None:
        return Reextraction(key, 0, (), (), 0)
    now = {claim["id"]: claim | {"said": copy.said} for claim in prepared.claims}
    told = select(claims.c.id).where(claims.c.episode == key)
    rejected = rejected_among(connection, {*now, *connection.execute(told).scalars()})
    before = read_in(connection, key, revision, rejected)
    gone = [row for id, row in before.items() if id not in now]
    differing = [row for id, row in before.items() if id in now and not _same(row, now[id])]
    fresh = [claim for id, claim in now.items() if id not in before] + [now[row.id] for row in differing]
    if gone or fresh:
        commit.needed = True
        _take(connection, commit, [row for row in (*gone, *differing) if row.tx_to == OPEN])
        _put(connection, commit, fresh, rejected.keys())
        # Not `believed`: so nothing that reads the claims of a statement, the graph's feed among it, meets this note.
        note = {"believed": False, "tx_from": commit.number, "tx_to": UNREAD}
        unread = [_copied(row) | note for row in gone if row.id in rejected]
        _OPEN(connection, unread)
    return Reextraction(
        key,
        commit.number if commit.needed else 0,
        tuple(id for id in now if id not in before),
        tuple(row.id for row in gone),
        len(before) - len(gone),
    )


def _take(connection: Connection, commit: Commit, rows: list[ClaimRow]) -> None:
    for row in rows:
        commit.leave(dict(row._mapping))
    if rows:
        connection.execute(_CLOSE, [{"at": row.row, "until": commit.number} for row in rows])


def _put(connection: Connection, commit: Commit, fresh: list[dict[str, Any]], rejected: Collection[str]) -> None:
    written = []
    for claim in fresh:
        counts = claim["id"] not in rejected
        claim = claim | {"tx_from": commit.number, "tx_to": OPEN if counts else commit.number}
        if counts:
            commit.enter(claim)
        written.append(claim)
    _OPEN(connection, written)


def _copied(row: ClaimRow) -> dict[str, Any]:
    return {name: value for name, value in row._mapping.items() if name != "row"}


def _same(row: ClaimRow, claim: dict[str, Any]) -> bool:
    return all(row._mapping[name] == claim[name] for name in _CONTENT)
