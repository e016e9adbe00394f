"""Cues of WebVTT and SRT files: when, and who said which words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from workers.readers.cue_text import INLINE_STAMP, Part, parts_of, plain
from workers.readers.lines import BYTE_ORDER_MARK, Line, decoded
from workers.readers.report import ReadReport, Rejected

_TIME = r"(?:(\d{1,5}):)?(\d{1,2}):(\d{2})(?:[.,](\d{1,9}))?"
_TIMING = re.compile(rf"\s*{_TIME}\s*--+>\s*{_TIME}(?:\s.*)?", re.ASCII)
_COMMENT = re.compile(r"(NOTE|STYLE|REGION)(?:[ \t]|$)")
_NAMED_CUE = re.compile(r'\d+ "(?P<name>[^"]{1,200})" \(\d+\)')
"""A cue's own name in which Webex writes its speaker: `16 "Maya Rao" (1652463616)`."""

_MAX_OFFSET = 100_000 * 3_600 * 1_000_000
_LONGEST = 1_000_000
"""Characters of one cue; what is longer is no cue."""


@dataclass(frozen=True, slots=True)
class Cue:
    """A cue: the line of its times, its start and end in microseconds into the recording, its parts."""

    line: int
    start: int
    end: int
    parts: tuple[Part, ...]


@dataclass(slots=True)
class _Open:
    """A cue of which lines may follow."""

    line: int
    start: int
    end: int
    speaker: str | None
    body: list[str]
    size: int = 0


def is_timing(line: str) -> bool:
    """Whether a line holds the times of a cue."""
    return _TIMING.fullmatch(line.rstrip("\r")) is not None


def read_cues(lines: Iterable[Line], name: str, report: ReadReport, names: frozenset[str] = frozenset()) -> Iterator[Cue | Rejected]:
    """The cues of a file in its order. A bad one costs itself alone; comments, styles and regions are counted.

    A cue ends at an empty line, or where the next one's times stand right behind its text. `names` are known prefixes.
    """
    cue: _Open | None = None
    rolled: frozenset[str] = frozenset()
    inside_comment, lost, begun = False, False, False
    loose: list[str] = []
    for line in lines:
        if line.data is None:
            yield Rejected(name, line.number, "too-long", "the line is too long")
            continue
        text = decoded(line.data.removeprefix(BYTE_ORDER_MARK) if line.number == 1 else line.data, report).rstrip("\r")
        match = None if inside_comment else _TIMING.fullmatch(text)
        if match is not None:
            if cue is not None:
                if cue.body and cue.body[-1].strip().isdigit():
                    # The number of this cue, with no empty line before it.
                    cue.body.pop()
                done, rolled = _closed(cue, rolled, names, report)
                yield done
            cue, begun = _opened(match, line.number, loose), True
            lost = cue is None
            if lost:
                yield Rejected(name, line.number, "timestamp", "the times of the cue are none, or end before they begin")
            loose.clear()
        elif text and not text.strip() and cue is not None and not cue.body:
            # Captions that roll up begin with a line that holds a space.
            continue
        elif not text.strip():
            if cue is not None:
                done, rolled = _closed(cue, rolled, names, report)
                yield done
            report.skipped.update({"text outside of cues": len(loose)} if begun and loose else {})
            cue, inside_comment, lost = None, False, False
            loose.clear()
        elif cue is not None:
            cue.size += len(text)
            if cue.size <= _LONGEST:
                cue.body.append(text)
            elif cue.size - len(text) <= _LONGEST:
                yield Rejected(name, line.number, "too-long", f"a cue of more than {_LONGEST:,} characters was cut here")
        elif inside_comment or lost:
            continue
        elif comment := _COMMENT.match(text):
            report.skipped[comment[1]] += 1
            inside_comment = True
        elif "-->" in text:
            yield Rejected(name, line.number, "timestamp", "the times of the cue are none")
            lost = True
        else:
            # The name of a cue, or what is left of one with an empty line in it.
            loose.append(text[:300])
    if cue is not None:
        yield _closed(cue, rolled, names, report)[0]


def _opened(match: re.Match[str], line: int, loose: list[str]) -> _Open | None:
    start, end = _offset(*match.group(1, 2, 3, 4)), _offset(*match.group(5, 6, 7, 8))
    if start is None or end is None or end < start:
        return None
    named = _NAMED_CUE.fullmatch(loose[-1].strip()) if loose else None
    return _Open(line, start, end, named["name"].strip() if named else None, [])


def _offset(hours: str | None, minutes: str, seconds: str, fraction: str | None) -> int | None:
    if (int(minutes) > 59 and hours is not None) or int(seconds) > 59:
        return None
    whole = (int(hours or 0) * 60 + int(minutes)) * 60 + int(seconds)
    offset = whole * 1_000_000 + int((fraction or "").ljust(6, "0")[:6])
    return offset if offset <= _MAX_OFFSET else None


def _closed(cue: _Open, rolled: frozenset[str], names: frozenset[str], report: ReadReport) -> tuple[Cue, frozenset[str]]:
    """The cue, and its lines where the next may repeat them: captions that roll up show each line twice or more."""
    shown = [plain(line) for line in cue.body]
    lines = [line for line, text in zip(cue.body, shown, strict=True) if not (text and text in rolled)]
    parts = tuple(parts_of(lines, names, report))
    if cue.speaker:
        parts = tuple(part if part.named else Part(part.text, cue.speaker, "voice") for part in parts)
    rolling = any(INLINE_STAMP.search(line) for line in cue.body) or any(text in rolled for text in shown)
    return Cue(cue.line, cue.start, cue.end, parts), frozenset(shown if rolling else ())
