"""Stored text inside text that we write: one line, seen as it is, that can imitate nothing of what stands around it.

Whoever wrote an episode may have wanted the reader of a prompt to take his words for ours. So all that structures the text around
(`<`, `>`, `[`, `]`, `|`, `"`) is written as a character reference, as `&` is; what looks the same after normalisation (`＜`)
likewise. Characters that nobody sees (controls, direction marks, tags, variation selectors) carry hidden text and are left out.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from ontology import marking

_REFERENCES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "[": "&#91;", "]": "&#93;", "|": "&#124;"}
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn"}
_SELECTORS = ("\ufe00", "\ufe0f"), ("\U000e0100", "\U000e01ef"), ("\u180b", "\u180f")
_FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
_NAME = re.compile(re.escape(marking.NAME), re.IGNORECASE)


def quoted(text: str, most: int) -> str:
    """The text in one line without what is unseen, of at most `most` characters before they are written as references."""
    line = _NAME.sub(marking.NAME.replace("-", " "), " ".join(_seen(" ".join(text.split())).split()))
    if len(line) > most:
        line = line[: most - 1].rstrip() + "…"
    return "".join([_written(character) for character in line])


def _seen(line: str) -> str:
    return line if line.isascii() and line.isprintable() else "".join([character for character in line if _is_seen(character)])


@cache
def _is_seen(character: str) -> bool:
    if unicodedata.category(character) in _UNSEEN or character in _FILLERS:
        return False
    return not any(first <= character <= last for first, last in _SELECTORS)


@cache
def _written(character: str) -> str:
    plain = character if character.isascii() else unicodedata.normalize("NFKC", character)
    if _REFERENCES.keys().isdisjoint(plain):
        return character
    return "".join([_REFERENCES.get(each, each) for each in plain])
