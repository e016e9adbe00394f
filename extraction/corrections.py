"""Corrections: the cues that a sentence puts another right, and the value that it replaces."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CUE = re.compile(
    r"^\W*(?:(?:ok|oh|ah|no|wait|hang\s+on|hold\s+on|oops|whoops|argh|ugh|hmm|and|so|but|well)\W+)*"
    r"(?:correction\b|edit:|erratum|sorry\b(?!\s+(?:to|for|about|you|that|i'm|but|if|not)\b)|scratch\s+that|my\s+(?:mistake|bad)|i\s+(?:lied|tell\s+a\s+lie|misspoke|meant|got\s+that\s+wrong|was\s+wrong|mixed)|"
    r"actually\b(?=.*\bnot\b)|actually,?\s+(?:it|that|he|she|they|i|we|no)\b|no\s+you\s+don't|typo|let\s+me\s+correct|to\s+correct|strike\s+that|rather\b|"
    r"it's\s+actually|i\s+said\s+.{1,60}\bbut\b)",
    re.IGNORECASE,
)
_INLINE = re.compile(
    r"\b(?:i\s+lied|i\s+tell\s+a\s+lie|i\s+misspoke|i\s+meant|i\s+mean\b|scratch\s+that|correction:|everyone\s+gets\s+that\s+wrong|i\s+misread|i\s+wrote\s+\S+\s+earlier)",
    re.IGNORECASE,
)
_CONTRAST = re.compile(
    r"(?P<right>[\w€$£][\w.:/'-]*(?:\s+[\w.:/'-]+){0,3}?)\s*,?\s+(?<!\bis\s)(?<!\bam\s)(?<!\bare\s)(?<!\bwas\s)(?<!\bwere\s)(?<!\bdo\s)not\s+(?:the\s+|in\s+|at\s+|on\s+|a\s+|an\s+)?(?P<wrong>[\w€$£][\w.:/'-]*(?:\s[A-Z\d][\w.:/'-]*){0,3})\s*(?=[.!,;)🤦]|$|[^\w\s])"
)
_SAID = re.compile(r"\bi\s+(?:said|wrote|told\s+you|typed)\b", re.IGNORECASE)


_CUE_WORDS = re.compile(r"^\W*(?:hang\s+on|hold\s+on|wait|sorry|oops|no\b|ah\b|correction)", re.IGNORECASE)
_NOT_VALUES = frozenset(
    [
        "is",
        "am",
        "are",
        "was",
        "were",
        "be",
        "been",
        "do",
        "does",
        "did",
        "have",
        "has",
        "had",
        "will",
        "can",
        "could",
        "would",
        "should",
        "may",
        "might",
        "must",
        "if",
        "or",
        "and",
        "but",
        "why",
        "whether",
        "it",
        "i",
        "you",
        "he",
        "she",
        "they",
        "we",
        "that",
        "this",
        "there",
        "certainly",
        "probably",
        "definitely",
        "really",
        "just",
        "maybe",
        "perhaps",
        "still",
        "also",
    ]
)
_NOT_WRONG = frozenset(
    [
        "only",
        "just",
        "sure",
        "yet",
        "because",
        "to",
        "that",
        "really",
        "even",
        "always",
        "very",
        "so",
        "too",
        "as",
        "a",
        "an",
        "the",
        "all",
        "every",
        "much",
        "many",
        "my",
        "your",
        "weirdly",
        "bad",
    ]
)


@dataclass(frozen=True, slots=True)
class Correction:
    """That a sentence corrects; `right` and `wrong` are the values where they are named."""

    right: str | None = None
    wrong: str | None = None
    change: bool = False

    def replaced(self, value: str) -> str | None:
        """What the corrected `value` stands instead of; None where the sentence puts something else right, such as a date."""
        folded = value.casefold()
        if not self.wrong or not self.right or self.wrong.casefold() in folded:
            return None
        return self.wrong if self.right.split()[-1].casefold() in folded.split() else None


def correction(text: str, before: str = "") -> Correction | None:
    """Whether a sentence corrects something. "now X, not Y" is a change: `change` is then set and `wrong` is what was so before."""
    contrast = next((match for match in _CONTRAST.finditer(text) if _contrasts(match)), None) if "not" in text.casefold() else None
    cue = bool(
        _CUE.match(text)
        or _INLINE.search(text)
        or (_CUE.match(before) and len(before) < 40)
        or (_SAID.search(before) and _CUE_WORDS.match(before))
    )
    if contrast:
        right, wrong = (contrast[side].rstrip(".:'/-") for side in ("right", "wrong"))
        now = re.search(r"\b(?:now|nowadays|these\s+days|anymore)\b", text, re.IGNORECASE)
        if now and not cue:
            return Correction(right, wrong, change=True)
        return Correction(right, wrong)
    return Correction() if cue else None


def _contrasts(match: re.Match[str]) -> bool:
    """Whether "A not B" sets a value against another; a negated verb does not."""
    last = match["right"].split()[-1].casefold()
    if last in _NOT_VALUES or last.endswith(("'re", "'m", "'s", "n't", "'ve", "'ll")) or match["wrong"].split()[0].casefold() in _NOT_WRONG:
        return False
    if "," in match.group():
        return True
    return all(part[:1].isdigit() or part[:1].isupper() for part in (match["right"].split()[-1], match["wrong"].split()[0]))
