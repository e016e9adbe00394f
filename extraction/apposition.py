"""What a name and the noun beside it say: "my brother Kunle", "Kenzo Mori, father of Ana", "the striker Yaw Mensimah"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from extraction.lexicon import KIN, NATIONALITIES
from extraction.matching import Match, Patterns
from extraction.mentions import named_by
from extraction.predication import lemma
from extraction.things import could_be, is_number, is_role, things
from ontology.claim import ClaimKind
from ontology.patterns import Thing

if TYPE_CHECKING:
    from spacy.tokens import Span, Token


_KEEPING = {"have", "get", "adopt", "own", "keep", "rescue", "buy"}


@dataclass(frozen=True, slots=True)
class Named:
    """A relation that a phrase states: subject and object as tokens or words (None: the speaker)."""

    match: Match
    at: Token


def appositions(sentence: Span, patterns: Patterns) -> Iterator[Named]:
    """ "my brother Kunle", "Kenzo Mori, father of Ana", "the striker Yaw Mensimah", "Mirza the goat", "Elias, aged 6"."""
    for token in sentence:
        word = token.lemma_.casefold()
        if (token.pos_ in ("NOUN", "PROPN") and word in KIN) or patterns.nouns(word):
            yield from _related(token, patterns)
        if token.pos_ == "NOUN" and Thing.ANIMAL in things(token) and lemma(token.head) in _KEEPING:
            for name in names(token):
                yield Named(Match("is_a", name, token.lemma_, "apposition:animal", 0.7), token)
        if token.dep_ == "appos" and token.head.pos_ == "PROPN" and token.pos_ in ("NOUN", "PROPN"):
            yield from _described(token.head, token, patterns)
        elif token.pos_ == "PROPN" and token.dep_ == "appos" and token.head.pos_ == "NOUN" and is_role(token.head):
            yield from _titled(token.head, token)
        elif (
            token.pos_ in ("NOUN",)
            and token.dep_ in ("compound", "nmod")
            and token.head.pos_ == "PROPN"
            and is_role(token)
            and token.text[:1].islower()
        ):
            yield Named(Match("has_role", token.head, _left(token), "apposition:role", 0.75), token)
        if token.lower_ == "aged" and token.i + 1 < len(token.doc) and is_number(token.nbor(1)):
            owner = token.head if token.head.pos_ in ("PROPN", "NOUN") else None
            if owner is not None:
                yield Named(Match("age", owner, token.nbor(1).text, "apposition:aged", 0.8), token)


def names(noun: Token) -> list[Token]:
    """The proper names that an animal is given: "a dog named Rex", "our cat Momo", "two kittens, Miso and Tofu"."""
    found = [
        o
        for c in noun.children
        if c.dep_ == "acl" and c.lower_ in ("called", "named")
        for o in c.children
        if o.dep_ in ("oprd", "dobj", "attr") and o.pos_ == "PROPN"
    ]
    found += [c for c in noun.children if c.dep_ in ("appos", "conj") and c.pos_ == "PROPN"]
    return found + [o for name in found for o in name.children if o.dep_ == "conj" and o.pos_ == "PROPN"]


def _left(token: Token) -> str:
    kept = [t for t in token.lefts if t.dep_ in ("compound", "amod") and t.lower_ not in NATIONALITIES and t.text[:1].islower()]
    return " ".join(t.text for t in [*kept, token])


def _related(noun: Token, patterns: Patterns) -> Iterator[Named]:
    """A person's relative or acquaintance by name, with the owner of the relation."""
    owner = next((c for c in noun.children if c.dep_ == "poss"), None)
    name = next((c for c in noun.children if c.dep_ == "appos" and c.pos_ == "PROPN" and c.i > noun.i), None)
    if name is None and noun.tag_ == "NNS":
        # "two brothers, Amir and Yusuf"
        name = next((c for c in noun.children if c.dep_ == "conj" and c.pos_ == "PROPN"), None)
    if name is None and noun.head.pos_ == "PROPN" and noun.dep_ in ("compound", "nmod") and noun.i < noun.head.i:
        name = noun.head
        owner = owner or next((c for c in name.children if c.dep_ == "poss"), None)
    if name is None:
        name = next(
            (
                o
                for c in noun.children
                if c.dep_ == "acl" and c.lower_ in ("called", "named")
                for o in c.children
                if o.dep_ in ("oprd", "dobj", "attr")
            ),
            None,
        )
    name = name or named_by(noun)
    if name is None or name.pos_ not in ("PROPN", "NOUN", "X") or (owner is None and noun.dep_ not in ("dobj", "attr")):
        return
    if owner is None:
        # "I have a cousin, Sipho", "adopted a puppy called Biscuit": the owner is who has or gets; a dropped one is the speaker.
        if lemma(noun.head) not in ("have", "get", "adopt", "own", "keep", "be"):
            return
        owner = next((c for c in noun.head.children if c.dep_ == "nsubj"), None)
        if owner is None and (lemma(noun.head) == "be" or noun.head.tag_ not in ("VBD", "VBN", "VBP")):
            return
    for predicate, pattern in patterns.nouns(noun.lemma_.casefold()):
        if (
            pattern.preposition
            or pattern.value is not None
            or not could_be(name, pattern.object_type if pattern.swap else pattern.subject_type)
        ):
            continue
        # "our cat Mochi died"
        kind = ClaimKind.END if predicate == "has_pet" and lemma(noun.head) in ("die", "pass") else pattern.kind
        for one in [name, *(c for c in name.children if c.dep_ == "conj" and c.pos_ == "PROPN" and noun.tag_ == "NNS")]:
            subject, object_ = (owner, one) if pattern.swap else (one, owner or "*speaker")
            yield Named(Match(predicate, subject, object_, f"apposition:{predicate}", 0.8, kind, qualifier=pattern.qualifier), noun)
        return
    if noun.lemma_.casefold() in KIN:
        yield Named(Match(f"{noun.lemma_.casefold()}_of", name, owner or "*speaker", "apposition:kin", 0.6), noun)


