"""Commands that bring text in, show what it would yield, or read it anew."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from api.cli.documents import PREVIEW
from api.cli.link import RemoteLink, linked
from api.cli.options import Data, Json, Namespace, instant_of, settings_of, show
from api.wiring import open_service, read_vocabulary
from ontology.errors import DataFolderBusy, InvalidInput
from ontology.instant import parse_instant
from ontology.names import DEFAULT_NAMESPACE


class Order(StrEnum):
    """Orders of day, month and year."""

    dmy = "dmy"
    mdy = "mdy"
    ymd = "ymd"


DateOrder = Annotated[Order | None, typer.Option("--date-order", help="The order of dates where a chat leaves it open.")]
Start = Annotated[str | None, typer.Option(help="When the one meeting that is read began; else its file says so.")]
Bots = Annotated[bool, typer.Option("--bots", help="Also what bots wrote in a workspace.")]


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders of transcripts and notes.")],
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    speaker: Annotated[str | None, typer.Option(help="Who 'user' is, and who speaks in notes.")] = None,
    speakers: Annotated[Path | None, typer.Option(help="YAML: who the speakers of each source are (ERSTWHILE_SPEAKERS).")] = None,
    timezone: Annotated[str | None, typer.Option(help="IANA zone of times without an offset.")] = None,
    subagents: Annotated[bool, typer.Option("--subagents", help="Also what assistants and their sub-agents said to each other.")] = False,
    artifacts: Annotated[
        bool, typer.Option("--artifacts/--no-artifacts", help="Keep results of tools, attached files and summaries; they make no claims.")
    ] = True,
    date_order: DateOrder = None,
    start: Start = None,
    bots: Bots = False,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes that extract.")] = 2,
    as_json: Json = False,
) -> None:
    """Read transcripts into the graph. Running it again adds nothing."""
    # Loaded here: the commands that only ask answer sooner without readers and pools.
    from api.cli.importing import RemoteSink, one_meeting, read_options
    from api.cli.progress import progress, summary, summary_lines
    from api.cli.vectors import finish
    from workers.bulk import import_drafts
    from workers.readers import ReadReport, read_path
    from workers.sink import LocalSink

    for path in paths:
        # Before anything is read: what is misspelt is no empty import.
        if not path.exists():
            raise InvalidInput(f"{path}: there is no such file or folder", path=("paths",))
    one_meeting(paths, start)
    settings = settings_of(data, extraction_workers=workers, speakers=speakers)
    options = read_options(
        settings.speakers,
        speaker=speaker,
        time_zone=timezone,
        date_order=_order(date_order),
        start=start,
        bots=bots,
        subagents=subagents,
        artifacts=artifacts,
    )
    report = ReadReport()
    items = (item for path in paths for item in read_path(path, options, report))
    with linked(settings, namespace, open_service) as link:
        with progress(sys.stderr.isatty() and not as_json) as shown:
            if isinstance(link, RemoteLink):
                tally = import_drafts(items, RemoteSink(link), threads=2 * workers, progress=shown)
            else:
                service = link.service
                sink = LocalSink(service.graph, service.ingestion, service.ingestion.pool, namespace)
                if service.embedding is not None:
                    service.embedding.start()
                tally = import_drafts(items, sink, threads=workers + 1, progress=shown)
        if not isinstance(link, RemoteLink):
            finish(link.service)
    counts = summary(tally, report)
    show(counts, as_json, summary_lines(counts))


def extract(
    file: Annotated[Path, typer.Argument(help="Turns as JSON lines, or any transcript.")],
    candidates: Annotated[bool, typer.Option(help="Also candidates (confidence under .5) and hypotheticals.")] = False,
    speaker: Annotated[str | None, typer.Option(help="Who 'user' is, and who speaks in notes.")] = None,
    timezone: Annotated[str | None, typer.Option(help="IANA zone of times without an offset.")] = None,
    date_order: DateOrder = None,
    start: Start = None,
    bots: Bots = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line, as always.")] = True,
) -> None:
    """Print the claims that extraction finds, one JSON line each; nothing is stored."""
    from api.cli.dry_run import claim_rows
    from api.cli.importing import one_meeting, read_options

    one_meeting([file], start)
    settings = settings_of(None)
    options = read_options(settings.speakers, speaker=speaker, time_zone=timezone, date_order=_order(date_order), start=start, bots=bots)
    for row in claim_rows(file, read_vocabulary(settings), options, candidates=candidates):
        print(json.dumps(row, ensure_ascii=False))


def preview(
    text: Annotated[str, typer.Argument(metavar="FILE-OR-TEXT", help="A transcript or a file of turns; or the words themselves.")],
    speaker: Annotated[str | None, typer.Option(help="Who says it; of a file, who 'user' is.")] = None,
    said_at: Annotated[str | None, typer.Option("--said-at", help="When the words were said: a date, RFC 3339, or words.")] = None,
    timezone: Annotated[str | None, typer.Option(help="IANA zone of times without an offset.")] = None,
    group: Annotated[str | None, typer.Option(help="The conversation of the words.")] = None,
    date_order: DateOrder = None,
    start: Start = None,
    dropped: Annotated[bool, typer.Option("--dropped", help="Of a file too: what makes no claim, and why.")] = False,
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Show what words or a file would yield and change, each message by itself; nothing is stored."""
    from api.cli.previewing import inputs, preview_lines, totals

    file = _file(text)
    said = instant_of("saidAt", said_at)
    found = []
    settings = settings_of(data, graph_engine="sql")
    with linked(settings, namespace, open_service) as link:
        stated = {"speaker": speaker, "saidAt": said, "timeZone": timezone, "group": group}
        for input in inputs(file, text, stated, settings.speakers, date_order=_order(date_order), start=start):
            found.append(link.execute(PREVIEW, {"input": input})["preview"])
            for line in () if as_json else preview_lines(found[-1], dropped=dropped or file is None, brief=file is not None):
                print(line)
    show(found, as_json, totals(found))


def _order(order: Order | None) -> Literal["dmy", "mdy", "ymd"] | None:
    return None if order is None else order.value


def _file(text: str) -> Path | None:
    """The file that an argument names; None where it is words. Raises InvalidInput for a file that is not there."""
    path = Path(text)
    try:
        if path.exists():
            return path
    except (OSError, ValueError):
        return None
    if not any(character.isspace() for character in text) and (path.suffix or "/" in text):
        raise InvalidInput(f"{text}: there is no such file or folder", path=("text",))
    return None


def reextract(
    since: Annotated[str | None, typer.Option(help="Only what was said at or after this time.")] = None,
    source: Annotated[str | None, typer.Option(help="Only this source.")] = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes that extract.")] = 2,
    as_json: Json = False,
) -> None:
    """Read again what was said, with the extraction of today; what people rejected stays rejected."""
    from api.cli.reextraction import report, report_lines, run
    from api.cli.vectors import finish

    start = None if since is None else parse_instant(str(instant_of("since", since)))
    with linked(settings_of(data, extraction_workers=workers), namespace, open_service) as link:
        if isinstance(link, RemoteLink):
            raise DataFolderBusy(f"the server at {link.url} owns the data folder: stop it, run `erstwhile reextract`, then start it again")
        found = report(run(link.service, namespace, since=start, source=source, threads=workers))
        finish(link.service)
    show(found, as_json, report_lines(found))
