"""Who speaks: IDs and handles mapped to names, source by source, before an episode is made."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ontology.errors import InvalidInput
from tests.workers.readers.writing import read, record, write_lines
from workers.readers import ReadOptions, Speakers, built_in_readers, load_speakers

SOURCES = [reader.source for reader in built_in_readers()]
PAGE = Path(__file__).parents[3] / "docs" / "formats.md"


def mapped(tmp_path: Path, text: str) -> Speakers:
    path = tmp_path / "speakers.yaml"
    path.write_text(text, encoding="utf-8")
    return load_speakers(path, SOURCES)


def who(path: Path, speakers: Speakers, speaker: str | None = None) -> list[tuple[str | None, str | None]]:
    drafts, rejected, _ = read(path, ReadOptions(speakers=speakers, speaker=speaker))
    assert not rejected
    return [(draft.speaker, draft.addressee) for draft in drafts]


def chat(tmp_path: Path, *lines: dict[str, Any]) -> Path:
    stamped = [line | {"text": "I moved to Lisbon.", "timestamp": 1_740_000_000 + place} for place, line in enumerate(lines)]
    return write_lines(tmp_path / "chat.jsonl", stamped)


def note(tmp_path: Path, head: str = "") -> Path:
    path = tmp_path / "note.md"
    path.write_text(f"{head}I moved to Lisbon.\n", encoding="utf-8")
    return path


def test_ids_and_handles_become_names_of_speaker_and_addressee(tmp_path: Path) -> None:
    speakers = mapped(tmp_path, 'chat:\n  U024: Ben Okri\n  "@ana": Ana Ruiz\n')
    assert who(chat(tmp_path, {"speaker": "U024"}, {"speaker": "ana"}), speakers) == [("Ben Okri", "Ana Ruiz"), ("Ana Ruiz", "Ben Okri")]
    stated = chat(tmp_path, {"speaker": "x", "to": "U024"}, {"speaker": "y"}, {"speaker": "z"})
    assert who(stated, speakers) == [("x", "Ben Okri"), ("y", None), ("z", None)]


def test_two_ids_of_one_name_are_one_participant(tmp_path: Path) -> None:
    speakers = mapped(tmp_path, "chat: {U1: Ana, U2: Ana, U3: Ben}")
    found = who(chat(tmp_path, {"speaker": "U1"}, {"speaker": "U3"}, {"speaker": "U2"}), speakers)
    assert found == [("Ana", "Ben"), ("Ben", "Ana"), ("Ana", "Ben")]


def test_an_id_is_a_text_even_where_it_looks_like_a_number_or_a_truth(tmp_path: Path) -> None:
    speakers = mapped(tmp_path, "chat:\n  4711: Ana\n  yes: Ben\n  2025-01-01: Cleo\n")
    assert [speakers.name_of("chat", key) for key in ("4711", "yes", "2025-01-01")] == ["Ana", "Ben", "Cleo"]


def test_a_mapping_counts_in_its_source_alone(tmp_path: Path) -> None:
    speakers = mapped(tmp_path, "chat: {assistant: Ana}\nclaude-code: {assistant: Claude}\n")
    path = write_lines(tmp_path / "s.jsonl", [record(1, "Hi."), record(2, "Hello.", "assistant")])
    assert who(path, speakers) == [("user", "Claude"), ("Claude", "user")]


@pytest.mark.parametrize("unnamed", ["user", "human", "User"])
def test_the_default_is_who_the_user_is(tmp_path: Path, unnamed: str) -> None:
    path = chat(tmp_path, {"role": unnamed}, {"role": "assistant"})
    assert [speaker for speaker, _ in who(path, mapped(tmp_path, "default: Maya"))] == ["Maya", "assistant"]


def test_an_entry_counts_before_the_option_that_before_the_sources_default_and_that_before_the_files(tmp_path: Path) -> None:
    path = chat(tmp_path, {"role": "user"}, {"role": "assistant"})
    files = "default: Zed\n", "default: Zed\nchat: {default: Yan}\n", "default: Zed\nchat: {default: Yan, user: Xia}\n"
    found = [(who(path, mapped(tmp_path, text))[0][0], who(path, mapped(tmp_path, text), "Maya")[0][0]) for text in files]
    assert found == [("Zed", "Maya"), ("Yan", "Maya"), ("Xia", "Xia")]


def test_notes_have_an_author_who_may_be_mapped_or_the_default(tmp_path: Path) -> None:
    speakers = mapped(tmp_path, "notes: {default: Maya, ml: Maya Lind}")
    assert who(note(tmp_path), speakers) == [("Maya", None)]
    assert who(note(tmp_path, "---\nauthor: ml\n---\n"), speakers) == [("Maya Lind", None)]
    assert who(note(tmp_path, "---\nauthor: ml\n---\n"), speakers, "Zed") == [("Zed", None)]
    assert who(note(tmp_path), Speakers()) == [(None, None)]


def test_an_option_or_default_is_a_name_and_not_mapped_again(tmp_path: Path) -> None:
    assert who(note(tmp_path), mapped(tmp_path, "notes: {default: ml, ml: Maya Lind}")) == [("ml", None)]


def test_a_turn_without_a_speaker_is_the_defaults_in_every_source(tmp_path: Path) -> None:
    path = tmp_path / "l.json"
    sample = {"conversation": {"session_1_date_time": "8:00 pm on 20 July, 2023", "session_1": [{"dia_id": "D1:1", "text": "Hi."}]}}
    path.write_text(json.dumps([sample | {"sample_id": "c"}]))
    assert who(path, mapped(tmp_path, "default: Maya")) == [("Maya", None)]


def test_a_mapping_leaves_external_ids_alone(tmp_path: Path) -> None:
    path = chat(tmp_path, {"speaker": "U1"}, {"speaker": "U2"})
    plain, named = read(path)[0], read(path, ReadOptions(speakers=mapped(tmp_path, "chat: {U1: Ana}")))[0]
    assert [draft.external_id for draft in plain] == [draft.external_id for draft in named]
    assert [draft.speaker for draft in plain] != [draft.speaker for draft in named]


@pytest.mark.parametrize(
    ("text", "line", "key", "why"),
    [
        ("- a\n", 1, "document", "mapping of sources"),
        ("chats:\n  a: b\n", 1, "chats", "no such source"),
        ("default: Ana\nchat: Ana\n", 2, "chat", "mapping of IDs"),
        ("chat:\n  U1: Ana\n  U2: [Ben]\n", 3, "chat.U2", "a name is a text"),
        ("chat:\n  U1:\n", 2, "chat.U1", "visible"),
        ('chat:\n  U1: "\u200b"\n', 2, "chat.U1", "visible"),
        (f"chat:\n  U1: {'x' * 1001}\n", 2, "chat.U1", "1,000"),
        ("chat:\n  U1: Ana\n  U1: Ben\n", 3, "chat.U1", "twice"),
        ("chat: {}\nchat: {}\n", 2, "chat", "twice"),
        ("chat:\n  [a]: Ana\n", 2, "chat", "an ID is a text"),
        ("default: {a: b}\n", 1, "default", "a name is a text"),
    ],
)
def test_a_mistake_is_named_with_file_line_and_key(tmp_path: Path, text: str, line: int, key: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(why)) as refusal:
        mapped(tmp_path, text)
    assert refusal.value.message.startswith(f"{tmp_path / 'speakers.yaml'}, line {line}, {key}: ")
    assert refusal.value.reason == "INVALID_SPEAKERS"


def test_what_is_no_yaml_or_no_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"line 2: no valid YAML"):
        mapped(tmp_path, "chat: {\n]\n")
    with pytest.raises(InvalidInput, match="cannot be read as a speaker map"):
        load_speakers(tmp_path / "none.yaml", SOURCES)
    (tmp_path / "latin.yaml").write_bytes(b"default: Zo\xeb")
    with pytest.raises(InvalidInput, match=r"no UTF-8"):
        load_speakers(tmp_path / "latin.yaml", SOURCES)


@pytest.mark.parametrize("text", ["", "# nobody\n", "chat: {}\n"])
def test_a_file_that_names_nobody_is_none(tmp_path: Path, text: str) -> None:
    assert who(chat(tmp_path, {"speaker": "U1"}, {"speaker": "U2"}), mapped(tmp_path, text)) == [("U1", "U2"), ("U2", "U1")]


def test_the_example_of_the_page_is_read(tmp_path: Path) -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    speakers = mapped(tmp_path, example)
    assert speakers.name_of("chat", "ana") == speakers.name_of("chat", "@ana") == "Ana Ruiz"
    assert (speakers.default("chat"), speakers.default("notes")) == ("Maya", "Maya Lind")
