"""Times as people type them: RFC 3339, a reduced date, or words that dateparser reads."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from ontology.echo import echo
from ontology.edtf import parse_edtf
from ontology.errors import InvalidInput
from ontology.instant import Instant, format_instant, from_datetime, to_datetime, zone_named

_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_MONTH_BEFORE = re.compile(rf"(?:in )?(?:last|past|this past) {_MONTH}", re.IGNORECASE)
_OF_CALENDAR = re.compile(rf"\b(?:{_MONTH}|\d{{4}})\b", re.IGNORECASE)
"""What names a month or year: of what it leaves open the first is meant. Else, as in "a year ago" or "5pm", the present's own."""
_DAY_ALONE = re.compile(r"(?:on )?(?:the )?\d{1,2}(?:st|nd|rd|th)?", re.IGNORECASE)
"""Which month is left open, and dateparser takes the number for one."""
_WHOLE = re.compile(r"(?:last|this|next) (?P<unit>month|year)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Understood:
    """An instant and the words that it was read from; `guessed` where they are no date of a standard form."""

    instant: Instant
    words: str
    guessed: bool = False

    @property
    def rfc3339(self) -> str:
        """As the API takes it."""
        return format_instant(self.instant)

    @property
    def echo(self) -> str:
        """What was understood, and of what."""
        return f"{self.rfc3339} (from {self.words!r})"


def understood(text: str, now: Instant, zone: str | None = None) -> Understood:
    """The instant that a person means: a reduced date is its first instant, words are relative to `now` and in the past.

    Raises InvalidInput.
    """
    wall = zone_named(zone)
    try:
        return Understood(parse_edtf(text, zone=wall).lo, text)
    except InvalidInput as failure:
        # A date that does not exist is a mistake to name, not words to guess at.
        if failure.reason != "UNPARSEABLE":
            raise
    # Loaded here: most times are dates, and dateparser takes longer to load than they take to answer.
    import dateparser

    of_what_is_open = "first" if _OF_CALENDAR.search(text) else "current"
    known = None if _DAY_ALONE.fullmatch(text.strip()) else _named(text)
    found = known and dateparser.parse(
        known,
        languages=["en"],
        settings={
            "RELATIVE_BASE": to_datetime(now).replace(tzinfo=None),
            "PREFER_DATES_FROM": "past",
            "PREFER_DAY_OF_MONTH": of_what_is_open,
            "PREFER_MONTH_OF_YEAR": of_what_is_open,
            "RETURN_AS_TIMEZONE_AWARE": False,
            "TIMEZONE": zone or "UTC",
        },
    )
    if not found:
        raise InvalidInput(
            f"{echo(text)} is no time: write '2025-03-01', '2025-03-01T12:00:00Z' or words such as 'last March'", reason="UNPARSEABLE"
        )
    whole = _WHOLE.fullmatch(text.strip())
    if whole is not None:
        # A month or year is its first instant, as a reduced date is.
        found = found.replace(month=1 if whole["unit"].lower() == "year" else found.month, day=1, hour=0, minute=0, second=0, microsecond=0)
    aware = found.replace(tzinfo=wall) if wall is not None and found.tzinfo is None else found
    instant = from_datetime(aware if aware.tzinfo else aware.replace(tzinfo=UTC))
    if _MONTH_BEFORE.fullmatch(text.strip()) and (aware.year, aware.month) == (to_datetime(now).year, to_datetime(now).month):
        # Said in March, "last March" is not the month that has just begun.
        instant = from_datetime(to_datetime(instant).replace(year=aware.year - 1))
    return Understood(instant, text, guessed=True)


def _named(text: str) -> str:
    """The month alone of "last March", which dateparser does not read; it takes the last one by itself."""
    found = _MONTH_BEFORE.fullmatch(text.strip())
    return found["month"] if found else text


def present() -> Instant:
    """Now."""
    return from_datetime(datetime.now(UTC))
