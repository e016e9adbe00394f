"""What "X is Y" says: ages, nationalities, kinds, favourites, names, settings and amounts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from extraction.lexicon import ACQUAINTANCES, KIN, NATIONALITIES, words
from extraction.matching import Match
from extraction.predication import Clause, lemma
from extraction.things import could_be, is_number, is_role, things
from ontology.patterns import Thing

if TYPE_CHECKING:
    from spacy.tokens import Token

_YEARS = re.compile(r"(?:\w+-)?\w+-years?-old|\d+-?(?:yo|y/o)", re.IGNORECASE)
_AGE_WORDS = words(
    """
    two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty
    thirty forty fifty sixty seventy eighty ninety
    """
)
_DISTANT_KIN = words(
    "cousin niece nephew uncle aunt auntie grandmother grandma grandfather grandad grandson granddaughter stepmother stepfather"
)


def copular(clause: Clause) -> Iterator[Match]:
    """Ages, nationalities, kinds and favourites in "X is Y"; the roles come from the vocabulary's patterns."""
    if lemma(clause.head) not in ("be", "become", "turn"):
        return
    holders: list[Token | None] = [None] if clause.implied else list(clause.subjects)
    for holder in holders:
        human = holder is None or could_be(holder, (Thing.PERSON, Thing.ANIMAL))
        living = (
            holder is None
            or bool(things(holder) & {Thing.PERSON, Thing.ANIMAL})
            or holder.pos_ == "PROPN"
            or holder.lower_ in ("he", "she")
        )
        for attribute in clause.attributes:
            age = (
                _age(attribute, living) if clause.head.dep_ != "advcl" and not any(c.dep_ == "mark" for c in clause.head.children) else None
            )
            if age is not None:
                yield Match("age", holder, age, "copula:age", 0.8)
                if attribute.pos_ in ("ADJ", "NUM"):
                    continue
            nation = next((t for t in [attribute, *attribute.lefts] if t.lower_ in NATIONALITIES and t.text[:1].isupper()), None)
            nation = nation or next(
                (t for t in attribute.lefts if "-" in t.text and all(p.casefold() in NATIONALITIES for p in t.text.split("-"))), None
            )
            if (
                nation is not None
                and human
                and attribute.pos_ in ("ADJ", "NOUN", "PROPN")
                and (nation.i == attribute.i or is_role(attribute) or Thing.PERSON in things(attribute))
            ):
                yield Match("nationality", holder, nation.text, "copula:nationality", 0.75)


def _age(token: Token, living: bool) -> str | None:
    for part in [token, *token.children]:
        if _YEARS.fullmatch(part.text):
            return part.text
    if token.lower_ == "old":
        years = next((c for c in token.children if c.lower_ in ("year", "years")), None)
        number = next((c for c in years.children if c.dep_ == "nummod"), None) if years is not None else None
        return number.text if number is not None else None
    if living and (token.like_num or token.lower_ in _AGE_WORDS) and not any(c.dep_ in ("prep",) for c in token.children):
        text = token.text
        digits = text if text.isdigit() else ""
        if (digits and 0 < int(digits) < 120) or (not digits and token.lower_.split("-")[0] in _AGE_WORDS):
            return text
    return None


def kinds(clause: Clause) -> Iterator[Match]:
    """ "X is a Y" with an indefinite noun that is neither role, relative nor a vague word."""
    if lemma(clause.head) != "be" or clause.progressive:
        return
    for attribute in clause.attributes:
        word = attribute.lemma_.casefold()
        owner = next((c for c in attribute.children if c.dep_ == "poss"), None)
        if owner is not None and (word in ACQUAINTANCES or word in _DISTANT_KIN or is_role(attribute)):
            for person in clause.subjects:
                if person.pos_ == "PROPN":
                    yield Match(f"{word}_of", person, owner, "copula:acquaintance", 0.6)
    holders: list[Token | None] = [None] if clause.implied else list(clause.subjects)
    for holder in holders:
        if holder is not None and (
            (holder.pos_ == "PRON" and holder.lower_ in ("you", "this", "that", "it", "there", "we", "they", "i")) or holder.tag_ == "EX"
        ):
            continue
        if holder is None:
            continue
        for noun in clause.attributes:
            article = next((c for c in noun.children if c.dep_ == "det"), None)
            if (
                noun.pos_ == "NOUN"
                and article is not None
                and article.lower_ in ("a", "an")
                and not is_role(noun)
                and noun.lemma_.casefold() not in KIN
            ):
                known = bool(things(noun) & {Thing.ANIMAL, Thing.ORGANIZATION, Thing.PLACE, Thing.SOFTWARE})
                called = holder.pos_ == "PROPN" or (
                    # "Fennel is a programming language": a name that is a word as well.
                    holder.text[:1].isupper() and holder.n_lefts == 0 and any(c.dep_ == "compound" for c in noun.lefts)
                )
                yield Match("is_a", holder, noun, "copula:kind", 0.7 if known else 0.5 if called else 0.4)