def _described(name: Token, noun: Token, patterns: Patterns) -> Iterator[Named]:
    """A name followed by what it is: "Ana Ruiz, treasurer of the club"."""
    preposition = next((c for c in noun.children if c.dep_ == "prep"), None)
    target = next((c for c in preposition.children if c.dep_ == "pobj"), None) if preposition is not None else None
    if target is not None and preposition is not None:
        for predicate, pattern in patterns.nouns(noun.lemma_.casefold()):
            if preposition.lower_ in (pattern.preposition or ("of",)) and not (pattern.swap and not pattern.preposition):
                yield Named(Match(predicate, name, target, f"apposition:{predicate}", 0.75, pattern.kind), noun)
                break
    owner = next((c for c in noun.children if c.dep_ == "poss"), None)
    if owner is not None and noun.lemma_.casefold() in KIN and noun.tag_ == "NN":
        # "Mia, Anna's sister, ..."
        for predicate, pattern in patterns.nouns(noun.lemma_.casefold()):
            if not pattern.preposition and pattern.value is None:
                subject, object_ = (owner, name) if pattern.swap else (name, owner)
                yield Named(Match(predicate, subject, object_, f"apposition:{predicate}", 0.75, pattern.kind), noun)
                break
    if is_role(noun) and noun.pos_ == "NOUN":
        yield Named(Match("has_role", name, noun, "apposition:role", 0.7), noun)
    elif Thing.ANIMAL in things(noun):
        yield Named(Match("is_a", name, noun, "apposition:kind", 0.7), noun)


def _titled(role: Token, name: Token) -> Iterator[Named]:
    """A role followed by a name: "a Luxera spokeswoman, Petronela Ilieva" names the employer as well."""
    yield Named(Match("has_role", name, _left(role), "apposition:role", 0.75), role)
    employer = next((c for c in role.children if c.dep_ in ("compound", "nmod", "poss") and c.pos_ == "PROPN"), None)
    if employer is not None and employer.lower_ not in NATIONALITIES:
        yield Named(Match("works_at", name, employer, "apposition:employer", 0.65), role)
