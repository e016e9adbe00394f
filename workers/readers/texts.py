"""Texts as the ledger takes them: without NUL and lone surrogates, in parts of at most 100,000 characters."""

from __future__ import annotations

import re

from ontology.names import MAX_CONTENT
from workers.readers.report import ReadReport

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_BREAKS = (
    re.compile(r"\n(?=#{1,6} )"),
    re.compile(r"\n[ \t\r]*\n"),
    re.compile(r"\n"),
    re.compile(r"(?<=[.!?。！？])\s"),
    re.compile(r"\s"),
)


def storable(text: str, report: ReadReport) -> str:
    """`text` with U+FFFD for every NUL and lone surrogate; everything else stays as it is."""
    mended, count = _UNSTORABLE.subn("\ufffd", text)
    if count:
        report.mended["NUL or lone surrogate"] += 1
    return mended


def cut(text: str, limit: int = MAX_CONTENT) -> int:
    """Where to end the first part of a text longer than `limit`: 1 to `limit`.

    The last heading, paragraph, line, sentence or word that begins in the second half, in this order of preference.
    """
    half = limit // 2
    for pattern in _BREAKS:
        last = 0
        for match in pattern.finditer(text, half, limit):
            last = match.end()
        if last:
            return last
    return limit


def parts(text: str, limit: int = MAX_CONTENT) -> list[str]:
    """`text` in parts of at most `limit` characters that join to it again; none for a text without a visible character."""
    if not text.strip():
        return []
    found = []
    at = 0
    while len(text) - at > limit:
        window = text[at : at + limit + 1]
        size = cut(window, limit)
        found.append(text[at : at + size])
        at += size
    found.append(text[at:])
    return [part for part in found if part.strip()]
