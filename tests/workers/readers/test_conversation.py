"""Said times follow the order of a conversation, however its stamps look."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ontology.episode import EpisodeDraft
from ontology.instant import parse_instant
from workers.readers import ReadOptions, ReadReport, Rejected
from workers.readers.conversation import Conversation, Utterance

T = 1_740_000_000_000_000


def said(stamps: list[int | None], *, ids: list[str] | None = None, copies: bool = True, text: str = "hi") -> list[int]:
    conversation = Conversation("test", "f", ReadOptions(), ReadReport(), T, copies=copies)
    drafts: list[EpisodeDraft | Rejected] = []
    for place, stamp in enumerate(stamps):
        drafts += conversation.add(Utterance(text, ids[place] if ids else str(place), place + 1, stamp))
    drafts += conversation.close()
    return [parse_instant(draft.said_at or "") - T for draft in drafts if isinstance(draft, EpisodeDraft)]


def test_equal_stamps_go_on_by_microseconds() -> None:
    assert said([T, T, T, T + 1, T + 10]) == [0, 1, 2, 3, 10]


def test_a_message_without_a_stamp_follows_the_one_before() -> None:
    assert said([T, None, None, T + 10]) == [0, 1, 2, 10]


def test_messages_before_the_first_stamp_precede_it() -> None:
    assert said([None, None, T]) == [-2, -1, 0]


def test_a_conversation_without_stamps_begins_when_its_file_was_modified() -> None:
    assert said([None, None, None]) == [0, 1, 2]
    assert said([None] * 1200) == list(range(1200))


def test_an_earlier_stamp_stays() -> None:
    assert said([T, T + 5, T + 3, T + 6]) == [0, 5, 3, 6]


def test_copies_get_the_time_of_the_first() -> None:
    assert said([T, T, T, T, T + 9, T], ids=["a", "b", "a", "b", "c", "b"]) == [0, 1, 0, 1, 9, 1]


@given(st.lists(st.one_of(st.none(), st.integers(0, 6)), max_size=20), st.booleans())
def test_in_order_stamps_give_strictly_increasing_times(offsets: list[int | None], copies: bool) -> None:
    known = iter(sorted(offset for offset in offsets if offset is not None))
    times = said([None if offset is None else T + next(known) for offset in offsets], copies=copies)
    assert all(before < after for before, after in pairwise(times))
    assert len(times) == len(offsets)


def test_long_texts_become_parts_that_follow_each_other() -> None:
    conversation = Conversation("test", "f", ReadOptions(), ReadReport(), T)
    drafts = [*conversation.add(Utterance("word " * 50_000, "a", 1, T)), *conversation.add(Utterance("hi", "b", 2, T))]
    assert [draft.external_id for draft in drafts if isinstance(draft, EpisodeDraft)] == ["a", "a#2", "a#3", "b"]
    times = [parse_instant(draft.said_at or "") - T for draft in drafts if isinstance(draft, EpisodeDraft)]
    assert times == [0, 1, 2, 3]


def test_names_are_mapped_and_what_is_too_long_is_refused() -> None:
    options = ReadOptions(speaker="Maya", speaker_map={"assistant": "Claude"})
    conversation = Conversation("test", "f", options, ReadReport(), T)
    (draft,) = conversation.add(Utterance("hi", "a", 1, T, speaker="user", addressee="assistant"))
    assert isinstance(draft, EpisodeDraft)
    assert (draft.speaker, draft.addressee) == ("Maya", "Claude")
    (name,) = conversation.add(Utterance("hi", "a", 2, T, speaker="x" * 10_000))
    (key,) = conversation.add(Utterance("hi", "x" * 10_000, 3, T))
    assert isinstance(name, Rejected) and isinstance(key, Rejected)
    assert (name.kind, name.line, key.kind, key.line) == ("name", 2, "id", 3)
