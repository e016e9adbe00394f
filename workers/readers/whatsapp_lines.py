"""The heads of WhatsApp's lines: a date, a clock, and what stands behind them, in the forms of both phones and many locales."""

from __future__ import annotations

import re
from dataclasses import dataclass

MARKS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_SPACES = re.compile("[\u00a0\u2000-\u200a\u202f\u3000\t]")

_DATE = r"(?P<a>\d{1,4})(?P<sep>[./-])[ ]?(?P<b>\d{1,2})(?P=sep)[ ]?(?P<c>\d{1,4})\.?"
_PERIOD = r"[^\W\d_]{1,4}\.?(?:[ ]?[^\W\d_]{1,4}\.?)?"
_CLOCK = rf"(?:(?P<before>{_PERIOD})[ ]?)?(?P<hour>\d{{1,2}})[:.](?P<minute>\d\d)(?:[:.](?P<second>\d\d))?(?:[ ]?(?P<after>{_PERIOD}))?"
_GAP = r"(?:[,،]|[ ](?:à|at|um|kl\.?|klo|om|às|as|alle|a[ ]las))?[ ]"
_BRACKETED = re.compile(rf"\[{_DATE}{_GAP}{_CLOCK}\][ ]?(?P<rest>.*)", re.DOTALL)
_DASHED = re.compile(rf"{_DATE}{_GAP}{_CLOCK}[ ][-–—][ ](?P<rest>.*)", re.DOTALL)
_COPIED = re.compile(r"\[\d{1,4}[./-]\d{1,2}(?:[./-]\d{1,4})?[,.]? \d{1,2}[:.]\d\d[^\]]{0,14}\] [^:\n]{1,80}: ")
_START = 200
_DIGITS = re.compile(r"\d")

_MORNING = frozenset({"am", "πμ", "ص", "上午", "凌晨", "清晨", "早上", "오전", "午前", "vorm", "fm", "de", "dop", "sa"})
_AFTERNOON = frozenset({"pm", "μμ", "م", "下午", "中午", "晚上", "오후", "午後", "nachm", "em", "du", "odp", "ch"})


@dataclass(frozen=True, slots=True)
class Shape:
    """The form of a file's heads. An export writes all of them alike, so a line of another form is part of a message."""

    bracketed: bool
    separator: str
    year_first: bool
    full_year: bool
    seconds: bool
    period: str
    """Where the clock's half of the day stands: "before" it, "after" it, or nowhere."""


@dataclass(frozen=True, slots=True)
class Head:
    """One head: the three numbers of its date as they are written, its clock of 24 hours (-1: no time), what follows it."""

    shape: Shape
    date: tuple[int, int, int]
    hour: int
    minute: int
    second: int
    rest: str
    """With its direction marks, which tell what a phone wrote itself."""


def parse_head(line: str) -> Head | None:
    """The head of a line of a chat; None where the line begins with none."""
    # Cheap for the lines that go on with a message: a head has a digit in its first characters.
    if not _DIGITS.search(line[:6]):
        return None
    start = line[:_START]
    plain = _SPACES.sub(" ", MARKS.sub("", start))
    match = (_BRACKETED if plain.startswith("[") else _DASHED).match(plain)
    if match is None or not _DIGITS.match(plain.lstrip("[")[:1]):
        return None
    first, last = match["a"], match["c"]
    if 3 in (len(first), len(last)) or len(first) + len(last) == 8:
        return None
    period, where = match["before"] or match["after"], "before" if match["before"] else "after" if match["after"] else ""
    half = _half(period)
    if where and half is None:
        return None
    bracketed = plain.startswith("[")
    if match["second"] is not None and not bracketed:
        # No phone writes so; program logs do.
        return None
    shape = Shape(bracketed, match["sep"], len(first) == 4, 4 in (len(first), len(last)), match["second"] is not None, where)
    hour = _hour(int(match["hour"]), half)
    rest = _behind(line, len(match["rest"]), len(plain))
    return Head(shape, (int(first), int(match["b"]), int(last)), hour, int(match["minute"]), int(match["second"] or 0), rest)


def is_copied(line: str) -> bool:
    """Whether a line of a message is one of another that was copied into it (`[20/05, 09:01] Ben: Hi`)."""
    head = parse_head(line)
    return ": " in head.rest if head is not None else bool(_COPIED.match(_SPACES.sub(" ", MARKS.sub("", line[:_START]))))


def plain_name(name: str) -> str:
    """A sender's name without direction marks and the "~" of people who are no contacts."""
    return " ".join(_SPACES.sub(" ", MARKS.sub("", name)).split()).removeprefix("~").strip()


def _half(period: str | None) -> int | None:
    if period is None:
        return None
    word = period.casefold().replace(".", "").replace(" ", "")
    return 0 if word in _MORNING else 12 if word in _AFTERNOON else None


def _hour(hour: int, half: int | None) -> int:
    if half is None or hour > 12:
        return hour if hour < 24 and (half is None or half == 12) else -1
    return hour % 12 + half


def _behind(line: str, rest: int, plain: int) -> str:
    """What stands behind the head in the line itself: the head's length without marks is known, `plain - rest` characters."""
    head, at = plain - rest, 0
    if plain == min(len(line), _START):
        return line[head:]
    while head and at < len(line):
        if not MARKS.match(line[at]):
            head -= 1
        at += 1
    return line[at:]
