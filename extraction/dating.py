"""What time expressions denote, said on a day: "last March", "two weeks ago", "on Friday" as granules."""

from __future__ import annotations

import re
from dataclasses import dataclass

from extraction.calendar import MONTHS, WEEKDAYS, Granule, day_numbered, easter
from extraction.times import HOLIDAY, SEASON, WEEKDAY, When, count_of


@dataclass(frozen=True, slots=True)
class Stretch:
    """Stated bounds as granules; None where not stated. `point`: one granule in which it was so."""

    lo: Granule | None = None
    hi: Granule | None = None
    point: bool = False


def resolve(when: When, said: Granule, forward: bool | None) -> Stretch | None:
    """What an expression denotes, said on a day, in a clause that looks back (False), forward (True) or neither (None).

    None where the calendar has no such date: a date is dropped, never shifted.
    """
    if when.role == "duration":
        start = _ago(said, when.count, when.unit)
        return Stretch(start, None) if start is not None and start.exists else None
    if when.role == "span":
        return _span(when, said, forward)
    if when.lo is None:
        return None
    if when.role == "since":
        forward = bool(forward) and not _is_past_marker(when)
    elif when.role in ("until", "by") and forward is None:
        forward = True
    granule = _granule(when.lo, said, forward, when.part)
    if granule is None or not granule.exists:
        return None
    if when.role == "since":
        return Stretch(granule, None)
    if when.role in ("until", "by", "before"):
        return Stretch(None, granule)
    return Stretch(granule, granule, point=True)


def _is_past_marker(when: When) -> bool:
    return when.lo is not None and when.lo.string[when.start : when.start + 10].casefold().startswith(("since", "ever since"))


def _span(when: When, said: Granule, forward: bool | None) -> Stretch | None:
    if when.lo is None or when.hi is None:
        return None
    groups = when.lo.groupdict()
    if groups.get("y1"):
        return Stretch(Granule(int(groups["y1"])), Granule(int(groups["y2"])))
    if groups.get("d1"):
        month = _month(groups["m"])
        hi = _dated(int(groups["d2"]), month, groups["y"], said, forward)
        lo = Granule(hi.year, month, int(groups["d1"])) if hi else None
    else:
        hi = _granule(when.hi, said, forward, "")
        lo = _granule(when.lo, said, forward, "")
        if lo and hi and hi.year < lo.year and not when.lo.groupdict().get("dmy_y"):
            lo = Granule(hi.year, lo.month, lo.day)
        if lo and hi and hi.first < lo.first and hi.day and lo.day and when.hi["ordinal"]:
            later = lo.months_later(1)
            hi = Granule(later.year, later.month, hi.day)
        if lo and hi and lo.first > hi.last and lo.month and not when.lo.groupdict().get("my_y"):
            lo = Granule(lo.year - 1, lo.month, lo.day)
    if lo is None or hi is None or not lo.exists or not hi.exists or lo.first > hi.last:
        return None
    return Stretch(lo, hi)


def _month(text: str) -> int:
    return MONTHS.index(text.casefold()[:3]) + 1


def _dated(day: int | None, month: int, year: str | None, said: Granule, forward: bool | None) -> Granule | None:
    """A day or month whose year is stated, or else the nearest on the side that the clause looks to."""
    if year:
        return Granule(int(year), month, day)
    here = Granule(said.year, month, day)
    if not here.exists and not (month == 2 and day == 29):
        return None
    step = 0
    if forward is False:
        step = -1 if here.first > said.last else 0
    elif forward is True:
        step = 1 if here.last < said.first else 0
    elif abs(here.first - said.first) > 183:
        step = -1 if here.first > said.first else 1
    return Granule(said.year + step, month, day)


def _ago(said: Granule, count: int, unit: str) -> Granule | None:
    unit = unit.casefold().rstrip("s")
    if unit in ("day", "week", "fortnight"):
        return day_numbered(said.first - count * {"day": 1, "week": 7, "fortnight": 14}[unit])
    if unit == "month":
        return said.months_later(-count)
    if unit in ("year", "yr"):
        return Granule(said.year - count)
    if unit == "decade":
        return Granule(said.year - 10 * count)
    return said


