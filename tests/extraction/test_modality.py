"""What is meant as a fact, a report, a plan or a wish - and what states nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Say = Callable[..., list[dict[str, Any]]]


@pytest.mark.parametrize(
    "text",
    [
        "Do you live in Rome?",
        "who owns the search service now?",
        "where does Leo work",
        "Maybe I'll move to Spain.",
        "I think Leo works at Shell.",
        "I might be allergic to nuts.",
        "Perhaps Leo works at Shell.",
        "If I lived in Rome I would own a Vespa.",
        "If we moved to AWS, costs would double.",
        "Suppose I lived in Mars City.",
        "Had we stayed on Angular, we'd be hiring forever.",
        "In the game my character owns a dragon.",
        "I dreamt that I lived in a castle.",
        "I wish I had a garden.",
        "I'd love to live in Japan some day.",
        "Set the timeout to 30s.",
        "Could you move the config to TOML?",
        "Let's move the cron jobs to Argo.",
        "Don't forget to feed the cat.",
        "I like that, sounds good.",
        "Thanks, that was great.",
        "I doubt Luisa still lives in Rome.",
        "There's a rumour that Leo works at Shell.",
        "What a lovely day!",
        "lgtm",
        "ok, will do",
        'She read aloud: "I have lived in this castle for forty years and I own the moon."',
    ],
)
def test_nothing_is_stated(say: Say, text: str) -> None:
    assert say(text) == []


def test_a_joke_takes_back_what_was_said_before(say: Say) -> None:
    assert say("Leo lives in a castle. Just kidding.") == []


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("Anna said that Leo works at Siemens.", "Anna"),
        ("Anna told me Leo works at Siemens.", "Anna"),
        ("According to Anna, Leo works at Siemens.", "Anna"),
        ("My doctor says Leo works at Siemens.", "Ada's doctor"),
    ],
)
def test_a_report_is_attributed(say: Say, text: str, source: str) -> None:
    (row,) = [row for row in say(text) if row["predicate"] == "works_at"]
    assert (row["subject"], row["modality"], row["attributedTo"]) == ("Leo", "REPORTED", source)


def test_what_the_speaker_says_that_he_said_is_asserted(say: Say) -> None:
    (row,) = say("I told you I work at Siemens.")
    assert (row["modality"], row["attributedTo"]) == ("ASSERTED", None)


def test_plans_and_wishes_are_kept_apart(say: Say) -> None:
    (plan,) = say("I'm going to learn Danish.")
    assert (plan["predicate"], plan["object"], plan["modality"], plan["status"]) == ("plans_to", "learn Danish", "PLANNED", "FUTURE")
    (wish,) = say("I want a dog.")
    assert (wish["predicate"], wish["object"], wish["modality"]) == ("wants", "dog", "DESIRED")
    (refused,) = say("I'm not going to renew the lease.")
    assert (refused["predicate"], refused["polarity"]) == ("plans_to", False)


@pytest.mark.parametrize(
    "text",
    ["Always run the linter before a commit.", "Never push directly to main.", "From now on, answer in German.", "Use pnpm, not npm."],
)
def test_a_standing_instruction_is_kept_whole(say: Say, text: str) -> None:
    (row,) = say(text, addressee="assistant")
    assert (row["predicate"], row["object"], row["subject"]) == ("directive", text.rstrip("."), "Ada")


def test_an_order_beside_a_fact_leaves_the_fact(say: Say) -> None:
    (row,) = say("I prefer dark mode over light mode, can you set it up?")
    assert (row["predicate"], row["object"]) == ("prefers", "dark mode")


def test_an_assistant_says_nothing_of_itself(say: Say) -> None:
    assert say("I work at the library.", speaker="assistant", addressee="user") == []


def test_decisions_and_actions_of_minutes(say: Say) -> None:
    (decided,) = say("The board agreed to raise the fee to 40 euros.", speaker="Minutes", addressee=None)
    assert (decided["subject"], decided["predicate"], decided["object"]) == ("board", "decided", "raise the fee to 40 euros")
    rows = say("Action: Rosa Vidal to book the venue by 3 May.", speaker="Minutes", addressee=None)
    assert ("Rosa Vidal", "assigned_to", "book the venue", "2025-05-03") in [
        (r["subject"], r["predicate"], r["object"], r["validTo"]) for r in rows
    ]
