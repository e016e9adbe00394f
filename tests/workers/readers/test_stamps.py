"""Equal times in any spelling are one instant; what is no time is refused, never the present."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontology.errors import InvalidInput
from ontology.instant import format_instant, parse_instant, zone_named
from workers.readers.stamps import parse_spoken_stamp, parse_stamp, stamp_problem

AT = parse_instant("2026-07-09T10:39:17.281Z")


@pytest.mark.parametrize(
    "stamp",
    [
        "2026-07-09T10:39:17.281Z",
        "2026-07-09 10:39:17.281+00",
        "2026-07-09 10:39:17.281+0000",
        "2026-07-09T12:39:17.281+02:00",
        "2026-07-09 10:39:17.281",
        "2026-07-09T10:39:17,281Z",
        "2026-07-09 10:39:17.281 UTC",
        " 2026-07-09T10:39:17.281000000Z ",
        1783593557281,
        1783593557.281,
        "1783593557281",
        "1783593557.281000",
        1783593557281000,
        1783593557281000000,
    ],
)
def test_every_spelling_of_a_time_is_one_instant(stamp: Any) -> None:
    assert parse_stamp(stamp) == AT


@pytest.mark.parametrize(
    ("stamp", "zone", "expected"),
    [
        ("2025-03-01", None, "2025-03-01T00:00:00Z"),
        ("2025-03", None, "2025-03-01T00:00:00Z"),
        ("2025", None, "2025-01-01T00:00:00Z"),
        ("2025-03-01T10:30", None, "2025-03-01T10:30:00Z"),
        ("2025-03-01T10:30:00", "Europe/Berlin", "2025-03-01T09:30:00Z"),
        ("2025-03-01T10:30:00Z", "Europe/Berlin", "2025-03-01T10:30:00Z"),
        ("2025-03-01", "America/New_York", "2025-03-01T05:00:00Z"),
        ("2016-12-31T23:59:60Z", None, "2016-12-31T23:59:59Z"),
        ("1:56 pm on 8 May, 2023", None, "2023-05-08T13:56:00Z"),
        ("12:05 am on 1 January, 2024", None, "2024-01-01T00:05:00Z"),
        ("12:05 PM on 1 Sept 2024", "Europe/Berlin", "2024-09-01T10:05:00Z"),
    ],
)
def test_reduced_and_wall_times_count_from_their_first_instant(stamp: str, zone: str | None, expected: str) -> None:
    assert format_instant(parse_stamp(stamp, zone_named(zone))) == expected


@pytest.mark.parametrize(
    "stamp",
    [
        *("garbage", "", "..", "now", "yesterday", "2025-02-30", "2025-02-30T10:00:00Z", "2025-13-01", "2025-03-01T25:00:00Z", "10:30"),
        *(None, True, False, [], {}, 0, 12.5, 1741, float("nan"), float("inf"), -(10**30), 10**30, "9" * 24),
        *("13:70 pm on 8 May, 2023", "0:10 am on 8 May, 2023", "1:56 pm on 31 April, 2023", "1:56 pm on 8 Foo, 2023"),
    ],
)
def test_what_is_no_time_is_refused(stamp: Any) -> None:
    with pytest.raises(InvalidInput):
        parse_stamp(stamp)


def test_a_spoken_stamp_of_another_form_is_refused() -> None:
    with pytest.raises(InvalidInput):
        parse_spoken_stamp("2025-03-01")


def test_a_problem_quotes_only_what_looks_like_a_time() -> None:
    failure = InvalidInput("'2025-02-30' is no valid time")
    assert "2025-02-30" in stamp_problem("2025-02-30", failure)
    assert stamp_problem("hunter2", failure) == "the time stamp is no time"


@given(
    st.one_of(
        st.text(),
        st.integers(),
        st.floats(),
        st.booleans(),
        st.from_regex(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?([+-]\d\d)?", fullmatch=True),
    )
)
def test_any_value_is_an_instant_or_refused(value: Any) -> None:
    try:
        at = parse_stamp(value)
    except InvalidInput:
        return
    assert -(2**63) < at < 2**63 - 1
