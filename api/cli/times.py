"""Times as people type them: RFC 3339, a reduced date, or words that dateparser reads."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from ontology.edtf import parse_edtf
from ontology.errors import InvalidInput
from ontology.instant import Instant, format_instant, from_datetime, to_datetime, zone_named


@dataclass(frozen=True, slots=True)
class Understood:
    """An instant and the words that it was read from."""

    instant: Instant
    words: str

    @property
    def rfc3339(self) -> str:
        """As the API takes it."""
        return format_instant(self.instant)

    @property
    def echo(self) -> str:
        """What was understood, where that is not what was typed."""
        return self.rfc3339 if self.words == self.rfc3339 else f"{self.rfc3339} (from {self.words!r})"


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

    found = dateparser.parse(
        text,
        languages=["en"],
        settings={
            "RELATIVE_BASE": to_datetime(now).replace(tzinfo=None),
            "PREFER_DATES_FROM": "past",
            "PREFER_DAY_OF_MONTH": "first",
            "PREFER_MONTH_OF_YEAR": "first",
            "RETURN_AS_TIMEZONE_AWARE": False,
            "TIMEZONE": zone or "UTC",
        },
    )
    if found is None:
        raise InvalidInput(
            f"{text[:60]!r} is no time: write '2025-03-01', '2025-03-01T12:00:00Z' or words such as 'last March'", reason="UNPARSEABLE"
        )
    aware = found.replace(tzinfo=wall) if wall is not None and found.tzinfo is None else found
    return Understood(from_datetime(aware if aware.tzinfo else aware.replace(tzinfo=UTC)), text)


def present() -> Instant:
    """Now."""
    return from_datetime(datetime.now(UTC))
