"""Slack exports: who said what in which channel, with the names of the export's lists and without its markup."""

from __future__ import annotations

import json
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest

from ontology.episode import EpisodeDraft
from tests.workers.readers.writing import SAMPLES, drafts_of, read, texts
from workers.readers import ReadOptions, Speakers, read_path
from workers.readers.slack_text import addressed, block_text, readable

EXPORT = SAMPLES / "slack_export"
USERS = [
    {"id": "U01", "name": "maya", "profile": {"real_name": "Maya Rao"}},
    {"id": "U02", "name": "ben", "profile": {"display_name": "Ben Ito"}},
]


def message(text: Any, number: int = 1, user: str | None = "U01", **more: Any) -> dict[str, Any]:
    return {"type": "message", "text": text, "ts": f"{1_779_267_600 + number}.000100", **({"user": user} if user else {}), **more}


def day(folder: Path, messages: list[Any], **lists: Any) -> Path:
    """An export with one channel's one day; its lists beside the channel's folder."""
    path = folder / "general" / "2026-05-20.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(messages, indent=1))
    for name, content in ({"users": USERS} | lists).items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return path


def by_id(drafts: list[EpisodeDraft]) -> dict[str, EpisodeDraft]:
    return {draft.external_id or "": draft for draft in drafts}


def test_an_export_is_read_with_names_channels_threads_and_edits() -> None:
    drafts, rejected, report = read(EXPORT)
    found = by_id(drafts)
    edited = found["C01GEN:1779267660.000200"]
    assert (edited.speaker, edited.group, edited.said_at) == ("Ben Ito", "general", "2026-05-20T09:01:00.000200Z")
    assert edited.content == "I work at Acme & Sons, see the page in #general."
    assert (edited.revised_at, edited.metadata["thread"]) == ("2026-05-20T09:01:40Z", "1779267600.000100")
    first = found["C01GEN:1779267600.000100"]
    assert (first.speaker, first.addressee, first.content, first.revised_at) == ("Maya Rao", "Ben Ito", "Ben Ito we use Redis now", None)
    assert found["C01GEN:1779267664.000200"].content == "Ben Ito moved to Oslo."
    assert [(item.line, item.kind) for item in rejected] == [(131, "text"), (138, "timestamp")]
    assert report.skipped == {
        "list of a workspace": 8,
        "channel_join": 1,
        "channel_topic": 1,
        "bot": 2,
        "file": 1,
        "record huddle_record": 1,
    }


def test_a_direct_message_is_to_the_other_and_its_group_names_both() -> None:
    found = by_id(drafts_of(EXPORT))
    asked = found["D01MB:1779267600.000100"]
    assert (asked.speaker, asked.addressee, asked.group) == ("Maya Rao", "Ben Ito", "Ben Ito, Maya Rao")
    assert found["C09MP:1779267600.000100"].group == "Ana Ruiz, Ben Ito, Maya Rao"
    assert found["C09MP:1779267600.000100"].addressee is None


def test_people_of_other_workspaces_are_named_by_their_messages_and_the_rest_keep_their_ids() -> None:
    found = by_id(drafts_of(EXPORT))
    assert found["C01GEN:1779267665.000200"].speaker == "Gil Moura"
    assert found["C01GEN:1779267666.000200"].speaker == "U88GONE"
    assert read(EXPORT)[2].mended == {"user ID without a name": 1}


def test_bots_are_read_on_request() -> None:
    drafts = drafts_of(EXPORT, ReadOptions(include_bots=True))
    assert {draft.speaker for draft in drafts} >= {"CI", "GitHub"}
    assert len(drafts) == len(drafts_of(EXPORT)) + 2


def test_a_speaker_map_names_people_by_id_and_by_handle_in_text_too(tmp_path: Path) -> None:
    path = day(tmp_path, [message("<@U02> is here.")])
    (draft,) = drafts_of(path, ReadOptions(speakers=Speakers({"slack": {"U01": "Maya Lind", "@ben": "Benjamin Ito"}})))
    assert (draft.speaker, draft.content, draft.addressee) == ("Maya Lind", "Benjamin Ito is here.", "Benjamin Ito")


