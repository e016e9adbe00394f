"""Wordings across life, work and technology: each sentence gives this relation, among others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

Triples = Callable[..., Sequence[tuple[str, str, str]]]

WORDINGS = [
    ("My cousin Ines is getting married in September.", ("Ines", "be", "married")),
    ("I've been vegan since 2018.", ("Ada", "diet", "vegan")),
    ("I have a peanut allergy and I'm allergic to cats.", ("Ada", "allergic_to", "cats")),
    ("I do yoga twice a week.", ("Ada", "practices", "yoga")),
    ("Ben plays bass in a band called Fluke.", ("Ben", "plays", "bass")),
    ("Just got back from Lisbon, work trip.", ("Ada", "visited", "Lisbon")),
    ("just adopted a puppy called biscuit", ("Ada", "has_pet", "biscuit")),
    ("I take 50 mg of sertraline every day.", ("Ada", "takes", "50 mg of sertraline")),
    ("My girlfriend's from Seoul.", ("Ada's girlfriend", "from_place", "Seoul")),
    ("I'm Brazilian.", ("Ada", "nationality", "Brazilian")),
    ("I'm a big fan of Rust.", ("Ada", "likes", "Rust")),
    ("I can't stand karaoke.", ("Ada", "dislikes", "karaoke")),
    ("Ravi told me he got a job at Spotify.", ("Ravi", "works_at", "Spotify")),
    ("I study law at Leiden University.", ("Ada", "studies", "law")),
    ("Marek Novak was born in Brno in 1958.", ("Marek Novak", "birth_date", "1958")),
    ("Elif Karaca (born 4 May 1961 in Trabzon) is a Turkish hydrologist.", ("Elif Karaca", "has_role", "hydrologist")),
    ("Olga Petrov, 43, is a violinist.", ("Olga Petrov", "age", "43")),
    ("The committee appointed Hugo Lang as treasurer.", ("Hugo Lang", "has_role", "treasurer")),
    ("The company was acquired by Oracle in 2021.", ("Oracle", "owns", "company")),
    ("The museum was founded in 1921.", ("museum", "created", "1921")),
    ("The river lacks a bridge.", ("river", "have", "bridge")),
    ("Engine 2 out of order since 29 November.", ("Engine 2", "status", "out of order")),
    ("The API is written in Rust.", ("API", "written_in", "Rust")),
    ("Our website is hosted on Netlify.", ("website", "hosted_on", "Netlify")),
    ("The mobile app is built with Flutter.", ("mobile app", "uses", "Flutter")),
    ("The rate limit was raised from 100 to 250 on 2 March.", ("rate limit", "configured_as", "250")),
    ("The nightly build is failing.", ("nightly build", "status", "failing")),
    ("We chose SQLite over DuckDB.", ("Ada", "decided", "SQLite over DuckDB")),
    ("We replaced Jenkins with Buildkite.", ("Buildkite", "replaces", "Jenkins")),
    ("Lena took over the billing service from Mark in April.", ("Lena", "manages", "billing service")),
    ("Pavel fixed the login bug yesterday.", ("Pavel", "fixes", "login bug")),
    ("stack:\n- api: fastapi 0.110\n- db: pg 15", ("db", "uses", "pg 15")),
    ("deadline for the audit is 14 March", ("audit", "deadline", "14 March")),
    ("I work at GitHub.", ("Ada", "works_at", "GitHub")),
    ("We moved from Heroku to AWS in 2023.", ("Ada", "uses", "AWS")),
]


@pytest.mark.parametrize(("text", "triple"), WORDINGS)
def test_a_wording_gives_its_relation(triples: Triples, text: str, triple: tuple[str, str, str]) -> None:
    assert triple in triples(text)


@pytest.mark.parametrize(
    "text",
    [
        "I loved the show last night.",
        "We have the power to make a difference.",
        "Events like these energize us.",
        "You are an absolute star.",
        "Whenever you need help, just let me know.",
        "Ensure that your files are located in a folder named templates.",
        "You can install it using pip.",
        "I'm doing ok.",
    ],
)
def test_small_talk_and_advice_give_nothing(triples: Triples, text: str) -> None:
    assert triples(text) == []
