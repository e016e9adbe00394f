"""Time expressions: where they stand, what role they have, and which granule they denote.

Own rules instead of a general date parser, because a general one shifts 30 February to March, reads "may" and "second" as
dates, and does not tell "last March" from "in March". Finding is one pass of a compiled expression; resolving needs the day
of saying and whether the clause looks back or forward.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|"
    r"aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
WEEKDAY = r"(?:mon|tue(?:s)?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
_LONG_WEEKDAY = r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
_NUMBER = (
    r"(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|"
    r"eleven|twelve|fifteen|twenty|thirty|forty|fifty|a\s+couple\s+of|couple)"
)
_UNIT = r"(?:day|week|fortnight|month|year|yr|decade|hour|minute)s?"
SEASON = r"(?:spring|summer|autumn|fall|winter)"
HOLIDAY = (
    r"(?:christmas(?:\s+(?:day|eve))?|xmas|new\s+year(?:'s(?:\s+(?:day|eve))?)?|"
    r"easter(?:\s+(?:sunday|monday))?|halloween|thanksgiving|valentine's(?:\s+day)?)"
)
_PART = r"(?:the\s+)?(?:very\s+)?(?:beginning|start|middle|end|early|late|mid)(?:\s+of|\s+in|-)?"

_ATOM = re.compile(
    rf"""
    (?<![\w.:/-])(?:
      (?P<iso>\d{{4}}-\d\d(?:-\d\d)?)(?:T[\d:.]+Z?)?(?![\w-])
    | (?:the\s+)?(?P<dmy>(?P<dmy_d>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+(?P<dmy_m>{_MONTH})(?:,?\s+(?P<dmy_y>\d{{4}})\b)?)
    | (?P<mdy>(?P<mdy_m>{_MONTH})\s+(?:the\s+)?(?P<mdy_d>\d{{1,2}})(?:st|nd|rd|th)?(?![\w:.]*\d)(?:,?\s+(?P<mdy_y>\d{{4}})\b)?)
    | (?P<my>(?P<my_m>{_MONTH}),?(?:\s+of)?\s+(?P<my_y>(?:19|20)\d\d)\b)
    | (?P<ago>(?P<ago_n>{_NUMBER})\s+(?P<ago_u>{_UNIT})\s+ago\b(?:\s+(?P<ago_today>today)\b)?)
    | (?P<hence>in\s+(?P<hence_n>{_NUMBER})\s+(?P<hence_u>{_UNIT})(?:'s?\s+time)?\b)
    | (?P<rel>(?P<rel_w>last|this\s+past|this\s+coming|this|next|past)\s+
        (?P<rel_u>week|weekend|month|year|{SEASON}|night|{WEEKDAY}\b|{_MONTH}|{HOLIDAY})\b)
    | (?P<word>(?:the\s+)?day\s+before\s+yesterday|(?:the\s+)?day\s+after\s+tomorrow|yesterday|tomorrow|today|tonight
        |this\s+(?:morning|afternoon|evening)|earlier\s+today)\b
    | (?P<ordinal>the\s+(?P<ordinal_d>\d{{1,2}})(?:st|nd|rd|th))\b(?!\s+(?!to\b|until\b|till\b|and\b|at\b|for\b|in\b)[a-z])
    | (?P<holiday>{HOLIDAY})(?![\w])(?:\s+(?P<holiday_y>(?:19|20)\d\d)\b)?
    | (?P<season>(?:the\s+)?(?P<season_s>{SEASON})(?:(?:\s+of)?\s+(?P<season_y>(?:19|20)\d\d))?)\b
    | (?P<weekday>{_LONG_WEEKDAY})\b
    | (?P<month>{_MONTH})
    | (?P<year>(?:19|20)\d\d)\b(?![.:/-]\d|-\w|\s*(?:%|mg|g\b|kg|euros?|dollars?|people|users|MB|GB))
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_MARKER = re.compile(
    rf"(?P<marker>\b(?:ever\s+since|since|starting(?:\s+(?:on|from|in))?|beginning(?:\s+(?:on|in))?|effective|as\s+of|from|until|till|til|up\s+to|through|by|before|after|between|on|in|at|over|during|around|back\s+in|for|of))?"
    rf"\s*(?P<vague>(?:(?:just|shortly|right|some\s*time|sometime)\s+)?(?:about|around|approximately|before|after)?)\s*(?P<part>{_PART})?\s*\Z",
    re.IGNORECASE,
)
_EVENT_NOUN = re.compile(r"\b(?:since|after|from)\s+the\s+\w+(?:\s+\w+)?\s+(?:in|of|on)\s*\Z", re.IGNORECASE)
_SPAN = re.compile(
    rf"\b(?:from|between)\s+(?:the\s+)?(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\s*(?:to|and|until|till|through|-|–)\s*(?:the\s+)?(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+(?P<m>{_MONTH})(?:\s+(?P<y>\d{{4}})\b)?"
    rf"|(?<![\w-])(?P<y1>(?:19|20)\d\d)\s*[-–]\s*(?P<y2>(?:19|20)\d\d)(?![\w-])",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\s*(?:,\s*)?(?:to|and|until|till|through|up\s+to|-|–|—)\s*(?:the\s+)?\Z", re.IGNORECASE)
_DURATION = re.compile(
    rf"\b(?:for|over|in|these)\s+(?:the\s+)?(?:last|past)?\s*(?:about|around|almost|nearly|over|more\s+than|roughly)?\s*(?P<n>{_NUMBER}|last|past)\s+(?P<u>{_UNIT})(?:\s+now)?\b(?!\s+(?:ago|old|time))",
    re.IGNORECASE,
)
_HINT = re.compile(
    r"\d|day|week|month|year|decade|ago|tonight|morning|evening|afternoon|tomorrow|night|spring|summer|autumn|fall|winter|christmas|xmas|easter"
    r"|halloween|thanksgiving|valentine|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)",
    re.IGNORECASE,
)
_STAMP = re.compile(r"\[[^\[\]\n]{0,40}\d{4}-\d\d-\d\d[^\[\]\n]{0,40}\]")
_WORD_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "couple": 2, "last": 1, "past": 1,
}  # fmt: skip
_MARKERS = {
    "since": "since", "ever since": "since", "from": "since", "after": "since", "effective": "since", "as of": "since", "until": "until",
    "till": "until", "til": "until", "up to": "until", "through": "until", "by": "by", "before": "before", "between": "since",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class When:
    """A time expression in a text: half-open characters, its role, and the parts that `resolve` needs.

    Roles: at, since, until, by, before, span (lo to hi), duration (`count` units).
    """

    start: int
    end: int
    role: str
    lo: re.Match[str] | None = None
    hi: re.Match[str] | None = None
    part: str = ""
    count: int = 0
    unit: str = ""

    @property
    def future(self) -> bool:
        """Whether its own words point forward."""
        text = (self.lo.group() if self.lo else "").casefold()
        return text.startswith(("tomorrow", "next", "this coming", "tonight", "the day after", "day after")) or bool(
            self.lo and self.lo.groupdict().get("hence")
        )


def find_times(text: str) -> list[When]:
    """The time expressions of a text, in order and disjoint. Export stamps in brackets are none."""
    if not _HINT.search(text):
        return []
    masked = _STAMP.sub(lambda match: " " * len(match.group()), text)
    found: list[When] = []
    taken: list[tuple[int, int]] = []
    for match in _SPAN.finditer(masked):
        found.append(When(match.start(), match.end(), "span", match, match))
        taken.append(match.span())
    for match in _DURATION.finditer(masked):
        if match.group().casefold().startswith(("for", "over", "these")) or "last" in match.group() or "past" in match.group():
            found.append(
                When(match.start(), match.end(), "duration", None, None, count=count_of(match["n"]), unit=match["u"].casefold().rstrip("s"))
            )
            taken.append(match.span())
    atoms = [m for m in _ATOM.finditer(masked) if not any(m.start() < end and start < m.end() for start, end in taken)]
    place = 0
    while place < len(atoms):
        atom = atoms[place]
        place += 1
        before = masked[max(0, atom.start() - 60) : atom.start()]
        offset = atom.start() - len(before)
        marker = _MARKER.search(before)
        word = re.sub(r"\s+", " ", (marker["marker"] or "").casefold()) if marker else ""
        vague = (marker["vague"] or "").casefold() if marker else ""
        part = (marker["part"] or "").casefold().strip() if marker else ""
        if _refused(atom, masked, word, part) or before.casefold().rstrip().endswith((" every", " each")):
            continue
        start = offset + marker.start() if marker and (word or part or vague.strip()) else atom.start()
        role = "since" if word.startswith(("starting", "beginning")) else _MARKERS.get(word, "at")
        event = _EVENT_NOUN.search(before)
        if event and role == "at":
            role, start = "since", offset + event.start()
        if vague.endswith(("before", "after")) and role in ("before", "at", "since"):
            role = "at" if vague.startswith(("just", "shortly", "right")) else role
        if place < len(atoms) and word in ("from", "between") and _BETWEEN.match(masked[atom.end() : atoms[place].start()]):
            found.append(When(start, atoms[place].end(), "span", atom, atoms[place]))
            place += 1
            continue
        found.append(When(start, atom.end(), role, atom, part=part))
    return sorted(found, key=lambda when: when.start)


def _refused(atom: re.Match[str], text: str, marker: str, part: str) -> bool:
    """Whether a word that may be a date is something else here: modal "may", "fall" the verb, a bare number like a year."""
    if atom["month"]:
        name = atom["month"].casefold()
        if name in ("may", "march", "mar", "sun", "dec", "jan") and not (marker or part):
            return name in ("may", "mar") or atom["month"].islower()
        return not (marker or part) and atom["month"].islower()
    if atom["season"]:
        return not (marker or part or atom["season_y"])
    if atom["year"]:
        return marker not in _MARKERS and marker not in ("in", "back in", "during", "around", "of", "for", "on") and not part
    if atom["ordinal"]:
        return marker not in _MARKERS and marker not in ("on", "in", "is") and not re.search(r"(?:is|'s|was|to)\s*\Z", text[: atom.start()])
    return False


def count_of(text: str) -> int:
    """The number that a numeral or article stands for."""
    word = text.casefold().split()[0] if not text.casefold().startswith("a couple") else "couple"
    return int(word) if word.isdigit() else _WORD_NUMBERS.get(word, 1)
