"""Granules: days, months and years, and how one is reached from another."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from ontology.edtf import parse_edtf
from ontology.instant import DAY, SECOND, Instant, civil_from_days, days_from_civil, days_in_month, zone_named

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True, slots=True, order=True)
class Granule:
    """A year, month (day None) or day. `str()` is its EDTF text."""

    year: int
    month: int | None = None
    day: int | None = None

    def __str__(self) -> str:
        text = f"{self.year:04d}"
        if self.month is not None:
            text += f"-{self.month:02d}"
        if self.day is not None:
            text += f"-{self.day:02d}"
        return text

    @property
    def exists(self) -> bool:
        """Whether the calendar has it (there is no 30 February), in years 1 to 9999."""
        if not 1 <= self.year <= 9999 or (self.month is not None and not 1 <= self.month <= 12):
            return False
        return self.day is None or 1 <= self.day <= days_in_month(self.year, self.month or 1)

    @property
    def first(self) -> int:
        """Number of its first day (days since 1970-01-01)."""
        return days_from_civil(self.year, self.month or 1, self.day or 1)

    @property
    def last(self) -> int:
        """Number of its last day."""
        month = self.month or 12
        return days_from_civil(self.year, month, self.day or days_in_month(self.year, month))

    def months_later(self, count: int) -> Granule:
        """The month that many months on."""
        years, month = divmod((self.month or 1) - 1 + count, 12)
        return Granule(self.year + years, month + 1)

    @property
    def weekday(self) -> int:
        """0 for Monday."""
        return (self.first + 3) % 7


def day_numbered(days: int) -> Granule:
    """The day of a day number."""
    return Granule(*civil_from_days(days))


def day_of(said: Instant, time_zone: str | None) -> Granule:
    """The local day of an instant in an IANA zone (None: UTC). Raises InvalidInput for an unknown zone."""
    zone = zone_named(time_zone)
    days = said // DAY
    if zone is not None:
        year = civil_from_days(days)[0]
        if 2 <= year <= 9998:
            local = datetime.fromtimestamp(said // SECOND, UTC).astimezone(zone)
            return Granule(local.year, local.month, local.day)
    return day_numbered(days)


def bounds(text: str | None, side: str, time_zone: str | None) -> tuple[Instant, Instant] | None:
    """`[lo, hi)` of an EDTF text; None where there is none or it is open."""
    if text is None or text == "..":
        return None
    stated = parse_edtf(text, zone=zone_named(time_zone), side=side)
    return stated.lo, stated.hi


def easter(year: int) -> Granule:
    """Easter Sunday (Gregorian; the anonymous algorithm of 1876)."""
    century, rest = divmod(year, 100)
    epact = (19 * (year % 19) + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    weekday = (32 + 2 * (century % 4) + 2 * (rest // 4) - epact - rest % 4) % 7
    shift = (year % 19 + 11 * epact + 22 * weekday) // 451
    month, day = divmod(epact + weekday - 7 * shift + 114, 31)
    return Granule(year, month, day + 1)
