"""Mentions: what noun phrases denote. Coreference stays inside the turn; what it does not resolve has no name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from extraction.lexicon import ACQUAINTANCES, ANIMALS, BARE_KIN, FEMALE_KIN, KIN, MALE_KIN, ROLES, VAGUE, words
from extraction.roles import is_person_role
from ontology.episode import Turn

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_FIRST = {"i", "me", "my", "mine", "myself", "im"}
_SECOND = {"you", "your", "yours", "yourself", "u", "ur"}
_GROUP = {"we", "us", "our", "ours", "ourselves"}
_GENDERS = {"he": "m", "him": "m", "his": "m", "she": "f", "her": "f", "hers": "f", "himself": "m", "herself": "f"}
_THINGS = {"it", "its", "itself"}
_PLURALS = {"they", "them", "their", "theirs"}
_EMPTY_MODIFIERS = words(
    "great amazing lovely wonderful awesome nice own really very good whole such few many more other same new little favourite favorite"
)
_ARGUMENTS = {"nsubj", "nsubjpass", "dobj", "pobj", "attr", "conj", "appos", "ROOT", "oprd", "dative", "npadvmod", "poss"}
_TITLES = {"mr": "m", "mrs": "f", "ms": "f", "miss": "f", "dr": "", "sir": "m", "prof": ""}
_DIRECTIONS = {"northern", "southern", "eastern", "western", "central", "north", "south", "east", "west", "downtown", "rural"}
MAX_CANDIDATES = 40


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible antecedent: its name, where it stands, and what is known of it ("" gender: unknown)."""

    name: str
    place: int
    gender: str
    animate: bool
    sure: bool
    plural: bool
    subject: bool


