"""The command that reads the feed of changes, once or for as long as it is let."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from api.cli import drift_documents as documents
from api.cli.drifting import About, Predicate, chosen
from api.cli.interrupts import undivided
from api.cli.link import Link, Refused, RemoteLink
from api.cli.names import why_nothing
from api.cli.options import Data, Json, Namespace, hint, reading_link, settings_of, show
from api.cli.rendering import Node
from ontology.errors import DataFolderBusy
from ontology.names import DEFAULT_NAMESPACE

PAGE = 1_000
PAUSE = 1.0
"""Seconds between two looks into a folder that no server answers for, and before a server is tried again."""
TRIES = 30
"""How often a server that does not answer is tried again before that is an error."""


def changes(
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what comes, until Ctrl-C; alone, from now on.")] = False,
    after: Annotated[str | None, typer.Option(metavar="CURSOR", help="Only what came after; default: everything.")] = None,
    about: About = None,
    predicate: Predicate = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    first: Annotated[int, typer.Option("--first", min=1, max=PAGE, help="Most rows, without --follow.")] = 100,
    as_json: Json = False,
) -> None:
    """Show what the service began and ceased to believe, in the order of commits, and the cursor to go on with."""
    # Loaded here: a command that draws no table starts sooner.
    from api.cli.drift_tables import change

    if follow:
        _follow(after, about, predicate, namespace, data, as_json)
        return
    with reading_link(data, namespace) as link:
        page = link.execute(documents.CHANGES, {"after": after, "filter": chosen(link, about, predicate), "first": first})["changes"]
        rows = [edge["node"] for edge in page["edges"]]
        if not rows:
            why_nothing(link, predicates=[predicate])
    cursor = page["edges"][-1]["cursor"] if rows else after
    answer = {"changes": [{"cursor": edge["cursor"], **edge["node"]} for edge in page["edges"]], "cursor": cursor}
    show(answer, as_json, [line for row in rows for line in change(row)] or ["nothing changed"])
    if not as_json:
        _go_on(cursor)


def _go_on(cursor: str | None) -> None:
    hint(None if cursor is None else f"go on with --after {cursor}")


def _follow(after: str | None, about: str | None, predicate: str | None, namespace: str, data: Path | None, as_json: bool) -> None:
    """Print until somebody stops it; the cursor to go on with comes last, whatever ends it."""
    from api.cli.drift_tables import change

    place = _Place(after)
    try:
        for edge in _coming(place, about, predicate, namespace, data):
            rows = [json.dumps({"cursor": edge["cursor"], **edge["node"]}, ensure_ascii=False)] if as_json else change(edge["node"])
            with undivided():
                for line in rows:
                    print(line, flush=True)
                # Only what has been printed is behind us.
                place.cursor = edge["cursor"]
    except KeyboardInterrupt:
        pass
    finally:
        _go_on(place.cursor)


class _Place:
    """How far was read. `begun`: the place to begin at is known, also where it is before the first change."""

    def __init__(self, after: str | None) -> None:
        self.cursor, self.begun = after, after is not None


def _coming(place: _Place, about: str | None, predicate: str | None, namespace: str, data: Path | None) -> Iterator[Node]:
    """The changes after a place as they come: a server sends them; into a folder that nobody serves one looks when its ledger has changed.

    Raises Refused where a server has been silent, or closed us, for too long.
    """
    failed, seen, waiting = 0, None, False
    folder = settings_of(data).data
    while True:
        stamp = _stamp(folder)
        try:
            if stamp is None or stamp != seen:
                # Between two looks the folder is free, so that others can write.
                with reading_link(data, namespace) as link:
                    if not place.begun:
                        place.cursor, place.begun = link.execute(documents.LAST_CURSOR)["stats"]["cursor"], True
                    filter = chosen(link, about, predicate)
                    for edge in _sent(link, place, filter) if isinstance(link, RemoteLink) else _pulled(link, place, filter):
                        failed = 0
                        yield edge
                    stamp = None if isinstance(link, RemoteLink) else _stamp(folder)
                seen, waiting = stamp, False
        except DataFolderBusy:
            if not waiting:
                hint("another process has the folder; waiting for it")
            waiting = True
        except Refused as failure:
            # No answer; or we were too slow, and go on from where we are.
            failed += 1
            if failure.code != "OVERLOADED" or failed > TRIES:
                raise
        time.sleep(PAUSE)


def _stamp(folder: Path) -> tuple[tuple[int, int], ...] | None:
    """What tells whether a ledger in a folder has changed; None where it is elsewhere."""
    found = []
    for name in ("ledger.db", "ledger.db-wal"):
        try:
            state = (folder / name).stat()
        except OSError:
            continue
        found.append((state.st_mtime_ns, state.st_size))
    return tuple(found) or None


def _pulled(link: Link, place: _Place, filter: Mapping[str, Any]) -> Iterator[Node]:
    """What there is now, in pages."""
    cursor = place.cursor
    while True:
        page = link.execute(documents.CHANGES, {"after": cursor, "filter": filter, "first": PAGE})["changes"]
        yield from page["edges"]
        if not page["pageInfo"]["hasNextPage"]:
            return
        cursor = page["edges"][-1]["cursor"]


def _sent(link: RemoteLink, place: _Place, filter: Mapping[str, Any]) -> Iterator[Node]:
    """What the server sends, until it closes: whoever reads too slowly is closed, and goes on from where it was."""
    if place.cursor is None:
        # Without a cursor a subscription begins with what comes from now on, and the first changes may have come already.
        yield from _pulled(link, place, filter)
    for answer in link.events(documents.FOLLOW, {"after": place.cursor, "filter": filter}):
        yield answer["changes"]
