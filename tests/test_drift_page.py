"""docs/drift.md, "On the command line", is true: each of its commands is run over `examples/`, and what it shows comes out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.test_readme import ROOT, commands, run

PAGE = (ROOT / "docs" / "drift.md").read_text(encoding="utf-8")


def test_the_commands_of_the_page_about_drift(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    run("erstwhile ingest examples --speaker Maya", tmp_path)
    asked = list(commands(PAGE))
    for command, shown in asked:
        found = run(command, tmp_path)
        for line in shown:
            assert line.strip() in found, (command, line, found)
    assert {command.split()[1] for command, _ in asked} == {"diff", "why", "plane", "history", "match", "changes"}
