"""Zip archives: read entry by entry like a folder, within limits, and no broken one brings the reading down."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from tests.workers.readers.writing import read, texts
from workers.readers import archives
from workers.readers.archives import Archive, ArchiveFailure

CHAT = b'[{"speaker": "Ana", "text": "One.", "timestamp": "2025-01-01T00:00:00Z"}]'


def packed(path: Path, entries: dict[str, bytes | str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def test_an_archive_is_walked_like_a_folder_and_places_name_both(tmp_path: Path) -> None:
    notes: dict[str, bytes | str] = {name: name for name in ("b/2.md", "b/1.md", "a/z.md", "c.md")}
    path = packed(tmp_path / "all.zip", notes | {"d.json": b"{", "e.png": b"x"})
    drafts, (rejected,), report = read(path)
    assert texts(drafts) == ["c.md", "a/z.md", "b/1.md", "b/2.md"]
    assert [draft.external_id for draft in drafts] == ["all/c.md", "all/a/z.md", "all/b/1.md", "all/b/2.md"]
    assert (rejected.path, rejected.kind) == (f"{path}:d.json", "unrecognised")
    assert report.skipped == {"file .png": 1}


def test_a_chat_in_an_archive_has_the_ids_that_it_has_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "friends.json").write_bytes(CHAT)
    inside = read(packed(tmp_path / "all.zip", {"friends.json": CHAT}))[0]
    assert [draft.external_id for draft in inside] == [draft.external_id for draft in read(tmp_path / "friends.json")[0]]


def test_hidden_entries_and_archives_in_archives_are_not_opened(tmp_path: Path) -> None:
    inner = packed(tmp_path / "inner.zip", {"a.md": "Hi."}).read_bytes()
    path = packed(tmp_path / "all.zip", {".git/x.md": "x", "__MACOSX/x.md": b"", "a/inner.zip": inner, "b.md": "Hi."})
    drafts, rejected, report = read(path)
    assert texts(drafts) == ["Hi."]
    assert not rejected
    assert report.skipped["file .zip"] == 1


def test_names_that_lead_out_of_the_archive_write_and_read_nothing_outside(tmp_path: Path) -> None:
    (tmp_path / "users.json").write_text("[]")
    path = tmp_path / "in" / "all.zip"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../evil.json", CHAT)
        archive.writestr("/abs.json", CHAT)
    drafts, _, _ = read(path)
    assert len(drafts) <= 2
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["all.zip", "in", "users.json"]


def test_an_entry_that_unpacks_to_far_more_than_it_is_packed_costs_itself_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "SMALL", 2**16)
    bomb = json.dumps([{"speaker": "Ana", "text": " " * 2**20}])
    drafts, (rejected,), _ = read(packed(tmp_path / "all.zip", {"a.json": bomb, "b.json": CHAT}))
    assert texts(drafts) == ["One."]
    assert rejected.kind == "unreadable"
    assert "would unpack" in rejected.message


def test_too_many_entries_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_ENTRIES", 1)
    drafts, (rejected,), _ = read(packed(tmp_path / "all.zip", {"a.json": CHAT, "b.json": CHAT}))
    assert not drafts
    assert rejected.kind == "unreadable"


def test_a_broken_entry_costs_itself_alone(tmp_path: Path) -> None:
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("a.json", CHAT.replace(b"One", b"Two"))
        archive.writestr("b.json", CHAT)
    path.write_bytes(path.read_bytes().replace(b"Two.", b"Ten.", 1))
    drafts, (rejected,), _ = read(path)
    assert texts(drafts)[-1] == "One."
    assert (rejected.path, rejected.kind) == (f"{path}:a.json", "unreadable")


def test_an_encrypted_entry_says_so(tmp_path: Path) -> None:
    path = packed(tmp_path / "all.zip", {"a.json": CHAT})
    data = bytearray(path.read_bytes())
    # The flag of encryption, in the entry's head and in the directory.
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(bytes(data))
    drafts, (rejected,), _ = read(path)
    assert not drafts
    assert "encrypted" in rejected.message


def test_what_only_begins_like_an_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(b"PK\x03\x04 and nothing of the kind")
    assert [item.kind for item in read(path)[1]] == ["unreadable"]
    with pytest.raises(ArchiveFailure):
        Archive(path)
