"""Stated times: an exact instant, or a reduced date (`2019`, `2019-06`, `2019-06-14`) that is one unknown instant of its granule."""

from __future__ import annotations

import re
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from ontology import instant as time
from ontology.echo import echo
from ontology.errors import InvalidInput
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant

_REDUCED = re.compile(r"(?P<year>\d{4}|-\d{4}|Y-?\d{5,})(?:-(?P<month>\d\d))?(?:-(?P<day>\d\d))?", re.ASCII)
OPEN = ".."
"""How an unbounded end is written."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A time as it was stated: the granule `[lo, hi)` in microseconds and the words.

    An exact instant has hi = lo + 1; `..` has lo = hi = the unbounded instant of its side and is exact.
    """

    lo: Instant
    hi: Instant
    text: str

    @property
    def exact(self) -> bool:
        """Whether no instant but `lo` is meant."""
        return self.hi - self.lo <= 1

    @property
    def last(self) -> Instant:
        """The last instant of the granule."""
        return self.hi - 1 if self.hi > self.lo else self.lo

    def __str__(self) -> str:
        return self.text


def exactly(instant: Instant, text: str = "") -> Stated:
    """An exact instant as a stated time; without `text` where nobody stated it."""
    return Stated(instant, instant + 1, text)


FROM_EVER = Stated(UNBOUNDED_PAST, UNBOUNDED_PAST, OPEN)
FOR_EVER = Stated(UNBOUNDED_FUTURE, UNBOUNDED_FUTURE, OPEN)


def parse_edtf(text: str, *, zone: ZoneInfo | None = None, side: str = "from") -> Stated:
    """A DateTime, a wall time in `zone`, a reduced date (its granule in `zone`), or `..` (unbounded on `side`).

    Raises InvalidInput (INVALID_DATE, OUT_OF_RANGE, UNPARSEABLE).
    """
    text = text.strip()
    if text == OPEN:
        return FROM_EVER if side == "from" else FOR_EVER
    match = _REDUCED.fullmatch(text)
    if not match:
        if "T" not in text and "t" not in text and " " not in text:
            raise InvalidInput(f"{echo(text)} is no time such as '2019', '2019-06' or '2019-06-14T10:00:00Z'", reason="UNPARSEABLE")
        at = time.parse_instant(text, zone=zone, need_offset=False)
        return Stated(at, at + 1, text)
    if len(match["year"]) > 12:
        raise time.out_of_range(text)
    year, month, day = time.parse_year(match["year"]), match["month"], match["day"]
    first = time.parse_day(text, year, int(month or 1), int(day or 1))
    if day:
        after = first + 1
    elif month:
        after = first + time.days_in_month(year, int(month))
    else:
        after = time.days_from_civil(year + 1, 1, 1)
    lo = time.checked(time.wall_to_instant(first, 0, zone), text)
    return Stated(lo, time.checked(time.wall_to_instant(after, 0, zone), text), text)
