"""Commands that bring text in, show what it would yield, or read it anew."""

from __future__ import annotations

import json
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
    to: Annotated[str | None, typer.Option(metavar="URL", help="Send it to the service there (its key: ERSTWHILE_API_KEY).")] = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Of a service: wait until it has extracted what was sent.")] = True,
    watch: Annotated[bool, typer.Option("--watch", help="Go on with what is new in the folders, until Ctrl-C.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget what earlier runs have sent, and send all of it again.")] = False,
    batch: Annotated[int, typer.Option(min=1, max=1000, help="Episodes of one call to a service.")] = 100,
    patience: Annotated[float, typer.Option(min=0, help="Seconds for which a service may take nothing.")] = 600,
    as_json: Json = False,
) -> None:
    """Read transcripts into the graph. Running it again adds nothing, and goes on where it was stopped."""
    # Loaded here: the commands that only ask answer sooner without readers and pools.
    from api.cli.importing import one_meeting, read_options
    from api.cli.ingesting import Import, run
    from api.cli.progress import summary, summary_lines

    for path in paths:
        # Before anything is read: what is misspelt is no empty import.
        if not path.exists():
            raise InvalidInput(f"{path}: there is no such file or folder", path=("paths",))
    if to is not None and data is not None:
        raise InvalidInput("--to names a service and --data a folder: give one of them", path=("to",))
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
    found = run(
        Import(paths, options, settings, namespace, workers, to, wait, watch, fresh, batch, patience, quiet=as_json),
        open_service,
    )
    counts = summary(found.tally, found.report)
    show(counts, as_json, summary_lines(counts))
    if found.status:
        raise typer.Exit(found.status)


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
    from extraction.hygiene import load_hygiene

    one_meeting([file], start)
    settings = settings_of(None)
    options = read_options(settings.speakers, speaker=speaker, time_zone=timezone, date_order=_order(date_order), start=start, bots=bots)
    for row in claim_rows(file, read_vocabulary(settings), load_hygiene(settings.hygiene), options, candidates=candidates):
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
