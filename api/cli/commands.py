"""The commands of `erstwhile`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from api.cli import documents, rendering
from api.cli.link import LocalLink, RemoteLink, linked
from api.cli.predicates import suggestion
from api.cli.times import present, understood
from api.settings import Settings
from api.wiring import open_service, read_vocabulary
from ontology.errors import ErstwhileError, InvalidInput
from ontology.names import DEFAULT_NAMESPACE, checked_predicate

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="What was true, what was believed, what changed, when and why.",
)

Namespace = Annotated[str, typer.Option("--namespace", "-n", help="The namespace to read or write.")]
Data = Annotated[Path | None, typer.Option("--data", help="The data folder (default: ERSTWHILE_DATA, else the platform's).")]
Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]
At = Annotated[str | None, typer.Option("--at", help="World time asked about: a date, RFC 3339, or words.")]
Recorded = Annotated[str | None, typer.Option("--recorded-at", help="As the service had recorded it then.")]
Until = Annotated[str | None, typer.Option("--evidence-until", help="Only evidence said up to this time.")]
Qualifier = Annotated[str, typer.Option("--qualifier", "-q", help="Which slot of the predicate, such as 'port'.")]
First = Annotated[int, typer.Option("--first", min=1, max=100, help="Most rows.")]


def main() -> None:
    """Run the command line; a refusal is one sentence on standard error and status 1."""
    try:
        app()
    except ErstwhileError as failure:
        print(f"erstwhile: {failure.message}", file=sys.stderr)
        sys.exit(1)
    except OSError as failure:
        where = f"{failure.filename}: " if failure.filename else ""
        print(f"erstwhile: {where}{failure.strerror or failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


def _settings(data: Path | None, **more: Any) -> Settings:
    given = {name: value for name, value in {"data": data, **more}.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as failure:
        first = failure.errors()[0]
        name = "_".join(str(part) for part in first["loc"]).upper()
        raise InvalidInput(f"ERSTWHILE_{name} is wrong: {first['msg']}", path=(name,)) from failure


@contextmanager
def _link(data: Path | None, namespace: str, *, graph: bool = False) -> Iterator[RemoteLink | LocalLink]:
    """A link for reading: the ledger alone answers all that it asks, unless the graph itself is wanted."""
    with linked(_settings(data, graph_engine=None if graph else "sql"), namespace, open_service) as link:
        yield link


def _times(at: str | None, recorded_at: str | None, evidence_until: str | None) -> dict[str, str | None]:
    now = present()
    named = {"validAt": at, "recordedAt": recorded_at, "evidenceUntil": evidence_until}
    read = {name: None if text is None else understood(text, now) for name, text in named.items()}
    for name, found in read.items():
        if found is not None and found.guessed:
            print(f"{name}: {found.echo}", file=sys.stderr)
    return {name: None if found is None else found.rfc3339 for name, found in read.items()}


def _print(answer: Any, as_json: bool, *parts: Any) -> None:
    print(json.dumps(answer, ensure_ascii=False, indent=2) if as_json else rendering.lines(*parts))


def _hint(text: str | None) -> None:
    if text is not None:
        print(f"erstwhile: {text}", file=sys.stderr)


def _more(connection: Mapping[str, Any], first: int) -> list[str]:
    return [f"(the first {first}; more with --first)"] if connection["pageInfo"]["hasNextPage"] else []


@app.command()
def entities(
    text: Annotated[str | None, typer.Argument(help="Part of a name.")] = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    at: At = None,
    recorded_at: Recorded = None,
    evidence_until: Until = None,
    first: First = 50,
    as_json: Json = False,
) -> None:
    """List the people and things that are known, by name."""
    times = _times(at, recorded_at, evidence_until)
    with _link(data, namespace) as link:
        found = link.execute(documents.ENTITIES, {**times, "name": text, "first": first})["asOf"]
    rows = [edge["node"] for edge in found["entities"]["edges"]]
    lines = [f"  {row['name']}" + (f"  ({row['type']})" if row["type"] else "") for row in rows]
    _print(rows, as_json, lines or ["nothing is known by that name" if text else "nothing is known yet"], _more(found["entities"], first))


@app.command()
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
        **_times(at, recorded_at, evidence_until),
        "subject": {"name": subject},
        "predicate": checked_predicate(predicate),
        "qualifier": qualifier,
    }
    with _link(data, namespace) as link:
        slot = link.execute(documents.TIMELINE, variables)["asOf"]["timeline"]
        _hint(None if slot["segments"] else suggestion(link, predicate))
    title = f"{slot['subject']['name'] if slot['subject'] else subject} {slot['predicate']['name']} {slot['qualifier']}".rstrip()
    empty = [] if slot["segments"] else ["  nothing is known"]
    _print(slot, as_json, [title], rendering.segments(slot), empty)


@app.command("as-of")
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
    variables = {**_times(at or time, recorded_at, evidence_until), "first": first}
    with _link(data, namespace) as link:
        if subject is None:
            found = link.execute(documents.AS_OF, variables)["asOf"]
            page = found["statements"]
        else:
            found = link.execute(documents.ABOUT, {**variables, "name": subject})["asOf"]
            page = found["entity"]["statements"] if found["entity"] else {"edges": [], "pageInfo": {"hasNextPage": False}}
    rows = [edge["node"] for edge in page["edges"]]
    body = [line for row in rows for line in rendering.statement(row)] or ["  nothing is known"]
    _print({"basis": found["basis"], "statements": rows}, as_json, [rendering.basis(found["basis"])], body, _more(page, first))


@app.command()
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
        **_times(at, recorded_at, evidence_until),
        "subject": {"name": subject},
        "predicate": checked_predicate(predicate),
        "object": {"name": object},
        "qualifier": qualifier,
    }
    with _link(data, namespace) as link:
        found = link.execute(documents.ASK, variables)["asOf"]
        answer = found["ask"]
        _hint(suggestion(link, predicate) if answer["value"] == "UNKNOWN" else None)
    body = [line for row in answer["statements"] for line in rendering.statement(row)]
    _print({"basis": found["basis"], **answer}, as_json, [answer["value"].lower(), rendering.basis(found["basis"])], body)


@app.command()
def retract(
    source: str,
    external_id: str,
    reason: Annotated[str | None, typer.Option(help="Why, for the record.")] = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Withdraw an episode: it is no longer evidence, and what it had ended lives again."""
    with _link(data, namespace) as link:
        result = link.execute(documents.RETRACT, {"ref": {"source": source, "externalId": external_id}, "reason": reason})["retractEpisode"]
    if "message" in result:
        raise ErstwhileError(result["message"])
    body = [line for row in result["restored"] for line in rendering.statement(row)]
    restored = [f"{len(result['restored'])} statements live again:"] if body else []
    _print(result, as_json, [f"withdrawn in transaction {result['transaction']}"], restored, body)


