"""Failures that people reported of products of this kind, as inputs with the right answer."""

from __future__ import annotations

from collections.abc import Callable
from string import ascii_uppercase
from typing import Any

import pytest

Say = Callable[..., list[dict[str, Any]]]


def test_relative_dates_count_from_the_day_of_saying(say: Say) -> None:
    rows = say("Alice moved to Lyon today. Last week she quit Acme.", said="2026-05-16T09:00:00Z")
    moved = next(row for row in rows if row["predicate"] == "lives_in")
    quit_ = next(row for row in rows if row["predicate"] == "works_at")
    assert (moved["subject"], moved["object"], moved["validFrom"]) == ("Alice", "Lyon", "2026-05-16")
    assert (quit_["subject"], quit_["kind"], quit_["validTo"]) == ("Alice", "END", "2026-05-09")


def test_an_export_stamp_is_no_validity_date(say: Say) -> None:
    (row,) = say("[exported 2026-01-02 03:04] Bob uses vim.", said="2026-05-18T12:00:00Z")
    assert (row["subject"], row["object"], row["validFrom"], row["validTo"]) == ("Bob", "vim", None, None)
    (since,) = say("Since 2019-03-01 Bob uses vim.", said="2026-05-18T12:00:00Z")
    assert since["validFrom"] == "2019-03-01"


def test_beginning_holding_and_stopping_meet_in_one_slot(say: Say) -> None:
    texts = ["Nick started drinking coffee.", "Nick drinks green tea.", "Nick stopped drinking green tea."]
    found = [say(text)[0] for text in texts]
    assert [row["predicate"] for row in found] == ["drinks"] * 3
    assert [(row["object"], row["kind"]) for row in found] == [("coffee", "CHANGE"), ("green tea", "STATE"), ("green tea", "END")]


def test_loving_and_hating_are_told_apart(say: Say) -> None:
    (love,), (hate,) = say("I love Chinese food."), say("I hate Chinese food.")
    assert (love["predicate"], hate["predicate"]) == ("likes", "dislikes")
    assert love["object"] == hate["object"] == "Chinese food"


def test_a_favourite_has_the_kind_of_thing_as_qualifier(say: Say) -> None:
    (first,), (second,) = say("My favorite player is Ronaldo."), say("My current favorite player is Messi.")
    assert (first["predicate"], first["qualifier"], first["object"]) == ("favorite", "player", "Ronaldo")
    assert (second["predicate"], second["qualifier"], second["object"]) == ("favorite", "player", "Messi")


def test_like_worded_facts_stay_in_slots_of_their_own(say: Say) -> None:
    text = " ".join(f"Service {letter} listens on port {8000 + place}." for place, letter in enumerate(ascii_uppercase))
    rows = say(text)
    assert len({row["subject"] for row in rows}) == len(rows) >= 24
    assert {row["kind"] for row in rows} == {"STATE"}


@pytest.mark.parametrize(
    "text",
    [
        "I like that, sounds good.",
        "Suppose I lived in Mars City.",
        "In the game my character owns a dragon.",
        "If we moved to AWS, costs would double.",
    ],
)
def test_acknowledgement_play_and_hypothesis_are_no_facts(say: Say, text: str) -> None:
    assert say(text) == []


def test_a_request_is_not_part_of_the_preference(say: Say) -> None:
    (row,) = say("I prefer dark mode over light mode, can you set it up?")
    assert (row["predicate"], row["modality"]) == ("prefers", "ASSERTED")


def test_a_date_that_does_not_exist_leaves_the_fact(say: Say) -> None:
    (row,) = say("Maria moved to Turin on 30 February 2024.")
    assert (row["object"], row["kind"], row["validFrom"], row["validTo"]) == ("Turin", "CHANGE", None, None)


def test_reported_speech_of_code_is_not_read(say: Say) -> None:
    rows = say("Maria lives in Turin.\n```\nLeo works at Shell.\n```\n")
    assert [row["subject"] for row in rows] == ["Maria"]
