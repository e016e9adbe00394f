"""Possessed roles: an entity of their own until the text names who has them, and joined only where it names one for good."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Say = Callable[..., list[dict[str, Any]]]


def joins(say: Say, text: str, **turn: Any) -> dict[tuple[str, str], bool]:
    """Name and alias of every join in a text, and whether it is believed."""
    rows = say(text, candidates=True, **turn)
    return {(row["subject"], row["object"]): row["confidence"] >= 0.5 for row in rows if row["predicate"] == "also_known_as"}


@pytest.mark.parametrize(
    ("text", "join"),
    [
        ("Anna's sister Mia works at Acme.", ("Mia", "Anna's sister")),
        ("Anna\u2019s sister Mia works at Acme.", ("Mia", "Anna's sister")),
        ("Mia, Anna's sister, works at Acme.", ("Mia", "Anna's sister")),
        ("Anna's sister is Mia.", ("Mia", "Anna's sister")),
        ("My sister Mia works at Acme.", ("Mia", "Ada's sister")),
        ("My sister, Mia, works at Acme.", ("Mia", "Ada's sister")),
        ("My sister's name is Mia.", ("Mia", "Ada's sister")),
        ("The name of my brother is Tom.", ("Tom", "Ada's brother")),
        ("My brother is called Tom.", ("Tom", "Ada's brother")),
        ("My brother goes by Tom.", ("Tom", "Ada's brother")),
        ("Your sister Mia moved to Leeds.", ("Mia", "Bob's sister")),
        ("Our daughter Bea is three.", ("Bea", "Ada's daughter")),
        ("My older sister Mia works at Acme.", ("Mia", "Ada's older sister")),
        ("My brother Tom Baker moved to Leeds.", ("Tom Baker", "Ada's brother")),
        ("Rosa is my mum.", ("Rosa", "Ada's mum")),
        ("Rosa, my mother, lives in Leeds.", ("Rosa", "Ada's mother")),
        ("Anna's dad, Karl, works at Acme.", ("Karl", "Anna's dad")),
        ("Lukas' brother Jan works at Acme.", ("Jan", "Lukas's brother")),
    ],
)
def test_a_named_role_is_an_alias_of_the_name(say: Say, text: str, join: tuple[str, str]) -> None:
    assert joins(say, text) == {join: True}


def test_the_join_comes_beside_the_relation(say: Say) -> None:
    found = {(row["subject"], row["predicate"], row["object"]) for row in say("Mia, Anna's sister, works at Acme.")}
    assert found == {("Mia", "works_at", "Acme"), ("Anna", "sibling_of", "Mia"), ("Mia", "also_known_as", "Anna's sister")}


@pytest.mark.parametrize(("speaker", "addressee", "text"), [("Anna", "Bob", "My"), ("Bob", "Anna", "Your"), ("Bob", None, "Anna's")])
def test_a_role_has_one_name_from_every_point_of_view(say: Say, speaker: str, addressee: str | None, text: str) -> None:
    rows = say(f"{text} sister lives in Rome.", speaker=speaker, addressee=addressee)
    assert [(row["subject"], row["predicate"]) for row in rows] == [("Anna's sister", "lives_in")]


@pytest.mark.parametrize(
    "text",
    [
        # Roles that change hands, or that many have.
        *("My wife Clara lives in Porto.", "My boss's name is Tom.", "My best friend is called Joe.", "My cousin Ines works at Acme."),
        *("My neighbour Joe is a nurse.", "My husband is Lars.", "Karen is my boss.", "My ex-wife Clara lives in Porto."),
        # Who is a sister need not be the sister.
        *("Mia is my sister.", "Mia is Anna's sister."),
        # Of several.
        *("My son Tom and my son Max play chess.", "My daughter Bea is three. My other daughter is two."),
        *("My sister Mia lives in Leeds and my sister Lea lives in York.", "My sisters are nurses. My sister Mia lives in Leeds."),
        *("My brother Tom works at Acme. My older brother retired.", "My foster mother Rosa is a nurse."),
        # "She", and somebody else's role.
        *("Anna lives in Rome. Her sister Mia lives in Leeds.", "My mum's sister Mia works at Acme."),
    ],
)
def test_where_a_role_may_have_others_the_join_is_a_candidate(say: Say, text: str) -> None:
    found = joins(say, text)
    assert found
    assert not any(found.values())


@pytest.mark.parametrize(
    "text",
    [
        *("My sisters Mia and Lea live in Leeds.", "One of my brothers, Tom, lives in Leeds.", "A friend of mine, Joe, works at Acme."),
        *("I have a sister called Mia.", "My sister, Mia and I went home.", "I met your sister, Bob.", "I saw your mum, Tom."),
        *("My sister isn't Mia.", "My sister's name used to be Mia.", "My sister will be called Mia.", "Is your sister Mia?"),
        *("My sister Monday went home.", "My sister is Italian.", "My sister is in London.", "Thanks Mia, my sister loved it."),
        *("Their sister Mia works at Acme.", "My sister and Mia work at Acme.", "I wish my brother were Tom.", "My dog Rex is ill."),
    ],
)
def test_what_names_nobody_joins_nothing(say: Say, text: str) -> None:
    assert joins(say, text) == {}


def test_one_who_is_named_is_not_named_by_a_verb_or_a_greeting(say: Say) -> None:
    assert joins(say, "Tell my sister Mia hello.") in ({}, {("Mia", "Ada's sister"): True})


@pytest.mark.parametrize("speaker", ["user", "assistant", None])
def test_nobody_in_particular_has_no_sister_for_good(say: Say, speaker: str | None) -> None:
    assert not any(joins(say, "My sister Mia works at Acme.", speaker=speaker).values())


def test_what_an_assistant_says_of_people_joins_nobody(say: Say) -> None:
    assert not any(joins(say, "Your sister Mia works at Acme.", speaker="assistant", addressee="Ada").values())


def test_another_sister_is_somebody_else(say: Say) -> None:
    assert [row["subject"] for row in say("My other sister lives in York.")] == ["Ada's other sister"]


def test_the_relative_of_a_relative_belongs_to_the_speaker(say: Say) -> None:
    assert [row["subject"] for row in say("My wife's sister lives in Leeds.")] == ["Ada's wife's sister"]


def test_a_project_has_no_relatives(say: Say) -> None:
    assert [row["subject"] for row in say("Our daughter lives in Leeds.", project="kiln")] == ["Ada's daughter"]
