"""Codex rollouts: what was said once, by whom, and with the same ID however often it is told or copied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ontology.episode import EpisodeDraft
from tests.workers.readers.writing import read, texts, write_lines
from workers.readers import ReadOptions

ME, PARENT = "019df362-aa9f-7011-903e-4a0878d49fa0", "019df3d2-6edb-7322-b537-34d4f10cb129"
LEAK = "Alice works at Initech."
META = {"id": ME, "timestamp": "2026-05-20T09:00:00.000Z", "cwd": "/home/maya/billing", "cli_version": "0.65.0", "git": {"branch": "main"}}


def line(second: float, kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": f"2026-05-20T09:00:{second:06.3f}Z", "type": kind, "payload": payload}


def meta(second: float = 0, **more: Any) -> dict[str, Any]:
    return line(second, "session_meta", **META | more)


def user(second: float, *words: str) -> dict[str, Any]:
    return line(second, "response_item", type="message", role="user", content=[{"type": "input_text", "text": text} for text in words])


def assistant(second: float, text: str) -> dict[str, Any]:
    return line(second, "response_item", type="message", role="assistant", content=[{"type": "output_text", "text": text}])


def said(drafts: list[EpisodeDraft]) -> list[tuple[str | None, str]]:
    return [(draft.external_id, draft.content) for draft in drafts]


def test_who_spoke_to_whom_when_and_where_is_kept(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "r.jsonl", [meta(), user(1, "We use Terraform."), assistant(2, "Understood.")])
    (first, second), rejected, _ = read(path, ReadOptions(speaker="Maya", time_zone="Europe/Lisbon"))
    assert not rejected
    assert (first.source, first.external_id, first.group) == ("codex", f"{ME}:1", ME)
    assert (first.speaker, first.addressee, first.said_at) == ("Maya", "assistant", "2026-05-20T09:00:01Z")
    assert (second.speaker, second.addressee, second.external_id) == ("assistant", "Maya", f"{ME}:2")
    assert (first.project, first.time_zone, first.revised_at) == ("billing", "Europe/Lisbon", None)
    assert first.metadata == {"cwd": "/home/maya/billing", "version": "0.65.0", "gitBranch": "main", "sessionId": ME}


def test_the_folder_and_model_of_a_turn_are_its_own(tmp_path: Path) -> None:
    lines = [meta(), user(1, "Hello."), line(2, "turn_context", cwd="/home/maya/shop", model="gpt-5"), user(3, "And here?")]
    drafts, _, _ = read(write_lines(tmp_path / "r.jsonl", lines))
    assert [draft.project for draft in drafts] == ["billing", "shop"]
    assert drafts[1].metadata["model"] == "gpt-5"


def test_what_events_and_items_both_tell_is_said_once(tmp_path: Path) -> None:
    lines = [
        meta(),
        line(1, "event_msg", type="user_message", message="Hello."),
        user(1, "Hello."),
        assistant(2, "Hi."),
        line(2, "event_msg", type="agent_message", message="Hi."),
        line(3, "event_msg", type="token_count", info={}),
    ]
    drafts, _, report = read(write_lines(tmp_path / "r.jsonl", lines))
    assert texts(drafts) == ["Hello.", "Hi."]
    assert report.skipped == {"session_meta": 1, "event copy": 1, "event agent_message": 1, "event token_count": 1}


@pytest.mark.parametrize("number", [2, 1200])
def test_a_rollout_that_only_has_events_is_read_by_them(tmp_path: Path, number: int) -> None:
    lines = [line(place % 60, "event_msg", type="user_message", message=f"Message {place}.") for place in range(number)]
    drafts, _, _ = read(write_lines(tmp_path / "r.jsonl", [meta(), user(0, "<environment_context>x</environment_context>"), *lines]))
    assert len(drafts) == number
    assert said(drafts)[-1] == (f"{ME}:{number}", f"Message {number - 1}.")


UNSAID = [
    user(1, f"<environment_context>{LEAK}</environment_context>"),
    user(1, f"<user_instructions>\n\n{LEAK}\n\n</user_instructions>"),
    user(1, f"# AGENTS.md instructions for /home/maya\n\n<INSTRUCTIONS>\n{LEAK}\n</INSTRUCTIONS>"),
    user(1, f"<turn_aborted>\n{LEAK}"),
    line(1, "response_item", type="message", role="developer", content=[{"type": "input_text", "text": LEAK}]),
    line(1, "response_item", type="message", role="system", content=LEAK),
    line(1, "response_item", type="message", role="user", content=[{"type": "input_image", "image_url": LEAK}]),
    line(1, "response_item", type="reasoning", summary=[{"type": "summary_text", "text": LEAK}], content=None, encrypted_content=LEAK),
    line(1, "response_item", type="function_call", name="shell", arguments=LEAK, call_id="c1"),
    line(1, "response_item", type="local_shell_call", action={"command": [LEAK]}, call_id="c1"),
    line(1, "response_item", type="web_search_call", action={"query": LEAK}),
    line(1, "response_item", type="ghost_snapshot", ghost_commit={"id": LEAK}),
    line(1, "response_item", type="from the future", text=LEAK),
    line(1, "event_msg", type="agent_reasoning", text=LEAK),
    line(1, "event_msg", type="from the future", message=LEAK),
    line(1, "compacted", message=""),
    line(1, "turn_context", cwd="/x", user_instructions=LEAK),
    {"timestamp": "2026-05-20T09:00:01Z", "type": "from the future", "payload": {"message": LEAK}},
    {"type": 5},
    {},
]


@pytest.mark.parametrize("unsaid", UNSAID, ids=lambda unsaid: str(unsaid)[50:130])
def test_what_nobody_said_is_counted_and_not_fatal(tmp_path: Path, unsaid: dict[str, Any]) -> None:
    drafts, rejected, report = read(write_lines(tmp_path / "r.jsonl", [meta(), unsaid, user(2, "Hello."), unsaid]))
    assert said(drafts) == [(f"{ME}:1", "Hello.")]
    assert not rejected
    assert report.skipped.total() >= (1 if unsaid.get("type") == "turn_context" else 3)


def test_the_users_words_are_told_from_what_the_client_puts_beside_them(tmp_path: Path) -> None:
    beside = user(1, f"<environment_context>{LEAK}</environment_context>", "We use Redis.")
    editor = user(2, f"# Context from my IDE setup:\n\n## Open tabs:\n- {LEAK}\n\n## My request for Codex:\nFix the login.\n")
    drafts, _, _ = read(write_lines(tmp_path / "r.jsonl", [meta(), beside, editor]))
    assert texts(drafts) == ["We use Redis.", "Fix the login."]


@pytest.mark.parametrize(
    ("kind", "output", "text"),
    [
        ("function_call_output", '{"output":"db: postgres","metadata":{"exit_code":0}}', "db: postgres"),
        ("function_call_output", "db: postgres", "db: postgres"),
        ("function_call_output", {"content": "db: postgres", "success": True}, "db: postgres"),
        ("custom_tool_call_output", [{"type": "input_text", "text": "db: postgres"}, {"type": "input_image"}], "db: postgres"),
        ("local_shell_call_output", '{"output":', '{"output":'),
    ],
)
def test_outputs_of_tools_are_artifacts(tmp_path: Path, kind: str, output: Any, text: str) -> None:
    lines = [
        meta(),
        line(1, "response_item", type="function_call", name="shell", arguments="{}", call_id="c1"),
        line(2, "response_item", type=kind, call_id="c1", output=output),
        user(3, "Hello."),
    ]
    drafts, _, report = read(write_lines(tmp_path / "r.jsonl", lines))
    assert [(draft.content, draft.speech, draft.speaker, draft.addressee, draft.external_id) for draft in drafts] == [
        (text, False, "shell", None, f"{ME}:t1"),
        ("Hello.", True, "user", "assistant", f"{ME}:1"),
    ]
    assert report.artifacts == {"tool_result": 1}
    without, _, _ = read(write_lines(tmp_path / "r.jsonl", lines), ReadOptions(include_artifacts=False))
    assert said(without) == [(f"{ME}:1", "Hello.")]


def test_a_compactions_summary_is_an_artifact(tmp_path: Path) -> None:
    (draft,), _, _ = read(write_lines(tmp_path / "r.jsonl", [meta(), line(1, "compacted", message=LEAK, replacement_history=[{}])]))
    assert (draft.content, draft.speech, draft.metadata["artifact"]) == (LEAK, False, "compact summary")


PARENTS = [meta(id=PARENT), user(1, "One."), assistant(5, "Two."), user(30, "Three.")]


@pytest.mark.parametrize("returns", [True, False], ids=["with its own meta again", "after a pause"])
def test_a_forks_copies_have_their_parents_ids_and_never_take_their_place(tmp_path: Path, returns: bool) -> None:
    copied = [{**each, "timestamp": "2026-05-20T10:00:00.010Z"} for each in PARENTS[:3]]
    head = {**meta(forked_from_id=PARENT), "timestamp": "2026-05-20T10:00:00.000Z"}
    own = [{**head, "timestamp": "2026-05-20T10:00:00.020Z"}] if returns else []
    own.append({**user(0, "Other."), "timestamp": "2026-05-20T10:00:00.030Z" if returns else "2026-05-20T10:00:09Z"})
    drafts, _, _ = read(write_lines(tmp_path / "fork.jsonl", [head, *copied, *own]))
    parents, _, _ = read(write_lines(tmp_path / "parent.jsonl", PARENTS))
    assert said(drafts) == [*said(parents)[:2], (f"{ME}:3", "Other.")]
    assert [draft.group for draft in drafts] == [PARENT, PARENT, ME]
    assert [draft.revised_at for draft in drafts] == ["1970-01-01T00:00:00Z"] * 2 + [None]
    assert {draft.revised_at for draft in parents} == {None}


def test_a_fork_that_copies_nothing_is_a_session_of_its_own(tmp_path: Path) -> None:
    drafts, _, _ = read(write_lines(tmp_path / "fork.jsonl", [meta(forked_from_id=PARENT), user(0.1, "One.")]))
    assert said(drafts) == [(f"{ME}:1", "One.")]


@pytest.mark.parametrize("mark", [{"source": {"subagent": {"thread_spawn": {}}}}, {"thread_source": "subagent"}], ids=str)
def test_a_subagents_rollout_is_read_on_request_only(tmp_path: Path, mark: dict[str, Any]) -> None:
    path = write_lines(tmp_path / "r.jsonl", [meta(**mark), user(1, "Look it up."), assistant(2, "Found it.")])
    drafts, _, report = read(path)
    assert not drafts
    assert report.skipped["sidechain"] == 2
    drafts, _, _ = read(path, ReadOptions(include_sidechains=True))
    assert [(draft.speaker, draft.addressee) for draft in drafts] == [("assistant", "subagent"), ("subagent", "assistant")]


def test_older_rollouts_whose_lines_are_bare_items_are_read(tmp_path: Path) -> None:
    lines = [
        {"id": ME, "timestamp": "2025-06-01T12:00:00.000Z", "instructions": LEAK, "git": {"branch": "main"}},
        {"record_type": "state"},
        {"type": "message", "id": None, "role": "user", "content": [{"type": "input_text", "text": "We use Redis."}]},
        {"type": "function_call", "id": "fc_1", "name": "shell", "arguments": "{}", "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": '{"output":"ok"}'},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Noted."}]},
    ]
    drafts, rejected, _ = read(write_lines(tmp_path / "r.jsonl", lines))
    assert not rejected
    assert said(drafts) == [(f"{ME}:1", "We use Redis."), (f"{ME}:t1", "ok"), (f"{ME}:2", "Noted.")]
    assert [draft.said_at for draft in drafts] == [f"2025-06-01T12:00:00{part}Z" for part in ("", ".000001", ".000002")]
    assert drafts[0].metadata["gitBranch"] == "main"


def test_a_bad_line_costs_itself_alone(tmp_path: Path) -> None:
    bad = [b'{"timestamp', b"[]", b"", {**user(2, "No time."), "timestamp": "soon"}, {**user(2, "x"), "payload": 5}]
    path = tmp_path / "r.jsonl"
    write_lines(path, [meta(), user(1, "One."), *bad, user(3, "Two.")])
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n") + b'{"torn')
    drafts, rejected, _ = read(path)
    assert texts(drafts) == ["One.", "Two."]
    assert [(item.line, item.kind) for item in rejected] == [
        *((3, "json"), (4, "not-an-object"), (5, "empty-line"), (6, "timestamp"), (7, "text"), (9, "json")),
    ]
