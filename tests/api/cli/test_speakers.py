"""A speaker map on the command line and in the environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.cli.importing import read_options
from api.settings import Settings
from ontology.episode import EpisodeDraft
from tests.api.cli.running import chat, erstwhile
from workers.readers import built_in_readers, read_path


def test_the_setting_names_the_speakers_of_what_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    speakers = tmp_path / "speakers.yaml"
    speakers.write_text("chat: {Ana: Ana Ruiz}\n", encoding="utf-8")
    monkeypatch.setenv("ERSTWHILE_SPEAKERS", str(speakers))
    options = read_options(Settings().speakers, speaker="Maya", time_zone=None)
    items = list(read_path(chat(tmp_path), options))
    assert {item.speaker for item in items if isinstance(item, EpisodeDraft)} == {"Ana Ruiz", "Ben"}
    assert options.speaker == "Maya"


def test_a_mistake_in_the_map_stops_an_import_before_it_begins(tmp_path: Path) -> None:
    speakers = tmp_path / "speakers.yaml"
    speakers.write_text("chats: {Ana: Ana Ruiz}\n", encoding="utf-8")
    ran = erstwhile("ingest", chat(tmp_path), "--speakers", speakers, "--data", tmp_path / "data")
    assert ran.status == 1
    sources = ", ".join(sorted(reader.source for reader in built_in_readers()))
    assert ran.err == f"erstwhile: {speakers}, line 1, chats: there is no such source; there are {sources}\n"
    assert not (tmp_path / "data").exists()
