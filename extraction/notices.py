"""Sentences with a form of their own: standing instructions, decisions, actions, stack lists, births in brackets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Notice:
    """A relation by words, with half-open characters of the text it was found in. `subject` "" is the speaker, "we" the group."""

    predicate: str
    subject: str
    object: str
    start: int
    end: int
    rule: str
    confidence: float
    qualifier: str = ""
    by: bool = False
    dated: bool = False


_IMPERATIVE = (
    r"(?:use|prefer|keep|write|run|add|avoid|include|put|name|format|commit|squash|document|test|check|ask|answer|respond|reply|call|log|return|make\s+sure|ensure|stick|"
    r"follow|mock|skip|touch|push|merge|deploy|import|commit|delete|edit|change|create|explain|show|give|quote|cite|speak|address|remember|wrap|pin|tag|rebase|review|"
    r"start|stop|let|do|be|get|go|set|leave|assume|hardcode|disable|force|leak|print|raise|catch|store|send|update|suggest|guess|generate|say|mention|refer|translate|"
    r"convert|round|sort|validate|sanitise|sanitize|escape|lint|type|annotate|comment|refactor|split|group|end|begin|finish|wait|tell|notify|back|verify|confirm|read|provide|list|spell|indent|declare|place)"
)
_STANDING = re.compile(
    rf"""^\s*(?:(?:please|pls|plz|and|also|ok|so|remember|note|reminder|rule|important|btw|fyi|hey|convention|house\s+rule)[:,]?\s+)*
    (?:
      (?:always|never|don't\s+ever|do\s+not\s+ever)\s+(?:\w+ly\s+)?{_IMPERATIVE}\b
    | (?:from\s+now\s+on|going\s+forward|in\s+(?:the\s+)?future|by\s+default|whenever
        |every\s+time|each\s+time|as\s+a\s+rule)\b,?\s.*?\b{_IMPERATIVE}\b
    | {_IMPERATIVE}\b.*\b(?:always|never|by\s+default|from\s+now\s+on|at\s+all\s+times|every\s+time|going\s+forward
        |in\s+all\s+cases|without\s+exception|whenever)\b
    | (?:don't|do\s+not)\s+{_IMPERATIVE}\b.*\b(?:ever|unless|without)\b
    | (?:don't|do\s+not)\s+(?:touch|edit|modify|commit|push|merge|mock|hardcode|hard-code|log|import|deploy|force-push
        |use|add|introduce|store)\s+
        (?!(?:it|this|that|them|me|him|her|these|those|any\s+more|anything|too)\b)(?:\w+\s+)*?(?:the\s+)?[\w.-]+(?:s|es|\b\s+(?:in|to|into|on|under|outside|inside)\s+[\w./-]+)\b(?!.*\b(?:yet|until|today|now|tonight|if|for\s+now|because|just)\b)
    | (?:use|prefer)\s+(?!(?:the|this|that|it|my|your|our)\b)[\w./+-]+(?:\s(?!for\b)[\w./+-]+){{0,2}}
        \s+for\s+(?:all\s+|every\s+|new\s+)?
        (?!(?:the|this|that|it|now|these|those)\b)(?:[\w-]+\s){{0,2}}[\w-]+s\s*[.!]?\s*$
    | no\s+\w+(?:\s+\w+){{0,3}}\s+in\s+(?:tests?|prod|production|code|commits?|comments|this\s+(?:repo|project|codebase))\b(?!.*\?)
    | (?:you|we|everyone|all\s+\w+)\s+(?:must|should)\s+(?:always|never)\b
    )""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_ONE_OFF = re.compile(
    r"\b(?:you|he|she|they)\s+always\b|\blet\s+me\s+know\b|\bfeel\s+free\b|\breach\s+out\b|\bjust\s+ask\b|\bwhenever\s+(?:you|u)\s+(?:want|like|can|feel|get|need|have|are)\b|^\s*never\s+mind|^\s*(?:i|he|she|it|they|that)\b|\b(?:now|today|tonight|tomorrow|this\s+time|at\s+\d|first|again)\s*[.!]?\s*$|\?\s*$|always\s+be\s+(?:there|here|proud)|never\s+(?:give|stop|forget|lose)",
    re.IGNORECASE,
)
_DECISION = re.compile(
    r"^\s*(?:(?:(?:final\s+)?decision|decided|agreed|resolved|outcome)(?:\s+(?:from|of|in)\s+[^:]{1,60})?):\s+(?P<what>.+)$"
    r"|^\s*(?:it\s+was\s+(?:decided|agreed)\s+(?:to|that)\s+)(?P<what2>.+)$"
    r"|^\s*(?:the\s+)?(?P<who>[\w' -]{2,40}?)\s+(?:has\s+|have\s+)?(?:decided|agreed|voted|resolved)\s+(?:to|that)\s+(?P<what3>.+)$",
    re.IGNORECASE,
)
_WILL = re.compile(
    r"^(?:the\s+)?(?P<who>we|[\w' -]{2,40}?)\s+"
    r"(?:will|shall|(?=drop|keep|use|go|move|adopt|stay|switch|stick|remove|ship|freeze))\s*(?P<what>.+)$",
    re.IGNORECASE,
)
_ACTION = re.compile(
    r"^\s*(?i:action(?:\s+item)?s?|todo|task|ai)\s*:\s*(?P<who>[A-Z][\w.'-]*(?:\s+[A-Z][\w.'-]*){0,3})\s+(?:to|will|shall)\s+(?P<what>.+)$"
)
_MUST = re.compile(
    r"^\s*(?:the\s+)?(?P<who>(?!My|Our|Your|His|Her|Their)[A-Z][\w.'-]*(?:\s+[\w.'-]+){0,4}?(?:,\s[A-Z][\w ]+,)?)"
    r"\s+(?:must|has\s+to|have\s+to)\s+(?P<what>.+?\s+by\s+.+)$"
)
_BORN = re.compile(
    r"(?P<who>[A-Z][\w'-]+(?:\s+[A-Z][\w'-]+){0,3})\s+\((?:born|b\.)\s+(?P<date>[^)]{4,30}?)(?:\s+in\s+(?P<place>[^)]{2,40}))?\)"
)
_AGED = re.compile(r"(?P<who>[A-Z][\w'-]+(?:\s+[A-Z][\w'-]+){1,3}),\s+(?:aged\s+)?(?P<age>\d{1,3}),\s+(?=[a-z])")
_BULLET = re.compile(r"^\s*[-*•]\s*(?P<key>[a-z][\w /-]{1,20}):\s*(?P<value>[\w][^\n:]{1,30}?)\s*$", re.IGNORECASE | re.MULTILINE)
_STACK = re.compile(
    r"\b(?:stack|tech(?:nologies)?|tooling|setup|we\s+use|versions)\b[^\n]{0,30}:\s*\n(?P<list>(?:\s*[-*•][^\n]+\n?){2,20})", re.IGNORECASE
)
TIME_TAIL = re.compile(
    r"\s+(?:(?:from|as\s+of|starting|effective)\s+(?:\d{1,2}(?:st|nd|rd|th)?\s+)?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*(?:\s+\d{4})?|for\s+(?:19|20)\d\d|by\s+(?:the\s+)?(?:\d{1,2}(?:st|nd|rd|th)?\s+\w+|\w+day|end\s+of\s+\w+|\w+\s+\d{1,2}|\w+)(?:\s+\d{4})?)\s*$",
    re.IGNORECASE,
)
_FRAGMENT = re.compile(
    r"^\s*(?:the\s+)?(?P<what>[A-Za-z][\w'-]*(?:\s+[\w'-]+){0,3}?)\s+(?:still\s+|now\s+|currently\s+)?"
    r"(?P<state>out\s+of\s+(?:order|service|stock)|offline|unavailable|back\s+online|under\s+(?:repair|maintenance|construction))\b(?:\s+(?:since|until|from|again|for|due)\b.*)?$",
    re.IGNORECASE,
)
_DEADLINE = re.compile(
    r"\bdeadline\s+for\s+(?:the\s+)?(?P<what>[\w' /-]{2,60}?)\s+"
    r"(?:is|has\s+(?:been\s+)?moved\s+to|moved\s+to|=|:)\s+(?:now\s+)?(?:on\s+)?(?:the\s+)?"
    r"(?P<when>\d{1,2}(?:st|nd|rd|th)?(?:\s+(?:of\s+)?[A-Z]\w+)?|[A-Z]\w+(?:\s+\d{1,2}(?:st|nd|rd|th)?)?)",
)
_PREFERENCE = re.compile(r"\bgive\s+me\s+(?P<what>[\w -]{2,40}?)\s+any\s+(?:day|time)\b", re.IGNORECASE)


def directive(text: str) -> bool:
    """Whether a sentence is a standing instruction; a single order is none."""
    return len(text) <= 400 and bool(_STANDING.match(text)) and not _ONE_OFF.search(text)


def conventions(text: str) -> bool:
    """Whether an imperative states a rule by contrast: "Use 2 spaces, never tabs", "tabs, not spaces"."""
    return bool(re.match(rf"^\s*(?:please\s+)?{_IMPERATIVE}\b(?!:).*,\s*(?:never|not)\s+\w+", text, re.IGNORECASE))


def notices(text: str) -> Iterator[Notice]:
    """What a sentence states by its form."""
    body = text.rstrip(" .!")
    match = _ACTION.match(body)
    if match:
        what = TIME_TAIL.sub("", match["what"])
        yield Notice("assigned_to", match["who"], what, match.start(), match.end(), "notice:action", 0.75, by=True)
        return
    match = _MUST.match(body)
    if match and match["who"].split()[0].casefold() not in ("i", "we", "you", "it", "he", "she", "they", "this", "that", "there"):
        who = match["who"].strip(",").split(", ")[-1]
        yield Notice("assigned_to", who, TIME_TAIL.sub("", match["what"]), match.start(), match.end(), "notice:duty", 0.6, by=True)
    match = _DECISION.match(body)
    if match:
        yield from _decision(match)
    match = _DEADLINE.search(text)
    if match:
        yield Notice("deadline", match["what"].strip(), match["when"].strip(), match.start(), match.end(), "notice:deadline", 0.75)
    for match in _BORN.finditer(text):
        yield Notice("birth_date", match["who"], match["date"].strip(), match.start(), match.end(), "notice:born", 0.85)
        if match["place"]:
            yield Notice("born_in", match["who"], match["place"].strip(), match.start(), match.end(), "notice:born", 0.85)
    for match in _AGED.finditer(text):
        yield Notice("age", match["who"], match["age"], match.start(), match.end(), "notice:age", 0.7)
    match = _FRAGMENT.match(body)
    if match and match["what"].split()[-1].casefold() not in ("is", "was", "are", "were", "be", "been", "not", "went", "goes", "go"):
        yield Notice("status", match["what"], match["state"].casefold(), match.start(), match.end(), "notice:fragment", 0.65, dated=True)
    match = _PREFERENCE.search(text)
    if match:
        yield Notice("prefers", "", match["what"].strip(), match.start(), match.end(), "notice:any-day", 0.6)


def _decision(match: re.Match[str]) -> Iterator[Notice]:
    who = match["who"] or "we"
    what = match["what"] or match["what2"] or match["what3"] or ""
    inner = _WILL.match(what)
    if inner:
        who = inner["who"] if not match["who"] else who
        what = inner["what"]
    if who.casefold() in ("you", "he", "she", "they", "it") or len(what) > 200 or not what:
        return
    yield Notice(
        "decided",
        who if who.casefold() not in ("i", "we", "i've", "we've") else "we",
        TIME_TAIL.sub("", re.split(r",\s+(?:which|because|since|as|so)\b", what)[0]),
        match.start(),
        match.end(),
        "notice:decision",
        0.75,
    )


def stack(text: str) -> Iterator[Notice]:
    """ "stack:" followed by bullets "- api: fastapi 0.110": what each part uses. `text` is the whole turn."""
    for listing in _STACK.finditer(text):
        for bullet in _BULLET.finditer(text, listing.start("list"), listing.end("list")):
            yield Notice(
                "uses", bullet["key"].strip(), bullet["value"].strip(), bullet.start("key"), bullet.end("value"), "notice:stack", 0.65
            )
