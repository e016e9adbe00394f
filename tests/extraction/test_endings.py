"""What is left, ended or not ended: employer or home, and denials of an ending."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Say = Callable[..., list[dict[str, Any]]]


@pytest.mark.parametrize(
    ("text", "predicate", "value"),
    [
        ("I am not leaving Utrecht.", "lives_in", "Utrecht"),
        ("I haven't left Globex.", "works_at", "Globex"),
        ("I didn't quit my job at Initech.", "works_at", "Initech"),
        ("We haven't moved from Ghent to Malmö.", "lives_in", "Ghent"),
    ],
)
def test_a_denied_ending_says_that_it_goes_on(say: Say, text: str, predicate: str, value: str) -> None:
    (row,) = (row for row in say(text) if row["object"] == value)
    assert (row["predicate"], row["polarity"], row["kind"], row["status"]) == (predicate, True, "STATE", "NOW")


@pytest.mark.parametrize("text", ["I didn't use to like olives.", "She didn't graduate from Coimbra."])
def test_what_a_denied_past_leaves_open_is_not_stated(say: Say, text: str) -> None:
    assert say(text) == []


def test_growing_up_elsewhere_stays_a_denial(say: Say) -> None:
    (row,) = say("I didn't grow up in Antwerp.")
    assert (row["object"], row["polarity"]) == ("Antwerp", False)


@pytest.mark.parametrize(
    ("text", "predicate", "value"),
    [
        ("I'm leaving Globex in June.", "works_at", "Globex"),
        ("Bob left Umbra Labs in 2019.", "works_at", "Umbra Labs"),
        ("I worked at Sydney for years and left Sydney in 2020.", "works_at", "Sydney"),
        ("Bob left Bilbao in 2019.", "lives_in", "Bilbao"),
        ("We left New Zealand last year.", "lives_in", "New Zealand"),
        ("I grew up in Ostrov and left Ostrov in 2012.", "lives_in", "Ostrov"),
    ],
)
def test_what_was_left_is_employer_or_home(say: Say, text: str, predicate: str, value: str) -> None:
    assert (predicate, value) in [(row["predicate"], row["object"]) for row in say(text) if row["kind"] == "END"]


@pytest.mark.parametrize(
    ("text", "predicate", "value", "kind"),
    [
        ("I'm no longer at Globex.", "works_at", "Globex", "END"),
        ("I'm at Globex now.", "works_at", "Globex", "STATE"),
        ("I'm still in Tallinn.", "lives_in", "Tallinn", "STATE"),
        ("I'm not at Globex anymore.", "works_at", "Globex", "END"),
    ],
)
def test_where_somebody_still_is_or_no_longer(say: Say, text: str, predicate: str, value: str, kind: str) -> None:
    (row,) = say(text)
    assert (row["predicate"], row["object"], row["kind"], row["polarity"]) == (predicate, value, kind, True)


@pytest.mark.parametrize(
    ("text", "former", "new"),
    [("I switched from Android to iPhone.", "Android", "iPhone"), ("We moved from Jira to Linear in March.", "Jira", "Linear")],
)
def test_a_tool_is_neither_home_nor_employer(say: Say, text: str, former: str, new: str) -> None:
    assert {(row["predicate"], row["object"], row["kind"]) for row in say(text)} == {("uses", new, "CHANGE"), ("uses", former, "END")}


def test_what_was_left_before_something_else_happened(say: Say) -> None:
    rows = say("After leaving Globex in 1998, Tariq Bose worked for the Tribune until 2010.")
    assert ("Tariq Bose", "Globex", "1998") in [(row["subject"], row["object"], row["validTo"]) for row in rows]


def test_headquarters_move_with_their_owner(say: Say) -> None:
    rows = say("Quillon has moved its headquarters from Pune to Singapore.")
    assert {(row["subject"], row["predicate"], row["object"], row["kind"]) for row in rows} == {
        ("Quillon", "located_in", "Singapore", "CHANGE"),
        ("Quillon", "located_in", "Pune", "END"),
    }
