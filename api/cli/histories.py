"""Commands that show all that was ever believed of a slot: `history` as rows, `plane` as a picture."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from api.cli import drift_documents as documents
from api.cli import rendering
from api.cli.link import Link
from api.cli.names import why_nothing
from api.cli.options import Data, Json, Namespace, Qualifier, Recorded, Until, reading_link, show, times
from api.cli.plane import Rectangle
from api.cli.plane import plane as drawn
from api.cli.rendering import Node
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant, parse_instant
from ontology.names import DEFAULT_NAMESPACE, checked_name, checked_predicate, normalise

PAGE = 100
NARROW = 48
"""Characters under which no plane can be read."""


def history(
    subject: str,
    predicate: Annotated[str | None, typer.Argument(help="Default: all.")] = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    recorded_at: Recorded = None,
    evidence_until: Until = None,
    as_json: Json = False,
) -> None:
    """List all that was ever believed: when it holds, when that was believed, and what ended either."""
    # Loaded here: a command that draws no table starts sooner.
    from api.cli.drift_tables import histories

    asked = times(None, recorded_at, evidence_until)
    with reading_link(data, namespace) as link:
        found = _found(link, asked, subject, predicate)
        if not found["rows"]:
            why_nothing(link, subjects=[subject], predicates=[predicate])
    body = histories(found["rows"]) if found["rows"] else ["  nothing is known"]
    show(found, as_json, [found["subject"], rendering.basis(found["basis"])], body)


def plane(
    subject: str,
    predicate: str,
    qualifier: Qualifier = "",
    width: Annotated[int | None, typer.Option(min=NARROW, help="Characters of a line; default: the terminal's.")] = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    recorded_at: Recorded = None,
    evidence_until: Until = None,
    as_json: Json = False,
) -> None:
    """Draw what was believed of a slot: valid time across, transaction time down."""
    asked = times(None, recorded_at, evidence_until)
    with reading_link(data, namespace) as link:
        found = _found(link, asked, subject, predicate)
        rows = [row for row in found["rows"] if row["qualifier"] == normalise(qualifier)]
        if not rows:
            why_nothing(link, subjects=[subject], predicates=[predicate])
    title = f"{found['subject']} {checked_predicate(predicate)} {qualifier}".rstrip()
    columns = max(NARROW, width or shutil.get_terminal_size().columns)
    body = drawn([_rectangle(row) for row in rows], columns) if rows else ["  nothing is known"]
    show({**found, "rows": rows}, as_json, [title, ""] if rows else [title], body)


def _found(link: Link, asked: Mapping[str, Any], subject: str, predicate: str | None) -> dict[str, Any]:
    """`basis`, `subject` and `rows`: every rectangle with `ended`, the words for what ended it."""
    predicates = None if predicate is None else [checked_predicate(predicate)]
    variables = {**asked, "name": checked_name(subject), "predicates": predicates, "first": PAGE, "after": None}
    nodes: list[Node] = []
    while True:
        found = link.execute(documents.HISTORY, variables)["asOf"]
        if found["entity"] is None:
            return {"basis": found["basis"], "subject": subject, "rows": []}
        page = found["entity"]["statements"]
        nodes += [edge["node"] for edge in page["edges"]]
        if not page["pageInfo"]["hasNextPage"]:
            break
        variables |= {"after": page["pageInfo"]["endCursor"], "recordedAt": found["basis"]["recordedAt"]}
    rows = {_identity(row): row for node in nodes for row in _rows(node)}
    ordered = sorted(rows.values(), key=_order)
    return {"basis": found["basis"], "subject": rendering.named(found["entity"]), "rows": ordered}


def _rows(node: Node) -> Iterator[dict[str, Any]]:
    """The rectangles of a proposition. It is listed once for each interval that was the last known of a time, with all its versions."""
    starts = {version["transactionTime"]["from"] for version in node["history"]}
    for version in node["history"]:
        until = version["transactionTime"]["to"]
        own = version["validTime"] == {side: node["validTime"][side] for side in ("from", "to")}
        row = {name: node[name] for name in ("predicate", "qualifier", "object", "polarity")}
        row |= {"key": node["key"], "validTime": version["validTime"], "transactionTime": version["transactionTime"], "ended": ""}
        if until is not None and until in starts:
            row["ended"] = "known otherwise from then on"
        elif own and node["invalidation"] is not None:
            row["ended"] = _ending(node["invalidation"])
        yield row


def _ending(found: Node) -> str:
    by = found["by"]
    other = "" if by is None else f" by {'' if by['polarity'] else 'NOT '}{rendering.value(by)}"
    return f"{found['reason']}{other} ({found['rule']})"


def _identity(row: Node) -> tuple[str, ...]:
    """One proposition is listed several times; the listing that tells what ended a rectangle is kept."""
    return (row["key"], *(str(row[time][side]) for time in ("validTime", "transactionTime") for side in ("from", "to")))


def _order(row: Node) -> tuple[Any, ...]:
    found = _rectangle(row)
    return row["predicate"]["name"], row["qualifier"], found.start, found.since, found.end, found.value, not found.affirmed


def _instant(text: str | None, unbounded: Instant) -> Instant:
    return unbounded if text is None else parse_instant(text)


def _rectangle(row: Node) -> Rectangle:
    valid, believed = row["validTime"], row["transactionTime"]
    return Rectangle(
        rendering.value(row),
        row["polarity"],
        _instant(valid["from"], UNBOUNDED_PAST),
        _instant(valid["to"], UNBOUNDED_FUTURE),
        _instant(believed["from"], UNBOUNDED_PAST),
        _instant(believed["to"], UNBOUNDED_FUTURE),
    )
