"""Turns of phrase: words that the tagger mistakes, gaps, names given in passing, and what nobody would look up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from string import ascii_uppercase
from typing import Any

import pytest

Say = Callable[..., list[dict[str, Any]]]
Triples = Callable[..., Sequence[tuple[str, str, str]]]


@pytest.mark.parametrize(
    ("text", "triple"),
    [
        ("I hate cilantro.", ("Ada", "dislikes", "cilantro")),
        ("Hate mushrooms.", ("Ada", "dislikes", "mushrooms")),
        ("Love olives though.", ("Ada", "likes", "olives")),
        ("Billing talks to the ledger service.", ("Billing", "connects_to", "ledger service")),
        ("auth service talks to redis", ("auth service", "connects_to", "redis")),
        ("auth runs on node 20", ("auth", "runs_on", "node 20")),
        ("The rate limit is set to 100 requests per minute.", ("rate limit", "configured_as", "100 requests per minute")),
        ("Version 3.2 fixes the crash on startup.", ("Version 3.2", "fixes", "crash")),
        ("Prod runs Postgres 14.", ("Prod", "uses", "Postgres 14")),
        ("The cache TTL is 300 seconds.", ("cache TTL", "configured_as", "300 seconds")),
        ("I speak Spanish, Catalan and a bit of German.", ("Ada", "speaks", "German")),
        ("Staging is hosted on Hetzner, prod on AWS", ("prod", "hosted_on", "AWS")),
        ("Rafael Ochoa is a photographer based in Lisbon.", ("Rafael Ochoa", "lives_in", "Lisbon")),
        ("Tern is a text editor.", ("Tern", "is_a", "text editor")),
        ("My flatmate is called Ingrid.", ("Ada", "roommate_of", "Ingrid")),
        ("Umbra Bank hired Sofia Marchetti as chief executive.", ("Sofia Marchetti", "works_at", "Umbra Bank")),
        ("I'm on parental leave.", ("Ada", "be", "on parental leave")),
        ("I'm lactose intolerant.", ("Ada", "be", "lactose intolerant")),
        ("Lake Tiso lies in northern Portugal.", ("Lake Tiso", "located_in", "northern Portugal")),
        ("Don't touch the generated files in src/gen.", ("Ada", "directive", "Don't touch the generated files in src/gen")),
        ("quit smoking 3 years ago", ("Ada", "practices", "smoking")),
        ("Nope, never lived in Cardiff.", ("Ada", "lives_in", "Cardiff")),
        ("Mum hates surprises.", ("Ada's mum", "dislikes", "surprises")),
        ("Mr Okoro now teaches at the polytechnic.", ("Mr Okoro", "works_at", "polytechnic")),
        ("Fennel is a programming language.", ("Fennel", "is_a", "programming language")),
        ("Ivana Horvat runs a bakery in Split.", ("Ivana Horvat", "manages", "bakery")),
        ("Married to Paolo since 2015.", ("Ada", "spouse_of", "Paolo")),
        ("Born and raised in Naples.", ("Ada", "lives_in", "Naples")),
        ("I speak fluent Italian.", ("Ada", "speaks", "Italian")),
        ("My name's Odalys.", ("Ada", "named", "Odalys")),
        ("The new treasurer is Ines Vidal.", ("Ines Vidal", "has_role", "treasurer")),
        ("The mayor of Split is Ivan Delić.", ("Ivan Delić", "has_role", "mayor of Split")),
        ("Dr Amin replaced Dr Wolf as head of surgery.", ("Dr Amin", "has_role", "head of surgery")),
        ("Use snake_case for column names.", ("Ada", "directive", "Use snake_case for column names")),
    ],
)
def test_what_is_said_in_its_own_way_is_understood(triples: Triples, text: str, triple: tuple[str, str, str]) -> None:
    assert triple in triples(text)


@pytest.mark.parametrize(
    "text",
    [
        "Been busy volunteering at the shelter.",
        "I use my influence and resources to help causes.",
        "I'm working on a project.",
        "I was really scared.",
        "Call whenever you want.",
        "The dog ate my sandwich again.",
        "Don't worry about the tests.",
        "Rolled back release 7.1 at 16:30.",
        "Love hearing that!",
        "I love you guys.",
    ],
)
def test_what_nobody_would_look_up_is_not_kept(say: Say, text: str) -> None:
    assert say(text) == []


def test_every_letter_names_a_service(say: Say) -> None:
    for place, letter in enumerate(ascii_uppercase):
        (row,) = say(f"Service {letter} listens on port {8001 + place}.")
        assert (row["subject"], row["qualifier"], row["object"]) == (f"Service {letter}", "port", str(8001 + place))


def test_a_pet_is_kept_by_its_name(say: Say) -> None:
    told = {
        (row["predicate"], row["object"])
        for text in ("We got a dog named Rex.", "We adopted two kittens, Miso and Tofu.")
        for row in say(text)
    }
    assert told == {("has_pet", "Rex"), ("is_a", "dog"), ("has_pet", "Miso"), ("has_pet", "Tofu"), ("is_a", "kitten")}


def test_a_pet_that_died_is_kept_no_longer(say: Say) -> None:
    (row,) = (row for row in say("Our cat Mochi died last night.") if row["predicate"] == "has_pet")
    assert (row["object"], row["kind"]) == ("Mochi", "END")


def test_siblings_are_no_possessions(triples: Triples) -> None:
    assert set(triples("I have two brothers, Amir and Yusuf.")) == {("Ada", "sibling_of", "Amir"), ("Ada", "sibling_of", "Yusuf")}


def test_a_child_has_an_age_and_is_none(triples: Triples) -> None:
    join = ("Isla", "also_known_as", "Ada's daughter")
    assert set(triples("My daughter Isla is seven.")) == {("Ada", "parent_of", "Isla"), ("Isla", "age", "seven"), join}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My birthday is 4 May 1990.", [("Ada", "birth_date", "1990-05-04")]),
        ("Ana's birthday is 3 June 1985.", [("Ana", "birth_date", "1985-06-03")]),
        ("My birthday is 4 May.", []),
    ],
)
def test_a_birthday_with_its_year_is_a_date_of_birth(triples: Triples, text: str, expected: list[tuple[str, str, str]]) -> None:
    assert list(triples(text)) == expected


@pytest.mark.parametrize(
    ("text", "value", "start", "wrong"),
    [
        ("Actually, I started at Globex in 2019, not 2020.", "Globex", "2019", None),
        ("Actually the default branch is main, not master.", "main", None, "master"),
        ("Actually the port is 5433, not 5432.", "5433", None, "5432"),
    ],
)
def test_a_wrong_date_is_no_replaced_value(say: Say, text: str, value: str, start: str | None, wrong: str | None) -> None:
    (row,) = say(text)
    assert (row["kind"], row["object"], row["validFrom"], row["replaces"]) == ("CORRECTION", value, start, wrong)


def test_the_year_of_a_budget_is_not_when_it_was_approved(say: Say) -> None:
    (row,) = say("The board approved the budget for 2026.")
    assert (row["validFrom"], row["validTo"], row["status"]) == (None, None, "PAST")


def test_who_replaces_something_takes_no_place_of_it(triples: Triples) -> None:
    assert list(triples("We replaced Webpack with Vite in January.")) == [("Vite", "replaces", "Webpack")]


def test_from_one_version_to_another(say: Say) -> None:
    rows = say("we bumped Postgres from 13 to 15 last night")
    assert {(row["object"], row["kind"]) for row in rows} == {("15", "CHANGE"), ("13", "END")}


def test_its_is_a_possessive(say: Say) -> None:
    assert say("The dog wagged its tail.") == []
