"""The worked example of docs/identity.md is true: its blocks are run in their order, and what they show comes out."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from api.cli.commands import app
from api.cli.link import LocalLink
from api.folder import owned
from api.settings import Settings
from api.wiring import open_service

PAGE = (Path(__file__).parents[1] / "docs" / "identity.md").read_text(encoding="utf-8")
EXAMPLE = PAGE[PAGE.index("## A worked example") :]


class Reader:
    """Somebody who pastes one block after the other."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._data = folder / "data"
        self._query = ""

    def sh(self, block: str) -> None:
        """Files for what follows."""
        subprocess.run(["sh", "-e", "-c", block], cwd=self._folder, check=True, timeout=60)

    def console(self, block: str) -> None:
        """Commands, each with lines that its output has in this order."""
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *shown = part.splitlines()
            output = self._run(command)
            rest = output
            for line in shown:
                assert line in rest, f"`{command}` does not show {line!r} there:\n{output}"
                rest = rest[rest.index(line) + len(line) :]

    def graphql(self, block: str) -> None:
        """A query; its answer follows."""
        self._query = block

    def json(self, block: str) -> None:
        """The answer, in full."""
        with owned(self._data), asyncio.Runner() as runner:
            service = open_service(Settings(data=self._data, graph_engine="sql", embedder="none"))
            try:
                assert LocalLink(service, runner, "default").execute(self._query) == json.loads(block)
            finally:
                service.close()

    def _run(self, command: str) -> str:
        environment = {"ERSTWHILE_DATA": str(self._data), "ERSTWHILE_GRAPH_ENGINE": "sql", "ERSTWHILE_EMBEDDER": "none"}
        name, *arguments = shlex.split(command.replace("CLAIM", self._newest_claim() if "CLAIM" in command else ""))
        assert name == "erstwhile"
        if arguments[0] == "ingest":
            # So small a story needs no second process.
            arguments += ["--workers", "1"]
        result = CliRunner().invoke(app, arguments, env=environment, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.output

    def _newest_claim(self) -> str:
        found: list[dict[str, Any]] = json.loads(self._run("erstwhile claims Piet --json"))
        found += json.loads(self._run("erstwhile claims Piet --rejected --json"))
        return str(next(row for row in found if row["object"]["name"] == "Row Two")["evidence"]["claim"])


def test_who_is_who(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    reader = Reader(tmp_path)
    blocks = re.findall(r"```(\w+)\n(.*?)```", EXAMPLE, re.DOTALL)
    assert len(blocks) >= 7
    for language, block in blocks:
        getattr(reader, language)(block)
