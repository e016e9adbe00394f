"""Commands that bring text in, show what it would yield, or read it anew."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from api.cli.link import RemoteLink, linked
from api.cli.options import Data, Json, Namespace, settings_of, show
from api.wiring import open_service, read_vocabulary
from ontology.errors import InvalidInput
from ontology.names import DEFAULT_NAMESPACE


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders of transcripts and notes.")],
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    speaker: Annotated[str | None, typer.Option(help="Who 'user' is, and who speaks in notes.")] = None,
    timezone: Annotated[str | None, typer.Option(help="IANA zone of times without an offset.")] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes that extract.")] = 2,
    as_json: Json = False,
) -> None:
    """Read transcripts into the graph. Running it again adds nothing."""
    # Loaded here: the commands that only ask answer sooner without readers and pools.
    from api.cli.importing import RemoteSink
    from api.cli.progress import progress, summary, summary_lines
    from workers.bulk import import_drafts
    from workers.readers import ReadOptions, ReadReport, read_path
    from workers.sink import LocalSink

    for path in paths:
        # Before anything is read: what is misspelt is no empty import.
        if not path.exists():
            raise InvalidInput(f"{path}: there is no such file or folder", path=("paths",))
    options, report = ReadOptions(speaker=speaker, time_zone=timezone), ReadReport()
    items = (item for path in paths for item in read_path(path, options, report))
    settings = settings_of(data, extraction_workers=workers)
    with linked(settings, namespace, open_service) as link, progress(sys.stderr.isatty() and not as_json) as shown:
        if isinstance(link, RemoteLink):
            tally = import_drafts(items, RemoteSink(link), threads=2 * workers, progress=shown)
        else:
            service = link.service
            sink = LocalSink(service.graph, service.ingestion, service.ingestion.pool, namespace)
            tally = import_drafts(items, sink, threads=workers + 1, progress=shown)
    counts = summary(tally, report)
    show(counts, as_json, summary_lines(counts))


def extract(
    file: Annotated[Path, typer.Argument(help="Turns as JSON lines, or any transcript.")],
    candidates: Annotated[bool, typer.Option(help="Also candidates (confidence under .5) and hypotheticals.")] = False,
    speaker: Annotated[str | None, typer.Option(help="Who 'user' is, and who speaks in notes.")] = None,
    timezone: Annotated[str | None, typer.Option(help="IANA zone of times without an offset.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line, as always.")] = True,
) -> None:
    """Print the claims that extraction finds, one JSON line each; nothing is stored."""
    from api.cli.dry_run import claim_rows
    from workers.readers import ReadOptions

    for row in claim_rows(
        file, read_vocabulary(settings_of(None)), ReadOptions(speaker=speaker, time_zone=timezone), candidates=candidates
    ):
        print(json.dumps(row, ensure_ascii=False))
