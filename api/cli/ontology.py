"""Commands about the vocabulary: what it lacks, and what a change of it would do."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from api.cli.documents import UNDECLARED
from api.cli.options import Data, Json, Namespace, reading_link, settings_of, show
from api.folder import owned, owner_of
from api.settings import Settings
from api.wiring import open_service, vocabulary_in_force
from ontology.errors import DataFolderBusy
from ontology.loading import load_vocabulary
from ontology.names import DEFAULT_NAMESPACE
from ontology.vocabulary import Vocabulary

app = typer.Typer(no_args_is_help=True, help="Look at the vocabulary: what it lacks, and what a change would do.")


@app.command()
def review(
    least: Annotated[int, typer.Option(min=1, help="The fewest claims of a predicate.")] = 5,
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Print undeclared predicates that are used much, as an overlay to complete."""
    from api.cli.overlay import overlay_lines

    with reading_link(data, namespace) as link:
        rows = link.execute(UNDECLARED, {"least": least})["asOf"]["undeclaredPredicates"]
    show(rows, as_json, overlay_lines(rows, least))


@app.command()
def check(
    overlay: Annotated[Path, typer.Argument(help="An overlay of the vocabulary, as ERSTWHILE_ONTOLOGY names one.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what it would do.")] = False,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Say what an overlay would change, for each namespace; without --dry-run put it in force too."""
    from api.cli.overlay import differing

    wanted = load_vocabulary(overlay)
    settings = settings_of(data, graph_engine="sql")
    if (owner := owner_of(settings.data)) is not None:
        who = f"the server at {owner.url}" if owner.url else f"process {owner.pid}" if owner.pid else "another process"
        raise DataFolderBusy(f"{who} owns the data folder: stop it, then run this again; a vocabulary changes while nobody reads")
    with owned(settings.data):
        before = vocabulary_in_force(settings)
        known = before is not None and before.version == wanted.version
        counts = {} if before is None or known else _rehearsed(settings, before, wanted)
        done = {} if dry_run or known else _enforced(settings, wanted, counts)
    found: dict[str, Any] = {"version": wanted.version, "inForce": known or not dry_run}
    found["predicates"] = [] if before is None else differing(before, wanted)
    found["namespaces"] = {
        name: {"opened": opened, "closed": closed, "transaction": done.get(name)} for name, (opened, closed) in counts.items()
    }
    show(found, as_json, _lines(found, known, dry_run, settings.ontology, overlay))


def _rehearsed(settings: Settings, before: Vocabulary, wanted: Vocabulary) -> dict[str, tuple[int, int]]:
    # Opened under what is in force: a changed file that the environment names would be put in force before it was looked at.
    service = open_service(settings, before)
    try:
        return service.graph.rehearse_vocabulary(wanted)
    finally:
        service.close()


def _enforced(settings: Settings, wanted: Vocabulary, counts: dict[str, tuple[int, int]]) -> dict[str, int]:
    """Put it in force by opening; the transaction in which each namespace was resolved again."""
    service = open_service(settings, wanted)
    try:
        last = {name: service.graph.transactions(name, first=1).items for name in counts}
    finally:
        service.close()
    return {name: items[0].number for name, items in last.items() if items and items[0].kind == "ontology"}


def _lines(found: dict[str, Any], known: bool, dry_run: bool, named: Path | None, overlay: Path) -> list[str]:
    if known:
        return [f"vocabulary {found['version']} is in force already"]
    lines = [f"  {each}" for each in found["predicates"]]
    would = "would open" if dry_run else "opened"
    end = "close" if dry_run else "closed"
    for name, row in found["namespaces"].items():
        where = f" in transaction {row['transaction']}" if row["transaction"] is not None else ""
        lines.append(f"{name}: {would} {row['opened']} statements and {end} {row['closed']}{where}")
    if not found["namespaces"]:
        lines.append("no statement changes")
    if not dry_run:
        lines.append(f"vocabulary {found['version']} is in force")
        if named is None or named.resolve() != overlay.resolve():
            lines.append(f"to keep it: set ERSTWHILE_ONTOLOGY={overlay.resolve()}; without it the next command goes back")
    return lines