@app.command()
def status(namespace: Namespace = DEFAULT_NAMESPACE, data: Data = None, as_json: Json = False) -> None:
    """Show what the data folder holds and whether its parts answer."""
    settings = _settings(data)
    with _link(data, namespace, graph=True) as link:
        found = link.execute(documents.STATUS)
        where = f"server at {link.url}" if isinstance(link, RemoteLink) else "no server; read directly"
    stats = found["stats"]
    counts = "  ".join(f"{name} {count}" for name, count in stats.items())
    parts = [
        f"  {part['name']}: {'ok' if part['ok'] else 'FAILED'}" + (f" ({part['degraded']})" if part["degraded"] else "")
        for part in found["health"]["components"]
    ]
    _print({"data": str(settings.data), "served": where, **found}, as_json, [f"{settings.data} ({where})", f"{namespace}: {counts}"], parts)


@app.command()
def rebuild(data: Data = None, as_json: Json = False) -> None:
    """Rebuild the graph from the ledger."""
    with _link(data, DEFAULT_NAMESPACE, graph=True) as link:
        found = link.execute(documents.REBUILD)["rebuildGraph"]
    state = next((part for part in found["components"] if part["name"] == "graph"), {"ok": found["ok"]})
    _print(found, as_json, ["the graph was rebuilt from the ledger" if state["ok"] else f"the graph is not well: {state}"])


@app.command()
def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders of transcripts and notes.")],
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    speaker: Annotated[str | None, typer.Option(help="Who 'user' is, and who speaks in notes.")] = None,
    speakers: Annotated[Path | None, typer.Option(help="YAML: who the speakers of each source are (ERSTWHILE_SPEAKERS).")] = None,
    timezone: Annotated[str | None, typer.Option(help="IANA zone of times without an offset.")] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes that extract.")] = 2,
    as_json: Json = False,
) -> None:
    """Read transcripts into the graph. Running it again adds nothing."""
    # Loaded here: the commands that only ask answer sooner without readers and pools.
    from api.cli.importing import RemoteSink, read_options
    from api.cli.progress import progress, summary, summary_lines
    from workers.bulk import import_drafts
    from workers.readers import ReadReport, read_path
    from workers.sink import LocalSink

    for path in paths:
        # Before anything is read: what is misspelt is no empty import.
        if not path.exists():
            raise InvalidInput(f"{path}: there is no such file or folder", path=("paths",))
    settings = _settings(data, extraction_workers=workers, speakers=speakers)
    options, report = read_options(settings.speakers, speaker=speaker, time_zone=timezone), ReadReport()
    items = (item for path in paths for item in read_path(path, options, report))
    with linked(settings, namespace, open_service) as link, progress(sys.stderr.isatty() and not as_json) as show:
        if isinstance(link, RemoteLink):
            tally = import_drafts(items, RemoteSink(link), threads=2 * workers, progress=show)
        else:
            service = link.service
            sink = LocalSink(service.graph, service.ingestion, service.ingestion.pool, namespace)
            tally = import_drafts(items, sink, threads=workers + 1, progress=show)
    counts = summary(tally, report)
    _print(counts, as_json, summary_lines(counts))


@app.command()
def extract(
    file: Annotated[Path, typer.Argument(help="Turns as JSON lines, or any transcript.")],
    candidates: Annotated[bool, typer.Option(help="Also candidates (confidence under .5) and hypotheticals.")] = False,
    speaker: Annotated[str | None, typer.Option(help="Who 'user' is, and who speaks in notes.")] = None,
    timezone: Annotated[str | None, typer.Option(help="IANA zone of times without an offset.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line, as always.")] = True,
) -> None:
    """Print the claims that extraction finds, one JSON line each; nothing is stored."""
    from api.cli.dry_run import claim_rows
    from api.cli.importing import read_options

    settings = _settings(None)
    options = read_options(settings.speakers, speaker=speaker, time_zone=timezone)
    for row in claim_rows(file, read_vocabulary(settings), options, candidates=candidates):
        print(json.dumps(row, ensure_ascii=False))


@app.command()
def serve(
    data: Data = None,
    host: Annotated[str | None, typer.Option(help="A loopback address.")] = None,
    port: Annotated[int | None, typer.Option(help="0: any free one.")] = None,
) -> None:
    """Serve GraphQL on http://127.0.0.1:8000/graphql until stopped."""
    from api.server import serve as run

    raise typer.Exit(run(_settings(data, host=host, port=port)))
