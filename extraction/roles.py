"""Roles that somebody has towards another person, and whether a role may stand for the one who has it.

Who is who holds for all time (docs/identity.md), so "Ada's sister" may be joined with "Mia" only where nobody else is likely
ever to be "Ada's sister". What has a holder at a time (a wife, a boss) is a state: its relation says who it was, and when.
"""

from __future__ import annotations

import re

from extraction.lexicon import ACQUAINTANCES, KIN, words

SOLE = words("mother mum mom mama mummy mommy father dad daddy papa")
"""One person has it, for good."""
SHARED = words("sister brother half-sister half-brother stepsister stepbrother twin daughter son stepdaughter stepson")
"""Few have it, for good: it stands for one as long as no second is named."""
FORMER = words("new ex former future foster adoptive birth biological first second third other another old")
"""Words before a role that say that there are several."""
BELIEVED = 0.8
CANDIDATE = 0.4

_POSSESSED = re.compile(r".+'s (?P<role>[^']+)")
_NAMED = r"(?:\s*,)?\s+(?:(?:called|named)\s+)?(?P<name>[A-Z][\w'-]+)"
_OTHERS = words("other another younger older elder youngest oldest eldest little big")
_NO_NAMES = words("And But So Or Yes No She He It The They We You My Her His If When That This")


def is_person_role(word: str) -> bool:
    """Whether a noun (a lemma in lower case) says what somebody is to another."""
    return word in KIN or word in ACQUAINTANCES


def certainty(role: str, *, defined: bool) -> float:
    """Confidence that whoever is named as somebody's `role` ("older sister") is all who is ever called that.

    `defined`: the wording takes it that there is one ("Ada's sister is Mia"); "Mia is Ada's sister" does not.
    """
    *before, word = role.casefold().split()
    if FORMER & set(before) or (word not in SOLE and word not in SHARED):
        return CANDIDATE
    return BELIEVED if defined or word in SOLE else CANDIDATE


def possessed(name: str) -> str | None:
    """The role of a name such as "Ada's sister", or None."""
    match = _POSSESSED.fullmatch(name)
    return match["role"] if match is not None and is_person_role(match["role"].split()[-1].casefold()) else None


def shared(role: str, name: str, text: str) -> bool:
    """Whether a text tells of more than one person in this role."""
    *before, last = role.split()
    word = re.escape(last)
    others = "|".join(sorted(_OTHERS - {each.casefold() for each in before}))
    if re.search(rf"\b(?:{word}s\b|(?:{others})\s+{word}\b)", text, re.IGNORECASE):
        return True
    found = {match["name"].split("'")[0] for match in re.finditer(rf"\b(?i:{word})\b{_NAMED}", text)}
    return bool({other for other in found if other not in _NO_NAMES and other.casefold() not in name.casefold().split()})
