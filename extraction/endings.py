"""Verbs that end something: what they end ("left Acme", "left Lisbon"), and that their denial says it goes on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from extraction.gazetteer import known_place
from extraction.lexicon import PROPERTY, SOFTWARE, words
from extraction.matching import Match
from extraction.predication import Clause
from ontology.claim import ClaimKind

if TYPE_CHECKING:
    from spacy.tokens import Token

_ENDING = words(
    """
    leave quit resign retire depart sell scrap drop ditch abandon dump divorce separate split move stop cease lose fire sack rehome
    bury rip phase give step lay break cut come
    """
)
"""Verbs, without their particles, whose denial says that the state goes on. Others that tell of an end ("grew up in") do not."""
_DENIABLE = words("grow raise bring")
_COMPANY = re.compile(
    r"(?i:\b(?:inc|ltd|llc|llp|gmbh|plc|corp|co|ag|sa|bv|nv|oy|ab|as|labs?|bank|group|holdings?|systems|software|technologies|tech|media|"
    r"partners|consulting|solutions|university|college|school|hospital|clinic|institute|studios?|airlines|motors|pharma|energy|"
    r"industries|insurance|foundation|council|ministry|times|post|news|games|foods|works|health|capital|ventures|networks?)\.?$)"
    r"|^[A-Z]{2,5}$|[a-z][A-Z]|[&.]"
)


def employer_left(token: Token, turn: str) -> bool:
    """Whether what somebody left is where they worked. Other mentions in the `turn` decide before the name by itself does."""
    phrase = [t.text for t in token.lefts if t.dep_ in ("compound", "nmod") and t.text[:1].isupper()]
    name = " ".join([*phrase, token.text])
    quoted = re.escape(name)
    if re.search(
        rf"\b(?:work(?:s|ed|ing)?|job|started|employed|hired|contract\w*)\s+(?:at|for|with|by)\s+{quoted}\b|\b(?:at|join\w*)\s+{quoted}\b",
        turn,
    ):
        return True
    if re.search(rf"\b(?:liv(?:e|es|ed|ing)|born|grew\s+up|raised|flat|house|home)\s+in\s+{quoted}\b|\bmoved\s+to\s+{quoted}\b", turn):
        return False
    if known_place(name):
        return False
    if _COMPANY.search(name):
        return True
    # The recogniser takes unknown names of companies for places; a name of two words that it takes for a place mostly is one.
    return token.ent_type_ not in ("LOC", "FAC") and not (token.ent_type_ == "GPE" and len(name.split()) > 1)


def told_apart(matches: list[Match], turn: str) -> list[Match]:
    """The matches of a clause, with what was left, moved to or run sorted into employer, home and tool."""
    for match in matches:
        if isinstance(match.object, str):
            continue
        if match.rule in ("verb:lives_in:leave", "verb:works_at:leave"):
            if match.object.pos_ == "PROPN" or match.object.text[:1].isupper():
                name = "works_at" if employer_left(match.object, turn) else "lives_in"
                match.predicate, match.rule = name, f"verb:{name}:leave"
        elif match.rule == "verb:manages:run" and match.object.lower_ in SOFTWARE:
            match.predicate, match.rule = "uses", "verb:uses:run"
        elif match.predicate in ("works_at", "lives_in") and match.previous is not None and match.rule.endswith((":switch", ":move")):
            switched = match.rule.endswith(":switch") and not _COMPANY.search(match.object.text)
            if match.predicate == "lives_in" and _COMPANY.search(match.object.text) and not known_place(match.object.text):
                match.predicate, match.rule = "works_at", "verb:works_at:move"
            elif switched or _tool(match.object) or _tool(match.previous):
                match.predicate, match.rule = "uses", f"verb:uses:{match.rule.rpartition(':')[2]}"
    return matches


def _tool(token: Token) -> bool:
    return token.lower_ in SOFTWARE or token.lower_ in PROPERTY


def continued(match: Match, clause: Clause) -> bool | None:
    """What the denial of an ending says: True, that the state goes on; None, nothing; False where this is no such denial."""
    if match.kind is not ClaimKind.END or not clause.negated:
        return False
    verb = clause.lemma.split()[0]
    if verb in _DENIABLE:
        return False
    return True if verb in _ENDING else None