class Mentions:
    """The noun phrases of one turn. Documents are read in order with `read`; `name` resolves a token of the last one."""

    def __init__(self, turn: Turn) -> None:
        self.speaker = (turn.speaker or "user").strip() or "user"
        self.addressee = turn.addressee.strip() if turn.addressee else None
        self.group = turn.project or self.speaker
        self._candidates: list[Candidate] = []
        self._base = 0
        self._lazy = False
        self._surfaces: list[str] | None = None

    def read(self, doc: Doc, surfaces: list[str] | None = None) -> None:
        """Take in a document; `surfaces` are its tokens as the turn writes them, where the parser saw another spelling."""
        self._base = (self._candidates[-1].place + 1) if self._candidates else 0
        self._lazy = not any(c.isupper() for c in doc.text)
        self._surfaces = surfaces
        for token in doc:
            if token.pos_ in ("NOUN", "PROPN") and token.dep_ in _ARGUMENTS and token.ent_type_ not in ("DATE", "TIME"):
                name = self.name(token, subject=True)
                if (token.dep_ == "attr" and token.pos_ == "NOUN") or token.lower_ in (
                    "thanks",
                    "hi",
                    "hey",
                    "wow",
                    "congrats",
                    "cheers",
                    "yes",
                    "no",
                ):
                    continue
                if name is not None and name not in (self.speaker, self.addressee):
                    self._candidates.append(self._candidate(token, name))
        del self._candidates[:-MAX_CANDIDATES]

    def _candidate(self, token: Token, name: str) -> Candidate:
        word = token.lemma_.casefold()
        title = token.doc[token.left_edge.i].lower_.rstrip(".")
        gender = "f" if word in FEMALE_KIN else "m" if word in MALE_KIN else _TITLES.get(title, "")
        if token.pos_ == "PROPN" or name[:1].isupper():
            kin = next((t.lemma_.casefold() for t in [token.head, *token.children] if t.lemma_.casefold() in KIN), "")
            gender = gender or ("f" if kin in FEMALE_KIN else "m" if kin in MALE_KIN else "")
        sure = token.ent_type_ == "PERSON" or word in KIN | ACQUAINTANCES or word in ROLES or title in _TITLES
        animate = sure or (token.pos_ == "PROPN" and token.ent_type_ not in ("GPE", "LOC", "DATE", "MONEY", "CARDINAL", "NORP", "LANGUAGE"))
        if (
            token.dep_ == "pobj"
            and word not in KIN
            and (token.head.lower_ in ("in", "at", "into", "near") or token.head.head.lemma_ in ("move", "go", "travel", "fly"))
        ):
            # Places are often taken for people.
            sure = animate = False
        plural = token.tag_ in ("NNS", "NNPS") or any(c.dep_ == "conj" for c in token.children)
        return Candidate(name, self._base + token.i, gender, animate, sure, plural, token.dep_ in ("nsubj", "nsubjpass"))

    def name(self, token: Token, *, subject: bool = False) -> str | None:
        """What a noun phrase with this head denotes, or None: an unresolved pronoun, or a phrase that names nothing."""
        word = token.lower_
        if token.pos_ == "PRON" or token.tag_ in ("PRP", "PRP$", "DT", "WP", "WDT", "EX"):
            return self._pronoun(word, self._base + token.i)
        return self._phrase(token, subject)

    def _pronoun(self, word: str, place: int) -> str | None:
        if word in _FIRST:
            return self.speaker
        if word in _SECOND:
            return self.addressee
        if word in _GROUP:
            return self.group
        before = [c for c in self._candidates if c.place < place]
        if word in _GENDERS:
            fitting = [c for c in before if c.animate and c.gender in ("", _GENDERS[word]) and not c.plural]
            subjects = [c for c in fitting[-6:] if c.subject]
            certain = [c for c in subjects if c.gender or c.sure]
            return _latest(certain) or _latest(subjects) or _latest([c for c in fitting if c.gender or c.sure]) or _latest(fitting)
        if word in _THINGS:
            return _latest([c for c in before if not c.sure and not c.plural])
        if word in _PLURALS:
            return _latest([c for c in before if c.plural])
        return None

    def owner(self, token: Token) -> str | None:
        """The owner of a noun ("my", "Ana's"), or None."""
        for child in token.children:
            if child.dep_ == "poss":
                return self.name(child)
        return None

    def _phrase(self, token: Token, subject: bool) -> str | None:
        word = token.lemma_.casefold()
        named = named_by(token)
        if named is not None:
            return self.text(named, subject=True)
        possessor = next((c for c in token.children if c.dep_ == "poss"), None)
        if possessor is not None and possessor.pos_ in ("NOUN", "PROPN") and is_person_role(word) and token.tag_ != "NNS":
            return self.role(token, possessor)
        text = self.text(token, subject=subject)
        if not text:
            return None
        if possessor is not None and (possessor.pos_ == "PRON" or possessor.tag_ == "PRP$"):
            person = word in KIN or word in ACQUAINTANCES
            # A project has no sister.
            owner = self.speaker if person and possessor.lower_ in _GROUP else self.name(possessor)
            if owner is None:
                return None if person or subject else text
            if person or (subject and possessor.lower_ not in _GROUP):
                return f"{owner}'s {text}"
            return text
        if word in BARE_KIN and possessor is None and len(text.split()) == 1 and not any(c.dep_ in ("det", "prep") for c in token.children):
            return f"{self.speaker}'s {text.casefold()}"
        if subject and word in VAGUE and token.pos_ != "PROPN":
            return None
        return text

    def role(self, noun: Token, owner: Token) -> str | None:
        """What somebody is called by their role, named or not: "Ada's older sister". One key from every speaker's point of view.

        None where the owner is not known.
        """
        whose = self.speaker if owner.lower_ in _GROUP else self.name(owner)
        if whose is None:
            return None
        first = max(owner.i, *(t.i for t in owner.subtree)) + 1
        before = [t for t in noun.doc[first : noun.i] if t.dep_ != "case" and not _empty(t, noun) and not t.is_punct]
        return f"{whose}'s {' '.join(self._surface(t.i, noun.doc) for t in [*before, noun])}"

    def _surface(self, place: int, doc: Doc) -> str:
        known = self._surfaces is not None and place < len(self._surfaces)
        return self._surfaces[place] if known and self._surfaces is not None else doc[place].text

    def text(self, token: Token, *, subject: bool = False) -> str:
        """The surface of a phrase without determiners, relative clauses and time."""
        doc = token.doc
        if token.pos_ == "PROPN" and not self._lazy:
            start = token.i
            while (
                start > token.sent.start
                and doc[start - 1].dep_ in ("compound", "nmod", "amod", "nummod", "poss", "case")
                and _namelike(doc[start - 1])
            ):
                start -= 1
            keep = set(range(start, token.i + 1))
        else:
            keep = {token.i}
            bounded = any(c.dep_ == "quantmod" and c.lower_ == "to" for c in token.lefts)
            for child in token.lefts:
                if bounded and child.dep_ == "quantmod":
                    # "from 13 to 15" are two values.
                    continue
                if child.dep_ in ("compound", "nmod", "nummod", "amod", "quantmod", "npadvmod") and not (
                    child.dep_ == "amod" and _empty(child, token)
                ):
                    keep.update(t.i for t in child.subtree if t.dep_ not in ("det", "punct") and t.tag_ != "PRP$")
                elif child.dep_ == "poss" and child.tag_ != "PRP$":
                    keep.update(t.i for t in child.subtree if t.dep_ != "det" and t.tag_ != "PRP$")
        for child in token.rights:
            if child.dep_ == "nummod" or (child.dep_ == "case"):
                if child.dep_ == "nummod":
                    keep.update(t.i for t in child.subtree if t.i == child.i or t.text == "#")
            elif child.dep_ == "prep" and child.ent_type_ not in ("DATE", "TIME") and _belongs(token, child, subject):
                keep.update(t.i for t in _slim(child))
        words = sorted(keep)
        if len(words) > 12:
            return ""
        out = ""
        for place, i in enumerate(words):
            surface = self._surface(i, doc)
            glued = place > 0 and words[place - 1] == i - 1 and not doc[i - 1].whitespace_
            out += surface if glued or place == 0 else f" {surface}"
        # "Anna’s sister" and "Anna's sister" are one.
        out = out.replace("\u2019", "'")
        return out.strip().strip(".,;:!?\"'()[]").strip() if not out.endswith("s'") else out