def incumbents(clause: Clause) -> Iterator[Match]:
    """ "The mayor of Split is Ivan Delić", "our new treasurer is Ines Vidal": who has a role."""
    if lemma(clause.head) != "be" or clause.negated or len(clause.subjects) != 1:
        return
    role = clause.subjects[0]
    definite = any(c.lower_ in ("the", "our") for c in role.lefts)
    for person in clause.attributes:
        if definite and role.pos_ == "NOUN" and is_role(role) and person.pos_ == "PROPN" and could_be(person, (Thing.PERSON,)):
            yield Match("has_role", person, role, "copula:incumbent", 0.7)


def occupation(name: str) -> str:
    """An occupation without the nationality before it, or that it is new."""
    name = name.removeprefix("new ").removeprefix("current ")
    first, _, rest = name.partition(" ")
    return rest if rest and all(part.casefold() in NATIONALITIES for part in first.split("-")) else name


def setting(subject: str, qualifier: str) -> tuple[str, str]:
    """Thing and qualifier of a setting: "Jira project key" is the key of the Jira project."""
    owner, _, last = subject.rpartition(" ")
    return (owner, last.casefold()) if owner and not qualifier and last.casefold() in _SETTINGS else (subject, qualifier)


def favourites(clause: Clause) -> Iterator[Match]:
    """ "My favourite colour is green", "green is my favourite colour": the noun becomes the qualifier."""
    if lemma(clause.head) != "be":
        return
    for noun, others in [*((s, clause.attributes) for s in clause.subjects), *((a, clause.subjects) for a in clause.attributes)]:
        if not any(c.lower_ in ("favorite", "favourite", "fave") for c in noun.lefts):
            continue
        owner = next((c for c in noun.children if c.dep_ == "poss"), None)
        if owner is None:
            continue
        for other in others:
            if other.pos_ in ("PROPN", "NOUN", "ADJ", "NUM", "VERB"):
                yield Match(
                    "favorite",
                    owner,
                    other if other.pos_ in ("PROPN", "NOUN") else other.text,
                    "copula:favorite",
                    0.8,
                    qualifier=noun.lemma_.casefold(),
                )


_SETTINGS = frozenset(["port", "timeout", "url", "key", "region", "schema", "branch", "host", "hostname", "password", "username", "token"])
_NAMED = frozenset(["region", "branch", "host", "hostname", "username", "schema"])
"""Settings whose value is a name rather than a figure."""
_AMOUNTS = words(
    """
    deposit fee rent price salary wage budget cost bill mortgage rate dose dosage max maximum min minimum limit threshold size
    expiry ttl interval retention quota capacity total score weight height temperature pressure ratio count
    """
)


_MODIFIERS = words("default new current max maximum min minimum total own main initial")


def settings(clause: Clause) -> Iterator[Match]:
    """ "The staging port is 5433", "the deposit is 2,300": what a thing is set to, and amounts."""
    if lemma(clause.head) != "be":
        return
    for subject in clause.subjects:
        word = subject.lemma_.casefold()
        for value in clause.attributes:
            named = (
                word in _NAMED
                and (value.pos_ in ("PROPN", "X") or (word == "branch" and value.pos_ in ("ADJ", "NOUN")))
                and not any(c.dep_ in ("det", "poss", "prep") for c in value.children)
            )
            if not (named or is_number(value) or any(is_number(c) for c in value.lefts)) or word not in _SETTINGS | _AMOUNTS:
                continue
            owner = next((c for c in subject.lefts if c.dep_ in ("compound", "nmod", "amod") and c.lower_ not in _MODIFIERS), None)
            if word in _SETTINGS and owner is not None:
                yield Match("configured_as", owner.text, value, "copula:setting", 0.75, qualifier=word)
            elif word in _SETTINGS or owner is not None:
                yield Match("configured_as", subject, value, "copula:setting", 0.7, qualifier=word if word in _SETTINGS else "")
            else:
                yield Match("be", subject, value, "copula:amount", 0.65)


def introductions(clause: Clause) -> Iterator[Match]:
    """ "I'm Craig": the name of who speaks."""
    if (
        lemma(clause.head) == "be"
        and not clause.negated
        and len(clause.attributes) == 1
        and clause.subjects
        and clause.subjects[0].lower_ == "i"
    ):
        name = clause.attributes[0]
        if (
            name.pos_ == "PROPN"
            and name.ent_type_ in ("PERSON", "ORG", "GPE", "")
            and not any(c.dep_ in ("det", "prep") for c in name.children)
            and name.lower_ not in NATIONALITIES
        ):
            yield Match("named", clause.subjects[0], name, "copula:name", 0.6)
