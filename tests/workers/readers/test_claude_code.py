"""Claude Code sessions: only what user and assistant wrote is speech, copies are one, bad lines cost themselves alone."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from extraction.segmentation import speech_spans
from ontology.episode import EpisodeDraft
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


WITHOUT = ReadOptions(include_artifacts=False)
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
    drafts, rejected, report = read(path, WITHOUT)
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
    path = write_lines(tmp_path / "s.jsonl", [unsaid, record(1, "Hello."), unsaid])
    drafts, rejected, report = read(path, WITHOUT)
    assert texts(drafts) == ["Hello."]
    assert not rejected
    assert report.skipped.total() == 2
    kept, rejected, _ = read(path)
    assert texts(draft for draft in kept if draft.speech) == ["Hello."]
    assert not rejected


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


def kinds(drafts: list[EpisodeDraft]) -> list[tuple[str | None, str | None, Any]]:
    return [(draft.speaker, draft.addressee, draft.metadata.get("artifact")) for draft in drafts]


def test_results_of_tools_are_artifacts_of_the_tool_that_was_called(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "cat config.yml"}}
    results = [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "db: postgres"},
        {"type": "tool_result", "tool_use_id": "toolu_9", "content": [{"type": "text", "text": "No such file."}], "is_error": True},
        {"type": "tool_result", "tool_use_id": "toolu_2", "content": [{"type": "image", "source": {}}]},
        {"type": "text", "text": "Now use Redis."},
    ]
    lines = [record(1, [{"type": "text", "text": "I look."}, call], "assistant"), record(2, results)]
    drafts, rejected, report = read(write_lines(tmp_path / "s.jsonl", lines), ReadOptions(speaker="Maya"))
    assert not rejected
    assert texts(drafts) == ["I look.", "Now use Redis.", "db: postgres", "No such file."]
    assert [draft.speech for draft in drafts] == [True, True, False, False]
    assert kinds(drafts)[2:] == [("Bash", None, "tool_result"), ("tool", None, "tool_result")]
    assert [draft.external_id for draft in drafts][1:] == [uuid(2), f"{uuid(2)}/toolu_1", f"{uuid(2)}/toolu_9"]
    assert drafts[3].metadata["isError"] is True
    assert drafts[2].project == "billing"
    assert report.artifacts == {"tool_result": 2}
    assert report.skipped == {"tool_use": 1, "image": 1, "tool_result": 1}


def test_summaries_are_artifacts_with_an_id_of_their_own(tmp_path: Path) -> None:
    lines = [
        {"type": "summary", "summary": "Billing moved to Postgres", "leafUuid": uuid(7)},
        record(1, "This session is being continued from a previous conversation.", isCompactSummary=True, isVisibleInTranscriptOnly=True),
        record(2, "Hello."),
    ]
    drafts, _, report = read(write_lines(tmp_path / "s.jsonl", lines))
    assert kinds(drafts)[:2] == [("assistant", None, "summary"), ("assistant", None, "compact summary")]
    assert [draft.external_id for draft in drafts] == [f"summary/{uuid(7)}", uuid(1), uuid(2)]
    assert drafts[0].group is None
    assert report.artifacts == {"summary": 1, "compact summary": 1}


def attachment(number: int, **held: Any) -> dict[str, Any]:
    return {key: value for key, value in record(number, "").items() if key != "message"} | {"type": "attachment", "attachment": held}


@pytest.mark.parametrize(
    "prompt", ["Also we use Redis now.", [{"type": "text", "text": "Also we use Redis now."}, {"type": "image", "source": {}}]]
)
def test_a_prompt_that_was_queued_is_what_the_user_said(tmp_path: Path, prompt: Any) -> None:
    lines = [attachment(1, type="queued_command", prompt=prompt, commandMode="prompt")]
    (draft,), _, _ = read(write_lines(tmp_path / "s.jsonl", lines), ReadOptions(speaker="Maya"))
    assert (draft.content, draft.speaker, draft.addressee, draft.speech) == ("Also we use Redis now.", "Maya", "assistant", True)
    assert draft.external_id == uuid(1)


@pytest.mark.parametrize(
    "held",
    [
        {"type": "queued_command", "prompt": LEAK, "commandMode": "task-notification"},
        {"type": "queued_command", "prompt": LEAK, "isMeta": True},
        {"type": "queued_command", "prompt": LEAK, "origin": {"kind": "task-notification"}},
        {"type": "queued_command", "prompt": 5},
        {"type": "hook_success", "hookName": "h", "content": LEAK, "stdout": LEAK},
        {"type": "hook_additional_context", "content": [LEAK]},
        {"type": "todo_reminder", "content": [{"content": LEAK}]},
        {"type": "file", "filename": "a", "content": LEAK},
        {"type": "from the future", "content": LEAK},
        {"type": ["x"]},
    ],
    ids=lambda held: str(held)[:60],
)
def test_what_the_client_attached_by_itself_is_counted(tmp_path: Path, held: dict[str, Any]) -> None:
    drafts, rejected, report = read(write_lines(tmp_path / "s.jsonl", [attachment(1, **held), record(2, "Hello.")]))
    assert texts(drafts) == ["Hello."]
    assert not rejected
    assert report.skipped.total() >= 1


@pytest.mark.parametrize(
    "held",
    [
        {"type": "file", "filename": "/b/a.py", "content": {"type": "text", "file": {"filePath": "/b/a.py", "content": LEAK}}},
        {"type": "edited_text_file", "filename": "/b/a.py", "snippet": LEAK},
        {"type": "nested_memory", "path": "/b/a.py", "content": {"path": "/b/a.py", "content": LEAK}},
        {"type": "plan_file_reference", "planFilePath": "/b/a.py", "planContent": LEAK},
    ],
    ids=lambda held: str(held["type"]),
)
def test_attached_files_are_artifacts(tmp_path: Path, held: dict[str, Any]) -> None:
    (draft,), _, report = read(write_lines(tmp_path / "s.jsonl", [attachment(1, **held)]))
    assert (draft.content, draft.speech, draft.speaker, draft.metadata["filename"]) == (LEAK, False, "attachment", "/b/a.py")
    assert report.artifacts.total() == 1


@pytest.mark.parametrize(
    "unsaid",
    [{"origin": {"kind": "task-notification"}}, {"apiErrorStatus": 529}, {"error": "server_error"}, {"message": {"model": "<synthetic>"}}],
    ids=str,
)
def test_errors_and_notices_are_nobodys(tmp_path: Path, unsaid: dict[str, Any]) -> None:
    line = record(1, LEAK, "assistant")
    message = line["message"] | unsaid.get("message", {})
    drafts, _, report = read(write_lines(tmp_path / "s.jsonl", [line | unsaid | {"message": message}]))
    assert not drafts
    assert report.skipped.total() == 1


def test_what_a_person_relayed_by_a_channel_is_theirs(tmp_path: Path) -> None:
    drafts, _, _ = read(write_lines(tmp_path / "s.jsonl", [record(1, "We use Redis.", origin={"kind": "channel"})]))
    assert texts(drafts) == ["We use Redis."]


def test_text_after_scaffolding_stays_with_it_and_is_speech(tmp_path: Path) -> None:
    text = f"<system-reminder>{LEAK}</system-reminder>\n\nWe use Redis."
    (draft,), _, _ = read(write_lines(tmp_path / "s.jsonl", [record(1, text)]))
    assert draft.content == text
    assert [text[start:end] for start, end in speech_spans(text)] == ["We use Redis."]


def test_the_parts_of_one_reply_are_episodes_of_their_own_in_order(tmp_path: Path) -> None:
    lines = [record(1, [{"type": "text", "text": text}], "assistant", uuid=uuid(place)) for place, text in enumerate(["One.", "Two."], 1)]
    for line in lines:
        line["message"]["id"] = "msg_1"
    drafts, _, _ = read(write_lines(tmp_path / "s.jsonl", lines))
    assert [(draft.external_id, draft.content, draft.metadata["messageId"]) for draft in drafts] == [
        (uuid(1), "One.", "msg_1"),
        (uuid(2), "Two.", "msg_1"),
    ]
    assert [draft.said_at for draft in drafts] == ["2025-03-01T09:00:01Z", "2025-03-01T09:00:01.000001Z"]


def test_a_copy_under_a_new_uuid_is_one_where_reply_or_time_is_the_same(tmp_path: Path) -> None:
    reply = record(2, "Noted.", "assistant")
    reply["message"]["id"] = "msg_1"
    lines = [
        record(1, "Hello."),
        reply,
        record(1, "Hello.", uuid=uuid(11)),
        reply | {"uuid": uuid(12), "timestamp": "2025-03-01T10:00:00Z"},
    ]
    drafts, _, report = read(write_lines(tmp_path / "s.jsonl", [*lines, record(3, "Hello.")]))
    assert [draft.external_id for draft in drafts] == [uuid(1), uuid(2), uuid(3)]
    assert report.skipped == {"copy": 2}


def test_a_forks_copies_are_those_of_the_session_they_came_from(tmp_path: Path) -> None:
    first = write_lines(tmp_path / "a.jsonl", [record(1, "One.")])
    origin = {"sessionId": SESSION, "messageUuid": uuid(1)}
    copy = record(1, "One.", uuid=uuid(21), sessionId="7c1d2f0e-0000-4000-8000-000000000002", forkedFrom=origin)
    fork = write_lines(tmp_path / "b.jsonl", [copy])
    (original,), (again,) = read(first)[0], read(fork)[0]
    assert (again.external_id, again.group, again.said_at) == (original.external_id, original.group, original.said_at)


@pytest.mark.parametrize("mark", [{"isSidechain": True}, {"agentId": "a1b2"}, {"sessionKind": "subagent"}], ids=str)
def test_a_subagents_file_is_read_on_request_only(tmp_path: Path, mark: dict[str, Any]) -> None:
    folder = tmp_path / SESSION / "subagents"
    folder.mkdir(parents=True)
    result = [{"type": "tool_result", "tool_use_id": "t", "content": "db: postgres"}]
    lines = [record(1, "Look it up.", **mark), record(2, result, **mark), record(3, "Found it.", "assistant", **mark)]
    write_lines(folder / "agent-a1b2.jsonl", lines)
    drafts, _, report = read(tmp_path)
    assert not drafts
    assert report.skipped == {"sidechain": 3}
    drafts, _, _ = read(tmp_path, ReadOptions(include_sidechains=True))
    assert kinds(drafts) == [("assistant", "subagent", None), ("tool", None, "tool_result"), ("subagent", "assistant", None)]


def test_a_worktree_belongs_to_its_project() -> None:
    assert project_of("/home/maya/billing/.claude/worktrees/fix-login") == "billing"
    assert project_of("/home/maya/.claude/worktrees") == "worktrees"


def test_a_torn_end_crlf_and_a_byte_order_mark_cost_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    lines = [json.dumps(record(number, f"Message {number}.")).encode() for number in (1, 2, 3)]
    path.write_bytes(b"\xef\xbb\xbf" + lines[0] + b"\r\n" + b"\0" * 4096 + lines[1] + b"\r\n" + lines[2][:100])
    drafts, rejected, report = read(path)
    assert texts(drafts) == ["Message 1.", "Message 2."]
    assert [(item.line, item.kind) for item in rejected] == [(3, "json")]
    assert report.mended == {"NUL bytes": 1}
