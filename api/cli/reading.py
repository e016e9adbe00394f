"""Commands that ask: what is known, what was true, what the evidence says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from api.cli import documents, rendering
from api.cli.names import key_named, why_nothing
from api.cli.options import At, Data, First, Json, Namespace, Qualifier, Recorded, Until, more, reading_link, show, times
from ontology.names import DEFAULT_NAMESPACE, checked_predicate, normalise


def entities(
    text: Annotated[str | None, typer.Argument(help="Part of a name.")] = None,
    suspect: Annotated[bool, typer.Option("--suspect", help="Only names that may denote two, with what parts them.")] = False,
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    at: At = None,
    recorded_at: Recorded = None,
    evidence_until: Until = None,
    first: First = 50,
    as_json: Json = False,
) -> None:
    """List the people and things that are known, by name."""
    asked = times(at, recorded_at, evidence_until)
    if suspect:
        _suspects(text, asked, namespace, data, first, as_json)
        return
    with reading_link(data, namespace) as link:
        found = link.execute(documents.ENTITIES, {**asked, "name": text, "first": first})["asOf"]
    rows = [edge["node"] for edge in found["entities"]["edges"]]
    lines = [_entity(row) for row in rows]
    show(rows, as_json, lines or ["nothing is known by that name" if text else "nothing is known yet"], more(found["entities"], first))


def _entity(row: Mapping[str, Any]) -> str:
    others = [rendering.printable(name) for name in row["aliases"] if normalise(name) != normalise(row["name"])]
    return f"  {rendering.named(row)}" + (f"  ({row['type']})" if row["type"] else "") + (f"  also {', '.join(others)}" if others else "")


def timeline(
    subject: str,
    predicate: str,
    qualifier: Qualifier = "",
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    at: At = None,
    recorded_at: Recorded = None,
    evidence_until: Until = None,
    as_json: Json = False,
) -> None:
    """Show one slot over all time: its values, the words they rest on, and what ended each."""
    variables = {
        **times(at, recorded_at, evidence_until),
        "subject": {"name": subject},
        "predicate": checked_predicate(predicate),
        "qualifier": qualifier,
    }
    with reading_link(data, namespace) as link:
        slot = link.execute(documents.TIMELINE, variables)["asOf"]["timeline"]
        if not slot["segments"]:
            why_nothing(link, subjects=[subject], predicates=[predicate])
    title = f"{rendering.named(slot['subject']) if slot['subject'] else subject} {slot['predicate']['name']} {slot['qualifier']}".rstrip()
    empty = [] if slot["segments"] else ["  nothing is known"]
    show(slot, as_json, [title], rendering.segments(slot), empty)


def as_of(
    time: Annotated[str, typer.Argument(help="A date, RFC 3339, or words such as 'last March'.")],
    subject: Annotated[str | None, typer.Argument(help="A person or thing; default: everything.")] = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    at: Annotated[str | None, typer.Option("--at", help="Instead of TIME.")] = None,
    recorded_at: Recorded = None,
    evidence_until: Until = None,
    first: First = 50,
    as_json: Json = False,
) -> None:
    """Show what was true at a time."""
    variables = {**times(at or time, recorded_at, evidence_until), "first": first}
    with reading_link(data, namespace) as link:
        if subject is None:
            found = link.execute(documents.AS_OF, variables)["asOf"]
            page = found["statements"]
        else:
            found = link.execute(documents.ABOUT, {**variables, "name": subject})["asOf"]
            page = found["entity"]["statements"] if found["entity"] else {"edges": [], "pageInfo": {"hasNextPage": False}}
            if not page["edges"]:
                why_nothing(link, subjects=[subject])
    rows = [edge["node"] for edge in page["edges"]]
    body = [line for row in rows for line in rendering.statement(row)] or ["  nothing is known"]
    show({"basis": found["basis"], "statements": rows}, as_json, [rendering.basis(found["basis"])], body, more(page, first))


def ask(
    subject: str,
    predicate: str,
    object: str,
    qualifier: Qualifier = "",
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    at: At = None,
    recorded_at: Recorded = None,
    evidence_until: Until = None,
    as_json: Json = False,
) -> None:
    """Answer yes, no or unknown, with the statements that say so."""
    variables = {
        **times(at, recorded_at, evidence_until),
        "subject": {"name": subject},
        "predicate": checked_predicate(predicate),
        "object": {"name": object},
        "qualifier": qualifier,
    }
    with reading_link(data, namespace) as link:
        found = link.execute(documents.ASK, variables)["asOf"]
        answer = found["ask"]
        if answer["value"] == "UNKNOWN":
            why_nothing(link, subjects=[subject], predicates=[predicate])
    body = [line for row in answer["statements"] for line in rendering.statement(row)]
    show({"basis": found["basis"], **answer}, as_json, [answer["value"].lower(), rendering.basis(found["basis"])], body)


def claims(
    subject: Annotated[str | None, typer.Argument(help="A person or thing; default: everything.")] = None,
    candidates: Annotated[bool, typer.Option("--candidates", help="Only those that make no belief.")] = False,
    rejected: Annotated[bool, typer.Option("--rejected", help="Only those that were rejected.")] = False,
    predicate: Annotated[str | None, typer.Option(help="Only this predicate.")] = None,
    group: Annotated[str | None, typer.Option(help="Only this conversation.")] = None,
    source: Annotated[str | None, typer.Option(help="Only this source.")] = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    first: First = 20,
    as_json: Json = False,
) -> None:
    """List what the evidence says, newest first, with the IDs that `reject` takes."""
    with reading_link(data, namespace) as link:
        filter = {
            "subjects": None if subject is None else [key_named(link, subject)],
            "predicates": None if predicate is None else [checked_predicate(predicate)],
            "group": group,
            "source": source,
        }
        asked = {"candidate": True if candidates else None, "rejected": rejected, "filter": filter, "first": first}
        page = link.execute(documents.CLAIMS, asked)["asOf"]["claims"]
    rows = [edge["node"] for edge in page["edges"]]
    body = [line for row in rows for line in rendering.claim(row)] or ["there are no such claims"]
    show(rows, as_json, body, more(page, first))


def _suspects(text: str | None, asked: Mapping[str, Any], namespace: str, data: Path | None, first: int, as_json: bool) -> None:
    with reading_link(data, namespace) as link:
        page = link.execute(documents.SUSPECTS, {**asked, "first": first})["asOf"]["suspects"]
    rows = [edge["node"] for edge in page["edges"] if text is None or text.casefold() in edge["node"]["name"].casefold()]
    lines = []
    for row in rows:
        lines.append(f"  {rendering.named(row)}" + (f"  ({row['type']})" if row["type"] else ""))
        for sign in row["suspectedSplits"]:
            values = " and ".join(rendering.printable(value) for value in sign["values"])
            lines.append(f"      {rendering.predicate(sign)}: {values} on {rendering.day(sign['at'], unbounded='')}")
        # One split often resolves several signs.
        lines += [f"      {command}" for command in dict.fromkeys(sign["command"] for sign in row["suspectedSplits"])]
    show(rows, as_json, lines or ["no name looks like two"], more(page, first))
