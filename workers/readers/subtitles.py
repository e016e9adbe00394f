"""Cues of WebVTT and SRT files: when, who where it is marked, and the words without markup."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from workers.readers.lines import BYTE_ORDER_MARK, Line, decoded
from workers.readers.report import ReadReport, Rejected

_TIME = r"(?:(\d{1,5}):)?(\d{1,2}):(\d{2})(?:[.,](\d{1,9}))?"
TIMING = re.compile(rf"\s*{_TIME}\s*--+>\s*{_TIME}(?:\s.*)?", re.ASCII)
_COMMENT = re.compile(r"(NOTE|STYLE|REGION)(?:[ \t]|$)")
_VOICE = re.compile(r"<v(?:\.[^ \t<>]*)?[ \t]+([^<>]{1,1000})>", re.IGNORECASE)
_TAG = re.compile(r"</?(?:[a-z]{1,8}|\d[\d:.]{4,15})(?:[.\s][^<>]*)?/?>|\{\\[^{}\n]{0,80}\}", re.IGNORECASE)
_RUBY = re.compile(r"<rt>[^<>]*</rt>", re.IGNORECASE)
_INLINE_STAMP = re.compile(r"<\d[\d:.]{4,15}>")
_PREFIX = re.compile(
    r"(?:>>+[ \t]*|-[ \t])?[\[(]?"
    r"(?P<name>[^\W\d_][^\n:<>,;!?\"“”()\[\]{}]{0,59}?)"
    r"[\])]?(?:[ \t]*\([^()\n]{1,60}\))?[ \t]?:(?=[ \t]|$)[ \t]*"
)
_CHANGE = re.compile(r">>+[ \t]*")
_SOUND = re.compile(r"\[[^\[\]\n]{1,60}\](?![ \t]?:)|[♪♫][^♪♫\n]*[♪♫]|[♪♫]|^(?:>>+[ \t]*|[-–—][ \t]?)?\([^()\n]{1,60}\)$")
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’)\]]*$")
_ROLE = re.compile(r"[ \t]*\([^()\n]{1,60}\)$")
_LABEL_WORDS = """
    note notes update updates question answer warning example todo ps p.s action actions step summary agenda decision decisions
    correction reminder edit fyi q a re subject date time spoiler hint plan problem solution result tip point
    monday tuesday wednesday thursday friday saturday sunday today tomorrow yesterday
