"""Other names told in so many words, and what only looks like them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Say = Callable[..., list[dict[str, Any]]]


def joins(say: Say, text: str, **turn: Any) -> set[tuple[str, str]]:
    return {(row["subject"], row["object"]) for row in say(text, addressee="Zed", **turn) if row["predicate"] == "also_known_as"}


@pytest.mark.parametrize(
    ("text", "join"),
    [
        ("Robert is known as Bob.", ("Robert", "Bob")),
        ("Robert, also known as Bob, works at Acme.", ("Robert", "Bob")),
        ("Robert, better known as Bob, works at Acme.", ("Robert", "Bob")),
        ("Robert, aka Bob, works at Acme.", ("Robert", "Bob")),
        ("Our CTO Robert (a.k.a. Bob) works at Acme.", ("Robert", "Bob")),
        ("Kubernetes (aka k8s) runs on Hetzner.", ("Kubernetes", "k8s")),
        ("Anna Smith, formerly known as Anna Jones, works at Acme.", ("Anna Smith", "Anna Jones")),
        ("Anna Smith, n\u00e9e Jones, works at Acme.", ("Anna Smith", "Anna Jones")),
        ("Robert goes by Bob.", ("Robert", "Bob")),
        ("I go by Bob.", ("Ada", "Bob")),
        ("My nickname is Bob.", ("Ada", "Bob")),
        ("Robert's nickname is Bob.", ("Robert", "Bob")),
        ("Everyone calls me Bob.", ("Ada", "Bob")),
        ("My friends call me Bob.", ("Ada", "Bob")),
        ("Call me Bob.", ("Ada", "Bob")),
        ("You can call me Bob, everyone does.", ("Ada", "Bob")),
        ("My name is Robert, but just call me Bob.", ("Ada", "Bob")),
        ('Robert "Bob" Smith works at Acme.', ("Robert Smith", "Bob")),
        ("Robert (Bob) Smith works at Acme.", ("Robert Smith", "Bob")),
        ("Elizabeth (Liz) works at Acme.", ("Elizabeth", "Liz")),
        ("Mike, short for Michael, works at Acme.", ("Michael", "Mike")),
        ("I met Elizabeth, or Liz for short.", ("Elizabeth", "Liz")),
        ("I'm @bob on Slack.", ("Ada", "@bob")),
        ("Robert is @bob on GitHub.", ("Robert", "@bob")),
        ("Robert (@bob) owns the billing service.", ("Robert", "@bob")),
        ("My GitHub handle is @bobsmith.", ("Ada", "@bobsmith")),
        ("Robert's GitHub username is bob_smith.", ("Robert", "bob_smith")),
        ("I'm bob_smith on GitHub.", ("Ada", "bob_smith")),
    ],
)
def test_another_name_is_an_alias(say: Say, text: str, join: tuple[str, str]) -> None:
    assert joins(say, text) == {join}


@pytest.mark.parametrize(
    "text",
    [
        *("Call me tomorrow.", "Call me crazy.", "Call me when you land.", "They call it a day.", "Call me a taxi.", "Call me Monday."),
        *(
            "Please call me, Bob.",
            "Please call me Zed.",
            "call me maybe",
            "Did you call me Bob?",
            "Don't call me Bob.",
            "Never call me Bob.",
        ),
        *("If they call me Bob, I leave.", "My boss called me Bob by mistake.", "My mum calls me Bunny.", "People call me lazy."),
        *("I don't go by Bob.", "Robert is not known as Bob.", "He is known as a good cook.", "The city is known as the Big Apple."),
        *("We flew to Paris (France) in May.", "Anna (Berlin) called.", "Java (Spring) is used by Acme.", "Robert (CEO) works at Acme."),
        *("My Slack name is different.", "My GitHub username is private.", "I'm active on GitHub.", "I'm back on Slack."),
        *("Bob is short for Robert.", "Reach us at info@acme.com.", 'The song says "call me Al".', "She said he goes by the book."),
        *("Acme, formerly Initech, is based in Porto.", "Tom, alias unknown, left.", "I goes by bus."),
    ],
)
def test_what_only_looks_like_another_name_joins_nothing(say: Say, text: str) -> None:
    assert joins(say, text) == set()


def test_an_alias_of_two_names_in_one_text_joins_neither(say: Say) -> None:
    assert joins(say, "Robert, aka Bob, works at Acme. Bobby Tables, aka Bob, works at Initech.") == set()


@pytest.mark.parametrize("speaker", ["user", "assistant", None])
def test_a_speaker_without_a_name_is_joined_with_nobody(say: Say, speaker: str | None) -> None:
    assert joins(say, "Everyone calls me Bob.", speaker=speaker) == set()


def test_who_is_meant_by_a_name_with_a_nickname_inside_it_has_the_whole_name(say: Say) -> None:
    (work,) = [row for row in say('Robert "Bob" Smith works at Acme.') if row["predicate"] == "works_at"]
    assert work["subject"] == "Robert Smith"
