"""`erstwhile keys`: making API keys."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from api.cli.options import Json, show
from api.credentials import Access, entry_of, new_key, parse_keys
from ontology.errors import InvalidInput

app = typer.Typer(no_args_is_help=True, add_completion=False, help="API keys, with which a service may listen beyond loopback.")


@app.callback()
def _keys() -> None:
    # With it a lone command keeps its name.
    pass


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="Whose it is; its transactions bear this name.")],
    namespace: Annotated[
        list[str] | None, typer.Option("--namespace", "-n", help="A namespace that it reaches, instead of all; may be repeated.")
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="It may read only.")] = False,
    admin: Annotated[bool, typer.Option("--admin", help="It may also do what concerns all namespaces, such as a rebuild.")] = False,
    file: Annotated[Path | None, typer.Option("--file", help="Add the entry to this file (ERSTWHILE_API_KEYS_FILE).")] = None,
    as_json: Json = False,
) -> None:
    """Make a key. It is shown once; the entry to keep holds its hash only."""
    if read_only and admin:
        raise typer.BadParameter("a key is either --read-only or --admin")
    key = new_key()
    entry = entry_of(key, name, namespace or [], Access.READ if read_only else Access.ADMIN if admin else Access.WRITE)
    if file is not None:
        _add(file, entry)
    kept = f"its entry was added to {file}" if file else f"entry for the list of ERSTWHILE_API_KEYS_FILE:\n{json.dumps(entry)}"
    show({"key": key, "entry": entry}, as_json, [f"key of {name}, shown this once:", key, kept])
    if file is not None:
        print("erstwhile: a running service knows it after a restart", file=sys.stderr)


def _add(file: Path, entry: dict[str, Any]) -> None:
    entries: list[Any] = []
    if file.exists():
        text = file.read_text(encoding="utf-8")
        try:
            found = json.loads(text) if text.strip() else []
        except ValueError:
            raise InvalidInput(f"{file} is no JSON; it stays as it is") from None
        entries = found if isinstance(found, list) else [found]
    entries.append(entry)
    text = "[\n" + ",\n".join(f"  {json.dumps(one)}" for one in entries) + "\n]\n"
    parse_keys(text, str(file))
    # A service that starts meanwhile reads the old list or the new one.
    written = file.with_name(f"{file.name}.new")
    written.write_text(text, encoding="utf-8")
    written.replace(file)
