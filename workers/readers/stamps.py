"""Times as transcripts write them. What cannot be read is refused, never replaced by the present."""

from __future__ import annotations

import math
import re
from typing import Any
from zoneinfo import ZoneInfo

from ontology.echo import echo
from ontology.edtf import parse_edtf
from ontology.errors import InvalidInput
from ontology.instant import Instant, checked, parse_clock, parse_day, wall_to_instant

_NUMBER = re.compile(r"[+-]?\d{1,25}(?:\.\d{1,12})?", re.ASCII)
_DATE_TIME = re.compile(
    r"(?P<date>[+-]?\d{4,}-\d\d-\d\d)(?:[Tt]|\s+|,\s*)(?P<hour>\d\d):?(?P<minute>\d\d)(?::?(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,12}))?)?"
    r"\s*(?P<zone>[Zz]|UTC|GMT|[+-]\d\d(?::?\d\d)?)?",
    re.ASCII,
)
_LOCOMO = re.compile(r"(\d{1,2}):(\d\d)\s*([ap])\.?m\.?\s+on\s+(\d{1,2})\s+([A-Za-z]+),?\s+(\d{4})", re.IGNORECASE | re.ASCII)
_TIME_LIKE = re.compile(r"[\d\s:.,TZ+/-]{1,40}", re.ASCII)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

# Epoch counts by size: seconds up to the year 5138, then milliseconds, microseconds, nanoseconds. Below 1973 a number is
# rather a counter or an offset into a recording.
_LEAST = 10**8
_UNITS = ((10**11, 1_000_000), (10**14, 1_000), (10**17, 1))


def _refused(value: object, why: str) -> InvalidInput:
    return InvalidInput(f"{echo(str(value))} is no time: {why}", path=("timestamp",), reason="INVALID_DATE")


def _from_epoch(value: int | float) -> Instant:
    if isinstance(value, float) and not math.isfinite(value):
        raise _refused(value, "not finite")
    if abs(value) < _LEAST:
        raise _refused(value, "too small for a count from 1970")
    for limit, factor in _UNITS:
        if abs(value) < limit:
            return checked(round(value * factor), str(value))
    if abs(value) < 10**20:
        return checked(int(value) // 1000, str(value))
    raise _refused(value, "too large for a count from 1970")


def parse_stamp(value: Any, zone: ZoneInfo | None = None) -> Instant:
    """The instant of a message's stamp.

    Taken: RFC 3339 and what databases write near it (`2026-07-09 10:39:17.281+00`), dates (their first instant), and
    counts from 1970 as numbers or digits, in seconds, milliseconds, microseconds or nanoseconds by their size. A time
    without an offset is one of `zone` (None: UTC). Raises InvalidInput.
    """
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise _refused(type(value).__name__, "neither text nor a number")
    if not isinstance(value, str):
        return _from_epoch(value)
    text = value.strip()
    if _NUMBER.fullmatch(text) and len(text) > 8:
        whole, _, fraction = text.partition(".")
        return _from_epoch(float(text) if fraction else int(whole))
    match = _DATE_TIME.fullmatch(text)
    if match:
        offset = match["zone"] or ""
        if offset[:1] in ("Z", "z", "U", "G"):
            offset = "Z"
        elif offset:
            digits = offset[1:].replace(":", "").ljust(4, "0")
            offset = f"{offset[0]}{digits[:2]}:{digits[2:]}"
        fraction = f".{match['fraction']}" if match["fraction"] else ""
        text = f"{match['date'].removeprefix('+')}T{match['hour']}:{match['minute']}:{match['second'] or '00'}{fraction}{offset}"
    elif _LOCOMO.fullmatch(text):
        return parse_spoken_stamp(text, zone)
    stated = parse_edtf(text, zone=zone)
    if text == "..":
        raise _refused(text, "unbounded")
    return stated.lo


def stamp_problem(value: Any, failure: InvalidInput) -> str:
    """One sentence on a refused stamp. It quotes the stamp only where that looks like one: a text put there by mistake may
    hold a secret."""
    return failure.message if _TIME_LIKE.fullmatch(str(value)) else "the time stamp is no time"


def parse_spoken_stamp(text: str, zone: ZoneInfo | None = None) -> Instant:
    """The instant of a stamp such as `1:56 pm on 8 May, 2023`. Raises InvalidInput."""
    match = _LOCOMO.fullmatch(text.strip())
    month = match[5][:3].lower() if match else ""
    if not match or month not in _MONTHS:
        raise _refused(text, "not of the form '1:56 pm on 8 May, 2023'")
    hour = int(match[1])
    if not 1 <= hour <= 12:
        raise _refused(text, f"there is no hour {hour} on a clock of twelve")
    hour = hour % 12 + (12 if match[3] in "pP" else 0)
    days = parse_day(text, int(match[6]), _MONTHS.index(month) + 1, int(match[4]))
    return checked(wall_to_instant(days, parse_clock(text, hour, int(match[2]), 0, ""), zone), text)
