"""Paths: formats by content, folders in order, and nothing that a file holds brings the reading down."""

from __future__ import annotations

import json
import os
import tracemalloc
from pathlib import Path
from typing import IO, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ontology.errors import InvalidInput
from tests.workers.readers.writing import read, record, texts, write_lines
from workers.readers import ReadOptions, ReadReport, read_path

CHAT = [{"speaker": "Ana", "text": "One.", "timestamp": "2025-01-01T00:00:00Z"}]


def test_a_format_is_known_by_its_content_whatever_its_name(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.txt", [record(1, "Hello.")])
    write_lines(tmp_path / "b.jsonl", CHAT)
    (tmp_path / "c.json").write_text(json.dumps(CHAT))
    (tmp_path / "d.md").write_text("# Notes")
    drafts, rejected, _ = read(tmp_path)
    assert not rejected
    assert [draft.source for draft in drafts] == ["claude-code", "chat", "chat", "notes"]


def test_folders_are_walked_in_sorted_order_without_hidden_and_foreign_files(tmp_path: Path) -> None:
    for name in ("b/2.md", "b/1.md", "a/z.md", "c.md", ".git/x.md", "a/.hidden.md", "a/code.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    drafts, rejected, report = read(tmp_path)
    assert texts(drafts) == ["c.md", "a/z.md", "b/1.md", "b/2.md"]
    assert not rejected
    assert report.skipped == {"file .py": 1}
    assert report.files == 4


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "empty"),
        (b" \n\n", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"\0" * 4096, "empty"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8, "binary"),
        (bytes(range(32)) * 100, "binary"),
        (b'{"some": {"other": "json"}}', "unrecognised"),
        (b'[{"a": 1}]', "unrecognised"),
        (b"[1, 2]", "unrecognised"),
    ],
)
def test_files_that_cannot_be_read_are_reported_and_others_are_read(tmp_path: Path, content: bytes, kind: str) -> None:
    (tmp_path / "a.json").write_bytes(content)
    write_lines(tmp_path / "b.jsonl", CHAT)
    drafts, (rejected,), report = read(tmp_path)
    assert texts(drafts) == ["One."]
    assert (rejected.path, rejected.line, rejected.kind) == (str(tmp_path / "a.json"), None, kind)
    assert report.rejected == {kind: 1}


def test_a_missing_path_is_reported(tmp_path: Path) -> None:
    _, (rejected,), _ = read(tmp_path / "nowhere")
    assert rejected.kind == "missing"


@pytest.mark.skipif(os.name != "posix", reason="named pipes")
def test_what_is_no_regular_file_is_reported(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    _, (rejected,), _ = read(tmp_path)
    assert rejected.kind == "unreadable"


def test_a_file_that_the_system_refuses_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_lines(tmp_path / "a.jsonl", CHAT)
    write_lines(tmp_path / "b.jsonl", CHAT)
    opened = Path.open

    def refuse(self: Path, mode: str = "r") -> IO[Any]:
        if self.name == "a.jsonl":
            raise PermissionError(13, "Permission denied")
        return opened(self, mode)

    monkeypatch.setattr(Path, "open", refuse)
    drafts, (rejected,), _ = read(tmp_path)
    assert len(drafts) == 1
    assert (rejected.kind, rejected.path) == ("unreadable", str(tmp_path / "a.jsonl"))


def test_an_unknown_zone_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        read_path(tmp_path, ReadOptions(time_zone="Mars/Base"))


def test_a_large_file_is_streamed_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes((json.dumps(CHAT[0] | {"text": "word " * 6000}).encode() + b"\n") * 300)
    tracemalloc.start()
    count = sum(1 for _ in read_path(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 300
    assert path.stat().st_size > 9_000_000 > peak * 1.5


HEADS = st.sampled_from(
    [
        b"",
        b'{"type":"user","sessionId":"s","message":{"role":"user","content":"hi"}}\n',
        b'{"speaker":"Ana","text":"hi"}\n',
        b'[{"speaker":"Ana","text":"hi"},',
        b'[{"sample_id":"s","conversation":{"session_1_date_time":"1:56 pm on 8 May, 2023","session_1":[',
        b"---\ndate: 2025-03-01\n---\n",
        b"\xff\xfe",
    ]
)
TAILS = st.one_of(
    st.binary(max_size=200),
    st.lists(
        st.sampled_from([b"{", b"}", b"[", b"]", b'"', b",", b":", b"\\", b"\n", b"\0", b'"text"', b'"type":"user"', b"null", b"1"])
    ).map(b"".join),
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(HEADS, TAILS, st.sampled_from([".jsonl", ".json", ".md"]))
def test_any_bytes_are_read_or_reported(tmp_path: Path, head: bytes, tail: bytes, ending: str) -> None:
    path = tmp_path / f"f{ending}"
    path.write_bytes(head + tail)
    report = ReadReport()
    for item in read_path(path, None, report):
        repr(item).encode("utf-8", "backslashreplace")
    assert report.read or report.rejected or report.skipped or report.files


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=6)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["text", "type", "content", "source"]), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = [
    *("type", "message", "timestamp", "uuid", "sessionId", "cwd", "isSidechain", "speaker", "role", "name", "text", "content", "id"),
    *("conversation", "session_1", "session_1_date_time", "sample_id", "speaker_a", "dia_id"),
]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(KEYS), JSON, max_size=6), max_size=4), st.booleans(), HEADS)
def test_any_shapes_of_json_are_read_or_reported(tmp_path: Path, rows: list[dict[str, object]], array: bool, head: bytes) -> None:
    path = tmp_path / "f.json"
    path.write_bytes(json.dumps(rows).encode() if array else head + b"\n".join(json.dumps(row).encode() for row in rows))
    for item in read_path(path):
        repr(item).encode("utf-8", "backslashreplace")