def _granule(atom: re.Match[str], said: Granule, forward: bool | None, part: str) -> Granule | None:
    groups = {name: value for name, value in atom.groupdict().items() if value is not None}
    found: Granule | None
    if "iso" in groups:
        found = Granule(*(int(piece) for piece in groups["iso"].split("-")))
    elif "dmy" in groups:
        found = _dated(int(groups["dmy_d"]), _month(groups["dmy_m"]), groups.get("dmy_y"), said, forward)
    elif "mdy" in groups:
        found = _dated(int(groups["mdy_d"]), _month(groups["mdy_m"]), groups.get("mdy_y"), said, forward)
    elif "my" in groups:
        found = Granule(int(groups["my_y"]), _month(groups["my_m"]))
    elif "ago" in groups:
        found = _ago(said, count_of(groups["ago_n"]), groups["ago_u"])
        if found is not None and "ago_today" in groups:
            found = Granule(found.year, found.month or said.month, found.day or said.day)
    elif "hence" in groups:
        found = _ago(said, -count_of(groups["hence_n"]), groups["hence_u"])
    elif "rel" in groups:
        found = _relative(groups["rel_w"].casefold(), groups["rel_u"].casefold(), said, forward)
    elif "word" in groups:
        word = groups["word"].casefold()
        shift = -2 if "before" in word else 2 if "after tomorrow" in word else {"yesterday": -1, "tomorrow": 1}.get(word, 0)
        found = day_numbered(said.first + shift)
    elif "ordinal" in groups:
        found = Granule(said.year, said.month, int(groups["ordinal_d"]))
        if forward is False and found.first > said.first:
            back = said.months_later(-1)
            found = Granule(back.year, back.month, found.day)
        elif forward is not False and found.first < said.first:
            later = said.months_later(1)
            found = Granule(later.year, later.month, found.day)
    elif "holiday" in groups:
        found = _holiday(groups["holiday"].casefold(), groups.get("holiday_y"), said, forward)
    elif "season" in groups:
        found = Granule(int(groups["season_y"])) if "season_y" in groups else Granule(said.year)
    elif "weekday" in groups:
        found = _weekday(groups["weekday"].casefold(), said, forward is True)
    elif "month" in groups:
        found = _dated(None, _month(groups["month"]), None, said, forward)
    else:
        found = Granule(int(groups["year"]))
    if (
        found is not None
        and found.exists
        and found.month is not None
        and found.day is None
        and part.startswith(("the end", "end", "the very end"))
    ):
        return day_numbered(found.last)
    return found


def _weekday(name: str, said: Granule, forward: bool) -> Granule:
    """The nearest such day strictly before saying, or strictly after."""
    away = (said.weekday - WEEKDAYS.index(name[:3])) % 7 or 7
    return day_numbered(said.first + (((7 - away) or 7) if forward else -away))


def _relative(word: str, unit: str, said: Granule, forward: bool | None) -> Granule | None:
    step = {"last": -1, "past": -1, "this past": -1, "next": 1, "this coming": 1}.get(word, 0)
    if unit == "week":
        return day_numbered(said.first + 7 * step) if step else None
    if unit == "weekend":
        if step == 0:
            step = -1 if forward is False else 1
        return _weekday("saturday", said, step > 0)
    if unit == "night":
        return day_numbered(said.first - 1)
    if unit == "month":
        return said.months_later(step)
    if unit == "year":
        return Granule(said.year + step)
    if re.fullmatch(SEASON, unit):
        return Granule(said.year + step if step and _season_over(unit, said, step) else said.year)
    if re.match(HOLIDAY, unit):
        return _holiday(unit, None, said, False if step < 0 else True if step > 0 else forward)
    if re.fullmatch(WEEKDAY, unit):
        return _weekday(unit, said, step > 0 or (step == 0 and forward is not False))
    month = _month(unit)
    if step < 0:
        return Granule(said.year - (month >= (said.month or 1)), month)
    if step > 0:
        return Granule(said.year + (month <= (said.month or 12)), month)
    return Granule(said.year, month)


def _season_over(season: str, said: Granule, step: int) -> bool:
    """Whether "last summer" is last year's (this year's has not ended), or "next summer" next year's (this year's has begun)."""
    begins = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}[season]
    month = said.month or 1
    return month < begins + 3 if step < 0 else month >= begins


def _holiday(name: str, year: str | None, said: Granule, forward: bool | None) -> Granule | None:
    exact = name.endswith(("day", "eve", "sunday"))

    def of(number: int) -> Granule:
        if name.startswith("easter"):
            day = easter(number)
            return day if exact else Granule(day.year, day.month)
        month, day_number = {"c": (12, 25), "x": (12, 25), "n": (1, 1), "h": (10, 31), "t": (11, None), "v": (2, 14)}[name[0]]
        if name.endswith("eve"):
            month, day_number = (12, 31) if name.startswith("new") else (12, 24)
        return Granule(number, month, day_number if exact or name[0] in "hvn" else None)

    if year:
        return of(int(year))
    here = of(said.year)
    if forward is False or forward is None:
        return here if here.first <= said.first else of(said.year - 1)
    return here if here.last >= said.first else of(said.year + 1)
