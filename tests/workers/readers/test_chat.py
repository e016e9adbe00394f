"""Chats as JSON arrays and JSON Lines."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workers.readers.writing import read, texts, write_lines
from workers.readers import ReadOptions

ANA = {"speaker": "Ana", "text": "I moved to Lisbon.", "timestamp": "2023-01-14T18:02:00Z"}
BEN = {"speaker": "Ben", "text": "Since when?", "timestamp": "2023-01-14T18:03:00Z"}
CHLOE = {"speaker": "Chloe", "text": "Hello.", "timestamp": "2023-01-14T18:04:00Z"}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_an_array_is_read_item_by_item(tmp_path: Path, indent: int | None, mark: bytes) -> None:
    path = tmp_path / "friends.json"
    path.write_bytes(mark + json.dumps([ANA, BEN], indent=indent).encode())
    (first, second), rejected, _ = read(path)
    assert not rejected
    assert (first.source, first.external_id, first.group) == ("chat", "friends@2023-01-14T18:02:00Z", f"{tmp_path.name}/friends")
    assert (first.speaker, first.addressee, first.said_at, first.project) == ("Ana", "Ben", "2023-01-14T18:02:00Z", None)
    assert (second.speaker, second.addressee) == ("Ben", "Ana")


def test_lines_with_roles_are_read(tmp_path: Path) -> None:
    lines = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "name": "Maya", "content": "I work at Acme.", "timestamp": "2026-05-20T09:00:00Z"},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "Got it."}, {"type": "image_url", "image_url": {}}],
            "timestamp": 1779267603,
        },
        {"role": "tool", "content": "Alice works at Initech."},
        {"role": "assistant", "content": None, "tool_calls": []},
    ]
    drafts, rejected, report = read(write_lines(tmp_path / "plain.jsonl", lines))
    assert [(draft.speaker, draft.addressee, draft.content) for draft in drafts] == [
        ("Maya", "assistant", "I work at Acme."),
        ("assistant", "Maya", "Got it."),
    ]
    assert not rejected
    assert report.skipped == {"system": 1, "tool": 1, "tool_calls": 1, "image": 1}


def test_a_role_alone_is_the_speaker_and_the_option_names_the_user(tmp_path: Path) -> None:
    lines = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]
    drafts, _, _ = read(write_lines(tmp_path / "p.jsonl", lines), ReadOptions(speaker="Maya"))
    assert [(draft.speaker, draft.addressee) for draft in drafts] == [("Maya", "assistant"), ("assistant", "Maya")]
    assert [draft.external_id for draft in drafts] == [f"{tmp_path.name}/p:1", f"{tmp_path.name}/p:2"]


def test_turns_with_addressee_and_id_are_read(tmp_path: Path) -> None:
    line = {"id": "d1", "speaker": "Ngozi", "addressee": "Bo", "said": "2025-01-15T11:20:00Z", "text": "Always lint."}
    (draft,), _, _ = read(write_lines(tmp_path / "turns.jsonl", [line]))
    assert (draft.external_id, draft.addressee, draft.said_at) == ("turns@2025-01-15T11:20:00Z", "Bo", "2025-01-15T11:20:00Z")
    assert draft.metadata["id"] == "d1"


def test_among_three_nobody_in_particular_is_addressed(tmp_path: Path) -> None:
    drafts, _, _ = read(write_lines(tmp_path / "c.jsonl", [ANA, BEN, CHLOE]))
    assert [draft.addressee for draft in drafts] == [None, None, None]


def test_equal_stamps_get_ids_and_times_of_their_own_that_do_not_depend_on_what_stands_before(tmp_path: Path) -> None:
    same = ANA | {"text": "Really."}
    drafts, _, _ = read(write_lines(tmp_path / "c.jsonl", [ANA, same, BEN]))
    assert [draft.external_id for draft in drafts] == [
        *("c@2023-01-14T18:02:00Z", "c@2023-01-14T18:02:00Z~2", "c@2023-01-14T18:03:00Z"),
    ]
    assert [draft.said_at for draft in drafts][:2] == ["2023-01-14T18:02:00Z", "2023-01-14T18:02:00.000001Z"]
    earlier = ANA | {"timestamp": "2022-01-01T00:00:00Z"}
    again, _, _ = read(write_lines(tmp_path / "c.jsonl", [earlier, ANA, same, BEN]))
    assert [draft.external_id for draft in again][1:] == [draft.external_id for draft in drafts]


def test_a_chat_keeps_its_ids_wherever_its_file_lies(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    here, _, _ = read(write_lines(tmp_path / "c.jsonl", [ANA, BEN]))
    there, _, _ = read(write_lines(tmp_path / "other" / "c.jsonl", [ANA, BEN]))
    assert [draft.external_id for draft in here] == [draft.external_id for draft in there]


@given(st.lists(st.one_of(st.none(), st.integers(0, 4)), min_size=1, max_size=12))
def test_no_two_messages_of_a_file_share_an_id(stamps: list[int | None]) -> None:
    lines = [
        {"speaker": "Ana", "text": str(place), "timestamp": None if stamp is None else 1_700_000_000 + stamp}
        for place, stamp in enumerate(stamps)
    ]
    with TemporaryDirectory() as folder:
        drafts, _, _ = read(write_lines(Path(folder) / "c.jsonl", lines))
    assert len({draft.external_id for draft in drafts}) == len(drafts) > 0


def test_a_long_id_of_its_own_is_kept_and_a_short_one_only_where_there_is_no_time(tmp_path: Path) -> None:
    lines = [ANA | {"id": "0123456789abcdef"}, BEN | {"id": 7}, {"id": 8, "speaker": "Ana", "text": "Hm."}]
    drafts, _, _ = read(write_lines(tmp_path / "c.jsonl", lines))
    assert [draft.external_id for draft in drafts] == ["0123456789abcdef", "c@2023-01-14T18:03:00Z", f"{tmp_path.name}/c:8"]


BAD: list[tuple[Any, str]] = [
    ({"speaker": "Ana"}, "text"),
    ({"speaker": "Ana", "text": 5}, "text"),
    ({"speaker": "Ana", "text": {"a": 1}}, "text"),
    (ANA | {"timestamp": "garbage"}, "timestamp"),
    (ANA | {"timestamp": "2023-02-30T10:00:00Z"}, "timestamp"),
    (ANA | {"timestamp": True}, "timestamp"),
    (ANA | {"speaker": "x" * 10_000}, "name"),
    (ANA | {"id": "x" * 10_000}, "id"),
    ([], "not-an-object"),
    ("text", "not-an-object"),
]


@pytest.mark.parametrize(("bad", "kind"), BAD, ids=lambda value: str(value)[:40])
@pytest.mark.parametrize("array", [True, False], ids=["array", "lines"])
def test_a_bad_message_costs_itself_alone(tmp_path: Path, bad: Any, kind: str, array: bool) -> None:
    path = tmp_path / "c.json"
    rows = [json.dumps(row) for row in (ANA, bad, BEN)]
    path.write_text("[\n" + ",\n".join(rows) + "\n]" if array else "\n".join(rows))
    drafts, rejected, _ = read(path)
    assert texts(drafts) == [ANA["text"], BEN["text"]]
    assert [(item.line, item.kind) for item in rejected] == [(3 if array else 2, kind)]


def test_an_array_that_was_cut_off_keeps_what_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps([ANA, BEN, CHLOE], indent=1)[:-20])
    drafts, rejected, _ = read(path)
    assert texts(drafts) == [ANA["text"], BEN["text"]]
    assert [item.kind for item in rejected] == ["json"]


def test_empty_texts_are_passed_over(tmp_path: Path) -> None:
    drafts, rejected, report = read(write_lines(tmp_path / "c.jsonl", [ANA, BEN | {"text": " \n"}]))
    assert len(drafts) == 1
    assert not rejected
    assert report.skipped == {"no text": 1}
