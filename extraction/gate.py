"""The gate of salience: relations that nobody would look up are not kept."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from extraction.clauses import Clause
from extraction.lexicon import VAGUE
from extraction.matching import Match
from extraction.mentions import Mentions
from ontology.patterns import Tense

if TYPE_CHECKING:
    from spacy.tokens import Token

_INDEFINITE = {
    "a",
    "an",
    "some",
    "any",
    "no",
    "every",
    "each",
    "another",
    "many",
    "most",
    "few",
    "several",
    "all",
    "what",
    "which",
    "this",
    "these",
    "those",
    "that",
}
_CLOCK = re.compile(r"\d{1,2}:\d\d(?::\d\d)?")
_MAX_NAME = 80
_MAX_TEXT = 300
_SENTENCES = {"decided", "plans_to", "wants", "directive", "created"}


def refusal(match: Match, subject: str, target: str, clause: Clause | None, mentions: Mentions) -> str | None:
    """The reason why a relation is not kept; None where it is."""
    if subject.casefold() == target.casefold():
        return "about itself"
    if len(subject) > _MAX_NAME or len(target) > (_MAX_TEXT if match.predicate in _SENTENCES else _MAX_NAME):
        return "too long for a name"
    if not any(c.isalnum() for c in subject) or not any(c.isalnum() for c in target):
        return "no name"
    if (
        match.predicate != "causes"
        and not isinstance(match.subject, str)
        and match.subject is not None
        and _indefinite(match.subject, subject)
    ):
        return "indefinite subject"
    if match.predicate in ("likes", "dislikes") and not isinstance(match.object, str) and _of_the_talk(match.object, clause):
        return "about the talk"
    if match.predicate == "version" and _CLOCK.fullmatch(target):
        return "a time"
    open_ = match.rule.startswith("open:")
    if not isinstance(match.object, str):
        if (
            match.object.lemma_.casefold() in ("one", "thing", "something", "anything", "everything", "stuff")
            and match.object.pos_ != "PROPN"
            and match.predicate != "manages"
        ):
            return "vague object"
        if match.object.lemma_.casefold() in VAGUE and match.object.pos_ in ("NOUN", "PRON", "DET") and len(target.split()) == 1:
            return "vague object"
        if match.object.pos_ == "DET" or match.object.tag_ in ("WP", "WDT", "WRB", "EX"):
            return "vague object"
        if match.predicate in ("likes", "dislikes", "uses", "causes", "fixes", "owns") and _pointing(match.object):
            return "pointing object"
    if open_ and not isinstance(match.subject, str) and match.subject is not None and _generic(match.subject):
        return "in general"
    if open_ and subject == mentions.addressee and not (clause is not None and clause.whens and clause.tense is Tense.PAST):
        return "about the listener"
    return None


def _indefinite(token: Token, name: str) -> bool:
    if token.pos_ in ("PROPN", "PRON") or (name[:1].isupper() and token.pos_ != "NOUN"):
        return token.pos_ == "PRON" and token.lower_ in (
            "this",
            "that",
            "these",
            "those",
            "it",
            "there",
            "one",
            "someone",
            "everyone",
            "nobody",
            "who",
            "which",
            "what",
        )
    if token.lemma_.casefold() in VAGUE:
        return True
    return any(c.dep_ in ("det", "predet") and c.lower_ in _INDEFINITE for c in token.children)


def _generic(token: Token) -> bool:
    """ "Events energize us": a bare plural or an activity as the subject."""
    bare = not any(c.dep_ in ("det", "poss", "nummod", "compound", "prep") for c in token.children)
    return token.pos_ in ("NOUN", "VERB") and bare and (token.tag_ in ("NNS", "VBG") or token.lower_.endswith("ing"))


def _of_the_talk(liked: Token, clause: Clause | None) -> bool:
    """ "I like that", "love your idea": an answer, no taste."""
    return (
        liked.pos_ == "PRON"
        or (clause is not None and clause.implied)
        or any(c.dep_ == "poss" and c.lower_ == "your" for c in liked.children)
    )


def _pointing(token: Token) -> bool:
    return any(c.dep_ in ("det",) and c.lower_ in ("this", "that", "these", "those") for c in token.children) or (
        token.pos_ == "PRON" and token.lower_ in ("this", "that")
    )
