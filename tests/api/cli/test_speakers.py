"""A speaker map on the command line and in the environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.api.cli.running import chat, erstwhile


def test_the_setting_names_the_speakers_of_a_dry_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    speakers = tmp_path / "speakers.yaml"
    speakers.write_text("chat: {Ana: Ana Ruiz}\n", encoding="utf-8")
    monkeypatch.setenv("ERSTWHILE_SPEAKERS", str(speakers))
    ran = erstwhile("extract", chat(tmp_path))
    assert ran.status == 0
    assert '"subject": "Ana Ruiz"' in ran.out
    assert '"subject": "Ana"' not in ran.out


def test_a_mistake_in_the_map_stops_an_import_before_it_begins(tmp_path: Path) -> None:
    speakers = tmp_path / "speakers.yaml"
    speakers.write_text("chats: {Ana: Ana Ruiz}\n", encoding="utf-8")
    ran = erstwhile("ingest", chat(tmp_path), "--speakers", speakers, "--data", tmp_path / "data")
    assert ran.status == 1
    assert ran.err == f"erstwhile: {speakers}, line 1, chats: there is no such source; there are chat, claude-code, locomo, notes\n"
    assert not (tmp_path / "data").exists()
