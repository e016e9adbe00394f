"""Matching clauses against the vocabulary's patterns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from extraction.lexicon import ACQUAINTANCES, KIN
from extraction.notices import TIME_TAIL
from extraction.plans import complement
from extraction.predication import Clause, lemma
from extraction.things import could_be, is_relative, is_role
from ontology.claim import ClaimKind
from ontology.patterns import PatternModel, Tense, Thing, Where
from ontology.vocabulary import Predicate, Vocabulary

if TYPE_CHECKING:
    from spacy.tokens import Token

_COPULAS = ("be", "become", "stay", "remain", "get", "go", "turn", "feel")
_ADVERBS = {"back", "over", "up", "out", "down", "away", "together", "in", "home", "off", "apart", "around"}


@dataclass(slots=True)
class Match:
    """A relation that a clause words. Subject and object are heads of phrases, or words where no phrase stands for them."""

    predicate: str
    subject: Token | str | None
    object: Token | str
    rule: str
    confidence: float
    kind: ClaimKind | None = None
    polarity: bool = True
    qualifier: str = ""
    previous: Token | None = None


class Patterns:
    """The patterns of a vocabulary, indexed by head. Pure; one can serve many threads."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._verbs: dict[str, list[tuple[str, PatternModel]]] = defaultdict(list)
        self._nouns: dict[str, list[tuple[str, PatternModel]]] = defaultdict(list)
        self._adjectives: dict[str, list[tuple[str, PatternModel]]] = defaultdict(list)
        for predicate in vocabulary.predicates.values():
            self._index(predicate)
        for index in (self._verbs, self._nouns, self._adjectives):
            for entries in index.values():
                entries.sort(key=lambda entry: -_specificity(entry[1]))

    def _index(self, predicate: Predicate) -> None:
        for pattern in predicate.patterns:
            if not isinstance(pattern, PatternModel):
                continue
            for words, index in ((pattern.verb, self._verbs), (pattern.noun, self._nouns), (pattern.adjective, self._adjectives)):
                for word in words or ():
                    index[word].append((predicate.name, pattern))

    def nouns(self, word: str) -> list[tuple[str, PatternModel]]:
        """Patterns whose head is this noun, the most specific first."""
        return self._nouns.get(word, [])

    def matches(self, clause: Clause) -> list[Match]:
        """What the clause says in the vocabulary's predicates. Of two patterns for one pair of phrases the more specific wins."""
        found: list[Match] = []
        taken: set[tuple[object, object]] = set()
        about: dict[str, object] = {}
        for match in self._candidates(clause):
            key = (_place(match.subject), _place(match.object))
            if match.predicate in about and about[match.predicate] != match.rule:
                continue
            if match.predicate == "replaces" and any(m.predicate == "replaces" and m.object == match.object for m in found):
                # "We replaced A with B": B stands instead of A, not we.
                continue
            if match.previous is not None or match.rule.startswith("verb:replaces"):
                # "A was replaced with B" is not a claim that someone replaced A as well.
                about.setdefault(match.predicate, match.rule)
            if key not in taken:
                taken.add(key)
                found.append(match)
        return found

    def _candidates(self, clause: Clause) -> Iterator[Match]:
        base = lemma(clause.head)
        if base in _COPULAS:
            for match in (*self._adjectival(clause), *self._nominal(clause)):
                if match.kind is None and base in ("become", "turn", "go", "get") and clause.tense is not Tense.PRESENT:
                    match.kind = ClaimKind.CHANGE
                yield match
        words = [clause.lemma] if clause.particle else [f"{base} {c.lower_}" for c in clause.head.children if c.lower_ in _ADVERBS] + [base]
        for word in words:
            for name, pattern in self._verbs.get(word, ()):
                if pattern.passive == clause.passive or (pattern.passive and clause.head.tag_ == "VBN" and clause.head.dep_ == "acl"):
                    yield from _verbal(name, pattern, clause)

    def _adjectival(self, clause: Clause) -> Iterator[Match]:
        adjectives = [t for t in clause.attributes if t.pos_ in ("ADJ", "VERB", "ADV", "NOUN", "PROPN")]
        adjectives += [
            c
            for c in clause.head.children
            if c.dep_ in ("advmod", "prt") and c.lower_ in ("together", "down", "up", "offline", "online", "live")
        ]
        for adjective in adjectives:
            for name, pattern in [*self._adjectives.get(adjective.lower_, ()), *self._adjectives.get(adjective.lemma_.casefold(), ())]:
                if pattern.preposition:
                    objects: list[Token | str] = list(clause.after(*pattern.preposition))
                elif pattern.reciprocal:
                    objects = ["*"]
                else:
                    objects = [adjective.lower_ if pattern.value in (None, "*") else str(pattern.value)]
                yield from _pairs(name, pattern, clause, clause.subjects, objects, f"adjective:{name}:{adjective.lower_}")

    def _nominal(self, clause: Clause) -> Iterator[Match]:
        for attribute in clause.attributes:
            for name, pattern in self._nouns.get(attribute.lemma_.casefold(), ()):
                if pattern.value is not None:
                    yield from _pairs(
                        name, pattern, clause, clause.subjects, [attribute.lemma_.casefold()], f"noun:{name}:{attribute.lower_}"
                    )
                    continue
                others = _others(attribute, pattern, clause)
                for holder in _subjects(clause):
                    for other in others:
                        yield from _relation(name, pattern, holder, other, attribute)
        for subject in clause.subjects:
            for name, pattern in self._nouns.get(subject.lemma_.casefold(), ()):
                owner = next((c for c in subject.children if c.dep_ == "poss"), None)
                if owner is None or pattern.value is not None or (pattern.preposition and not pattern.swap):
                    continue
                for attribute in clause.attributes:
                    if attribute.pos_ == "NUM" and subject.lemma_.casefold() in KIN | ACQUAINTANCES:
                        # "my daughter Isla is seven"
                        continue
                    if (_nameable(attribute) or (Thing.ROLE in pattern.object_type and is_role(attribute))) and (
                        not pattern.named or attribute.pos_ == "PROPN"
                    ):
                        yield from _relation(name, pattern, attribute, owner, subject)


