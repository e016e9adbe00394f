"""Commands for the service itself: its state, its graph, its server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from api.cli import documents
from api.cli.link import RemoteLink
from api.cli.options import Data, Json, Namespace, reading_link, settings_of, show
from ontology.names import DEFAULT_NAMESPACE


def status(namespace: Namespace = DEFAULT_NAMESPACE, data: Data = None, as_json: Json = False) -> None:
    """Show what the data folder holds and whether its parts answer."""
    settings = settings_of(data)
    with reading_link(data, namespace, graph=True) as link:
        found = link.execute(documents.STATUS)
        where = f"server at {link.url}" if isinstance(link, RemoteLink) else "no server; read directly"
    stats = found["stats"]
    counts = "  ".join(f"{name} {count}" for name, count in stats.items())
    parts = [
        f"  {part['name']}: {'ok' if part['ok'] else 'FAILED'}" + (f" ({part['degraded']})" if part["degraded"] else "")
        for part in found["health"]["components"]
    ]
    version = found.pop("asOf")["basis"]["indexVersion"]
    head = [f"{settings.data} ({where})", f"{namespace}: {counts}"]
    answer = {"data": str(settings.data), "served": where, **found, "indexVersion": version}
    show(answer, as_json, head, parts, [f"  recall: index {version}"])


def rebuild(
    index: Annotated[bool, typer.Option("--index", help="The recall index, with the embedder that is chosen now.")] = False,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Rebuild the graph, or the recall index, from the ledger."""
    if index:
        _rebuild_index(data, as_json)
        return
    with reading_link(data, DEFAULT_NAMESPACE, graph=True) as link:
        found = link.execute(documents.REBUILD)["rebuildGraph"]
    state = next((part for part in found["components"] if part["name"] == "graph"), {"ok": found["ok"]})
    show(found, as_json, ["the graph was rebuilt from the ledger" if state["ok"] else f"the graph is not well: {state}"])


def _rebuild_index(data: Path | None, as_json: bool) -> None:
    from api.cli.vectors import finish

    with reading_link(data, DEFAULT_NAMESPACE) as link:
        found = link.execute(documents.REBUILD_INDEX)["rebuildIndex"]
        made = 0 if isinstance(link, RemoteLink) else finish(link.service)
        version = link.execute(documents.STATUS)["asOf"]["basis"]["indexVersion"]
    told = f"the recall index was rebuilt from the ledger: {version}" + (f" ({made} vectors made)" if made else "")
    bad = [f"{part['name']} is not well: {part['degraded']}" for part in found["components"] if not part["ok"]]
    show({**found, "indexVersion": version, "vectorsMade": made}, as_json, [told], bad)


def serve(
    data: Data = None,
    host: Annotated[str | None, typer.Option(help="The address to listen on; with API keys any, else one of loopback.")] = None,
    port: Annotated[int | None, typer.Option(help="0: any free one.")] = None,
) -> None:
    """Serve GraphQL on http://127.0.0.1:8000/graphql until stopped."""
    from api.server import serve as run

    raise typer.Exit(run(settings_of(data, host=host, port=port)))
