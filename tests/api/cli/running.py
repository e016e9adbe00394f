"""Runs the command line in this process, as `erstwhile` does."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import typer

from api.cli import main

MESSAGES: tuple[Mapping[str, str], ...] = (
    {"speaker": "Ana", "text": "I live in Porto, and I work at Acme.", "timestamp": "2023-05-01T10:00:00Z"},
    {"speaker": "Ben", "text": "I am a nurse.", "timestamp": "2023-05-01T10:01:00Z"},
    {"speaker": "Ana", "text": "I moved to Lisbon on 3 March 2024.", "timestamp": "2024-03-10T10:00:00Z"},
    {"speaker": "Ana", "text": "I no longer work at Acme.", "timestamp": "2024-06-01T10:00:00Z"},
)


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command left."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The answer of `--json`."""
        return json.loads(self.out)


# A process builds its commands once, of which each takes longer than what most of these tests ask for.
built = cache(typer.main.get_command)


def erstwhile(*arguments: str | Path) -> Ran:
    """Run a command."""
    out, err, status = io.StringIO(), io.StringIO(), 0
    argv = patch.object(sys, "argv", ["erstwhile", *map(str, arguments)])
    with argv, patch.object(typer.main, "get_command", built), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else 1
    return Ran(status, out.getvalue(), err.getvalue())


def chat(folder: Path) -> Path:
    """A small chat."""
    path = folder / "chat.json"
    path.write_text(json.dumps(MESSAGES), encoding="utf-8")
    return path
