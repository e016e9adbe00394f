"""Time expressions: where they stand, what role they have, and which granule they denote.

Own rules instead of a general date parser, because a general one shifts 30 February to March, reads "may" and "second" as
dates, and does not tell "last March" from "in March". Finding is one pass of a compiled expression; resolving needs the day
of saying and whether the clause looks back or forward.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from extraction.calendar import MONTHS, WEEKDAYS, Granule, day_numbered, easter

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|"
    r"aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_WEEKDAY = r"(?:mon|tue(?:s)?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
_LONG_WEEKDAY = r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
_NUMBER = (
    r"(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|"
    r"eleven|twelve|fifteen|twenty|thirty|forty|fifty|a\s+couple\s+of|couple)"
)
_UNIT = r"(?:day|week|fortnight|month|year|yr|decade|hour|minute)s?"
_SEASON = r"(?:spring|summer|autumn|fall|winter)"
_HOLIDAY = (
    r"(?:christmas(?:\s+(?:day|eve))?|xmas|new\s+year(?:'s(?:\s+(?:day|eve))?)?|"
    r"easter(?:\s+(?:sunday|monday))?|halloween|thanksgiving|valentine's(?:\s+day)?)"
)
_PART = r"(?:the\s+)?(?:very\s+)?(?:beginning|start|middle|end|early|late|mid)(?:\s+of|\s+in|-)?"

_ATOM = re.compile(
    rf"""
    (?<![\w.:/-])(?:
      (?P<iso>\d{{4}}-\d\d(?:-\d\d)?)(?:T[\d:.]+Z?)?(?![\w-])
    | (?:the\s+)?(?P<dmy>(?P<dmy_d>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+(?P<dmy_m>{_MONTH})(?:,?\s+(?P<dmy_y>\d{{4}})\b)?)
    | (?P<mdy>(?P<mdy_m>{_MONTH})\s+(?:the\s+)?(?P<mdy_d>\d{{1,2}})(?:st|nd|rd|th)?(?![\w:.]*\d)(?:,?\s+(?P<mdy_y>\d{{4}})\b)?)
    | (?P<my>(?P<my_m>{_MONTH}),?(?:\s+of)?\s+(?P<my_y>(?:19|20)\d\d)\b)
    | (?P<ago>(?P<ago_n>{_NUMBER})\s+(?P<ago_u>{_UNIT})\s+ago\b(?:\s+(?P<ago_today>today)\b)?)
    | (?P<hence>in\s+(?P<hence_n>{_NUMBER})\s+(?P<hence_u>{_UNIT})(?:'s?\s+time)?\b)
    | (?P<rel>(?P<rel_w>last|this\s+past|this\s+coming|this|next|past)\s+
        (?P<rel_u>week|weekend|month|year|{_SEASON}|night|{_WEEKDAY}\b|{_MONTH}|{_HOLIDAY})\b)
    | (?P<word>(?:the\s+)?day\s+before\s+yesterday|(?:the\s+)?day\s+after\s+tomorrow|yesterday|tomorrow|today|tonight
        |this\s+(?:morning|afternoon|evening)|earlier\s+today)\b
    | (?P<ordinal>the\s+(?P<ordinal_d>\d{{1,2}})(?:st|nd|rd|th))\b(?!\s+(?!to\b|until\b|till\b|and\b|at\b|for\b|in\b)[a-z])
    | (?P<holiday>{_HOLIDAY})(?![\w])(?:\s+(?P<holiday_y>(?:19|20)\d\d)\b)?
    | (?P<season>(?:the\s+)?(?P<season_s>{_SEASON})(?:(?:\s+of)?\s+(?P<season_y>(?:19|20)\d\d))?)\b
    | (?P<weekday>{_LONG_WEEKDAY})\b
    | (?P<month>{_MONTH})
    | (?P<year>(?:19|20)\d\d)\b(?![.:/-]\d|-\w|\s*(?:%|mg|g\b|kg|euros?|dollars?|people|users|MB|GB))
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_MARKER = re.compile(
    rf"(?P<marker>\b(?:ever\s+since|since|starting(?:\s+(?:on|from|in))?|beginning(?:\s+(?:on|in))?|effective|as\s+of|from|until|till|til|up\s+to|through|by|before|after|between|on|in|at|over|during|around|back\s+in|for|of))?"
    rf"\s*(?P<vague>(?:(?:just|shortly|right|some\s*time|sometime)\s+)?(?:about|around|approximately|before|after)?)\s*(?P<part>{_PART})?\s*\Z",
    re.IGNORECASE,
)
_EVENT_NOUN = re.compile(r"\b(?:since|after|from)\s+the\s+\w+(?:\s+\w+)?\s+(?:in|of|on)\s*\Z", re.IGNORECASE)
_SPAN = re.compile(
    rf"\b(?:from|between)\s+(?:the\s+)?(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\s*(?:to|and|until|till|through|-|–)\s*(?:the\s+)?(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+(?P<m>{_MONTH})(?:\s+(?P<y>\d{{4}})\b)?"
    rf"|(?<![\w-])(?P<y1>(?:19|20)\d\d)\s*[-–]\s*(?P<y2>(?:19|20)\d\d)(?![\w-])",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\s*(?:,\s*)?(?:to|and|until|till|through|up\s+to|-|–|—)\s*(?:the\s+)?\Z", re.IGNORECASE)
_DURATION = re.compile(
    rf"\b(?:for|over|in|these)\s+(?:the\s+)?(?:last|past)?\s*(?:about|around|almost|nearly|over|more\s+than|roughly)?\s*(?P<n>{_NUMBER}|last|past)\s+(?P<u>{_UNIT})(?:\s+now)?\b(?!\s+(?:ago|old|time))",
    re.IGNORECASE,
)
_HINT = re.compile(
    r"\d|day|week|month|year|decade|ago|tonight|morning|evening|afternoon|tomorrow|night|spring|summer|autumn|fall|winter|christmas|xmas|easter"
    r"|halloween|thanksgiving|valentine|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)",
    re.IGNORECASE,
)
_STAMP = re.compile(r"\[[^\[\]\n]{0,40}\d{4}-\d\d-\d\d[^\[\]\n]{0,40}\]")
_WORD_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "couple": 2, "last": 1, "past": 1,
}  # fmt: skip
_MARKERS = {
    "since": "since", "ever since": "since", "from": "since", "after": "since", "effective": "since", "as of": "since", "until": "until",
    "till": "until", "til": "until", "up to": "until", "through": "until", "by": "by", "before": "before", "between": "since",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class When:
    """A time expression in a text: half-open characters, its role, and the parts that `resolve` needs.

    Roles: at, since, until, by, before, span (lo to hi), duration (`count` units).
    """

    start: int
    end: int
    role: str
    lo: re.Match[str] | None = None
    hi: re.Match[str] | None = None
    part: str = ""
    count: int = 0
    unit: str = ""

    @property
    def future(self) -> bool:
        """Whether its own words point forward."""
        text = (self.lo.group() if self.lo else "").casefold()
        return text.startswith(("tomorrow", "next", "this coming", "tonight", "the day after", "day after")) or bool(
            self.lo and self.lo.groupdict().get("hence")
        )


@dataclass(frozen=True, slots=True)
class Stretch:
    """Stated bounds as granules; None where not stated. `point`: one granule in which it was so."""

    lo: Granule | None = None
    hi: Granule | None = None
    point: bool = False


def find_times(text: str) -> list[When]:
    """The time expressions of a text, in order and disjoint. Export stamps in brackets are none."""
    if not _HINT.search(text):
        return []
    masked = _STAMP.sub(lambda match: " " * len(match.group()), text)
    found: list[When] = []
    taken: list[tuple[int, int]] = []
    for match in _SPAN.finditer(masked):
        found.append(When(match.start(), match.end(), "span", match, match))
        taken.append(match.span())
    for match in _DURATION.finditer(masked):
        if match.group().casefold().startswith(("for", "over", "these")) or "last" in match.group() or "past" in match.group():
            found.append(
                When(match.start(), match.end(), "duration", None, None, count=count_of(match["n"]), unit=match["u"].casefold().rstrip("s"))
            )
            taken.append(match.span())
    atoms = [m for m in _ATOM.finditer(masked) if not any(m.start() < end and start < m.end() for start, end in taken)]
    place = 0
    while place < len(atoms):
        atom = atoms[place]
        place += 1
        before = masked[max(0, atom.start() - 60) : atom.start()]
        offset = atom.start() - len(before)
        marker = _MARKER.search(before)
        word = re.sub(r"\s+", " ", (marker["marker"] or "").casefold()) if marker else ""
        vague = (marker["vague"] or "").casefold() if marker else ""
        part = (marker["part"] or "").casefold().strip() if marker else ""
        if _refused(atom, masked, word, part):
            continue
        start = offset + marker.start() if marker and (word or part or vague.strip()) else atom.start()
        role = "since" if word.startswith(("starting", "beginning")) else _MARKERS.get(word, "at")
        event = _EVENT_NOUN.search(before)
        if event and role == "at":
            role, start = "since", offset + event.start()
        if vague.endswith(("before", "after")) and role in ("before", "at", "since"):
            role = "at" if vague.startswith(("just", "shortly", "right")) else role
        if place < len(atoms) and word in ("from", "between") and _BETWEEN.match(masked[atom.end() : atoms[place].start()]):
            found.append(When(start, atoms[place].end(), "span", atom, atoms[place]))
            place += 1
            continue
        found.append(When(start, atom.end(), role, atom, part=part))
    return sorted(found, key=lambda when: when.start)


def _refused(atom: re.Match[str], text: str, marker: str, part: str) -> bool:
    """Whether a word that may be a date is something else here: modal "may", "fall" the verb, a bare number like a year."""
    if atom["month"]:
        name = atom["month"].casefold()
        if name in ("may", "march", "mar", "sun", "dec", "jan") and not (marker or part):
            return name in ("may", "mar") or atom["month"].islower()
        return not (marker or part) and atom["month"].islower()
    if atom["season"]:
        return not (marker or part or atom["season_y"])
    if atom["year"]:
        return marker not in _MARKERS and marker not in ("in", "back in", "during", "around", "of", "for", "on") and not part
    if atom["ordinal"]:
        return marker not in _MARKERS and marker not in ("on", "in", "is") and not re.search(r"(?:is|'s|was|to)\s*\Z", text[: atom.start()])
    return False


def count_of(text: str) -> int:
    """The number that a numeral or article stands for."""
    word = text.casefold().split()[0] if not text.casefold().startswith("a couple") else "couple"
    return int(word) if word.isdigit() else _WORD_NUMBERS.get(word, 1)


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
    if re.fullmatch(_SEASON, unit):
        return Granule(said.year + step if step and _season_over(unit, said, step) else said.year)
    if re.match(_HOLIDAY, unit):
        return _holiday(unit, None, said, False if step < 0 else True if step > 0 else forward)
    if re.fullmatch(_WEEKDAY, unit):
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
