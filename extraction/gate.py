"""The gate of salience: relations that nobody would look up are not kept."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from extraction.lexicon import VAGUE, words
from extraction.matching import Match
from extraction.mentions import Mentions
from extraction.predication import Clause
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
    if match.predicate == "age" and clause is not None and clause.head.dep_ == "advcl":
        # "When I turned ten, ..."
        return "in passing"
    if match.rule in _DENIALS and clause is not None and not clause.negated:
        return "no habit"
    if match.predicate == "favorite" and not match.qualifier and not isinstance(match.object, str) and match.object.pos_ == "PRON":
        return "a favourite of unknown kind"
    if match.predicate in ("uses", "works_on") and not isinstance(match.object, str) and _abstract(match.object):
        return "vague object"
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


_DENIALS = {f"verb:eats:{verb}" for verb in ("do", "have", "touch", "tolerate", "digest")}
"""Wordings that say what somebody eats only when denied: "I don't do dairy"."""
_ABSTRACT = words(
    """
    influence resource resources skill skills talent talents voice platform creativity imagination knowledge strength advantage
    opportunity excuse term word power project projects study studies assignment assignments task tasks homework
    """
)


def _abstract(token: Token) -> bool:
    """ "use my influence", "work on a project": nothing by which it could be told from others."""
    bare = not any(c.dep_ in ("compound", "nmod", "amod", "nummod", "prep", "appos", "relcl", "acl") for c in token.children)
    return token.pos_ == "NOUN" and bare and token.lemma_.casefold() in _ABSTRACT


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
    bare = not any(c.dep_ in ("det", "poss", "nummod", "prep") for c in token.children)
    return token.pos_ in ("NOUN", "VERB") and bare and (token.tag_ in ("NNS", "VBG") or token.lower_.endswith("ing"))


def _of_the_talk(liked: Token, clause: Clause | None) -> bool:
    """ "I like that", "love your idea": an answer, no taste."""
    return (
        liked.pos_ == "PRON"
        or any(c.lower_ == "you" for c in liked.lefts)
        or (clause is not None and clause.implied)
        or any(c.dep_ == "poss" and c.lower_ == "your" for c in liked.children)
    )


def _pointing(token: Token) -> bool:
    return any(c.dep_ in ("det",) and c.lower_ in ("this", "that", "these", "those") for c in token.children) or (
        token.pos_ == "PRON" and token.lower_ in ("this", "that")
    )
