"""Times as people type them."""

from __future__ import annotations

import pytest

from api.cli.times import understood
from ontology.errors import InvalidInput
from ontology.instant import parse_instant

NOW = parse_instant("2026-03-20T12:00:00Z")


@pytest.mark.parametrize(
    ("text", "expected", "guessed"),
    [
        ("2024-03-01", "2024-03-01T00:00:00Z", False),
        ("2024-03", "2024-03-01T00:00:00Z", False),
        ("2024-03-01T12:00:00+02:00", "2024-03-01T10:00:00Z", False),
        ("last November", "2025-11-01T00:00:00Z", True),
        ("last March", "2025-03-01T00:00:00Z", True),
        ("March 2024", "2024-03-01T00:00:00Z", True),
        ("two weeks ago", "2026-03-06T12:00:00Z", True),
        ("a year ago", "2025-03-20T12:00:00Z", True),
        ("3 months ago", "2025-12-20T12:00:00Z", True),
        ("last year", "2025-01-01T00:00:00Z", True),
        ("last month", "2026-02-01T00:00:00Z", True),
        ("10:00", "2026-03-20T10:00:00Z", True),
        ("5pm", "2026-03-19T17:00:00Z", True),
        ("noon", "2026-03-20T12:00:00Z", True),
        ("March 5", "2026-03-05T00:00:00Z", True),
        ("june", "2025-06-01T00:00:00Z", True),
    ],
)
def test_reads_dates_and_words(text: str, expected: str, guessed: bool) -> None:
    found = understood(text, NOW)
    assert (found.rfc3339, found.guessed) == (expected, guessed)


@pytest.mark.parametrize("text", ["2024-02-30", "soonish", "", "the 5th", "5"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        understood(text, NOW)