"""
_SMALL_WORDS = "de da di do dos das du del della der den van von zu la le el al bin ibn of the y e and af av jr sr"
_LABELS = frozenset(_LABEL_WORDS.split())
_SMALL = frozenset(_SMALL_WORDS.split())
_WORDS = 6
_MAX_OFFSET = 100_000 * 3_600 * 1_000_000


@dataclass(frozen=True, slots=True)
class Part:
    """Words of a cue by one voice. `speaker` is None where none is marked; `named` is how: "voice", "prefix", or "change" of
    speaker without a name."""

    text: str
    speaker: str | None = None
    named: str | None = None


@dataclass(frozen=True, slots=True)
class Cue:
    """A cue: the line of its times, its start and end in microseconds into the recording, its parts."""

    line: int
    start: int
    end: int
    parts: tuple[Part, ...]


def is_timing(line: str) -> bool:
    """Whether a line holds the times of a cue."""
    return TIMING.fullmatch(line.rstrip("\r")) is not None


def read_cues(lines: Iterable[Line], name: str, report: ReadReport) -> Iterator[Cue | Rejected]:
    """The cues of a file in its order. A bad one costs itself alone; comments, styles and regions are counted.

    A cue ends at an empty line, or where the next one's times stand right behind its text.
    """
    timing: tuple[int, int, int] | None = None
    body: list[str] = []
    rolled: list[str] = []
    inside_comment, broken, begun, loose = False, False, False, 0

    def taken() -> Iterator[Cue]:
        nonlocal timing, rolled
        if timing is not None:
            cue, rolled = _cue(timing, body, rolled, report)
            yield from [cue] if cue.parts else []
        timing = None
        body.clear()

    for line in lines:
        if line.data is None:
            yield Rejected(name, line.number, "too-long", "the line is too long")
            continue
        text = decoded(line.data.removeprefix(BYTE_ORDER_MARK) if line.number == 1 else line.data, report).rstrip("\r")
        match = TIMING.fullmatch(text)
        if match is not None and not inside_comment:
            if timing is not None and body and body[-1].strip().isdigit():
                # The number of this cue, with no empty line before it.
                body.pop()
            yield from taken()
            times = _offset(*match.group(1, 2, 3, 4)), _offset(*match.group(5, 6, 7, 8))
            begun, loose = True, 0
            broken = True
            if times[0] is None or times[1] is None or times[1] < times[0]:
                yield Rejected(name, line.number, "timestamp", "the times of the cue are none, or end before they begin")
            else:
                timing, broken = (line.number, times[0], times[1]), False
        elif text and timing is not None and not body and not text.strip():
            # Captions that roll up begin with a line that holds a space.
            continue
        elif not text.strip():
            yield from taken()
            report.skipped.update({"text outside of cues": loose} if loose else {})
            inside_comment, broken, loose = False, False, 0
        elif timing is not None:
            body.append(text)
        elif inside_comment or broken:
            pass
        elif comment := _COMMENT.match(text):
            report.skipped[comment[1]] += 1
            inside_comment = True
        elif "-->" in text:
            yield Rejected(name, line.number, "timestamp", "the times of the cue are none")
            broken = True
        elif begun:
            # The name of a cue, or what is left of one with an empty line in it.
            loose += 1
    yield from taken()


def _offset(hours: str | None, minutes: str, seconds: str, fraction: str | None) -> int | None:
    if (int(minutes) > 59 and hours is not None) or int(seconds) > 59:
        return None
    whole = (int(hours or 0) * 60 + int(minutes)) * 60 + int(seconds)
    offset = whole * 1_000_000 + int((fraction or "").ljust(6, "0")[:6])
    return offset if offset <= _MAX_OFFSET else None


def _cue(timing: tuple[int, int, int], body: list[str], rolled: list[str], report: ReadReport) -> tuple[Cue, list[str]]:
    """The cue, and its lines where the next may repeat them: captions that roll up show each line twice or more."""
    rolling = any(_INLINE_STAMP.search(line) for line in body)
    plain = [_plain(line) for line in body]
    lines = [line for line, shown in zip(body, plain, strict=True) if not (rolled and shown and shown in rolled)]
    parts = tuple(part for part in _parts(lines, report) if part.text)
    keep = plain if rolling or (rolled and any(line in rolled for line in plain)) else []
    return Cue(*timing, parts), keep


def _parts(lines: list[str], report: ReadReport) -> Iterator[Part]:
    joined = _RUBY.sub("", "\n".join(lines))
    if _VOICE.search(joined):
        yield from _voices(joined, report)
        return
    kept = []
    for line in joined.split("\n"):
        plain = _plain(line)
        bare = _SOUND.sub("", plain).strip()
        if plain and not bare.strip("-–—>: "):
            report.skipped["sound"] += 1
        elif bare:
            kept.append(bare)
    dashed = len(kept) > 1 and all(re.match(r"[-–—]\s?\S", line) for line in kept)
    texts: list[Part] = []
    for line in kept:
        begins = not texts or dashed or bool(_CHANGE.match(line)) or bool(_SENTENCE_END.search(texts[-1].text))
        found = _spoken(re.sub(r"^[-–—]\s?", "", line) if dashed else line) if begins else Part(line)
        if found.named is None and dashed:
            found = Part(found.text, None, "change")
        if found.named is None and texts:
            texts[-1] = Part(f"{texts[-1].text} {found.text}".strip(), texts[-1].speaker, texts[-1].named)
        else:
            texts.append(found)
    yield from texts


def _voices(text: str, report: ReadReport) -> Iterator[Part]:
    at, speaker = 0, None
    for match in [*_VOICE.finditer(text), None]:
        piece = text[at : match.start() if match else len(text)]
        inside, end, outside = piece.partition("</v>") if speaker else ("", "", piece)
        if speaker and not end:
            inside, outside = piece, ""
        for words, who in ((inside, speaker), (outside, None)):
            shown = " ".join(_SOUND.sub("", _plain(words)).split())
            if shown:
                yield Part(shown, who, "voice" if who else None)
            elif _plain(words).strip():
                report.skipped["sound"] += 1
        if match:
            at, speaker = match.end(), _ROLE.sub("", " ".join(html.unescape(match[1]).split())) or None


def _spoken(line: str) -> Part:
    match = _PREFIX.match(line)
    if match and is_name(match["name"]):
        return Part(line[match.end() :].strip(), " ".join(match["name"].split()), "prefix")
    change = _CHANGE.match(line)
    return Part(line[change.end() :].strip(), None, "change") if change else Part(line)


def is_name(text: str) -> bool:
    """Whether what stands before a colon is a speaker's name and no label ("Note", "So here is the thing")."""
    words = text.split()
    if not 0 < len(words) <= _WORDS or text.casefold().strip(". ") in _LABELS:
        return False
    return all(word[0].isupper() or word[0].isdigit() or word.casefold().strip(".") in _SMALL or not word[0].isascii() for word in words)


def _plain(line: str) -> str:
    return " ".join(html.unescape(_TAG.sub("", line)).replace("\u200e", "").replace("\u200f", "").split())
