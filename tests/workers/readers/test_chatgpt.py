"""ChatGPT's export: the branch that is shown, message by message, and what nobody said apart from it."""

from __future__ import annotations

import json
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.workers.readers.writing import read, texts
from workers.readers import ReadOptions
from workers.readers import read_path as iter_path

T = 1_779_267_600
LEAK = "Alice works at Initech."


def name(number: int) -> str:
    return f"aaaa0000-0000-4000-8000-{number:012d}"


def message(number: int, text: Any = "Hello.", role: str = "user", **more: Any) -> dict[str, Any]:
    content = text if isinstance(text, dict) else {"content_type": "text", "parts": [text]}
    author: dict[str, Any] = {"role": role, "name": None, "metadata": {}}
    return {"id": name(number), "author": author, "create_time": T + number, "content": content, "metadata": {}, "recipient": "all"} | more


def chain(*messages: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    """A conversation whose messages follow each other, below a root without one."""
    mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
    last = "root"
    for number, each in enumerate(messages):
        node = each["id"] if each and isinstance(each.get("id"), str) else f"node{number}"
        mapping[last]["children"] = [node]
        mapping[node] = {"id": node, "message": each, "parent": last, "children": []}
        last = node
    conversation = {"conversation_id": name(900), "id": name(900), "title": "Moving", "create_time": T, "mapping": mapping}
    return conversation | {"current_node": last} | more


def write(path: Path, *conversations: Any, indent: int | None = None) -> Path:
    path.write_text(json.dumps(conversations, indent=indent), encoding="utf-8")
    return path


@pytest.mark.parametrize("indent", [None, 2])
def test_who_spoke_to_whom_when_and_where_is_kept(tmp_path: Path, indent: int | None) -> None:
    answer = message(2, "Since when?", "assistant", metadata={"model_slug": "gpt-5"})
    path = write(tmp_path / "c.json", chain(message(1, "I moved to Lisbon."), answer), indent=indent)
    (first, second), rejected, _ = read(path, ReadOptions(speaker="Maya"))
    assert not rejected
    assert (first.source, first.external_id, first.group) == ("chatgpt", name(1), name(900))
    assert (first.speaker, first.addressee, first.said_at, first.project) == ("Maya", "assistant", "2026-05-20T09:00:01Z", None)
    assert (second.speaker, second.addressee) == ("assistant", "Maya")
    assert second.metadata == {"title": "Moving", "model": "gpt-5"}


def test_one_conversation_alone_and_one_on_each_line_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(chain(message(1)), indent=1))
    (tmp_path / "b.json").write_text(json.dumps(chain(message(2))))
    (tmp_path / "c.jsonl").write_text("".join(json.dumps(chain(message(number))) + "\n" for number in (3, 4)))
    drafts, rejected, _ = read(tmp_path)
    assert not rejected
    assert [draft.external_id for draft in drafts] == [name(number) for number in (1, 2, 3, 4)]


@pytest.mark.parametrize("folder", ["", "export/"])
def test_the_exports_zip_is_read_like_the_file_in_it(tmp_path: Path, folder: str) -> None:
    path = write(tmp_path / "conversations.json", chain(message(1), message(2, "Hi.", "assistant")))
    plain, _, _ = read(path)
    with zipfile.ZipFile(tmp_path / "export.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(path, f"{folder}conversations.json")
        archive.writestr(f"{folder}chat.html", "<html></html>")
    drafts, rejected, _ = read(tmp_path / "export.zip")
    assert not rejected
    assert [(draft.external_id, draft.content, draft.said_at) for draft in drafts] == [
        (draft.external_id, draft.content, draft.said_at) for draft in plain
    ]


def test_the_shown_branch_is_the_conversation_and_the_others_are_counted(tmp_path: Path) -> None:
    conversation = chain(message(1, "I moved to Porto."), message(2, "Nice.", "assistant"))
    mapping = conversation["mapping"]
    mapping[name(3)] = {"id": name(3), "message": message(3, "I moved to Lisbon."), "parent": "root", "children": [name(4)]}
    mapping[name(4)] = {"id": name(4), "message": message(4, "Lovely.", "assistant"), "parent": name(3), "children": []}
    drafts, _, report = read(write(tmp_path / "c.json", conversation | {"current_node": name(4)}))
    assert texts(drafts) == ["I moved to Lisbon.", "Lovely."]
    assert report.skipped == {"other branch": 2}
    unknown: list[Any] = [None, "nowhere", 5, {}]
    for missing in unknown:
        last, _, _ = read(write(tmp_path / "c.json", conversation | {"current_node": missing}))
        assert texts(last) == ["I moved to Lisbon.", "Lovely."]


def test_a_branch_that_runs_in_a_circle_ends(tmp_path: Path) -> None:
    conversation = chain(message(1, "One."), message(2, "Two."))
    conversation["mapping"][name(1)]["parent"] = name(2)
    drafts, _, _ = read(write(tmp_path / "c.json", conversation))
    assert texts(drafts) == ["One.", "Two."]


UNSAID = [
    message(1, LEAK, "system"),
    message(1, LEAK, metadata={"is_visually_hidden_from_conversation": True}),
    message(1, LEAK, "system", metadata={"is_user_system_message": True}),
    message(1, {"content_type": "user_editable_context", "user_profile": LEAK, "user_instructions": LEAK}),
    message(1, {"content_type": "model_editable_context", "model_set_context": LEAK}, "assistant"),
    message(1, {"content_type": "thoughts", "thoughts": [{"summary": LEAK, "content": LEAK}]}, "assistant"),
    message(1, {"content_type": "reasoning_recap", "content": LEAK}, "assistant"),
    message(1, {"content_type": "code", "language": "json", "text": LEAK}, "assistant"),
    message(1, LEAK, "assistant", recipient="web.run"),
    message(1, {"content_type": "system_error", "text": LEAK}, "tool"),
    message(1, {"content_type": "from the future", "parts": [LEAK]}),
    message(1, {"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer", "asset_pointer": LEAK}, 5, None]}),
    message(1, {"content_type": "text", "parts": [""]}, "assistant"),
    message(1, {"content_type": "text"}),
    message(1, {"content_type": ["text"], "parts": [LEAK]}),
    message(1, "") | {"content": LEAK},
    message(1, LEAK) | {"author": None},
    message(1, LEAK, "from the future"),
    {},
]