def _others(noun: Token, pattern: PatternModel, clause: Clause) -> list[Token]:
    """Whose or what's noun it is."""
    owner = [c for c in noun.children if c.dep_ == "poss"]
    if pattern.preposition:
        return clause.after(*pattern.preposition) or (owner if pattern.swap else [])
    return owner or clause.after("of")


def _subjects(clause: Clause) -> list[Token | None]:
    return [None] if clause.implied else list(clause.subjects)


def _nameable(token: Token) -> bool:
    """Whether a predicate noun may be a name: a proper one, or any in a text without capitals."""
    return token.pos_ in ("PROPN", "NUM") or (token.pos_ == "NOUN" and not any(c.isupper() for c in token.sent.text))


def _relation(name: str, pattern: PatternModel, holder: Token | None, other: Token, noun: Token) -> Iterator[Match]:
    if holder is not None and holder.i == other.i:
        return
    subject: Token | None = other if pattern.swap else holder
    object_: Token | str = (holder if holder is not None else "*speaker") if pattern.swap else other
    if pattern.object_words and not (isinstance(object_, str) or object_.lemma_.casefold() in pattern.object_words):
        return
    if (subject is None or could_be(subject, pattern.subject_type)) and (
        isinstance(object_, str) or could_be(object_, pattern.object_type)
    ):
        yield Match(
            name,
            subject,
            object_,
            f"noun:{name}:{noun.lemma_.casefold()}",
            pattern.confidence,
            pattern.kind,
            pattern.polarity,
            pattern.qualifier,
        )


