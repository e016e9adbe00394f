"""Predications: a verb with its arguments, tense, polarity and time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from extraction.times import When
from ontology.patterns import Tense

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

SUBJECTS = ("nsubj", "nsubjpass")


@dataclass(slots=True)
class Clause:
    """One predication. Token lists are heads of noun phrases, conjuncts included.

    `implied`: the subject was left out and is the speaker. `former`: "used to" or "stopped": it held before. `begun`: "started
    doing". `governor` is the verb that this one completes ("want to go"), None for others.
    """

    head: Token
    sentence: Span
    subjects: list[Token] = field(default_factory=list)
    implied: bool = False
    objects: list[Token] = field(default_factory=list)
    attributes: list[Token] = field(default_factory=list)
    prepositions: list[tuple[str, list[Token]]] = field(default_factory=list)
    loose: list[tuple[str, list[Token]]] = field(default_factory=list)
    particle: str = ""
    passive: bool = False
    tense: Tense = Tense.PRESENT
    progressive: bool = False
    modal: str = ""
    negated: bool = False
    never: bool = False
    no_longer: bool = False
    former: bool = False
    begun: bool = False
    also: bool = False
    now: bool = False
    whens: list[When] = field(default_factory=list)
    governor: Token | None = None
    imperative: bool = False

    @property
    def lemma(self) -> str:
        """Lemma of the head with its particle."""
        return f"{lemma(self.head)} {self.particle}".strip()

    @property
    def lasting(self) -> bool:
        """Whether it says "still", or "since" something: it has gone on for a time."""
        return any(c.lower_ in ("still", "since", "back") and c.dep_ in ("advmod", "prep", "mark") for c in self.head.children)

    def after(self, *words: str, direct: bool = False) -> list[Token]:
        """Objects of the first of these prepositions that the clause has; `direct`: not those that hang on its nouns."""
        for word in words:
            for preposition, objects in self.prepositions if direct else [*self.prepositions, *self.loose]:
                if preposition == word and objects:
                    return objects
        return []


def lemma(token: Token) -> str:
    """Lemma in lower case; "'s" and "'m" are "be"."""
    found: str = token.lemma_.casefold()
    if found in ("'s", "'m", "'re", "’s", "s", "m", "re") and token.pos_ in ("AUX", "VERB"):
        return "be"
    if found == "hat" and token.pos_ == "VERB":
        # The lemmatizer's "hates".
        return "hate"
    return {"'ve": "have", "’ve": "have", "'d": "have", "ai": "be"}.get(found, found)


def conjuncts(token: Token) -> list[Token]:
    """A head and the heads that are coordinated with it."""
    found, at = [token], token
    while len(found) < 12:
        following = next((c for c in at.children if c.dep_ in ("conj", "appos") and _coordinates(at, c)), None)
        if following is None:
            return found
        found.append(following)
        at = following
    return found


def _coordinates(token: Token, other: Token) -> bool:
    if other.dep_ == "conj":
        return other.pos_ in ("NOUN", "PROPN", "PRON", "NUM", "ADJ", "X", "SYM") or other.pos_ == token.pos_
    # "jam, bread and butter": the parser calls the second an apposition of the first.
    return (
        any(c.dep_ == "conj" for c in other.children)
        and other.pos_ == token.pos_ == "NOUN"
        and not any(c.dep_ == "det" for c in other.children)
    )
