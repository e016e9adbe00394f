"""How a claim bears on others: state, change, end, correction, patch, denial, addition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Say = Callable[..., list[dict[str, Any]]]


def test_a_present_state_has_no_bounds(say: Say) -> None:
    (row,) = say("Maria lives in Turin.")
    assert (row["subject"], row["predicate"], row["object"]) == ("Maria", "lives_in", "Turin")
    assert (row["kind"], row["polarity"], row["status"], row["validFrom"], row["validTo"]) == ("STATE", True, "NOW", None, None)


@pytest.mark.parametrize(
    ("text", "predicate", "value"),
    [
        ("I joined Northwind in May 2021.", "works_at", "Northwind"),
        ("My brother Tom moved to Porto last August.", "lives_in", "Porto"),
        ("Nick started drinking coffee.", "drinks", "coffee"),
        ("The gateway was upgraded to 2.0 on Monday.", "version", "2.0"),
        ("My son turned 7 on Saturday.", "age", "7"),
    ],
)
def test_what_begins_is_a_change(say: Say, text: str, predicate: str, value: str) -> None:
    row = next(row for row in say(text) if row["predicate"] == predicate)
    assert (row["kind"], row["object"], row["status"]) == ("CHANGE", value, "NOW")


@pytest.mark.parametrize(
    ("text", "predicate", "value"),
    [
        ("I no longer live in Ghent.", "lives_in", "Ghent"),
        ("I used to play the cello.", "plays", "cello"),
        ("Nick stopped drinking green tea.", "drinks", "green tea"),
        ("We don't use Docker anymore.", "uses", "Docker"),
        ("gave up coffee last week", "drinks", "coffee"),
        ("I quit smoking in January.", "practices", "smoking"),
        ("Jonas and Ella got divorced in 2020.", "spouse_of", "Ella"),
    ],
)
def test_an_end_is_one_positive_line_in_the_past(say: Say, text: str, predicate: str, value: str) -> None:
    (row,) = say(text)
    assert (row["predicate"], row["object"]) == (predicate, value)
    assert (row["kind"], row["polarity"], row["status"]) == ("END", True, "PAST")


def test_moving_from_one_to_another_ends_the_first_and_begins_the_second(say: Say) -> None:
    rows = {row["object"]: row for row in say("We migrated the billing service from MySQL to Postgres 15 in January.")}
    assert {row["subject"] for row in rows.values()} == {"billing service"}
    assert (rows["MySQL"]["kind"], rows["MySQL"]["validTo"]) == ("END", "2025-01")
    assert (rows["Postgres 15"]["kind"], rows["Postgres 15"]["validFrom"]) == ("CHANGE", "2025-01")


def test_now_and_not_is_a_change_and_no_correction(say: Say) -> None:
    rows = {row["object"]: row for row in say("orders-api listens on 8443 now, not 8080.")}
    assert rows["8443"]["status"] == "NOW" and rows["8443"]["qualifier"] == "port"
    assert rows["8080"]["kind"] == "END" and rows["8080"]["subject"] == "orders-api"


@pytest.mark.parametrize(
    ("text", "value", "wrong"),
    [
        ("Actually, my flight is on Tuesday, not Monday.", "Tuesday", "Monday"),
        ("I was born in 1987, not 1986.", "1987", "1986"),
        ("sorry, the staging port is 5433, not 5432", "5433", "5432"),
    ],
)
def test_a_correction_names_what_it_replaces(say: Say, text: str, value: str, wrong: str) -> None:
    (row,) = say(text)
    assert (row["kind"], row["object"], row["replaces"], row["polarity"]) == ("CORRECTION", value, wrong, True)


def test_sorry_in_another_sense_corrects_nothing(say: Say) -> None:
    rows = say("Sorry to nag, but Maria lives in Turin.")
    assert [row["kind"] for row in rows] == ["STATE"]


def test_a_bounded_stand_in_is_a_patch(say: Say) -> None:
    (row,) = [row for row in say("From 3 to 14 June, while Priya is on leave, Tom manages the platform team.") if row["subject"] == "Tom"]
    assert (row["kind"], row["predicate"], row["validFrom"], row["validTo"]) == ("PATCH", "manages", "2025-06-03", "2025-06-14")


def test_also_makes_an_addition_where_there_is_one_value(say: Say) -> None:
    (row,) = say("I also work at the library.")
    assert row["additive"] and row["object"] == "library"


def test_denials_are_negative_and_never_is_from_ever(say: Say) -> None:
    (never,) = say("I never lived in Oslo.")
    assert (never["polarity"], never["validFrom"], never["kind"]) == (False, "..", "STATE")
    (now,) = say("Zoe doesn't eat meat.")
    assert (now["predicate"], now["polarity"], now["validFrom"], now["status"]) == ("eats", False, None, "NOW")


def test_a_scheduled_start_is_a_change_in_the_future(say: Say) -> None:
    (row,) = say("I start at Acme on 1 May.")
    assert (row["kind"], row["modality"], row["status"], row["validFrom"]) == ("CHANGE", "ASSERTED", "FUTURE", "2025-05-01")


def test_a_scheduled_end_still_holds(say: Say) -> None:
    (row,) = say("Theo is leaving the choir at the end of March.")
    assert (row["kind"], row["status"], row["validTo"]) == ("END", "NOW", "2025-03-31")


def test_events_keep_their_granule_on_both_sides(say: Say) -> None:
    (row,) = say("We met Paul in Vienna in 2015.")
    assert (row["predicate"], row["validFrom"], row["validTo"], row["status"]) == ("met", "2015", "2015", "PAST")


def test_a_bounded_past_keeps_its_bounds(say: Say) -> None:
    (row,) = say("I lived in Rome from 2010 to 2014.")
    assert (row["validFrom"], row["validTo"], row["status"]) == ("2010", "2014", "PAST")


def test_left_without_an_object_ends_what_was_joined(say: Say) -> None:
    joined, left = say("I joined Northwind in May 2021 and left in 2024.")
    assert (joined["kind"], joined["validFrom"]) == ("CHANGE", "2021-05")
    assert (left["kind"], left["object"], left["validTo"]) == ("END", "Northwind", "2024")
