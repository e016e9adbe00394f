"""Meetings as WebVTT and SRT: who said what, when by the meeting's start, without what captions add."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from ontology.instant import parse_instant
from tests.workers.readers.writing import SAMPLES, drafts_of, read, texts
from workers.readers import ReadOptions, Speakers, read_path, subtitles
from workers.readers.cue_text import is_name

START = ReadOptions(start=parse_instant("2026-05-20T15:00:00Z"))


def vtt(path: Path, *cues: str, head: str = "WEBVTT") -> Path:
    """A file of cues of a second each, which begin every two seconds."""
    times = (f"00:{2 * n // 60:02d}:{2 * n % 60:02d}.000 --> 00:{2 * n // 60:02d}:{2 * n % 60 + 1:02d}.000" for n in range(len(cues)))
    blocks = [head, *(f"{time}\n{cue}" for time, cue in zip(times, cues, strict=True))]
    path.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
    return path


def said(path: Path, options: ReadOptions = START) -> list[tuple[str | None, str]]:
    return [(draft.speaker, draft.content) for draft in drafts_of(path, options)]


def test_a_meeting_of_zoom_is_read_by_the_time_in_its_name() -> None:
    drafts, rejected, _ = read(SAMPLES / "GMT20260520-150000_Recording.transcript.vtt", ReadOptions(time_zone="Europe/Berlin"))
    assert not rejected
    assert [(draft.speaker, draft.said_at, draft.content) for draft in drafts] == [
        ("Maya Rao", "2026-05-20T15:00:01.250000Z", "We moved the billing service to Postgres last month."),
        ("Ben Ito", "2026-05-20T15:00:07Z", "I own the migration. Note: it is done."),
        ("Ben Ito", "2026-05-20T15:00:25Z", "I moved to Lisbon."),
    ]
    assert {draft.metadata["startFrom"] for draft in drafts} == {"file name"}
    assert (drafts[1].source, drafts[1].external_id) == ("meeting", "GMT20260520-150000_Recording.transcript@2026-05-20T15:00:07Z")


def test_a_meeting_of_teams_is_read_by_the_time_in_its_head() -> None:
    drafts, rejected, report = read(SAMPLES / "teams.vtt")
    assert [(draft.speaker, draft.said_at, draft.content) for draft in drafts] == [
        ("Maya Rao", "2026-05-20T13:00:01Z", "I work at Acme & Sons now."),
        ("Ben Ito", "2026-05-20T13:00:04Z", "I live in Oslo."),
        ("Maya Rao", "2026-05-20T13:00:04.000001Z", "I live in Porto."),
        ("Unknown speaker (teams)", "2026-05-20T13:00:09Z", "Somebody without a name speaks here."),
        ("Speaker 1 (teams)", "2026-05-20T13:00:12Z", "I moved to Rome."),
    ]
    assert [(item.line, item.kind) for item in rejected] == [(32, "timestamp")]
    assert report.skipped == {"NOTE": 4, "STYLE": 1, "REGION": 1, "sound": 1}


def test_subtitles_of_a_player_are_read() -> None:
    drafts, rejected, _ = read(SAMPLES / "standup 2026-05-20 09.30.srt")
    assert not rejected
    assert [(draft.speaker, draft.said_at, draft.content) for draft in drafts] == [
        ("ANA", "2026-05-20T09:30:01Z", "We moved to Postgres last month. I adopted a cat named Milo."),
        ("BEN", "2026-05-20T09:30:07Z", "I live in Oslo."),
        ("ANA", "2026-05-20T09:30:07.000001Z", "I live in Porto."),
        ("Unknown speaker (standup 2026-05-20 09.30)", "2026-05-20T09:30:09Z", "I work at Initech."),
    ]


def test_captions_that_roll_up_say_everything_once() -> None:
    assert texts(drafts_of(SAMPLES / "rolling_2026-05-20.vtt")) == ["I moved to Lisbon last month."]


@pytest.mark.parametrize("name", ["meeting.vtt", "meeting.srt"])
def test_a_meeting_whose_start_is_unknown_is_held_back_and_the_option_named(tmp_path: Path, name: str) -> None:
    head = "WEBVTT\n\n" if name.endswith("vtt") else "1\n"
    (tmp_path / name).write_text(f"{head}00:00:01.000 --> 00:00:04.000\nAna: We moved to Postgres.\n")
    drafts, (rejected,), _ = read(tmp_path / name)
    assert not drafts
    assert (rejected.kind, rejected.line) == ("start", None)
    assert "--start" in rejected.message
    (draft,) = drafts_of(tmp_path / name, START)
    assert (draft.speaker, draft.said_at, draft.metadata) == ("Ana", "2026-05-20T15:00:01Z", {"startFrom": "option"})


@pytest.mark.parametrize(
    ("name", "head", "start"),
    [
        ("GMT20260520-150000_Recording.vtt", "WEBVTT", "2026-05-20T15:00:00Z"),
        ("Sync-20260520_150023-Meeting Recording.vtt", "WEBVTT", "2026-05-20T13:00:23Z"),
        ("2026-05-20 15.00 Sync.vtt", "WEBVTT", "2026-05-20T13:00:00Z"),
        ("2026-05-20 15-00-05.vtt", "WEBVTT", "2026-05-20T13:00:05Z"),
        ("2026-05-20T150000Z.vtt", "WEBVTT", "2026-05-20T15:00:00Z"),
        ("Standup (2026-05-20 at 15 00 GMT+3).vtt", "WEBVTT", "2026-05-20T12:00:00Z"),
        ("sync_20260520.vtt", "WEBVTT", "2026-05-19T22:00:00Z"),
        ("2026-05-20.vtt", "WEBVTT - Sync, 2026-06-01 10:00", "2026-06-01T08:00:00Z"),
        ("a.vtt", "WEBVTT\nX-DATE: 2026-06-01T10:00:00.5Z", "2026-06-01T10:00:00Z"),
        ("a.vtt", "WEBVTT\n\nNOTE\nrecorded 2026-06-01 10:00:00 +0200", "2026-06-01T08:00:00Z"),
        ("2026-05-20-9999 Sync.vtt", "WEBVTT", "2026-05-19T22:00:00Z"),
        ("ticket 20261399.vtt", "WEBVTT", None),
        ("a.vtt", "WEBVTT\n\nNOTE duration:00:30:00", None),
    ],
)
def test_when_a_meeting_began(tmp_path: Path, name: str, head: str, start: str | None) -> None:
    drafts = drafts_of(vtt(tmp_path / name, "<v Ana>Hi.", head=head), ReadOptions(time_zone="Europe/Berlin"))
    assert [draft.said_at for draft in drafts] == ([start] if start else [])


def test_what_the_caller_states_counts_before_the_name(tmp_path: Path) -> None:
    assert drafts_of(vtt(tmp_path / "2025-01-01.vtt", "<v Ana>Hi."), START)[0].said_at == "2026-05-20T15:00:00Z"


def test_a_note_behind_the_first_cue_states_no_start(tmp_path: Path) -> None:
    path = vtt(tmp_path / "a.vtt", "<v Ana>Hi.\n\nNOTE 2026-06-01")
    assert [item.kind for item in read(path)[1]] == ["start"]


@pytest.mark.parametrize(
    ("cue", "speaker", "text"),
    [
        ("<v Ana>Hi.</v>", "Ana", "Hi."),
        ("<v Ana>Hi.", "Ana", "Hi."),
        ("<v.first.loud Ana Ruiz>Hi.</v>", "Ana Ruiz", "Hi."),
        ("<v Ana Ruiz (External)>Hi.</v>", "Ana Ruiz", "Hi."),
        ("<V Ana>Hi.</V>", "Ana", "Hi."),
        ("<v Ana &amp; Ben>Hi.</v>", "Ana & Ben", "Hi."),
        ("Ana: Hi.", "Ana", "Hi."),
        ("Ana Ruiz (she/her): Hi.", "Ana Ruiz", "Hi."),
        (">> ANA: Hi.", "ANA", "Hi."),
        ("- Ana: Hi.", "Ana", "Hi."),
        ("[Ana]: Hi.", "Ana", "Hi."),
        ("Dr. van der Berg: Hi.", "Dr. van der Berg", "Hi."),
        ("Zoë: Hi.", "Zoë", "Hi."),
        (">> Hi.", "Unknown speaker (a)", "Hi."),
        ("Note: we are late.", None, "Note: we are late."),
        ("So here is the thing: we are late.", None, "So here is the thing: we are late."),
        ("It is 10:30 now.", None, "It is 10:30 now."),
        ("See https://x.example/a: it works.", None, "See https://x.example/a: it works."),
        ("<c.yellow><i>Hi</i></c> <lang en>there</lang>.", None, "Hi there."),
        ("<00:00:00.500>Hi <b>there</b>.", None, "Hi there."),
        ("{\\an8}<font color=red>Hi.</font>", None, "Hi."),
        ("<ruby>Hi<rt>there</rt></ruby>.", None, "Hi."),
        ("a &lt; b &amp; c&nbsp;d", None, "a < b & c d"),
        ("[laughs] Hi. ♪ la la ♪", None, "Hi."),
        ("(the new one) is in (use)", None, "(the new one) is in (use)"),
        ("two\nlines", None, "two lines"),
    ],
)
def test_a_cue_says_its_words_by_its_speaker(tmp_path: Path, cue: str, speaker: str | None, text: str) -> None:
    assert said(vtt(tmp_path / "a.vtt", cue)) == [(speaker, text)]


@pytest.mark.parametrize("cue", ["[Music]", "(applause)", "♪ la la ♪", "♪", "<v Ana>[laughs]</v>", "- [Music]", ">> (applause)"])
def test_sounds_are_counted_and_no_speech(tmp_path: Path, cue: str) -> None:
    drafts, rejected, report = read(vtt(tmp_path / "a.vtt", "Ana: Hi.", cue), START)
    assert texts(drafts) == ["Hi."]
    assert not rejected
    assert report.skipped == {"sound": 1}


def test_cues_of_one_speaker_are_one_utterance_until_another_speaks(tmp_path: Path) -> None:
    cues = ["Ana: We moved", "Ana: to Postgres.", "and it works.", "Ben: Good.", "Ana: Yes."]
    assert said(vtt(tmp_path / "a.vtt", *cues)) == [("Ana", "We moved to Postgres. and it works."), ("Ben", "Good."), ("Ana", "Yes.")]


def test_where_voices_are_marked_a_cue_without_one_is_nobodys(tmp_path: Path) -> None:
    path = vtt(tmp_path / "a.vtt", "<v Ana>Hi.</v>", "Hello.", "<v Ana>Ho.</v>")
    for options in (START, ReadOptions(start=START.start, speaker="Maya")):
        assert said(path, options) == [("Ana", "Hi."), ("Unknown speaker (a)", "Hello."), ("Ana", "Ho.")]


def test_where_nobody_is_told_apart_the_one_whom_the_caller_names_speaks(tmp_path: Path) -> None:
    path = vtt(tmp_path / "memo.vtt", "I moved to Lisbon", "last month.")
    assert said(path) == [(None, "I moved to Lisbon last month.")]
    assert said(path, ReadOptions(start=START.start, speaker="Maya")) == [("Maya", "I moved to Lisbon last month.")]


def test_a_long_monologue_is_cut_at_sentences_and_a_longer_one_without_any(tmp_path: Path) -> None:
    sentences = [f"Ana: This is {'sentence' if n % 2 else 'a part of'} {n}{'.' if n % 2 else ''}" for n in range(120)]
    found = said(vtt(tmp_path / "a.vtt", *sentences))
    assert len(found) == 4
    assert all(text.endswith(".") for _, text in found)
    found = said(vtt(tmp_path / "b.vtt", *["Ana: " + "word " * 100] * 60))
    assert len(found) > 4 and max(len(text) for _, text in found) < 6_000


def test_names_as_people_type_them_are_known_where_every_cue_begins_with_one(tmp_path: Path) -> None:
    cues = [
        "maya: Hi.",
        "Rao, Ben: Ho.",
        "maya: So: we moved.",
        "Rao, Ben: Plan: we stay.",
        "+49 170 1: I live here.",
        "+49 170 1: Bye.",
    ]
    assert said(vtt(tmp_path / "a.vtt", *cues)) == [
        *(("maya", "Hi."), ("Rao, Ben", "Ho."), ("maya", "So: we moved."), ("Rao, Ben", "Plan: we stay.")),
        ("+49 170 1", "I live here. Bye."),
    ]
    assert said(vtt(tmp_path / "b.vtt", "now: listen", "it: works", "so it does", "really")) == [
        (None, "now: listen it: works so it does really")
    ]


def test_a_cue_that_is_named_after_its_speaker_is_theirs(tmp_path: Path) -> None:
    path = tmp_path / "a.vtt"
    path.write_text('WEBVTT\n\n1 "Maya Rao" (1652463616)\n00:01.000 --> 00:02.000\nI moved to Lisbon.\n\nx\n00:03.000 --> 00:04.000\nHi.\n')
    assert said(path) == [("Maya Rao", "I moved to Lisbon."), ("Unknown speaker (a)", "Hi.")]


def test_a_cue_without_an_end_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subtitles, "_LONGEST", 1_000)
    path = vtt(tmp_path / "a.vtt", "Ana: Hi.\n" + "word\n" * 300, "Ben: Ho.")
    drafts, rejected, _ = read(path, START)
    assert drafts[-1].content == "Ho."
    assert [item.kind for item in rejected] == ["too-long"]


def test_a_pause_ends_an_utterance(tmp_path: Path) -> None:
    path = tmp_path / "a.srt"
    path.write_text("1\n00:00:01,000 --> 00:00:02,000\nAna: Hi.\n\n2\n00:00:20,000 --> 00:00:21,000\nAna: Ho.\n")
    assert said(path) == [("Ana", "Hi."), ("Ana", "Ho.")]


def test_times_in_all_spellings_are_read(tmp_path: Path) -> None:
    times = [
        "00:01.000 --> 00:02.000",
        "00:00:03,5 --> 00:00:04,25",
        "100:00:05.000 --> 100:00:06.000 align:start line:0%",
        "1:07 --> 1:08",
    ]
    path = tmp_path / "a.vtt"
    path.write_text("WEBVTT\n\n" + "\n\n".join(f"{time}\n>> {n}" for n, time in enumerate(times)))
    assert [draft.said_at for draft in drafts_of(path, START)] == [
        *("2026-05-20T15:00:01Z", "2026-05-20T15:00:03.500000Z", "2026-05-24T19:00:05Z", "2026-05-20T15:01:07Z"),
    ]


@pytest.mark.parametrize(
    "bad", ["00:00:09.000 --> 00:00:01.000", "00:00:09.000 -->", "--> 00:00:09.000", "00:99:00.000 --> 00:99:01.000", "a --> b"]
)
def test_a_cue_with_bad_times_costs_itself_alone(tmp_path: Path, bad: str) -> None:
    path = vtt(tmp_path / "a.vtt", "Ana: Hi.", "Ben: Ho.")
    path.write_text(path.read_text().replace("\n\n00:00:02", f"\n\n{bad}\nTom: Lost.\n\n00:00:02"))
    drafts, rejected, _ = read(path, START)
    assert texts(drafts) == ["Hi.", "Ho."]
    assert [(item.line, item.kind) for item in rejected] == [(6, "timestamp")]


def test_cues_without_numbers_and_empty_lines_between_them_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "a.srt"
    path.write_text(
        "00:00:01,000 --> 00:00:02,000\nAna: One.\n2\n00:00:02,000 --> 00:00:03,000\nBen: Two.\n00:00:03,000 --> 00:00:04,000\nAna: 3"
    )
    assert said(path) == [("Ana", "One."), ("Ben", "Two."), ("Ana", "3")]


def test_cues_that_overlap_are_read_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "a.srt"
    path.write_text("1\n00:00:05,000 --> 00:00:09,000\nAna: One.\n\n2\n00:00:01,000 --> 00:00:07,000\nAna: Two.\n")
    assert [(draft.said_at, draft.content) for draft in drafts_of(path, START)] == [
        *(("2026-05-20T15:00:05Z", "One."), ("2026-05-20T15:00:01Z", "Two.")),
    ]


def test_text_outside_of_cues_is_counted(tmp_path: Path) -> None:
    _, rejected, report = read(vtt(tmp_path / "a.vtt", "Ana: Hi.\n\nleft over\nand more", "Ben: Ho."), START)
    assert not rejected
    assert report.skipped == {"text outside of cues": 2}


def test_a_speaker_who_is_only_numbered_is_another_in_each_meeting_unless_mapped(tmp_path: Path) -> None:
    path = vtt(tmp_path / "sync.vtt", "Speaker 1: Hi.", "<v SPEAKER_02>Ho.</v>")
    assert said(path) == [("Speaker 1 (sync)", "Hi."), ("SPEAKER_02 (sync)", "Ho.")]
    mapped = ReadOptions(start=START.start, speakers=Speakers({"meeting": {"Speaker 1": "Maya"}}))
    assert said(path, mapped)[0] == ("Maya", "Hi.")


def test_a_longer_transcript_adds_only_what_is_new(tmp_path: Path) -> None:
    cues = [f"{'Ana' if n % 3 else 'Ben'}: Sentence {n}." for n in range(12)]
    whole = drafts_of(vtt(tmp_path / "a.vtt", *cues), START)
    for count in range(1, 12):
        part = drafts_of(vtt(tmp_path / "a.vtt", *cues[:count]), START)
        # The last utterance may have gone on: its ID stays.
        assert part[:-1] == whole[: len(part) - 1]
        assert part[-1].external_id == whole[len(part) - 1].external_id


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Ana", True),
        ("ana", False),
        ("Ana Maria de la Cruz", True),
        ("", False),
        ("Monday", False),
        ("A B C D E F G", False),
        ("李雷", True),
    ],
)
def test_what_may_be_a_name(text: str, name: bool) -> None:
    assert is_name(text) is name


def test_a_long_transcript_is_streamed(tmp_path: Path) -> None:
    path = tmp_path / "2026-05-20.srt"
    with path.open("w") as opened:
        for n in range(2_000):
            at = f"{n // 3600:02d}:{n // 60 % 60:02d}:{n % 60:02d}"
            opened.write(f"{n}\n{at},000 --> {at},900\n{'Ana' if n % 2 else 'Ben'}: {('w' * 2_499 + ' ')}\n\n")
    tracemalloc.start()
    count = sum(1 for _ in read_path(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 2_000
    assert path.stat().st_size > 5_000_000 > peak * 1.5
