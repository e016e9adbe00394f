"""Corrections: the cues that a sentence puts another right, and the value that it replaces."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CUE = re.compile(
    r"^\W*(?:(?:ok|oh|ah|no|wait|hang\s+on|hold\s+on|oops|whoops|argh|ugh|hmm|and|so|but|well)\W+)*"
    r"(?:correction\b|edit:|erratum|sorry\b|scratch\s+that|my\s+(?:mistake|bad)|i\s+(?:lied|tell\s+a\s+lie|misspoke|meant|got\s+that\s+wrong|was\s+wrong|mixed)|"
    r"actually\b(?=.*\bnot\b)|actually,?\s+(?:it|that|he|she|they|i|we|no)\b|no\s+you\s+don't|typo|let\s+me\s+correct|to\s+correct|strike\s+that|rather\b|"
    r"it's\s+actually|i\s+said\s+.{1,60}\bbut\b)",
    re.IGNORECASE,
)
_INLINE = re.compile(r"\b(?:i\s+lied|i\s+tell\s+a\s+lie|i\s+misspoke|i\s+meant|i\s+mean\b|scratch\s+that|correction:|everyone\s+gets\s+that\s+wrong|i\s+misread|i\s+wrote\s+\S+\s+earlier)", re.IGNORECASE)
_CONTRAST = re.compile(
    r"(?P<right>[\w€$£][\w.:/'-]*(?:\s+[\w.:/'-]+){0,3}?)\s*,?\s+(?<!\bis\s)(?<!\bam\s)(?<!\bare\s)(?<!\bwas\s)(?<!\bwere\s)(?<!\bdo\s)not\s+(?:the\s+|in\s+|at\s+|on\s+|a\s+|an\s+)?(?P<wrong>[\w€$£][\w.:/'-]*(?:\s[A-Z\d][\w.:/'-]*){0,3})\s*(?=[.!,;)🤦]|$|[^\w\s])"
)
_REPAIR = re.compile(r"(?P<wrong>[A-Z\d][\w.:'-]*(?:\s[A-Z][\w.'-]*){0,2}),?\s+(?:sorry|no|wait|i\s+mean|rather|er|or\s+rather),?\s+(?:i\s+mean\s+)?(?P<right>[A-Z\d][\w.:'-]*(?:\s[A-Z][\w.'-]*){0,2})(?=[.!,;]|$)")
_SAID = re.compile(r"\bi\s+(?:said|wrote|told\s+you|typed)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Correction:
    """That a sentence corrects; `right` and `wrong` are the values where they are named."""

    right: str | None = None
    wrong: str | None = None
    change: bool = False


def correction(text: str, before: str = "") -> Correction | None:
    """Whether a sentence corrects something. "now X, not Y" is a change: `change` is then set and `wrong` is what was so before."""
    contrast = _CONTRAST.search(text)
    cue = bool(_CUE.match(text) or _INLINE.search(text) or _CUE.match(before) and len(before) < 60 or (before and _SAID.search(before) and len(before) < 90))
    if contrast:
        now = re.search(r"\b(?:now|nowadays|these\s+days|anymore)\b", text, re.IGNORECASE)
        if now and not cue:
            return Correction(contrast["right"], contrast["wrong"], change=True)
        return Correction(contrast["right"], contrast["wrong"])
    return Correction() if cue else None


def repair(text: str) -> tuple[str, str, str] | None:
    """A repair within a sentence, "at Exeter, sorry, Essex": (the text without the wrong value, right, wrong), or None."""
    match = _REPAIR.search(text)
    if not match:
        return None
    return text[: match.start()] + match["right"] + text[match.end() :], match["right"], match["wrong"]
