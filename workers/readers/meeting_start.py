"""When a recorded meeting began: stated by the caller, by the file's head, or by its name."""

from __future__ import annotations

import re
from zoneinfo import ZoneInfo

from ontology.errors import InvalidInput
from ontology.instant import Instant
from workers.readers.files import SourceFile
from workers.readers.options import ReadOptions
from workers.readers.stamps import parse_stamp
from workers.readers.subtitles import is_timing

_CLOCK = r"(?P<hour>\d\d)[-_.: ]?(?P<minute>\d\d)(?:[-_.: ]?(?P<second>\d\d)(?:[.,]\d{1,9})?)?"
_STAMP = re.compile(
    r"(?<!\d)(?P<gmt>GMT[ _-]?)?(?P<year>(?:19|20)\d\d)(?P<sep>[-_./]?)(?P<month>\d\d)(?P=sep)(?P<day>\d\d)(?!\d)"
    rf"(?:(?:[ _T-]|, |[ _]at[ _]){_CLOCK}(?!\d)"
    r"(?:[ _]?(?P<zone>Z(?![a-z])|UTC(?![+-])|(?:GMT|UTC)?[+-]\d{1,2}(?::?\d\d)?(?!\d)|GMT))?)?",
)
_HEAD = 64
"""Lines before the first cue in which a date is looked for."""


def meeting_start(file: SourceFile, options: ReadOptions, zone: ZoneInfo | None) -> tuple[Instant, str] | None:
    """(when the meeting began, where that stands: "option", "header" or "file name"), or None.

    A date without a clock begins at its first instant. `GMT20260520-150000` is a time of UTC, as Zoom names its files.
    """
    if options.start is not None:
        return options.start, "option"
    for text, where in ((_header(file), "header"), (file.filename, "file name")):
        for match in _STAMP.finditer(text):
            found = _instant(match, zone)
            if found is not None:
                return found, where
    return None


def _header(file: SourceFile) -> str:
    """What stands before the first cue: the header and notes."""
    kept = []
    for raw in file.start.split(b"\n")[:_HEAD]:
        line = raw.decode(errors="replace").rstrip("\r")
        if is_timing(line):
            break
        kept.append(line)
    return "\n".join(kept)


def _instant(match: re.Match[str], zone: ZoneInfo | None) -> Instant | None:
    day = f"{match['year']}-{match['month']}-{match['day']}"
    clock = f"T{match['hour']}:{match['minute']}:{match['second'] or '00'}{_offset(match)}" if match["hour"] is not None else ""
    # Digits behind a date may be no clock, and eight digits no date, such as a number of a document.
    for stamp in (day + clock, day):
        try:
            return parse_stamp(stamp, zone)
        except InvalidInput:
            continue
    return None


def _offset(match: re.Match[str]) -> str:
    stated = match["zone"]
    if stated is None:
        return "Z" if match["gmt"] else ""
    digits = stated.removeprefix("GMT").removeprefix("UTC")
    if not digits or digits == "Z":
        return "Z"
    hours, _, minutes = digits[1:].partition(":")
    if len(hours) > 2:
        hours, minutes = hours[:-2], hours[-2:]
    return f"{digits[0]}{hours.zfill(2)}:{minutes or '00'}"