@pytest.mark.parametrize("unsaid", UNSAID, ids=lambda unsaid: str(unsaid.get("content"))[:70])
def test_what_nobody_said_is_counted_and_not_fatal(tmp_path: Path, unsaid: dict[str, Any]) -> None:
    drafts, rejected, report = read(write(tmp_path / "c.json", chain(message(5), unsaid, None, message(6, "Bye."))))
    assert texts(drafts) == ["Hello.", "Bye."]
    assert not rejected
    assert report.skipped.total() >= 1


def test_words_beside_images_and_spoken_words_are_speech(tmp_path: Path) -> None:
    parts = [{"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}, "What is this?"]
    spoken = [
        {"content_type": "audio_transcription", "text": "I moved to Lisbon.", "direction": "in"},
        {"content_type": "audio_asset_pointer"},
    ]
    lines = [message(number, {"content_type": "multimodal_text", "parts": each}) for number, each in ((1, parts), (2, spoken))]
    drafts, _, report = read(write(tmp_path / "c.json", chain(*lines)))
    assert texts(drafts) == ["What is this?", "I moved to Lisbon."]
    assert report.skipped == {"image": 1, "audio_asset_pointer": 1}


@pytest.mark.parametrize(
    "content",
    [
        {"content_type": "execution_output", "text": "42"},
        {"content_type": "tether_browsing_display", "result": "42", "summary": None},
        {"content_type": "tether_quote", "text": "42", "url": "https://example.org"},
        {"content_type": "multimodal_text", "parts": ["42", {"content_type": "image_asset_pointer"}]},
    ],
    ids=lambda content: str(content["content_type"]),
)
def test_outputs_of_tools_are_artifacts(tmp_path: Path, content: dict[str, Any]) -> None:
    output = message(2, content, "tool") | {"author": {"role": "tool", "name": "python"}}
    path = write(tmp_path / "c.json", chain(message(1), output))
    (_, draft), _, report = read(path)
    assert (draft.content, draft.speech, draft.speaker, draft.addressee) == ("42", False, "python", None)
    assert report.artifacts == {"tool_result": 1}
    assert texts(read(path, ReadOptions(include_artifacts=False))[0]) == ["Hello."]


def test_messages_without_a_time_follow_the_one_before_and_the_first_the_conversations(tmp_path: Path) -> None:
    lines = [message(number, str(number) + " cats.", create_time=None) for number in (1, 2)]
    drafts, _, _ = read(write(tmp_path / "c.json", chain(*lines, message(3))))
    assert [draft.said_at for draft in drafts] == ["2026-05-20T09:00:00Z", "2026-05-20T09:00:00.000001Z", "2026-05-20T09:00:03Z"]
    drafts, _, _ = read(write(tmp_path / "c.json", chain(lines[0], message(3), create_time="garbage")))
    assert [draft.said_at for draft in drafts] == ["2026-05-20T09:00:02.999999Z", "2026-05-20T09:00:03Z"]


def test_short_ids_have_their_conversations_before_them(tmp_path: Path) -> None:
    drafts, _, _ = read(write(tmp_path / "c.json", chain(message(1, id="n1"), {**message(2), "id": None}, conversation_id=None, id="c1")))
    assert [draft.external_id for draft in drafts] == ["c1/n1", "c1/node1"]


def test_a_bad_message_or_conversation_costs_itself_alone(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    rows = [
        json.dumps(chain(message(1, "One."), message(2, "No time.", create_time="soon"), message(3, "Two."))),
        '{"mapping": {"a": }}',
        '{"mapping": [], "current_node": "a"}',
        "[]",
        json.dumps(chain(message(4, "Three."))),
        json.dumps(chain(message(5, "Cut off.")))[:-40],
    ]
    path.write_bytes(b"\xef\xbb\xbf[\r\n" + ",\r\n".join(rows).encode())
    drafts, rejected, _ = read(path)
    assert texts(drafts) == ["One.", "Two.", "Three."]
    assert [(item.line, item.kind) for item in rejected] == [
        *((2, "timestamp"), (3, "json"), (4, "not-an-object"), (5, "not-an-object"), (7, "json")),
    ]


def test_many_conversations_are_streamed_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    one = json.dumps(chain(*(message(number, "word " * 6000, "tool") for number in range(10))))
    with path.open("w") as file:
        file.write("[" + ",".join([one] * 60) + "]")
    tracemalloc.start()
    drafts = sum(1 for _ in iter_path(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert drafts == 600
    assert path.stat().st_size > 17_000_000 > peak * 2
