"""Other names of somebody, told in so many words: "Robert, aka Bob", "call me Bob", 'Robert "Bob" Smith', "I'm @bob on Slack"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from extraction.gazetteer import known_place
from extraction.lexicon import DAYS, ROLES, words
from extraction.notices import Notice
from extraction.roles import CANDIDATE, is_person_role

_WORD = r"[^\W\d_a-zß-öø-ÿ][\w'’-]*"
_NAME = rf"{_WORD}(?:\s+{_WORD}){{0,3}}"
_HANDLE = r"@?\w[\w.-]*\w"
_ALIAS = rf"(?:[\"“](?P<quoted>[^\"”]{{1,30}})[\"”]|(?P<plain>@[\w.-]*\w|{_WORD}(?:\s+{_WORD}){{0,2}}|\w*\d\w*))"
_PLATFORMS = (
    *("GitHub", "GitLab", "Bitbucket", "Slack", "Discord", "Twitter", "X", "Instagram", "Insta", "Mastodon", "Bluesky", "Telegram"),
    *("Reddit", "LinkedIn", "Twitch", "IRC", "Steam", "TikTok", "YouTube"),
)
_PLATFORM = rf"(?:{'|'.join(_PLATFORMS)})"
_END = r"(?=\s*(?:[.,;:!)\"”]|\Z|\bfor\s+short\b|\binstead\b|\bfrom\s+now\s+on\b|\bplease\b))"

_AKA = re.compile(rf"\b(?P<who>{_NAME})(?:,?\s+\(?(?:aka|a\.k\.a\.|AKA|also\s+called)|,\s+alias|\s+\(alias)\s+{_ALIAS}")
_BORN = re.compile(rf"\b(?P<who>{_NAME}),?\s+\(?(?:née|né|nee)\s+(?P<plain>{_WORD}(?:\s+{_WORD}){{0,2}})")
_CALL_ME = re.compile(
    r"(?:\A\W*|[.,;:!–—-]\s*|\b(?:please|just|can|may|also|simply|do|and|so|but)\s+)call\s+me\s+[\"“]?"
    rf"(?P<plain>(?-i:{_WORD}(?:\s+{_WORD})?))[\"”]?{_END}",
    re.IGNORECASE,
)
_QUOTED = re.compile(rf"\b(?P<first>{_WORD})\s+[\"“(](?P<plain>{_WORD})[\"”)]\s+(?P<last>{_WORD})")
_BRACKETS = re.compile(rf"\b(?P<who>{_WORD})\s+\((?P<plain>{_WORD})\)(?!\s+{_WORD})")
_SHORT_FOR = re.compile(rf"\b(?P<plain>{_WORD})(?:,\s+|\s+\()(?:which\s+is\s+|that's\s+)?short\s+for\s+(?P<who>{_WORD})")
_FOR_SHORT = re.compile(rf"\b(?P<who>{_NAME})(?:,(?:\s+or)?|\s+or)\s+(?P<plain>{_WORD})\s+for\s+short\b")
_AT = re.compile(
    rf"\b(?:(?P<me>I['’]m|I\s+am|(?:find|follow|tag|ping)\s+me\s+(?:on\s+{_PLATFORM}\s+)?(?:as|at))|(?P<who>{_NAME})(?:\s+is\s+(?=@)|\s+\((?=@[\w.-]+\))))"
    r"\s*(?P<plain>@\w[\w.-]*\w)"
)
_ACCOUNT = re.compile(
    rf"\b(?:(?P<me>[Mm]y)|(?P<who>{_NAME})['’]s)\s+(?:{_PLATFORM}\s+(?:handle|user\s?name|nick(?:name)?|screen\s+name|alias|ID)|handle|screen\s+name)"
    rf"\s+(?:is|=|:)\s+[\"“`]?(?P<plain>{_HANDLE})[\"”`]?{_END}"
)
_ON = re.compile(
    rf"\b(?:(?P<me>I['’]m|I\s+am|I\s+go\s+by)|(?P<who>{_NAME})\s+is)\s+(?P<plain>(?=\S*[A-Za-z])\S*[\d_]\S*)\s+on\s+{_PLATFORM}\b"
)

_FORMS = (
    (_AKA, "aka", 0.85),
    (_BORN, "born", 0.8),
    (_CALL_ME, "call-me", 0.75),
    (_QUOTED, "quoted", 0.75),
    (_BRACKETS, "brackets", 0.6),
    (_SHORT_FOR, "short-for", 0.75),
    (_FOR_SHORT, "for-short", 0.8),
    (_AT, "handle", 0.8),
    (_ACCOUNT, "handle", 0.75),
    (_ON, "handle", 0.7),
)
_OPENING = words(
    """
    meet hi hello hey thanks thank dear ask tell call email with and but so the my our your his her their this that when if since
    because yes no ok i we it dr mr mrs ms miss prof new
    """
)
_NOT_CALLED = DAYS | words(
    """
    crazy maybe later back now today tonight tomorrow soon asap old mr mrs if when paranoid lazy again anytime after before on at in
    mad silly
    """
)
_NO_HANDLES = words(
    "root admin user guest test private public different wrong gone new old broken same taken weird ubuntu postgres unknown none"
)
_SHORT_FORMS = {
    full: frozenset(short)
    for full, *short in map(
        str.split,
        (
            *("robert bob bobby rob robbie bert", "william bill billy will willy liam", "richard dick rick rich"),
            *("margaret maggie meg peggy greta rita", "elizabeth liz lizzie beth betty eliza lisa", "katherine kate katie kathy"),
            *("catherine cate cathy kate katie", "james jim jimmy jamie", "john jack johnny", "thomas tom tommy", "henry harry hank"),
            *("edward ed ted eddie ned", "anthony tony", "michael mike mick mickey", "charles charlie chuck", "david dave"),
            *("stephen steve", "steven steve", "alexander alex sasha sandy xander", "alexandra alex sasha", "susan sue suzie"),
            *("patricia pat patty trish", "francis frank", "joseph joe", "theodore ted theo teddy", "abigail abby", "matthew matt"),
            *("christopher chris kit", "jennifer jen jenny", "deborah deb debbie", "rebecca becky becca", "andrew andy drew"),
            *("nicholas nick nicky", "antonio toni", "dmitri dima mitya", "maria mia masha", "ekaterina katya", "johannes hans"),
        ),
    )
}
"""Short forms that do not begin as the name does, or where it matters which: enough to tell "Robert (Bob)" from "Robert (Porto)"."""


def nicknames(text: str, addressee: str | None) -> Iterator[Notice]:
    """Joins of a name with another one: subject "" is the speaker, the object is the alias."""
    for pattern, rule, confidence in _FORMS:
        for match in pattern.finditer(text):
            pair = _pair(match, rule, addressee)
            if pair is not None:
                yield Notice("also_known_as", *pair, match.start(), match.end(), f"alias:{rule}", confidence)
    for match in re.finditer(rf"\b(?P<alias>{_WORD})\s+is\s+short\s+for\s+(?P<who>{_WORD})", text):
        # It may be about names, not about somebody.
        yield Notice("also_known_as", match["who"], match["alias"], match.start(), match.end(), "alias:short-for", CANDIDATE)


def _pair(match: re.Match[str], rule: str, addressee: str | None) -> tuple[str, str] | None:
    """Name and alias of a match, or None where it is something else."""
    found = match.groupdict()
    alias = (found.get("quoted") or found.get("plain") or "").strip().rstrip(".-").replace("’", "'")
    name = "" if rule == "call-me" or found.get("me") else _bare(found.get("who") or f"{found.get('first')} {found.get('last')}")
    if name is None or not alias or alias.casefold() == name.casefold():
        return None
    first = alias.split()[0].casefold()
    if rule == "call-me" and (first in _NOT_CALLED or alias == addressee):
        return None
    if rule == "handle" and alias.casefold() in _NO_HANDLES:
        return None
    if rule == "born" and len(alias.split()) == 1:
        # A maiden name alone names a family.
        alias = f"{name.split()[0]} {alias}"
    if rule == "quoted" and (first in ROLES or known_place(alias)):
        return None
    if rule == "quoted" and "(" in match.group() and not short_form(found["first"], alias):
        return None
    if rule == "brackets" and not short_form(name, alias):
        return None
    return name, alias


def _bare(name: str) -> str | None:
    """A name without what opens the sentence, or the role before it; None where nothing is left."""
    parts = name.replace("’", "'").split()
    while parts and (parts[0].casefold().rstrip(".") in _OPENING or parts[0].casefold() in ROLES or is_person_role(parts[0].casefold())):
        parts = parts[1:]
    return " ".join(parts).removesuffix("'s") or None


def short_form(name: str, alias: str) -> bool:
    """Whether an alias is a usual short form of a first name: its beginning ("Sam" of "Samira"), or a known one ("Bob")."""
    whole, short = name.casefold(), alias.casefold()
    stem = short.rstrip("iey")
    return short in _SHORT_FORMS.get(whole, ()) or (2 < len(short) < len(whole) and len(stem) > 1 and whole.startswith(stem))
