"""The commands of `erstwhile`, in one app."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import typer

from api.cli import (
    drifting,
    feed,
    feeding,
    histories,
    identity,
    jobs,
    keys,
    matching,
    ontology,
    quarantine,
    reading,
    recalling,
    reviewing,
    serving,
    working,
)
from ontology.errors import ErstwhileError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="What was true, what was believed, what changed, when and why.",
)

_PANELS: dict[str, tuple[Callable[..., None], ...]] = {
    "Ask": (
        reading.entities,
        reading.timeline,
        reading.as_of,
        reading.ask,
        recalling.recall,
        recalling.context,
        matching.match,
    ),
    "Ask what changed, and what to distrust": (
        drifting.diff,
        drifting.why,
        histories.history,
        histories.plane,
        feed.changes,
        drifting.stale,
        drifting.contested,
    ),
    "Bring text in": (feeding.ingest, feeding.preview, feeding.extract, feeding.reextract, jobs.jobs),
    "Put right": (reading.claims, reviewing.review, identity.retract, identity.reject, identity.restore, identity.merge, identity.split),
    "Run": (serving.serve, working.worker, serving.status, serving.rebuild),
}

# In the order of the help: what is asked most stands first.
for panel, commands in _PANELS.items():
    for command in commands:
        app.command(command.__name__.replace("_", "-"), rich_help_panel=panel)(command)
app.add_typer(ontology.app, name="ontology", rich_help_panel="Run")
app.add_typer(keys.app, name="keys", rich_help_panel="Run")
app.add_typer(quarantine.app, name="quarantine", rich_help_panel="Put right")


def _shown(message: str) -> str:
    """A message without the secrets that it echoes: what is written to standard error often ends in a log."""
    from extraction.scrubbing import Scrubber

    return Scrubber(os.urandom(32)).scrub(message).text


def main() -> None:
    """Run the command line; a refusal is one sentence on standard error and status 1."""
    try:
        app()
    except ErstwhileError as failure:
        print(f"erstwhile: {_shown(failure.message)}", file=sys.stderr)
        sys.exit(1)
    except OSError as failure:
        where = f"{failure.filename}: " if failure.filename else ""
        print(f"erstwhile: {where}{failure.strerror or failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
