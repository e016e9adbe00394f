"""Which number of a date is the day: proved by the dates of a file, or left open."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.readers.date_order import Date, DateOrders, day_of
from workers.readers.options import DateOrder


def decided(
    dates: list[Date], stated: DateOrder | None = None, *, year_first: bool = False, full_year: bool = True, locale: bool = False
) -> DateOrder | None:
    orders = DateOrders(year_first, full_year)
    for each in dates:
        orders.add(each)
    return orders.decided(stated, year_first=locale)


@pytest.mark.parametrize(
    ("dates", "order"),
    [
        ([(20, 5, 2026)], "dmy"),
        ([(5, 20, 2026)], "mdy"),
        ([(4, 5, 2026), (20, 5, 2026)], "dmy"),
        ([(4, 5, 2026)], None),
        ([(5, 5, 2026)], None),
        ([(4, 5, 2026), (5, 5, 2026), (6, 5, 2026)], None),
        ([], None),
        # Month-day would run from April back to March.
        ([(5, 4, 2026), (3, 5, 2026)], "dmy"),
        ([(4, 5, 2026), (5, 3, 2026)], "mdy"),
        # Both run backwards.
        ([(5, 5, 2026), (3, 3, 2026)], None),
        # A day back is a clock that was set.
        ([(5, 4, 2026), (4, 4, 2026)], "dmy"),
        # Dates of both orders: no order can be right.
        ([(20, 5, 2026), (5, 20, 2026)], None),
        # A date that exists in no order proves nothing.
        ([(4, 5, 2026), (99, 99, 2026)], None),
    ],
)
def test_the_order_is_what_the_dates_leave(dates: list[Date], order: DateOrder | None) -> None:
    assert decided(dates) == order


def test_what_is_stated_decides_what_no_date_proves() -> None:
    assert decided([(4, 5, 2026)], "mdy") == "mdy"
    assert decided([(20, 5, 2026)], "mdy") == "dmy"
    assert decided([(20, 5, 2026), (5, 20, 2026)], "mdy") == "mdy"
    assert decided([(5, 4, 2026), (3, 5, 2026)], "mdy") == "mdy"
    assert decided([(4, 5, 2026)], "ymd") is None


def test_a_year_of_four_digits_in_front_leaves_nothing_open() -> None:
    assert decided([(2026, 4, 5)], year_first=True) == "ymd"


def test_years_of_two_digits_stand_in_front_where_nothing_else_is_left_or_the_locale_says_so() -> None:
    assert decided([(20, 5, 26)], full_year=False) == "dmy"
    assert decided([(26, 5, 31), (26, 6, 1), (26, 6, 2)], full_year=False) == "ymd"
    assert decided([(26, 5, 9)], full_year=False) == "ymd"
    assert decided([(20, 5, 26)], full_year=False, locale=True) == "ymd"
    assert decided([(20, 5, 26)], "ymd", full_year=False) == "ymd"


DAYS = st.lists(st.dates(date(2015, 1, 1), date(2029, 12, 31)), min_size=1, max_size=12).map(sorted)


@given(DAYS, st.sampled_from(["dmy", "mdy"]), st.integers(0, 400))
def test_a_decided_order_is_the_one_of_the_file(days: list[date], order: DateOrder, stretch: int) -> None:
    days = [*days, days[-1] + timedelta(days=stretch)]
    written = [(day.day, day.month, day.year) if order == "dmy" else (day.month, day.day, day.year) for day in days]
    found = decided(written)
    if any(day.day > 12 for day in days):
        assert found == order
    assert found in (order, None)
    assert decided(written, order) == order
    epoch = date(1970, 1, 1)
    assert [day_of(each, order) for each in written] == [(day - epoch).days for day in days]