def test_a_day_alone_keeps_ids_and_lists_beside_it_name_them(tmp_path: Path) -> None:
    path = tmp_path / "slack_2026-05-20.json"
    path.write_text(json.dumps([message("Hi <@U02>.")]))
    (draft,), _, report = read(path)
    assert (draft.speaker, draft.content, draft.external_id, draft.group) == ("U01", "Hi @U02.", "slack:1779267601.000100", "slack")
    assert report.mended == {"user ID without a name": 1}
    (tmp_path / "slack_users.json").write_text(json.dumps(USERS))
    (draft,) = drafts_of(path)
    assert (draft.speaker, draft.content) == ("Maya Rao", "Hi Ben Ito.")
    drafts, rejected, report = read(tmp_path)
    assert len(drafts) == 1 and not rejected and report.skipped == {"list of a workspace": 1}


def test_a_day_whose_lists_would_have_too_long_a_name_is_read(tmp_path: Path) -> None:
    path = tmp_path / f"{'x' * 235}-2026-05-20.json"
    path.write_text(json.dumps([message("Hi.")]))
    assert texts(drafts_of(path)) == ["Hi."]


def test_a_renamed_channel_and_a_day_read_by_itself_give_the_same_ids(tmp_path: Path) -> None:
    path = day(tmp_path / "a", [message("Hi.")], channels=[{"id": "C01", "name": "general", "members": []}])
    whole = drafts_of(tmp_path / "a")
    assert [draft.external_id for draft in whole] == ["C01:1779267601.000100"]
    assert drafts_of(path) == whole
    day(tmp_path / "b", [message("Hi.")], channels=[{"id": "C01", "name": "talk", "members": []}])
    (tmp_path / "b" / "general").rename(tmp_path / "b" / "talk")
    (renamed,) = drafts_of(tmp_path / "b")
    assert (renamed.external_id, renamed.group) == ("C01:1779267601.000100", "talk")


def test_a_longer_export_adds_only_what_is_new(tmp_path: Path) -> None:
    messages = [message(f"Message {number}.", number) for number in range(1, 8)]
    before = drafts_of(day(tmp_path, messages[:4]))
    after = drafts_of(day(tmp_path, messages))
    assert after[:4] == before and len(after) == 7


@pytest.mark.parametrize("subtype", ["channel_join", "channel_leave", "channel_topic", "pinned_item", "from_the_future", 5])
def test_what_nobody_said_is_counted(tmp_path: Path, subtype: Any) -> None:
    drafts, rejected, report = read(day(tmp_path, [message("Maya has joined.", subtype=subtype), message("Hi.", 2)]))
    assert texts(drafts) == ["Hi."]
    assert not rejected
    assert report.skipped == {str(subtype): 1}


@pytest.mark.parametrize("subtype", [None, "thread_broadcast", "me_message", "file_share"])
def test_what_somebody_said_is_read(tmp_path: Path, subtype: Any) -> None:
    assert texts(drafts_of(day(tmp_path, [message("Hi.", subtype=subtype)]))) == ["Hi."]


def test_a_record_of_a_change_is_a_revision_of_its_message(tmp_path: Path) -> None:
    changed = message(
        "", 9, None, subtype="message_changed", message=message("Now this.", edited={"user": "U01", "ts": "1779267700.000000"})
    )
    first, second = drafts_of(day(tmp_path, [message("First this."), changed]))
    assert first.external_id == second.external_id
    assert first.said_at == second.said_at
    assert (second.content, second.revised_at) == ("Now this.", "2026-05-20T09:01:40Z")


