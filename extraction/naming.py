"""Who a possessed role is: "Anna's sister Mia", "Mia, Anna's sister, ...", "my brother's name is Tom"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from extraction.gazetteer import known_place
from extraction.lexicon import DAYS, NATIONALITIES, words
from extraction.matching import Match
from extraction.mentions import Mentions
from extraction.predication import Clause, lemma
from extraction.roles import CANDIDATE, certainty, is_person_role
from ontology.patterns import Tense

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

_BETWEEN = frozenset({",", "(", '"', "“", "'", "called", "named"})
_LISTING = frozenset({"and", "or", "&", "plus", "with"})
_NAMES_TOO = words("april may june august")
"""Months that are names of people as well."""
_PARTICLES = words("de da di do dos du van von der den ter la le el al bin ibn ben")
_ANYBODY = words("everyone everybody people friends colleagues family most they folks mates")


@dataclass(frozen=True, slots=True)
class Naming:
    """A role with the name that its holder is given. `defined`: the wording takes it that there is one holder."""

    role: Token
    owner: Token
    name: Token
    rule: str
    defined: bool = True

    def match(self, mentions: Mentions) -> Match | None:
        """The join of the name with the role; None where either is not known."""
        alias = mentions.role(self.role, self.owner)
        name = mentions.name(self.name)
        if alias is None or name is None or not _is_name(self.name) or not all(map(_capital, name.split())):
            return None
        # "Her sister" and "my wife's sister" rest on a guess, or on somebody else's role.
        sure = self.owner.lower_ in ("my", "our", "your") or self.owner.pos_ == "PROPN"
        confidence = certainty(alias.rpartition("'s ")[2], defined=self.defined)
        return Match("also_known_as", self.name, alias, self.rule, confidence if sure else min(confidence, CANDIDATE))


def beside(sentence: Span, mentions: Mentions) -> Iterator[Naming]:
    """Roles with a name beside them. A list ("my sister, Mia and I") and an address ("I met your sister, Tom") name nobody."""
    for role in sentence:
        owner = _owner(role)
        if not _singular(role):
            continue
        if role.dep_ == "appos" and role.head.pos_ == "PROPN" and role.head.i < role.i and owner is not None:
            if _set_off(role.head.i, owner.left_edge.i, role):
                yield Naming(role, owner, role.head, "naming:behind")
            continue
        name = next((c for c in role.children if c.dep_ == "appos" and c.pos_ == "PROPN" and c.i > role.i), None)
        if name is None:
            given = next((c for c in role.children if c.dep_ == "acl" and c.lower_ in ("called", "named")), None)
            name = next((c for c in given.children if c.dep_ in ("oprd", "dobj", "attr")), None) if given is not None else None
        if name is None and role.dep_ in ("compound", "nmod") and role.head.pos_ == "PROPN" and role.head.i > role.i:
            name = role.head
            owner = owner or _owner(name)
        if owner is not None and name is not None and owner.i < role.i and _next_to(role, name, mentions):
            yield Naming(role, owner, name, "naming:beside")


def stated(clause: Clause, mentions: Mentions) -> Iterator[Match]:
    """ "Anna's sister is Mia", "my brother's name is Tom", "my brother is called Tom", "everyone calls me Bob"."""
    if clause.negated or clause.former or clause.no_longer or clause.modal or clause.tense is not Tense.PRESENT:
        return
    namings = [*_copular(clause)] if lemma(clause.head) == "be" else [*_called(clause)] if clause.passive else []
    for naming in namings:
        match = naming.match(mentions)
        if match is not None:
            yield match
    if lemma(clause.head) in ("call", "nickname") and not clause.passive and not clause.progressive:
        yield from _by_others(clause)


def _copular(clause: Clause) -> Iterator[Naming]:
    if len(clause.subjects) != 1 or len(clause.attributes) != 1:
        return
    subject, attribute = clause.subjects[0], clause.attributes[0]
    for role, name, defined in ((subject, attribute, True), (attribute, subject, False)):
        owner = _owner(role)
        if _singular(role) and owner is not None and name.pos_ == "PROPN":
            yield Naming(role, owner, name, "naming:is", defined)
    if subject.lower_ == "name" and attribute.pos_ == "PROPN" and not any(c.dep_ == "amod" for c in subject.children):
        of = next((c for c in subject.children if c.lower_ == "of"), None)
        holder = _owner(subject) or (next((c for c in of.children if c.dep_ == "pobj"), None) if of is not None else None)
        owner = _owner(holder) if holder is not None else None
        if holder is not None and owner is not None and _singular(holder):
            yield Naming(holder, owner, attribute, "naming:name")


def _called(clause: Clause) -> Iterator[Naming]:
    if lemma(clause.head) not in ("call", "name"):
        return
    for role in clause.subjects:
        owner = _owner(role)
        name = next((c for c in clause.head.children if c.dep_ in ("oprd", "dobj", "attr") and c.pos_ == "PROPN"), None)
        if owner is not None and name is not None and _singular(role):
            yield Naming(role, owner, name, "naming:called")


def _by_others(clause: Clause) -> Iterator[Match]:
    """ "Everyone calls me Bob": what people in general call somebody; what one person does may be a joke."""
    if len(clause.subjects) != 1 or clause.subjects[0].lower_ not in _ANYBODY:
        return
    person = next((c for c in clause.head.children if c.dep_ in ("dobj", "nsubj") and c.lower_ in ("me", "you", "him", "her")), None)
    person = person or next((c for c in clause.objects if c.pos_ == "PROPN"), None)
    name = next((c for c in clause.head.children if c.dep_ in ("oprd", "attr") and c.pos_ == "PROPN"), None)
    if person is not None and name is not None and name.i == person.i + 1 and _is_name(name):
        # "Call him" hangs on who "he" is.
        yield Match("also_known_as", person, name, "naming:by-others", 0.8 if person.lower_ not in ("him", "her") else CANDIDATE)


def _owner(noun: Token) -> Token | None:
    return next((c for c in noun.children if c.dep_ == "poss"), None)


def _singular(token: Token) -> bool:
    return token.pos_ in ("NOUN", "PROPN") and token.tag_ not in ("NNS", "NNPS") and is_person_role(token.lemma_.casefold())


def _capital(word: str) -> bool:
    return word[:1].isupper() or word in _PARTICLES


def _is_name(token: Token) -> bool:
    first = token.doc[min([token.i, *(c.i for c in token.lefts if c.dep_ == "compound" and c.pos_ == "PROPN")])]
    return (
        token.pos_ == "PROPN"
        and first.text[:1].isupper()
        and token.ent_type_ not in ("DATE", "TIME", "NORP", "LANGUAGE")
        and token.lower_ not in (DAYS - _NAMES_TOO) | NATIONALITIES
        and not is_person_role(token.lower_)
        and not known_place(token.text)
    )


def _next_to(role: Token, name: Token, mentions: Mentions) -> bool:
    """Whether a name follows its role at once, with or without a comma, and neither continues a list nor addresses somebody."""
    doc, first = role.doc, name.i
    while first > role.i + 1 and doc[first - 1].dep_ == "compound" and doc[first - 1].pos_ == "PROPN":
        first -= 1
    between = [doc[i].lower_ for i in range(role.i + 1, first)]
    if not set(between) <= _BETWEEN:
        return False
    if "," not in between:
        return True
    if name.text in (mentions.addressee, mentions.speaker):
        return False
    return _closed(name.i, doc, role.sent.end)


def _set_off(name: int, first: int, role: Token) -> bool:
    """Whether a role behind a name stands between commas or brackets."""
    doc = role.doc
    between = [doc[i].text for i in range(name + 1, first)]
    return between in ([","], ["("], ["-"], ["–"], ["—"]) and _closed(role.i, doc, role.sent.end, final=True)


def _closed(last: int, doc: Doc, end: int, *, final: bool = False) -> bool:
    """Whether a comma or bracket follows that no list goes on behind; `final`: the end of the sentence does as well."""
    following = [doc[i].lower_ for i in range(last + 1, min(last + 3, end))]
    if not following or following[0] in (".", "!"):
        return final
    return following[0] in (",", ")", "-", "–", "—") and not (len(following) > 1 and following[1] in _LISTING)
