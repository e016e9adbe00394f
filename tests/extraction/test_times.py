"""Time expressions: roles, precision, direction; dates that do not exist; what is no date."""

from __future__ import annotations

import pytest

from extraction.calendar import Granule, bounds, day_of, easter
from extraction.dating import resolve
from extraction.times import find_times
from ontology.instant import DAY, days_from_civil

TUESDAY = Granule(2025, 3, 4)


def understood(text: str, forward: bool = False, said: Granule = TUESDAY) -> list[tuple[str, str | None, str | None]]:
    found = []
    for when in find_times(text):
        stretch = resolve(when, said, forward)
        lo, hi = (stretch.lo, stretch.hi) if stretch else (None, None)
        found.append((when.role, str(lo) if lo else None, str(hi) if hi else None))
    return found


@pytest.mark.parametrize(
    ("text", "lo", "hi"),
    [
        ("moved last March", "2024-03", "2024-03"),
        ("moved in March", "2025-03", "2025-03"),
        ("moved in October", "2024-10", "2024-10"),
        ("two weeks ago", "2025-02-18", "2025-02-18"),
        ("three months ago", "2024-12", "2024-12"),
        ("three years ago", "2022", "2022"),
        ("yesterday", "2025-03-03", "2025-03-03"),
        ("the day before yesterday", "2025-03-02", "2025-03-02"),
        ("this morning", "2025-03-04", "2025-03-04"),
        ("last week", "2025-02-25", "2025-02-25"),
        ("on Friday", "2025-02-28", "2025-02-28"),
        ("on Tuesday", "2025-02-25", "2025-02-25"),
        ("last Tues.", "2025-02-25", "2025-02-25"),
        ("just before Christmas", "2024-12", "2024-12"),
        ("on 14 October 2023", "2023-10-14", "2023-10-14"),
        ("on October 14th, 2023", "2023-10-14", "2023-10-14"),
        ("on the 14th of October", "2024-10-14", "2024-10-14"),
        ("at the end of February", "2025-02-28", "2025-02-28"),
        ("ten years ago today", "2015-03-04", "2015-03-04"),
        ("in 2019", "2019", "2019"),
        ("on 2021-07-09", "2021-07-09", "2021-07-09"),
        ("last summer", "2024", "2024"),
        ("at Easter 2024", "2024-03", "2024-03"),
    ],
)
def test_a_point_in_the_past(text: str, lo: str, hi: str) -> None:
    assert understood(text) == [("at", lo, hi)]


@pytest.mark.parametrize(
    ("text", "lo"),
    [
        ("on 1 May", "2025-05-01"),
        ("on 31 jan", "2026-01-31"),
        ("on Friday", "2025-03-07"),
        ("next week", "2025-03-11"),
        ("tomorrow", "2025-03-05"),
        ("in three weeks", "2025-03-25"),
        ("next March", "2026-03"),
    ],
)
def test_a_point_ahead(text: str, lo: str) -> None:
    assert understood(text, forward=True) == [("at", lo, lo)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("since 2019", ("since", "2019", None)),
        ("since about March", ("since", "2025-03", None)),
        ("since the merger in September", ("since", "2024-09", None)),
        ("until 2015", ("until", None, "2015")),
        ("from 2 to 9 June", ("span", "2024-06-02", "2024-06-09")),
        ("from May 2020 to June 2021", ("span", "2020-05", "2021-06")),
        ("between 2016 and 2020", ("span", "2016", "2020")),
        ("for three years", ("duration", "2022", None)),
        ("over the last two months", ("duration", "2025-01", None)),
        ("as of today", ("since", "2025-03-04", None)),
    ],
)
def test_bounds_and_durations(text: str, expected: tuple[str, str | None, str | None]) -> None:
    assert understood(text) == [expected]


def test_a_span_over_the_turn_of_the_year_runs_forward() -> None:
    assert understood("from the 27th to the 6th", True, Granule(2024, 12, 19)) == [("span", "2024-12-27", "2025-01-06")]


@pytest.mark.parametrize("text", ["on 30 February 2024", "on 31 April", "on 2023-02-29", "in 2023-13"])
def test_a_date_that_does_not_exist_is_dropped_and_never_shifted(text: str) -> None:
    assert all(lo is None and hi is None for _, lo, hi in understood(text))


@pytest.mark.parametrize(
    "text", ["I may go", "they march on", "we have 2000 users", "version 1.2024", "[exported 2026-01-02 03:04] hello", "port 2019"]
)
def test_what_is_no_date(text: str) -> None:
    assert understood(text) == []


def test_the_day_of_saying_is_local() -> None:
    late = days_from_civil(2025, 3, 4) * DAY + 23 * 60 * 60 * 1_000_000
    assert day_of(late, None) == Granule(2025, 3, 4)
    assert day_of(late, "Asia/Tokyo") == Granule(2025, 3, 5)


def test_easter_and_bounds() -> None:
    assert str(easter(2025)) == "2025-04-20"
    assert bounds("2024-02", "from", None) == (days_from_civil(2024, 2, 1) * DAY, days_from_civil(2024, 3, 1) * DAY)
    assert bounds("..", "from", None) is None
