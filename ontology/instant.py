"""Instants: int64 microseconds UTC since 1970, proleptic Gregorian with astronomical years, -2^63 and 2^63-1 unbounded.

Python's datetime ends at year 9999 and knows no negative years, so the civil calendar is computed here (days-from-civil
arithmetic; the 400-year cycle of the Gregorian calendar has 146,097 days).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ontology.echo import echo
from ontology.errors import InvalidInput

Instant = int
"""Microseconds since 1970-01-01T00:00:00Z."""

UNBOUNDED_PAST: Instant = -(2**63)
UNBOUNDED_FUTURE: Instant = 2**63 - 1

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

_RFC3339 = re.compile(
    r"(?P<year>\d{4}|-\d{4}|Y-?\d{5,})-(?P<month>\d\d)-(?P<day>\d\d)[Tt ]"
    r"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?:\.(?P<fraction>\d+))?(?P<zone>[Zz]|[+-]\d\d:\d\d)?",
    re.ASCII,
)
_EPOCH = datetime(1970, 1, 1)


def _invalid(text: str, why: str) -> InvalidInput:
    return InvalidInput(f"{echo(text)} is no valid time: {why}", reason="INVALID_DATE")


def out_of_range(text: str) -> InvalidInput:
    """The error for a time that int64 microseconds cannot hold."""
    return InvalidInput(f"{echo(text)} lies outside the years that can be stored (about -290,000 to 294,000)", reason="OUT_OF_RANGE")


def is_leap(year: int) -> bool:
    """Whether the astronomical year has 29 February."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def days_in_month(year: int, month: int) -> int:
    """28 to 31."""
    return 29 if month == 2 and is_leap(year) else (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]


def days_from_civil(year: int, month: int, day: int) -> int:
    """Days from 1970-01-01 to a date of the proleptic Gregorian calendar."""
    year -= month <= 2
    era = year // 400
    year_of_era = year - era * 400
    day_of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    day_of_era = year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year
    return era * 146_097 + day_of_era - 719_468


def civil_from_days(days: int) -> tuple[int, int, int]:
    """(year, month, day) of a day number; the inverse of `days_from_civil`."""
    days += 719_468
    era = days // 146_097
    day_of_era = days - era * 146_097
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + (3 if shifted < 10 else -9)
    return year_of_era + era * 400 + (month <= 2), month, day_of_year - (153 * shifted + 2) // 5 + 1


def checked(instant: int, text: str) -> Instant:
    """`instant`, or OUT_OF_RANGE where it is not strictly inside int64 (the ends stand for unbounded)."""
    if not UNBOUNDED_PAST < instant < UNBOUNDED_FUTURE:
        raise out_of_range(text)
    return instant


def parse_year(text: str) -> int:
    """The year of `2019`, `-0043` or `Y12000`."""
    return int(text.removeprefix("Y"))


def zone_named(name: str | None) -> ZoneInfo | None:
    """The IANA zone of that name; None is UTC. Raises InvalidInput for an unknown one."""
    if name is None or name in ("", "UTC", "Z"):
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as failure:
        raise InvalidInput(f"{echo(name, 80)} is no IANA time zone such as 'Europe/Berlin'", reason="UNKNOWN_ZONE") from failure


