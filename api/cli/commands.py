"""The commands of `erstwhile`, in one app."""

from __future__ import annotations

import os
import sys

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

for command in (
    reading.entities,
    reading.timeline,
    reading.as_of,
    reading.ask,
    drifting.diff,
    drifting.why,
    histories.history,
    histories.plane,
    drifting.stale,
    drifting.contested,
    matching.match,
    feed.changes,
    recalling.recall,
    recalling.context,
    reading.claims,
    identity.retract,
    identity.reject,
    identity.restore,
    identity.merge,
    identity.split,
    serving.status,
    serving.rebuild,
    feeding.ingest,
    feeding.extract,
    feeding.preview,
    feeding.reextract,
    reviewing.review,
    jobs.jobs,
    serving.serve,
    working.worker,
):
    app.command(command.__name__.replace("_", "-"))(command)
app.add_typer(ontology.app, name="ontology")
app.add_typer(keys.app, name="keys")
app.add_typer(quarantine.app, name="quarantine")


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