def _verbal(name: str, pattern: PatternModel, clause: Clause) -> Iterator[Match]:
    if pattern.tense and clause.tense not in pattern.tense and not ((clause.former or clause.begun) and Tense.PRESENT in pattern.tense):
        return
    if pattern.progressive is not None and pattern.progressive != clause.progressive:
        return
    if pattern.anchored and not (
        clause.now or clause.no_longer or clause.lasting or any(when.role in ("since", "duration") for when in clause.whens)
    ):
        return
    if pattern.light and not any(o.lemma_.casefold() in pattern.light for o in clause.objects):
        return
    if (
        (pattern.previous or (name == "lives_in" and lemma(clause.head) == "move"))
        and pattern.subject is Where.SUBJECT
        and clause.objects
        and not clause.passive
        and not pattern.light
    ):
        # "we moved the frontend from A to B" is about the frontend.
        return
    objects: list[Token | str]
    if pattern.reciprocal:
        if clause.objects or clause.after("with", "from", "to"):
            return
        objects = ["*"]
    elif pattern.object is Where.COMPLEMENT:
        text = (
            complement(clause) if any(c.dep_ == "xcomp" for c in clause.head.children) or pattern.preposition or name == "decided" else ""
        )
        if name == "decided":
            text = TIME_TAIL.sub("", text)
        objects = (
            [text]
            if text
            and not (
                clause.objects
                and not pattern.preposition
                and pattern.verb
                and lemma(clause.head) not in ("stick", "find", "establish", "create")
            )
            else []
        )
        if pattern.preposition and not clause.after(*pattern.preposition):
            return
    elif pattern.no_object:
        if clause.objects or clause.attributes:
            return
        objects = [clause.head.lower_ if pattern.value == "*" else str(pattern.value)]
    elif pattern.value == "*" and not pattern.object_words:
        objects = [clause.lemma if clause.particle else clause.head.lower_]
    elif pattern.preposition:
        objects = list(clause.after(*pattern.preposition, direct=lemma(clause.head) == "be"))
    else:
        objects = [*clause.objects, *clause.attributes] if lemma(clause.head) in _COPULAS or not clause.objects else list(clause.objects)
    subjects = clause.objects if pattern.subject is Where.OBJECT else clause.subjects
    previous = next(iter(clause.after(*pattern.previous)), None) if pattern.previous else None
    rule = f"verb:{name}:{clause.lemma.replace(' ', '-')}"
    yield from _pairs(name, pattern, clause, subjects, objects, rule, previous)


def _pairs(
    name: str,
    pattern: PatternModel,
    clause: Clause,
    subjects: list[Token],
    objects: list[Token | str],
    rule: str,
    previous: Token | None = None,
) -> Iterator[Match]:
    if pattern.reciprocal:
        if len(subjects) >= 2:
            one, two = (subjects[1], subjects[0]) if subjects[1].lower_ == "i" else (subjects[0], subjects[1])
            yield Match(name, one, two, rule, pattern.confidence, pattern.kind, pattern.polarity, pattern.qualifier)
        return
    holders: list[Token | None] = list(subjects)
    if not holders and clause.implied and pattern.subject is not Where.OBJECT:
        holders = [None]
    for holder in holders:
        if holder is not None and not could_be(holder, pattern.subject_type):
            continue
        if holder is None and pattern.subject_type and Thing.PERSON not in pattern.subject_type:
            continue
        for object_ in objects:
            if not isinstance(object_, str):
                word = object_.lemma_.casefold()
                if not could_be(object_, pattern.object_type) or (
                    pattern.object_words and word not in pattern.object_words and object_.lower_ not in pattern.object_words
                ):
                    continue
                if pattern.named and not (
                    object_.pos_ == "PROPN" or (object_.text[:1].isupper() and object_.pos_ != "PRON") or is_relative(object_)
                ):
                    continue
            if name == "has_role" and not isinstance(object_, str) and any(c.dep_ == "poss" and c.tag_ == "PRP$" for c in object_.children):
                continue
            subject: Token | str | None = holder
            target: Token | str = object_
            if pattern.swap:
                subject, target = object_, holder if holder is not None else "*speaker"
            yield Match(name, subject, target, rule, pattern.confidence, pattern.kind, pattern.polarity, pattern.qualifier, previous)


def _specificity(pattern: PatternModel) -> int:
    return (
        4 * bool(pattern.object_words)
        + 4 * bool(pattern.light)
        + 2 * bool(pattern.object_type)
        + 2 * bool(pattern.preposition)
        + bool(pattern.subject_type)
        + bool(pattern.previous)
        + bool(pattern.tense)
        - 3 * (pattern.object is Where.COMPLEMENT)
        - 4 * (pattern.verb == ("be",) and not pattern.preposition and not pattern.object_type)
    )


def _place(end: Token | str | None) -> object:
    return end if end is None or isinstance(end, str) else end.i
