"""What the commands share: their options, the way to the graph, and how an answer is printed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from api.cli import rendering
from api.cli.link import Link, LocalLink, RemoteLink, linked
from api.cli.times import present, understood
from api.settings import Settings
from api.wiring import open_service
from ontology.errors import ErstwhileError, InvalidInput

Namespace = Annotated[str, typer.Option("--namespace", "-n", help="The namespace to read or write.")]
Data = Annotated[Path | None, typer.Option("--data", help="The data folder (default: ERSTWHILE_DATA, else the platform's).")]
Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]
At = Annotated[str | None, typer.Option("--at", help="World time asked about: a date, RFC 3339, or words.")]
Recorded = Annotated[str | None, typer.Option("--recorded-at", help="As the service had recorded it then.")]
Until = Annotated[str | None, typer.Option("--evidence-until", help="Only evidence said up to this time.")]
Qualifier = Annotated[str, typer.Option("--qualifier", "-q", help="Which slot of the predicate, such as 'port'.")]
First = Annotated[int, typer.Option("--first", min=1, max=100, help="Most rows.")]
Reason = Annotated[str | None, typer.Option(help="Why, for the record.")]


def settings_of(data: Path | None, **more: Any) -> Settings:
    """The settings, with what the command line says in place of the environment. Raises InvalidInput naming the variable."""
    given = {name: value for name, value in {"data": data, **more}.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as failure:
        first = failure.errors()[0]
        name = "_".join(str(part) for part in first["loc"]).upper()
        raise InvalidInput(f"ERSTWHILE_{name} is wrong: {first['msg']}", path=(name,)) from failure


@contextmanager
def reading_link(data: Path | None, namespace: str, *, graph: bool = False) -> Iterator[RemoteLink | LocalLink]:
    """A link for reading: the ledger alone answers all that it asks, unless the graph itself is wanted."""
    with linked(settings_of(data, graph_engine=None if graph else "sql"), namespace, open_service) as link:
        yield link


def times(at: str | None, recorded_at: str | None, evidence_until: str | None) -> dict[str, str | None]:
    """The arguments of `asOf`; what was read from words is echoed on standard error."""
    now = present()
    named = {"validAt": at, "recordedAt": recorded_at, "evidenceUntil": evidence_until}
    read = {name: None if text is None else understood(text, now) for name, text in named.items()}
    for name, found in read.items():
        if found is not None and found.guessed:
            print(f"{name}: {found.echo}", file=sys.stderr)
    return {name: None if found is None else found.rfc3339 for name, found in read.items()}


def instant_of(option: str, text: str | None) -> str | None:
    """A time that an option gives, as the API takes it; what was read from words is echoed on standard error."""
    if text is None:
        return None
    found = understood(text, present())
    if found.guessed:
        print(f"{option}: {found.echo}", file=sys.stderr)
    return found.rfc3339


def show(answer: Any, as_json: bool, *parts: Any, ascii: bool = False) -> None:
    """Print an answer: as JSON, or the lines of its parts. `ascii`: what is not ASCII is escaped in the JSON."""
    print(json.dumps(answer, ensure_ascii=ascii, indent=2) if as_json else rendering.lines(*parts))


def hint(text: str | None) -> None:
    """Say something beside the answer."""
    if text is not None:
        print(f"erstwhile: {text}", file=sys.stderr)


def more(connection: Mapping[str, Any], first: int) -> list[str]:
    """What to say where a page is not all."""
    return [f"(the first {first}; more with --first)"] if connection["pageInfo"]["hasNextPage"] else []


def payload(link: Link, document: str, variables: Mapping[str, Any], field: str) -> dict[str, Any]:
    """The payload of a mutation. Raises ErstwhileError where its result is an error."""
    result: dict[str, Any] = link.execute(document, variables)[field]
    if "message" in result:
        raise ErstwhileError(result["message"])
    return result
