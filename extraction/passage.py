"""Passages: sentences-sized pieces of speech in the spelling that the parser knows, with the way back to the text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

MAX_PASSAGE = 1_000
"""Characters that are parsed at once: parse time and memory stay linear in the text."""

STAND_IN = "Kestrel"
"""What stands for an identifier while the parser reads: a name that the tagger knows as one."""

# A chat spelling, and what the parser (trained on edited text) knows. "'s" before a predicate is "is", which the tagger
# otherwise reads as a possessive ("my sister's allergic").
_AFTER_IS = (
    r"(?=\s(?:a|an|my|your|his|her|our|their|not|on|in|at|from|off|out|called|named|been|no\s+longer|still|now|finally|also|always|never|allergic|vegan|vegetarian|"
    r"pregnant|married|divorced|retired|single|engaged|down|back|deprecated|broken|gone|moved|left|the|going|due|\d+(?:st|nd|rd|th)?\b|\w+ing\s+(?:at|in|on|for|to|with|a|an|the|me|my|from))\b"
    r"|\s[A-Za-z]+(?:ish|ian|ese|ean)\s*(?:[.,;!]|\band\b|\bbut\b|\Z))"
)
_SPELLINGS = [
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (r"\bname's(?=\s+(?-i:[A-Z]))", "name is"),
        (r"[\u2018\u2019\u02bc]", "'"),
        # Marks that cannot be seen split words for the parser.
        (r"[\u00ad\u200b\u200c\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]+", ""),
        # Robert "Bob" Smith is Robert Smith; who he is besides is read from the text itself.
        (r"(?-i:\b(?P<first>[A-Z][a-z'-]+)\s+[\"“(][A-Z][a-z'-]+[\"”)]\s+(?=[A-Z][a-z'-]+\b))", r"\g<first> "),
        (
            r"\A\s*(?:(?:fyi|btw|psa|nb|fwiw|imo|tbh|ok|okay|so|well|yeah|yep|yes|nah|lol|haha|hey|oh|ah|ha|@\w+|no\s+no|heads\s+up|quick\s+(?:update|note|one)|update|reminder|correction|nope)(?:[,:!]+\s*|\s+(?!(?:that|far|much|many|is|was|are)\b)))+(?=\w)",
            "",
        ),
        (r"\b(?:can't|cannot|can\s+not|cant)\s+(?:stand|bear|abide)\b", "hate"),
        # With its "that" a reported clause is parsed as one; without, "Leo works" is read as a noun.
        (
            r"\b(told\s+(?:me|us)|says|said|texted|mentioned|swears|reckons)\s+(?=(?:(?-i:[A-Z][\w-]+)\s+(?:is|has|was|had|will|no|does|did|\w+s|\w+ed)|he|she|they|we)\b)",
            r"\1 that ",
        ),
        (r"\bim\b", "I'm"),
        (r"\bive\b", "I've"),
        (r"\b(he|she|that|there|who|what)s(?=\s+[a-z])", r"\1's"),
        # The hour in front of an entry of a log.
        (r"\A\s*\d{1,2}:\d\d(?:\s*(?:UTC|CET|GMT|am|pm))?\s*[:–-]?\s+(?=[a-z])", ""),
        # What a value is not, behind what it is, misleads the parser; a correction reads it from the text itself.
        (
            r"\b(?:is|are|was|were)\s+(?:now\s+|actually\s+)?[\w.:/-]+(?:\s[\w.:/-]+){0,3}"
            r"(?P<cut>,\s+not\s+(?:the\s+|an?\s+|on\s+|in\s+)?[\w.:/-]+(?:\s[\w.:/-]+){0,2}\s*[.!]?\s*\Z)",
            ".",
        ),
        # "its" mostly is the possessive.
        (
            r"\bits(?=\s+(?:a|an|the|not|my|our|on|in|at|been|going|called|named|just|so|really|still|now|too|ok|okay|fine|\w+ing)\b)",
            "it's",
        ),
        # Nouns rather than verbs to the tagger.
        (r"(?<!peace )(?<!trade )(?<!the )\btalks\s+(?=(?:directly\s+)?to\s+(?!\w+\s+(?:on|in|next|this|about)\b))", "connects "),
        (r"\A\s*([a-z][\w-]*(?:\s[a-z][\w-]*)?)\s+runs\s+(?=(?:on|under)\b)", r"\1 is running "),
        (
            r"\A\s*(hate|love)\s+(?=(?!(?:it|that|this|you|ya|u|to|how|when|the|your|him|her|them|these|those|hearing|seeing)\b)[a-z-]+"
            r"(?:\s+(?:and|or)\s+[a-z-]+)?\s*(?:though|tho|tbh|so\s+much|,|\.|!|\Z))",
            r"I \1 ",
        ),
        # A single letter that names one of several is neither "I" nor an article.
        (
            r"(?<=\b(?:Service|Cluster|Process|Project|Product|Version|Section) )[IA](?=\s+(?:\w+s|was|had|will|can)\b)"
            r"|(?<=\b(?:Server|Module|Option|Worker|Region|Client|System) )[IA](?=\s+(?:\w+s|was|had|will|can)\b)"
            r"|(?<=\b(?:Group|Phase|Queue|Shard|Stage|Block|Class|Model) )[IA](?=\s+(?:\w+s|was|had|will|can)\b)"
            r"|(?<=\b(?:Node|Team|Plan|Room|Zone|Host|Type|Pool|Unit|Site) )[IA](?=\s+(?:\w+s|was|had|will|can)\b)",
            "X",
        ),
        (r"\b(do|does|did|is|are|was|were|has|have|had|wo|ca|could|would|should|is)nt\b", r"\1n't"),
        (r"(?<=[A-Za-z])'s" + _AFTER_IS, " is"),
        (r"(?<=\w)\s+r(?=\s+(?:on|in|at|now|not|still|all|using|running)\b)", " are"),
        (r"(?<=\s)(?-i:u)(?=\s)", "you"),
        (r"(?<=\s)(?-i:n)(?=\s)", "and"),
        (r"\bw/\s?(?=\w)", "with "),
        (r"\b(?:pls|plz)\b", "please"),
        (r"\b(?:txted|txt'd)\b", "texted"),
        (r"\b(?:gonna)\b", "going to"),
        (r"\bwanna\b", "want to"),
        (r"\b(?:swithced|swtiched|swiched)\b", "switched"),
        (r"\bnobdy\b", "nobody"),
        # A name that the tagger knows as one stands in for an identifier, which it takes for a verb or an adjective.
        (
            r"(?<![\w./@-])[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*[-_](?:svc|api|service|cli|db|server|worker|workers|client|app|sync|job|jobs|gateway|ui|web|proxy|"
            r"lib|sdk|bot|cron|daemon|agent|store|queue|cache|etl|core|auth|backend|frontend|infra|prod|staging|dev|test|tests)\b(?![-_/])",
            STAND_IN,
        ),
        (r"(?<![\w./@-])[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b(?![-./(])", STAND_IN),
    )
]
_SPLIT = re.compile(
    r"\n\s*\n|\n(?=\s*(?:[-*•]|\d+[.)])\s)"
    r"|(?<=[.!?…])[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9@#])"
    r"|(?<=[.!?…]{2})\s+(?=\w)|(?<=[!?])\s+(?=\w)|[.](?=\s+[a-z]+\s[a-z]+)\s+"
    r"|;\s+|\s+[—–]\s+|\s--?\s+(?=\w)"
    r"|,\s+(?=(?:can|could|would|will)\s+(?:you|we)\b|(?:do|does|did|is|are|was|were|has|have|isn't|aren't|wasn't|doesn't|don't|didn't)\s*(?:n't)?\s+(?:you|we|he|she|it|they|i)\b[^,]{0,60}\?)"
    r"|,?\s+and\s+(?=(?:the|our|my|his|her|their)\s+(?:[\w-]+\s+){1,2}(?:is|are|was|were|runs|uses|has|will|lives|works|owns|listens)\b)"
    r"|[\U0001F300-\U0001FAFF\u2600-\u27BF\ufe0f]+\s*",
)
_ABBREVIATION = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|e\.g|i\.e|a\.k\.a|etc|No|approx|[A-Z]))\.\s*\Z")
_DEPENDENT = re.compile(
    r"\b(?:if|unless|whether|suppose|imagine|would|could|when|who|what|that|said|told|says|because|once)\b", re.IGNORECASE
)
"""What a later part of the sentence may hang on: such a sentence is not cut."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE = re.compile(r"\s*\n\s*")


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of speech. `text` is what is parsed; `start` and `end` are characters of the turn's text.

    `stands_for` is the name for which the first word stands where that is none of the turn's text.
    """

    text: str
    start: int
    end: int
    steps: tuple[tuple[int, int], ...]
    stands_for: str | None = None

    def origin(self, at: int) -> int:
        """The character of the turn's text that a character of `text` stands for."""
        place = bisect_right(self.steps, (at, 1 << 60)) - 1
        here, there = self.steps[place]
        # A spelling that is longer than what it stands for ends with that.
        beyond = self.steps[place + 1][1] if place + 1 < len(self.steps) else self.end
        return min(there + (at - here), beyond)