def _empty(modifier: Token, noun: Token) -> bool:
    """Whether a word before a noun tells it from no other; of two sisters "my other sister" is another one."""
    word = modifier.lower_
    return word in _EMPTY_MODIFIERS and word != "new" and not (word == "other" and is_person_role(noun.lemma_.casefold()))


def _slim(preposition: Token) -> list[Token]:
    kept = [preposition]
    for child in preposition.children:
        if child.dep_ == "pobj":
            kept += [
                t
                for t in child.subtree
                if t.dep_ not in ("det", "relcl", "punct") and not _under(t, child, ("relcl", "acl", "appos", "conj", "cc"))
            ]
    return kept


def _under(token: Token, top: Token, deps: tuple[str, ...]) -> bool:
    while token.i != top.i and token.head.i != token.i:
        if token.dep_ in deps:
            return True
        token = token.head
    return False


def _belongs(noun: Token, preposition: Token, subject: bool) -> bool:
    """Whether a prepositional phrase is part of the name: "city of X", and for subjects "lift at Block D"."""
    target = next((c for c in preposition.children if c.dep_ == "pobj"), None)
    if preposition.lower_ == "per":
        return True
    if target is None or target.ent_type_ in ("DATE", "TIME") or noun.pos_ == "PRON":
        return False
    if preposition.lower_ == "of":
        return target.tag_ != "PRP"
    if noun.pos_ == "PROPN" or (noun.dep_ == "conj" and noun.head.pos_ in ("VERB", "AUX")):
        return False
    return preposition.lower_ in (("in", "at", "for", "with", "on") if subject else ("with", "for")) and target.pos_ in ("PROPN", "NOUN")


def _namelike(token: Token) -> bool:
    if token.tag_ == "PRP$":
        return False
    if token.pos_ == "VERB":
        # An unknown first name that the tagger takes for a verb; the recogniser knows it as part of the name.
        return token.text[:1].isupper() and bool(token.ent_type_) and token.ent_type_ == token.nbor(1).ent_type_
    if token.dep_ == "compound" and token.pos_ == "NOUN" and token.head.text.isupper() and len(token.head.text) > 1:
        # "cache TTL"
        return True
    return _capital(token) or token.lower_ in _DIRECTIONS


def _capital(token: Token) -> bool:
    return token.pos_ in ("PROPN", "NUM") or token.text[:1].isupper() or token.dep_ == "case"


def named_by(token: Token) -> Token | None:
    """The proper name that a common noun for a person is given with: "my brother Kunle", "her husband Jens"."""
    if token.pos_ == "PROPN" or token.lemma_.casefold() not in KIN | ACQUAINTANCES | ROLES | ANIMALS:
        return None
    for child in token.children:
        if child.dep_ == "appos" and child.pos_ == "PROPN" and child.i > token.i:
            return child
    if token.dep_ == "nsubjpass" and token.head.lower_ in ("called", "named"):
        # "my flatmate is called Ingrid"
        return next((c for c in token.head.children if c.dep_ in ("oprd", "dobj", "attr") and c.pos_ == "PROPN"), None)
    return None


def _latest(candidates: list[Candidate]) -> str | None:
    """The last subject, or else the only name among the last few; several others are ambiguous."""
    recent = candidates[-6:]
    for candidate in reversed(recent):
        if candidate.subject:
            return candidate.name
    names = list(dict.fromkeys(c.name for c in recent))
    return names[0] if len(names) == 1 else (names[-1] if names and len(names) == 2 else None)
