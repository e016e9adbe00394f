"""The text of a cue: whose words they are, without markup and sounds."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from workers.readers.report import ReadReport

INLINE_STAMP = re.compile(r"<\d[\d:.]{4,15}>")
"""Captions that roll up say with it when each word is spoken."""

_VOICE = re.compile(r"<v(?:\.[^ \t<>]*)?[ \t]+([^<>]{1,1000})>", re.IGNORECASE)
_TAG = re.compile(r"</?(?:[a-z]{1,8}|\d[\d:.]{4,15})(?:[.\s][^<>]*)?/?>|\{\\[^{}\n]{0,80}\}", re.IGNORECASE)
_VOICE_END = re.compile(r"</v>", re.IGNORECASE)
_RUBY = re.compile(r"<rt>[^<>]*</rt>", re.IGNORECASE)
_PREFIX = re.compile(
    r"(?:>>+[ \t]*|-[ \t])?[\[(]?"
    r"(?P<name>[^\W\d_][^\n:<>,;!?\"“”()\[\]{}]{0,59}?)"
    r"[\])]?(?:[ \t]*\([^()\n]{1,60}\))?[ \t]?:(?=[ \t]|$)[ \t]*"
)
_ANY_PREFIX = re.compile(r"(?P<name>[^\n:<>]{1,60}):(?=[ \t]|$)[ \t]*")
_CHANGE = re.compile(r">>+[ \t]*")
_DASH = re.compile(r"[-–—]\s?(?=\S)")
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
_MOST = 0.8


@dataclass(frozen=True, slots=True)
class Part:
    """Words of a cue by one voice. `speaker` is None where none is marked; `named` is how one is: "voice", "prefix", or "change"
    of speaker without a name."""

    text: str
    speaker: str | None = None
    named: str | None = None


def is_name(text: str) -> bool:
    """Whether what stands before a colon is a speaker's name and no label ("Note", "So here is the thing")."""
    words = text.split()
    if not 0 < len(words) <= _WORDS or text.casefold().strip(". ") in _LABELS:
        return False
    return all(word[0].isupper() or word[0].isdigit() or word.casefold().strip(".") in _SMALL or not word[0].isascii() for word in words)


def constant_prefixes(texts: Iterable[str]) -> frozenset[str]:
    """What stands before a colon and returns, where most cues begin so: names as people type them ("maya", "Rao, Maya")."""
    total, found = 0, Counter[str]()
    for text in texts:
        total += 1
        match = _ANY_PREFIX.match(text)
        if match:
            found[match["name"]] += 1
    often = {name for name, count in found.items() if count > 1}
    return frozenset(often) if total and sum(found[name] for name in often) >= _MOST * total else frozenset()


def plain(line: str) -> str:
    """A line without tags, entities and direction marks."""
    bare = _TAG.sub("", line) if "<" in line or "{" in line else line
    return " ".join(html.unescape(bare).replace("\u200e", "").replace("\u200f", "").split())


def _without_sounds(shown: str) -> str:
    return _SOUND.sub("", shown) if any(mark in shown for mark in "[♪♫") or shown.endswith(")") else shown


def parts_of(lines: list[str], names: frozenset[str], report: ReadReport) -> Iterator[Part]:
    """The parts of a cue's lines, each with a text. `names` are known prefixes. Sounds are counted."""
    joined = _RUBY.sub("", "\n".join(lines))
    found = _voices(joined, report) if _VOICE.search(joined) else _lines(joined, names, report)
    yield from (part for part in found if part.text)


def _voices(text: str, report: ReadReport) -> Iterator[Part]:
    """The parts of a text with voices; what stands outside of them is nobody's."""
    at, speaker = 0, ""
    for match in [*_VOICE.finditer(text), None]:
        piece = text[at : match.start() if match else len(text)]
        end = _VOICE_END.search(piece) if speaker else None
        inside = piece[: end.start() if end else len(piece)] if speaker else ""
        for words, who in ((inside, speaker), (piece[len(inside) :], "")):
            shown = " ".join(_without_sounds(plain(words)).split())
            if shown:
                yield Part(shown, who or None, "voice" if who else None)
            elif plain(words):
                report.skipped["sound"] += 1
        if match:
            at, speaker = match.end(), _ROLE.sub("", " ".join(html.unescape(match[1]).split()))


def _lines(text: str, names: frozenset[str], report: ReadReport) -> Iterator[Part]:
    """The parts of lines with names before a colon, marks of a change (`>>`), or a dash for each of two speakers."""
    kept = []
    for line in text.split("\n"):
        shown = plain(line)
        bare = _without_sounds(shown).strip()
        if shown and not bare.strip("-–—>: "):
            report.skipped["sound"] += 1
        elif bare:
            kept.append(bare)
    dashed = len(kept) > 1 and all(_DASH.match(line) for line in kept)
    parts: list[tuple[Part, list[str]]] = []
    for line in kept:
        begins = not parts or dashed or bool(_CHANGE.match(line)) or bool(_SENTENCE_END.search(parts[-1][1][-1][-8:]))
        part = _spoken(_DASH.sub("", line, count=1) if dashed else line, names) if begins else Part(line)
        if part.named is None and not dashed and parts:
            parts[-1][1].append(part.text)
        else:
            parts.append((replace(part, named=part.named or ("change" if dashed else None)), [part.text]))
    yield from (replace(part, text=" ".join(texts).strip()) for part, texts in parts)


def _spoken(line: str, names: frozenset[str]) -> Part:
    match = _ANY_PREFIX.match(line)
    if match and match["name"] in names:
        return Part(line[match.end() :].strip(), _ROLE.sub("", " ".join(match["name"].split())), "prefix")
    match = _PREFIX.match(line)
    if match and is_name(match["name"]):
        return Part(line[match.end() :].strip(), " ".join(match["name"].split()), "prefix")
    change = _CHANGE.match(line)
    return Part(line[change.end() :].strip(), None, "change") if change else Part(line)
