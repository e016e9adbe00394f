"""Notes: Markdown and plain text."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.workers.readers.writing import read, texts
from workers.readers import ReadOptions

MODIFIED = 1_740_000_000


def note(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    os.utime(path, (MODIFIED, MODIFIED))
    return path


@pytest.mark.parametrize(
    ("name", "content", "said", "basis"),
    [
        ("a.md", "---\ndate: 2025-03-01\n---\nWe use Redis.", "2025-03-01T00:00:00Z", "front matter"),
        ("2024-01-01.md", "---\ntitle: x\ndate: 2025-03-01T10:00:00+02:00\n---\nHi.", "2025-03-01T08:00:00Z", "front matter"),
        ("2025-03-01-standup.md", "We use Redis.", "2025-03-01T00:00:00Z", "file name"),
        ("notes_20250301.txt", "We use Redis.", "2025-03-01T00:00:00Z", "file name"),
        ("doc-20251399.txt", "We use Redis.", "2025-02-19T21:20:00Z", "file"),
        ("a.txt", "We use Redis.", "2025-02-19T21:20:00Z", "file"),
        ("a.txt", "---\n: [broken\n---\nHi.", "2025-02-19T21:20:00Z", "file"),
    ],
)
def test_when_a_note_was_said(tmp_path: Path, name: str, content: str, said: str, basis: str) -> None:
    (draft,), rejected, _ = read(note(tmp_path / name, content))
    assert not rejected
    assert draft.content == content
    assert (draft.source, draft.external_id, draft.said_at, draft.metadata["saidAtFrom"]) == (
        *("notes", f"{tmp_path.name}/{name}", said, basis),
    )


def test_a_date_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    drafts, (rejected,), _ = read(note(tmp_path / "a.md", "---\ndate: 2025-02-30\n---\nHi."))
    assert not drafts
    assert rejected.kind == "timestamp"
    assert "2025-02-30" in rejected.message


def test_a_date_without_a_zone_is_one_of_the_option(tmp_path: Path) -> None:
    (draft,), _, _ = read(note(tmp_path / "2025-03-01.md", "Hi."), ReadOptions(time_zone="America/New_York"))
    assert draft.said_at == "2025-03-01T05:00:00Z"


def test_who_speaks_is_the_option_or_the_author_or_nobody(tmp_path: Path) -> None:
    path = note(tmp_path / "a.md", "---\nauthor: Maya\n---\nI use vim.")
    assert read(path)[0][0].speaker == "Maya"
    assert read(path, ReadOptions(speaker="Ana"))[0][0].speaker == "Ana"
    assert read(note(tmp_path / "b.md", "I use vim."))[0][0].speaker is None


def test_a_long_note_is_split_at_headings_with_numbered_ids(tmp_path: Path) -> None:
    content = "".join(f"# Part {part}\n\n" + "All words of it.\n\n" * 4500 for part in range(3))
    drafts, _, _ = read(note(tmp_path / "long.md", content))
    assert [draft.external_id for draft in drafts] == [f"{tmp_path.name}/long.md{part}" for part in ("", "#2", "#3")]
    assert [draft.said_at for draft in drafts] == ["2025-02-19T21:20:00Z", "2025-02-19T21:20:00.000001Z", "2025-02-19T21:20:00.000002Z"]
    assert all(draft.content.startswith("# Part") for draft in drafts)
    assert "".join(texts(drafts)) == content


def test_notes_of_one_name_in_several_folders_stay_apart(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    note(tmp_path / "a" / "README.md", "One.")
    note(tmp_path / "README.md", "Two.")
    assert [draft.external_id for draft in read(tmp_path)[0]] == [f"{tmp_path.name}/{path}" for path in ("README.md", "a/README.md")]
    assert [draft.external_id for draft in read(tmp_path / "a" / "README.md")[0]] == ["a/README.md"]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"\xef\xbb\xbfHi.", "Hi."),
        ("Zoë grüßt.".encode("utf-16"), "Zoë grüßt."),
        (b"Zo\xeb moved.", "Zo\ufffd moved."),
        (b"a\0b", "a\ufffdb"),
        (b"[link](http://x) first", "[link](http://x) first"),
        (b"one\r\ntwo", "one\r\ntwo"),
    ],
)
def test_encodings_are_mended(tmp_path: Path, content: bytes, text: str) -> None:
    assert texts(read(note(tmp_path / "a.txt", content))[0]) == [text]
