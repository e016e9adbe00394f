"""WhatsApp chats: both phones, many locales, what people wrote and nothing that the phone wrote for them."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from ontology.episode import EpisodeDraft
from tests.workers.readers.writing import SAMPLES, drafts_of, read, texts
from workers.readers import ReadOptions, read_path

LRM = "\u200e"
COPIED = "> [20/05, 09:01] Tom: I moved to Berlin\n> [20/05, 09:02] Tom: I work at Acme"
GROUP = SAMPLES / "WhatsApp Chat with Lisbon trip.txt"


def chat(path: Path, *lines: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def said(drafts: list[EpisodeDraft]) -> list[tuple[str | None, str]]:
    return [(draft.speaker, draft.content) for draft in drafts]


def test_an_android_group_is_read() -> None:
    drafts, rejected, report = read(GROUP)
    assert not rejected
    assert said(drafts) == [
        ("Maya", "I moved to Lisbon\nlast month"),
        ("Ben", "ok"),
        ("Ben", "ok"),
        ("+49 170 1234567", "I work at Initech."),
        ("Zoë 🌊", "Ben I live in Porto."),
        ("Maya", "I bought a red bike."),
        ("Ben", "I adopted a cat named Milo."),
        ("Dr. Rao: Clinic", "The visit is at noon."),
        ("Dr. Rao: Clinic", "Bring your card."),
        ("Dr. Rao: Clinic", "Thank you."),
        (
            "Maya",
            "Look what he wrote:\n> [20/05, 09:01] Tom: I moved to Berlin\n> [20/05, 09:02] Tom: I work at Acme\n\nI am happy for him.",
        ),
    ]
    assert {draft.group for draft in drafts} == {"Lisbon trip"}
    assert {draft.addressee for draft in drafts} == {None}
    assert report.skipped == {"system": 6, "media": 3, "deleted": 1}
    first, second, third = drafts[:3]
    assert [draft.said_at for draft in (first, second, third)] == [
        *("2026-05-20T09:01:00Z", "2026-05-20T09:02:00Z", "2026-05-20T09:02:00.000001Z"),
    ]
    assert third.external_id == f"{second.external_id}~2"
    assert drafts[6].metadata == {"edited": True}


def test_an_ios_group_is_read_with_the_name_that_its_first_notice_has() -> None:
    drafts, rejected, report = read(SAMPLES / "WhatsApp Chat - Family")
    assert not rejected
    assert said(drafts) == [
        ("Maya", "I moved to Lisbon\nlast month"),
        ("Chloe", "I live in Porto."),
        ("Ben", "My new bike"),
        ("+49 170 1234567", "I work at Initech."),
    ]
    assert {draft.group for draft in drafts} == {"Family"}
    assert report.skipped == {"system": 3, "media": 2, "deleted": 1, "call": 1}


@pytest.mark.parametrize(
    ("line", "at"),
    [
        ("20/05/2026, 21:01 - Maya: Hi.", "21:01:00"),
        ("20/05/2026 21:01 - Maya: Hi.", "21:01:00"),
        ("20.05.26, 21:01 - Maya: Hi.", "21:01:00"),
        ("20-05-2026 21:01 - Maya: Hi.", "21:01:00"),
        ("20/05/2026 à 21:01 - Maya: Hi.", "21:01:00"),
        ("20/05/2026, 21.01 - Maya: Hi.", "21:01:00"),
        ("5/20/26, 9:01 PM - Maya: Hi.", "21:01:00"),
        ("5/20/26, 9:01\u202fPM - Maya: Hi.", "21:01:00"),
        ("20/05/2026, 9:01\u00a0pm - Maya: Hi.", "21:01:00"),
        ("20/5/26, 9:01 p. m. - Maya: Hi.", "21:01:00"),
        ("20/5/26, 9:01 p.\u00a0m. - Maya: Hi.", "21:01:00"),
        ("20/5/26, 12:01 a.m. - Maya: Hi.", "00:01:00"),
        ("20/5/26, 12:01 PM - Maya: Hi.", "12:01:00"),
        ("2026-05-20, 21:01 - Maya: Hi.", "21:01:00"),
        ("2026/05/20, 21:01 - Maya: Hi.", "21:01:00"),
        ("2026/5/20 下午9:01 - Maya: Hi.", "21:01:00"),
        ("26/5/20 下午9:01 - Maya: Hi.", "21:01:00"),
        ("20/5/26, 9:01 μ.μ. - Maya: Hi.", "21:01:00"),
        ("\u200f٢٠/٥/٢٠٢٦، ٩:٠١ م - Maya: Hi.", "21:01:00"),
        ("[20/05/26, 21:01:12] Maya: Hi.", "21:01:12"),
        ("[20.05.26, 21:01:12] Maya: Hi.", "21:01:12"),
        ("[2026-05-20, 21:01:12] Maya: Hi.", "21:01:12"),
        ("[5/20/26, 9:01:12\u202fPM] Maya: Hi.", "21:01:12"),
        (f"{LRM}[20/05/2026, 9:01:12 pm] Maya: Hi.", "21:01:12"),
        ("[2026/5/20 下午9:01:12] Maya: Hi.", "21:01:12"),
    ],
)
def test_heads_of_many_locales_are_read(tmp_path: Path, line: str, at: str) -> None:
    (draft,), rejected, _ = read(chat(tmp_path / "c.txt", line))
    assert not rejected
    assert (draft.source, draft.speaker, draft.content, draft.said_at) == ("whatsapp", "Maya", "Hi.", f"2026-05-20T{at}Z")


def test_times_are_those_of_the_zone_asked_for(tmp_path: Path) -> None:
    path = chat(tmp_path / "c.txt", "20/05/2026, 09:01 - Maya: Hi.")
    (draft,) = drafts_of(path, ReadOptions(time_zone="Europe/Berlin"))
    assert draft.said_at == "2026-05-20T07:01:00Z"
    assert draft.external_id == drafts_of(path)[0].external_id


def test_an_open_order_holds_the_whole_chat_back_and_names_the_option(tmp_path: Path) -> None:
    path = chat(tmp_path / "c.txt", "04/05/2026, 09:01 - Maya: Hi.", "05/05/2026, 09:02 - Ben: Hello.")
    drafts, (rejected,), _ = read(path)
    assert not drafts
    assert (rejected.kind, rejected.line) == ("date-order", None)
    assert "--date-order" in rejected.message
    assert [draft.said_at for draft in drafts_of(path, ReadOptions(date_order="dmy"))] == ["2026-05-04T09:01:00Z", "2026-05-05T09:02:00Z"]
    assert [draft.said_at for draft in drafts_of(path, ReadOptions(date_order="mdy"))] == ["2026-04-05T09:01:00Z", "2026-05-05T09:02:00Z"]


def test_one_date_late_in_the_chat_decides_and_what_it_proves_counts_before_the_option(tmp_path: Path) -> None:
    early = [f"04/05/2026, 09:{minute:02d} - Maya: Hi." for minute in range(60)]
    path = chat(tmp_path / "c.txt", *early, "13/05/2026, 09:02 - Ben: Hello.")
    assert drafts_of(path)[0].said_at == "2026-05-04T09:00:00Z"
    assert drafts_of(path, ReadOptions(date_order="mdy")) == drafts_of(path)


SILENT = [
    "Messages and calls are end-to-end encrypted.",
    "Maya left",
    "Maya added Ben",
    'Maya changed the subject from "Trip: Rome" to "Trip: Oslo"',
    "Maya hat den Betreff von „Reise: Rom“ zu „Oslo“ geändert.",
    "Maya a changé le sujet de « Voyage : Rome » en « Oslo »",
    "Your security code with Ben: Work changed.",
    "Ben: <Media omitted>",
    "Ben: <Medien ausgeschlossen>",
    "Ben: image omitted",
    "Ben: null",
    "Ben: IMG-20260520-WA0001.jpg (file attached)",
    f"Ben: {LRM}IMG-20260520-WA0001.jpg (Datei angehängt)",
    f"Ben: {LRM}<attached: 00000012-PHOTO.jpg>",
    f"Ben: {LRM}sticker omitted",
    f"Ben: plan.pdf • {LRM}5 pages {LRM}document omitted",
    "Ben: This message was deleted",
    "Ben: You deleted this message",
    "Ben: Missed voice call",
    "Ben: location: https://maps.google.com/?q=1,2",
    f"Ben: {LRM}Ben hat die Gruppe verlassen",
    "Ben: POLL:",
    "Ben:",
    "Ben: ",
]


@pytest.mark.parametrize("rest", SILENT)
@pytest.mark.parametrize("head", ["20/05/2026, 09:05 - ", "[20/05/2026, 09:05:00] "])
def test_what_nobody_said_is_counted(tmp_path: Path, rest: str, head: str) -> None:
    path = chat(tmp_path / "c.txt", f"{head}Maya: One.", f"{head}{rest}", f"{head}Maya: Two.")
    drafts, rejected, report = read(path)
    kept = texts(drafts)
    assert (kept[0], kept[-1]) == ("One.", "Two.")
    assert not rejected
    if not rest.startswith("Ben: plan.pdf"):
        assert len(kept) == 2 and report.skipped.total() == 1


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        (f"My bike {LRM}<attached: 00000012-PHOTO.jpg>", "My bike"),
        ("IMG-20260520-WA0001.jpg (file attached)\nMy bike", "My bike"),
        (f"My bike {LRM}image omitted", "My bike"),
        (f"Hi. {LRM}<This message was edited>", "Hi."),
        ("Hi. <This message was edited>", "Hi."),
        ("Ask @\u2068Ben Ito\u2069 now", "Ask Ben Ito now"),
        ("See https://x.example: it is good", "See https://x.example: it is good"),
        ("one\n\ntwo", "one\n\ntwo"),
        ("I <3 it: really", "I <3 it: really"),
        ("a video call at five?", "a video call at five?"),
        ("10:30 is fine", "10:30 is fine"),
    ],
)
def test_what_people_wrote_is_kept_without_what_the_phone_added(tmp_path: Path, raw: str, kept: str) -> None:
    (draft,), rejected, _ = read(chat(tmp_path / "c.txt", f"20/05/2026, 09:05 - Maya: {raw}"))
    assert not rejected
    assert (draft.speaker, draft.content) == ("Maya", kept)


def test_a_label_that_somebody_uses_now_and_then_is_no_part_of_the_name(tmp_path: Path) -> None:
    lines = [f"20/05/2026, 09:0{minute} - Ben: {text}" for minute, text in enumerate(["PS: Hi.", "PS: Ho.", "Well.", "PS: So."])]
    assert said(drafts_of(chat(tmp_path / "c.txt", *lines)))[0] == ("Ben", "PS: Hi.")


def test_the_name_of_the_file_shows_a_contact_with_a_colon(tmp_path: Path) -> None:
    lines = ["20/05/2026, 09:01 - Dr. Rao: Clinic: The visit is at noon.", "20/05/2026, 09:02 - Maya: Thank you."]
    drafts = drafts_of(chat(tmp_path / "WhatsApp Chat with Dr. Rao_ Clinic.txt", *lines))
    assert [(draft.speaker, draft.addressee) for draft in drafts] == [("Dr. Rao: Clinic", "Maya"), ("Maya", "Dr. Rao: Clinic")]


def test_a_line_of_another_form_goes_on_with_its_message(tmp_path: Path) -> None:
    lines = [
        "20/05/2026, 09:01 - Maya: The plan:",
        "21.05.2026, 10:00 - kick-off",
        "[20/05/2026, 09:00:00] Tom: I live in Rome.",
        "So far.",
    ]
    ((_, text),) = said(drafts_of(chat(tmp_path / "c.txt", *lines)))
    assert text == "The plan:\n21.05.2026, 10:00 - kick-off\n> [20/05/2026, 09:00:00] Tom: I live in Rome.\n> So far."


def test_bad_dates_and_clocks_cost_themselves_alone(tmp_path: Path) -> None:
    lines = [f"{head} - Maya: {head}" for head in ("20/05/2026, 09:01", "31/02/2026, 09:01", "20/05/2026, 25:01", "21/05/2026, 09:61")]
    drafts, rejected, _ = read(chat(tmp_path / "c.txt", *lines, "21/05/2026, 09:01 - Maya: Last."))
    assert [draft.said_at for draft in drafts] == ["2026-05-20T09:01:00Z", "2026-05-21T09:01:00Z"]
    assert [(item.line, item.kind) for item in rejected] == [(2, "timestamp"), (3, "timestamp"), (4, "timestamp")]


def test_a_longer_export_adds_only_what_is_new(tmp_path: Path) -> None:
    lines = GROUP.read_text(encoding="utf-8").splitlines(keepends=True)
    whole = [(draft.external_id, draft.said_at, draft.content) for draft in drafts_of(GROUP)]
    for count in range(1, len(lines), 2):
        part = tmp_path / GROUP.name
        part.write_text("".join(lines[:count]), encoding="utf-8")
        found = [(draft.external_id, draft.said_at, draft.content) for draft in drafts_of(part)]
        # The last message may be cut in the middle.
        assert found[:-1] == whole[: max(0, len(found) - 1)]


def test_a_later_export_that_begins_later_keeps_its_ids(tmp_path: Path) -> None:
    lines = [f"20/05/2026, 09:{minute // 4:02d} - Maya: Message {minute}." for minute in range(40)]
    whole = drafts_of(chat(tmp_path / "c.txt", *lines))
    tail = drafts_of(chat(tmp_path / "c.txt", *lines[13:]))
    assert [draft.external_id for draft in tail] == [draft.external_id for draft in whole][13:]


def test_ids_hold_too_little_of_a_text_to_confirm_it(tmp_path: Path) -> None:
    drafts = drafts_of(chat(tmp_path / "c.txt", *[f"20/05/2026, 09:01 - Maya: Secret {number}." for number in range(600)]))
    tags = [(draft.external_id or "").rpartition(":")[2].partition("~")[0] for draft in drafts]
    assert {len(tag) for tag in tags} == {3}
    assert len({draft.external_id for draft in drafts}) == 600 > len(set(tags))


@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("WhatsApp Chat with Ben Ito.txt", "Ben Ito"),
        ("WhatsApp Chat with Ben Ito (2).txt", "Ben Ito"),
        ("WhatsApp Chat - Ben Ito.txt", "Ben Ito"),
        ("WhatsApp-Chat mit Ben Ito.txt", "Ben Ito"),
        ("Chat de WhatsApp con Ben Ito.txt", "Ben Ito"),
        ("Discussion WhatsApp avec Ben Ito.txt", "Ben Ito"),
        ("Conversa do WhatsApp com Ben Ito.txt", "Ben Ito"),
        ("WhatsApp Chat - Ben Ito/_chat.txt", "Ben Ito"),
        ("friends.txt", "friends"),
        ("friends/_chat.txt", "friends"),
    ],
)
def test_a_chat_is_called_as_whatsapp_names_its_file(tmp_path: Path, name: str, group: str) -> None:
    (draft,) = drafts_of(chat(tmp_path / name, "20/05/2026, 09:01 - Maya: Hi."))
    assert draft.group == group


@pytest.mark.parametrize(
    "content",
    [
        "[2026-05-20 09:01:12] INFO: started\n[2026-05-20 09:01:13] ERROR: stopped\n",
        "2026-05-20 09:01:12 - app: started\n",
        "2026-05-20 09:01:12,123 - root - INFO - started\n",
        "# Plan\n\n20/05/2026 is the day.\n",
        "Notes of a call:\n\n[20/05/2026, 09:01:12] Maya: Hi.\n\nand many other things\n",
        "2025-03-01 18:02:10 <ana> I moved to Lisbon.\n",
    ],
)
def test_logs_and_notes_are_no_chats(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(content)
    assert {draft.source for draft in drafts_of(path)} == {"notes"}


def test_a_long_chat_is_streamed(tmp_path: Path) -> None:
    path = chat(tmp_path / "c.txt", *[f"20/05/2026, {n // 60:02d}:{n % 60:02d} - Maya: {'w' * 30_000}" for n in range(250)])
    tracemalloc.start()
    count = sum(1 for _ in read_path(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 250
    assert path.stat().st_size > 7_000_000 > peak * 1.5
