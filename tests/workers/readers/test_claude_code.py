"""Claude Code sessions: only what user and assistant wrote is speech, copies are one, bad lines cost themselves alone."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from tests.workers.readers.writing import SESSION, read, record, texts, uuid, write_lines
from workers.readers import ReadOptions
from workers.readers.claude_code import project_of


def test_who_spoke_to_whom_when_and_where_is_kept(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", [record(1, "We use Redis."), record(2, [{"type": "text", "text": "Noted."}], "assistant")])
    (first, second), rejected, report = read(path, ReadOptions(speaker="Maya", time_zone="Europe/Lisbon"))
    assert not rejected and report.files == 1
    assert (first.source, first.external_id, first.group) == ("claude-code", uuid(1), SESSION)
    assert (first.speaker, first.addressee, first.said_at) == ("Maya", "assistant", "2025-03-01T09:00:01Z")
    assert (second.speaker, second.addressee) == ("assistant", "Maya")
    assert (first.project, first.time_zone) == ("billing", "Europe/Lisbon")
    assert first.metadata == {"cwd": "/home/maya/billing", "gitBranch": "main", "version": "2.1.144", "sessionId": SESSION}


@pytest.mark.parametrize(
    ("cwd", "project"),
    [
        ("/home/maya/billing", "billing"),
        ("C:\\work\\billing\\", "billing"),
        ("/", None),
        ("", None),
        ("C:\\", None),
        ("/home/maya", None),
        ("C:\\Users\\Maya", None),
        ("/root", None),
        (None, None),
        (5, None),
    ],
)
def test_the_project_is_the_last_part_of_the_folder(cwd: Any, project: str | None) -> None:
    assert project_of(cwd) == project


LEAK = "Alice works at Initech."
BLOCKS = [
    {"type": "tool_result", "tool_use_id": "t", "content": LEAK},
    {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": LEAK}]},
    {"type": "thinking", "thinking": LEAK, "signature": "x"},
    {"type": "redacted_thinking", "data": LEAK},
    {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": LEAK}},
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
    {"type": "document", "source": {"type": "text", "data": LEAK}},
    {"type": "from the future", "text": LEAK},
    {"text": LEAK},
    17,
    None,
]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: str(block)[:40])
def test_only_text_blocks_are_speech(tmp_path: Path, block: Any) -> None:
    path = write_lines(tmp_path / "s.jsonl", [record(1, [block]), record(2, [{"type": "text", "text": "Hello."}, block], "assistant")])
    drafts, rejected, report = read(path)
    assert texts(drafts) == ["Hello."]
    assert not rejected
    assert report.skipped.total() == 2


RECORDS = [
    {"type": "summary", "summary": LEAK, "leafUuid": uuid(1)},
    {"type": "system", "subtype": "compact_boundary", "content": LEAK, "uuid": uuid(9), "sessionId": SESSION},
    {"type": "attachment", "attachment": {"type": "file", "content": LEAK}, "uuid": uuid(9), "sessionId": SESSION},
    {"type": "ai-title", "aiTitle": LEAK, "sessionId": SESSION},
    {"type": "last-prompt", "lastPrompt": LEAK, "sessionId": SESSION},
    {"type": "queue-operation", "operation": "enqueue", "content": LEAK, "sessionId": SESSION},
    {"type": "file-history-snapshot", "messageId": "m", "snapshot": {"x": LEAK}},
    {"type": "continued-in", "content": LEAK},
    {"type": "from the future", "message": {"content": LEAK}},
    {"type": 5},
    {"message": LEAK},
    {},
    record(9, LEAK, isMeta=True),
    record(9, LEAK, isCompactSummary=True),
    record(9, LEAK, isVisibleInTranscriptOnly=True),
    record(9, LEAK, "assistant", isApiErrorMessage=True),
    record(9, LEAK, isSidechain=True),
    record(9, f"<system-reminder>{LEAK}</system-reminder>"),
    record(9, f"<command-name>/clear</command-name>\n<local-command-stdout>{LEAK}</local-command-stdout>"),
    record(9, "[Request interrupted by user]"),
    record(9, f"This session is being continued from a previous conversation that ran out of context. {LEAK}"),
]


@pytest.mark.parametrize("unsaid", RECORDS, ids=lambda unsaid: str(unsaid)[:60])
def test_records_that_nobody_said_are_counted_and_not_fatal(tmp_path: Path, unsaid: dict[str, Any]) -> None:
    drafts, rejected, report = read(write_lines(tmp_path / "s.jsonl", [unsaid, record(1, "Hello."), unsaid]))
    assert texts(drafts) == ["Hello."]
    assert not rejected
    assert report.skipped.total() == 2


def test_sidechains_are_read_on_request_between_the_assistant_and_its_subagent(tmp_path: Path) -> None:
    lines = [record(1, "Look it up.", isSidechain=True), record(2, "Found it.", "assistant", isSidechain=True)]
    drafts, _, _ = read(write_lines(tmp_path / "s.jsonl", lines), ReadOptions(speaker="Maya", include_sidechains=True))
    assert [(draft.speaker, draft.addressee) for draft in drafts] == [("assistant", "subagent"), ("subagent", "assistant")]


def test_nothing_after_a_bad_line_is_lost(tmp_path: Path) -> None:
    lines: list[Any] = [record(number, f"Message {number}.") for number in range(1, 11)]
    lines[3] = json.dumps(lines[3]).encode()[:90]
    lines[6], lines[7] = b"", b"[]"
    lines[8]["timestamp"] = "garbage"
    drafts, rejected, report = read(write_lines(tmp_path / "s.jsonl", lines))
    assert texts(drafts) == [f"Message {number}." for number in (1, 2, 3, 5, 6, 10)]
    assert [(item.line, item.kind) for item in rejected] == [(4, "json"), (7, "empty-line"), (8, "not-an-object"), (9, "timestamp")]
    assert report.rejected == {"json": 1, "empty-line": 1, "not-an-object": 1, "timestamp": 1}
    assert str(rejected[0]).startswith(f"{path_of(tmp_path)}:4: ")


def path_of(folder: Path) -> Path:
    return folder / "s.jsonl"


@pytest.mark.parametrize(
    "line", [b'"text"', b"5", b"null", b"true", b"[" * 100_000, b'{"a":' + b"9" * 5000 + b"}", b"\xff\xfe", b"}{", b"{" * 50]
)
def test_a_line_that_is_no_object_costs_itself_alone(tmp_path: Path, line: bytes) -> None:
    drafts, rejected, _ = read(write_lines(tmp_path / "s.jsonl", [record(1, "One."), line, record(2, "Two.")]))
    assert texts(drafts) == ["One.", "Two."]
    assert [item.line for item in rejected] == [2]


@pytest.mark.parametrize("message", [None, "text", 5, []])
def test_a_message_that_is_no_object_is_refused(tmp_path: Path, message: Any) -> None:
    drafts, rejected, _ = read(write_lines(tmp_path / "s.jsonl", [record(1, "One."), record(2, "") | {"message": message}]))
    assert texts(drafts) == ["One."]
    assert [(item.line, item.kind) for item in rejected] == [(2, "text")]


def test_unicode_line_ends_do_not_split_a_line_and_stay_in_the_text(tmp_path: Path) -> None:
    text = "one\u2028two\u2029three\x85four"
    raw = json.dumps(record(1, text), ensure_ascii=False).encode()
    drafts, rejected, _ = read(write_lines(tmp_path / "s.jsonl", [raw]))
    assert texts(drafts) == [text]
    assert not rejected


def test_lone_surrogates_and_nul_are_mended_and_directions_and_joiners_stay(tmp_path: Path) -> None:
    raw = json.dumps(record(1, "a X b \0 c \u202eecilA 👩‍💻")).replace("X", "\\ud800").encode()
    drafts, _, report = read(write_lines(tmp_path / "s.jsonl", [raw]))
    assert texts(drafts) == ["a \ufffd b \ufffd c \u202eecilA 👩‍💻"]
    assert report.mended == {"NUL or lone surrogate": 1}
    drafts[0].content.encode()


def test_a_large_image_is_skipped_and_its_line_and_neighbours_are_read_in_bounded_memory(tmp_path: Path) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 12_000_000}}
    lines = [record(1, "Before."), record(2, [{"type": "text", "text": "With it."}, image]), record(3, [image]), record(4, "After.")]
    path = write_lines(tmp_path / "s.jsonl", lines)
    del lines, image
    tracemalloc.start()
    drafts, rejected, report = read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert texts(drafts) == ["Before.", "With it.", "After."]
    assert not rejected
    assert report.skipped["image"] == 2
    assert peak < 60_000_000


def test_an_image_on_the_first_line_does_not_hide_the_format(tmp_path: Path) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 400_000}}
    drafts, _, _ = read(write_lines(tmp_path / "s.jsonl", [record(1, [image, {"type": "text", "text": "Look."}]), record(2, "After.")]))
    assert texts(drafts) == ["Look.", "After."]


def test_a_line_beyond_measure_costs_itself_alone(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with path.open("wb") as file:
        file.write(json.dumps(record(1, "Before.")).encode() + b"\n")
        for _ in range(33):
            file.write(b"x" * 2**20)
        file.write(b"\n" + json.dumps(record(2, "After.")).encode())
    drafts, rejected, _ = read(path)
    assert texts(drafts) == ["Before.", "After."]
    assert [(item.line, item.kind) for item in rejected] == [(2, "too-long")]


def test_history_written_again_by_a_compaction_has_the_same_ids_and_times(tmp_path: Path) -> None:
    lines = [record(number // 2, f"Message {number}.", uuid=uuid(number)) for number in range(20)]
    drafts, _, _ = read(write_lines(tmp_path / "s.jsonl", [*lines, *lines[:15]]))
    assert len(drafts) == 35
    assert len({(draft.external_id, draft.content, draft.said_at) for draft in drafts}) == 20
    assert drafts[20:] == drafts[:15]


def test_a_resumed_session_that_copies_lines_has_their_ids(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.jsonl", [record(1, "One."), record(2, "Two.")])
    other = "7c1d2f0e-0000-4000-8000-000000000002"
    write_lines(tmp_path / "b.jsonl", [record(1, "One.", sessionId=other, gitBranch="dev"), record(2, "Two!", sessionId=other)])
    drafts, _, _ = read(tmp_path)
    assert [(draft.external_id, draft.content) for draft in drafts] == [
        *((uuid(1), "One."), (uuid(2), "Two.")),
        *((uuid(1), "One."), (uuid(2), "Two!")),
    ]


def test_without_uuid_and_stamp_place_and_order_stand_in(tmp_path: Path) -> None:
    bare = {"type": "user", "sessionId": SESSION, "message": {"role": "user", "content": "One."}}
    drafts, _, _ = read(write_lines(tmp_path / "s.jsonl", [bare, record(5, "Two."), bare]))
    assert [draft.external_id for draft in drafts] == ["s:1", uuid(5), "s:3"]
    assert [draft.said_at for draft in drafts] == ["2025-03-01T09:00:04.999999Z", "2025-03-01T09:00:05Z", "2025-03-01T09:00:05.000001Z"]
    assert drafts[2].metadata["saidAtFrom"] == "previous"


def test_the_spellings_of_one_time_are_one_said_time(tmp_path: Path) -> None:
    stamps = ["2026-07-09 10:39:17.281+00", "2026-07-09T10:39:17.281Z", 1783593557281, "2026-07-09T10:39:17.281"]
    for place, stamp in enumerate(stamps):
        drafts, _, _ = read(write_lines(tmp_path / f"{place}.jsonl", [record(1, "One.", timestamp=stamp)]))
        assert drafts[0].said_at == "2026-07-09T10:39:17.281000Z"