def passages(text: str, spans: list[tuple[int, int]]) -> Iterator[Passage]:
    """The passages of the spoken spans of a text, in order."""
    for start, end in spans:
        at = start
        for cut in [*_cuts(text, start, end), (end, end)]:
            yield from _made(text, at, cut[0])
            at = cut[1]


def _cuts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    last = start
    for match in _SPLIT.finditer(text, start, end):
        if match.group().lstrip(" ,\n").startswith("and") and _DEPENDENT.search(text, last, match.start()):
            continue
        if _ABBREVIATION.search(text[max(start, match.start() - 8) : match.start()]):
            continue
        if _HARD_WRAP.fullmatch(match.group()):
            continue
        last = match.end()
        yield match.start() + (1 if match.group().startswith(".") else 0), match.end()


_HARD_WRAP = re.compile(r"\n[a-z]")


def _made(text: str, start: int, end: int) -> Iterator[Passage]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    while start < end:
        stop = end
        if end - start > MAX_PASSAGE:
            stop = text.rfind(" ", start + 1, start + MAX_PASSAGE)
            stop = stop if stop > start else start + MAX_PASSAGE
        yield _spelled(text, start, stop)
        start = stop


def _spelled(text: str, start: int, end: int) -> Passage:
    """One passage with the chat spellings replaced; `steps` map places after each replacement."""
    piece = _SURROGATE.sub("\ufffd", text[start:end])
    steps = [(0, start)]
    edits: list[tuple[int, int, str]] = []
    for pattern, replacement in _SPELLINGS:
        for match in pattern.finditer(piece):
            first, last = match.span("cut" if "cut" in pattern.groupindex else 0)
            if not any(first < stop and begin < last for begin, stop, _ in edits):
                edits.append((first, last, match.expand(replacement)))
    out: list[str] = []
    at = length = 0
    for begin, stop, new in sorted(edits):
        out.append(piece[at:begin])
        length += begin - at
        if new != piece[begin:stop]:
            steps.append((length, start + begin))
        out.append(new)
        length += len(new)
        steps.append((length, start + stop))
        at = stop
    out.append(piece[at:])
    return Passage(_LINE.sub(lambda match: " " * len(match.group()), "".join(out)), start, end, tuple(steps))
