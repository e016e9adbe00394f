"""What class of thing a noun phrase may denote."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from extraction import lexicon
from extraction.gazetteer import known_place
from extraction.lexicon import words
from extraction.mentions import named_by
from ontology.patterns import Thing

if TYPE_CHECKING:
    from spacy.tokens import Token

_ORGANIZATIONS = words(
    """
    company firm bank school university college hospital clinic agency startup start-up museum charity church council library bakery
    restaurant cafe café pub bar hotel factory studio lab laboratory office shop store supermarket gym airport ngo nonprofit
    foundation institute newspaper magazine publisher brewery farm garage salon warehouse consultancy bookshop theatre theater zoo
    ministry department post-office nursery kindergarten practice shelter wash society union club band choir team group board
    committee association league polytechnic academy conservatory embassy hospice dealership orchestra party crew guild gang chapter troupe
    """
)
_PLACES = words(
    """
    city town village country flat apartment house home street island hostel dorm dormitory cottage cabin suburb countryside coast
    mountains neighbourhood neighborhood district area building hall van boat studio bungalow farm camp caravan basement attic beach
    park museum lake forest mountain zoo hospital prison stable
    """
)
_ENTITIES = {
    "PERSON": {Thing.PERSON},
    "ORG": {Thing.ORGANIZATION, Thing.SOFTWARE, Thing.PERSON, Thing.PLACE},
    "GPE": {Thing.PLACE, Thing.PERSON, Thing.SOFTWARE},
    "LOC": {Thing.PLACE},
    "FAC": {Thing.PLACE, Thing.ORGANIZATION},
    "LANGUAGE": {Thing.LANGUAGE},
    "CARDINAL": {Thing.NUMBER},
    "MONEY": {Thing.NUMBER},
    "QUANTITY": {Thing.NUMBER},
    "PERCENT": {Thing.NUMBER},
}
_LISTS: tuple[tuple[Thing, frozenset[str]], ...] = (
    (Thing.PERSON, lexicon.KIN | lexicon.ACQUAINTANCES),
    (Thing.ROLE, lexicon.ROLES),
    (Thing.ORGANIZATION, _ORGANIZATIONS),
    (Thing.PLACE, _PLACES),
    (Thing.ANIMAL, lexicon.ANIMALS),
    (Thing.FOOD, lexicon.FOODS),
    (Thing.DRINK, lexicon.DRINKS),
    (Thing.MEDICINE, lexicon.MEDICINES),
    (Thing.LANGUAGE, lexicon.LANGUAGES),
    (Thing.GAME, lexicon.GAMES),
    (Thing.ACTIVITY, lexicon.ACTIVITIES | lexicon.GAMES),
    (Thing.PROPERTY, lexicon.PROPERTY),
    (Thing.ACTIVITY, lexicon.STUDIES),
)
_LISTED = {
    Thing.MEDICINE,
    Thing.FOOD,
    Thing.DRINK,
    Thing.LANGUAGE,
    Thing.GAME,
    Thing.ACTIVITY,
    Thing.ANIMAL,
    Thing.PROPERTY,
    Thing.ROLE,
    Thing.NUMBER,
}
"""Classes that the word lists decide: an unknown name is none of them."""
_PET_WORDS = re.compile(
    r"\b(?:shelter|breeder|vet|kennel|litter|rescue|puppy|kitten|leash|put\s+\w+\s+down|rehomed?|adopted|paws?|walkies)\b", re.IGNORECASE
)
_PROGRAM_WORDS = words("open-source text code image file package build container process task window database search vector markdown")
"""Before a word for an occupation they make it a program: "a text editor"."""
_PEOPLE = {"i", "me", "you", "we", "us", "he", "she", "him", "her", "who", "myself", "user", "people"}


def is_role(token: Token) -> bool:
    """Whether a noun names an occupation."""
    word = token.lemma_.casefold()
    return (
        token.pos_ in ("NOUN", "PROPN", "ADJ")
        and not token.lower_.endswith("ing")
        and not any(c.lower_ in _PROGRAM_WORDS for c in token.lefts)
        and (word in lexicon.ROLES or word.split("-")[-1] in lexicon.ROLES or (word.endswith(lexicon.ROLE_ENDINGS) and len(word) > 6))
    )


def is_number(token: Token) -> bool:
    """Whether a token is a figure, a measure or a version."""
    return bool(
        token.like_num
        or token.tag_ == "CD"
        or token.text[:1].isdigit()
        or (token.text[:1] in "v$£€" and any(c.isdigit() for c in token.text))
    )


def things(token: Token) -> set[Thing]:
    """The classes that a phrase with this head certainly or probably has; empty where nothing is known."""
    word = token.lemma_.casefold()
    if token.pos_ == "PRON" or token.tag_ == "PRP":
        return {Thing.PERSON} if token.lower_ in _PEOPLE else set()
    if named_by(token) is not None:
        return {Thing.PERSON}
    if word in lexicon.SOFTWARE or token.lower_ in lexicon.SOFTWARE:
        # "works at GitHub" means the company.
        company = token.dep_ == "pobj" and token.head.lower_ in ("at", "for", "by", "with")
        return {Thing.SOFTWARE, Thing.ORGANIZATION} if company else {Thing.SOFTWARE}
    found = {thing for thing, words in _LISTS if word in words or token.lower_ in words}
    if token.pos_ == "VERB" or any(c.lower_ in _PROGRAM_WORDS for c in token.lefts):
        found.discard(Thing.ROLE)
    if is_role(token):
        found |= {Thing.ROLE, Thing.PERSON}
    if is_number(token):
        found.add(Thing.NUMBER)
    if found and token.pos_ != "PROPN":
        return found
    if token.pos_ == "PROPN" or token.text[:1].isupper():
        known = _ENTITIES.get(token.ent_type_)
        if known is not None and Thing.SOFTWARE in known and known_place(token.text):
            # Singapore is no product.
            return (known | found) - {Thing.SOFTWARE}
        if known is not None:
            return known | found
        return found or set()
    return found


def could_be(token: Token, wanted: tuple[Thing, ...]) -> bool:
    """Whether a phrase may denote one of the wanted classes. Names of unknown class pass, common nouns of none do not."""
    if not wanted:
        return True
    classes = things(token)
    if classes & set(wanted):
        return True
    if Thing.SOFTWARE in classes and (token.lemma_.casefold() in lexicon.SOFTWARE or token.lower_ in lexicon.SOFTWARE):
        return Thing.THING in wanted
    if Thing.PLACE in classes and not set(wanted) & {Thing.PERSON, Thing.ORGANIZATION, Thing.THING} and known_place(token.text):
        return False
    if classes and token.pos_ != "PROPN":
        return Thing.THING in wanted and Thing.PERSON not in classes
    if token.pos_ == "PRON":
        return any(thing not in _LISTED or thing in (Thing.PROPERTY, Thing.ANIMAL) for thing in wanted)
    if Thing.ANIMAL in wanted and token.pos_ == "PROPN" and _PET_WORDS.search(token.sent.text):
        return True
    if (
        Thing.PROPERTY in wanted
        and token.pos_ == "PROPN"
        and any(c.dep_ in ("det", "poss") and c.lower_ in ("the", "my", "our") for c in token.children)
    ):
        # "sold the Volvo": a name with an article is a thing.
        return True
    wanted = tuple(thing for thing in wanted if thing not in _LISTED)
    if not wanted:
        return False
    if token.pos_ == "PROPN" or (token.text[:1].isupper() and token.i > token.sent.start):
        # Single names are mostly people, and the recogniser errs on them; a person's name is no place.
        return (
            not (token.ent_type_ == "PERSON" and any(c.dep_ == "compound" for c in token.children))
            or Thing.PLACE not in wanted
            or len(wanted) > 1
        )
    bare = not any(c.dep_ in ("det", "amod", "poss") for c in token.children)
    if Thing.THING in wanted:
        return token.pos_ not in ("VERB", "ADJ", "ADV")
    if Thing.SOFTWARE in wanted:
        return token.pos_ in ("NOUN", "X", "NUM", "VERB") and (bare or any(c.dep_ in ("compound", "nummod") for c in token.children))
    lazy = not any(c.isupper() for c in token.sent.text)
    return bare and lazy and token.pos_ in ("NOUN", "X")


def is_relative(token: Token) -> bool:
    """Whether a phrase is somebody by their relation: "my sister"."""
    return Thing.PERSON in things(token) and any(c.dep_ == "poss" for c in token.children)