def wall_to_instant(days: int, time_of_day: int, zone: ZoneInfo | None) -> int:
    """The instant of a wall time: `days` since 1970 and microseconds into the day, in `zone` (None: UTC).

    A wall time that does not exist moves forward by the gap, an ambiguous one is the first. Years that datetime does not
    know take the offset of the same day in an equivalent year of the 400-year cycle.
    """
    local = days * DAY + time_of_day
    if zone is None:
        return local
    year, month, day = civil_from_days(days)
    if not 2 <= year <= 9998:
        year = (2000 if year > 0 else 1) + year % 400 + (400 if year <= 0 else 0)
    wall = datetime(year, month, day, tzinfo=zone) + timedelta(microseconds=time_of_day)
    # fold=0 applies the offset before the transition: the first of two, and forward by the gap.
    offset = wall.utcoffset()
    return local - (offset // timedelta(microseconds=1) if offset else 0)


def parse_clock(text: str, hour: int, minute: int, second: int, fraction: str) -> int:
    """Microseconds into the day; a leap second folds to :59, digits beyond the microsecond are cut."""
    if hour > 23 or minute > 59 or second > 60:
        raise _invalid(text, "no such time of day")
    second = min(second, 59)
    return hour * HOUR + minute * MINUTE + second * SECOND + int((fraction + "000000")[:6])


def parse_day(text: str, year: int, month: int, day: int) -> int:
    """Day number of a date; INVALID_DATE where the calendar has no such day."""
    if not 1 <= month <= 12:
        raise _invalid(text, f"there is no month {month}")
    if not 1 <= day <= days_in_month(year, month):
        raise _invalid(text, f"{year}-{month:02d} has {days_in_month(year, month)} days")
    return days_from_civil(year, month, day)


def parse_instant(text: str, *, zone: ZoneInfo | None = None, need_offset: bool = True) -> Instant:
    """The instant of an RFC 3339 time (years outside 0000-9999 as ISO 8601-2 writes them).

    Without an offset it is refused, or read in `zone` where `need_offset` is false. Raises InvalidInput (INVALID_DATE,
    OUT_OF_RANGE, UNPARSEABLE).
    """
    match = _RFC3339.fullmatch(text)
    if not match:
        raise InvalidInput(f"{echo(text)} is no RFC 3339 time with an offset, such as '2025-03-01T12:00:00Z'", reason="UNPARSEABLE")
    if match["zone"] is None and need_offset:
        raise InvalidInput(f"{echo(text)} has no offset; write 'Z' or '+02:00' after it", reason="UNPARSEABLE")
    if len(match["year"]) > 12:
        raise out_of_range(text)
    days = parse_day(text, parse_year(match["year"]), int(match["month"]), int(match["day"]))
    time_of_day = parse_clock(text, int(match["hour"]), int(match["minute"]), int(match["second"]), match["fraction"] or "")
    offset = match["zone"]
    if offset is None:
        return checked(wall_to_instant(days, time_of_day, zone), text)
    shift = 0
    if offset not in "Zz":
        hours, minutes = int(offset[1:3]), int(offset[4:6])
        if hours > 23 or minutes > 59:
            raise _invalid(text, "no such offset")
        shift = (hours * HOUR + minutes * MINUTE) * (-1 if offset[0] == "-" else 1)
    return checked(days * DAY + time_of_day - shift, text)


def format_year(year: int) -> str:
    """Four digits, or the ISO 8601-2 form outside 0000-9999."""
    if 0 <= year <= 9999:
        return f"{year:04d}"
    if -9999 <= year < 0:
        return f"-{-year:04d}"
    return f"Y{year}"


def format_instant(instant: Instant) -> str:
    """RFC 3339 in UTC, to the microsecond where there are any."""
    days, rest = divmod(instant, DAY)
    year, month, day = civil_from_days(days)
    hour, rest = divmod(rest, HOUR)
    minute, rest = divmod(rest, MINUTE)
    second, micro = divmod(rest, SECOND)
    fraction = f".{micro:06d}" if micro else ""
    return f"{format_year(year)}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}{fraction}Z"


def from_datetime(value: datetime) -> Instant:
    """The instant of an aware datetime; a naive one is read as UTC by our stated rule."""
    naive = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
    return (naive - _EPOCH) // timedelta(microseconds=1)


def to_datetime(instant: Instant) -> datetime:
    """An aware datetime in UTC; OUT_OF_RANGE outside the years 1 to 9999."""
    try:
        return _EPOCH.replace(tzinfo=UTC) + timedelta(microseconds=instant)
    except OverflowError as failure:
        raise out_of_range(format_instant(instant)) from failure