BAD = [
    (message(17), "text"),
    (message("x") | {"ts": None}, "timestamp"),
    (message("x") | {"ts": "12.5"}, "timestamp"),
    (message("x") | {"ts": 1779267600.5}, "timestamp"),
    ("text", "not-an-object"),
    ([], "not-an-object"),
    (message("x", user="U" * 5_000), "name"),
]


@pytest.mark.parametrize(("bad", "kind"), BAD, ids=lambda value: str(value)[:30])
def test_a_bad_message_costs_itself_alone(tmp_path: Path, bad: Any, kind: str) -> None:
    drafts, (rejected,), _ = read(day(tmp_path, [message("One."), bad, message("Two.", 2)]))
    assert texts(drafts) == ["One.", "Two."]
    assert rejected.kind == kind


@pytest.mark.parametrize("content", [b"", b"[{", b"{}", b'[5, "x", {"id": 5}, {"id": "U01"}]', b"\xff\xfe\x00"])
def test_a_broken_list_leaves_ids(tmp_path: Path, content: bytes) -> None:
    path = day(tmp_path, [message("Hi.")])
    (tmp_path / "users.json").write_bytes(content)
    (draft,) = drafts_of(path)
    assert draft.speaker == "U01"


def names(kind: str, id: str) -> str:
    return {"U01": "Maya Rao", "C01": "general"}.get(id, id)


@pytest.mark.parametrize(
    ("markup", "shown"),
    [
        ("<@U01> and <@U09>", "Maya Rao and @U09"),
        ("<@U09|zoe>", "@zoe"),
        ("<#C01> <#C02|talk> <#C03>", "#general #talk #C03"),
        ("<https://x.example/a_b_c|the page> <https://x.example/_a_>", "the page https://x.example/_a_"),
        ("<mailto:a@x.example|a@x.example> <tel:+1>", "a@x.example +1"),
        ("<!here> <!channel> <!subteam^S1|@team> <!date^1^{date}|May 1>", "@here @channel @team May 1"),
        ("a &lt; b &amp;&amp; b &gt; c, &amp;lt;", "a < b && b > c, &lt;"),
        ("*bold* _slanted_ ~gone~ *_both_*", "bold slanted gone both"),
        ("2*3*4 snake_case_name *.py and *.js", "2*3*4 snake_case_name *.py and *.js"),
        ("`*code*` and ```_more_\n<@U01>```", "`*code*` and ```_more_\nMaya Rao```"),
        ("&gt; quoted", "> quoted"),
    ],
)
def test_markup_becomes_what_a_person_reads(markup: str, shown: str) -> None:
    assert readable(markup, names) == shown


def test_who_is_named_first_and_alone_is_addressed() -> None:
    assert addressed("<@U01> hi") == addressed(" <@U01|maya>: hi") == "U01"
    assert addressed("<@U01> <@U02> hi") is addressed("hi <@U01>") is None


def test_blocks_stand_in_for_a_missing_text() -> None:
    pieces = [
        *({"type": "text", "text": "See "}, {"type": "link", "url": "https://x.example", "text": "this"}),
        *({"type": "channel", "channel_id": "C01"}, {"type": "emoji", "name": "wave"}, {"type": "broadcast", "range": "here"}, 5),
    ]
    blocks = [
        {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": pieces}, {"type": "rich_text_quote", "elements": []}]},
        {"type": "section", "text": {"type": "mrkdwn", "text": "And that."}},
        None,
    ]
    assert block_text(blocks) == "See this<#C01>:wave:<!here>\n&gt; \nAnd that."
    assert block_text(None) == block_text("x") == ""


def test_a_large_export_in_a_zip_is_streamed(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("users.json", json.dumps(USERS))
        with archive.open("general/2026-05-20.json", "w") as opened:
            rows = (json.dumps(message("w" * 30_000 + str(number), number)) for number in range(400))
            opened.write(("[" + ",\n".join(rows) + "]").encode())
    tracemalloc.start()
    count = sum(1 for _ in read_path(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 400
    assert peak * 1.5 < 12_000_000
