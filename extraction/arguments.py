"""What hangs on a verb: its arguments, adverbs, negation and tense, as the parse gives them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from extraction.lexicon import LIGHT_VERBS
from extraction.predication import SUBJECTS, Clause, conjuncts, lemma
from ontology.patterns import Tense

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

_INTERJECTIONS = {"nope", "no", "yes", "yeah", "yep", "yup", "nah", "ok", "okay", "oh", "well", "hey", "haha", "lol", "thanks"}
_QUANTITIES = {"bit", "lot", "little", "touch", "couple", "pair", "cup", "glass", "slice", "bunch", "ton"}
_TASTED = {"hate", "love", "like", "eat", "drink", "adore", "dislike", "prefer"}
_PAST_TOO = {"quit", "split", "cut", "put", "set", "hit", "shut", "let"}
"""Verbs whose past looks like their infinitive."""
_CHANGES = {
    "switch",
    "move",
    "migrate",
    "change",
    "go",
    "upgrade",
    "downgrade",
    "rename",
    "roll",
    "convert",
    "port",
    "transition",
    "revert",
}


def read(head: Token, sentence: Span, timed: set[int]) -> Clause:
    clause = Clause(head, sentence)
    for child in head.children:
        dep, word = child.dep_, child.lower_
        if child.i in timed and dep not in SUBJECTS and not (dep in ("attr", "pobj") and lemma(head) == "be"):
            continue
        if dep in SUBJECTS and child.lower_ in _INTERJECTIONS:
            continue
        if dep in SUBJECTS:
            clause.subjects = conjuncts(child)
            clause.passive = dep == "nsubjpass"
        elif dep in ("dobj", "oprd") and child.pos_ not in ("VERB",):
            (clause.objects if dep == "dobj" else clause.attributes).extend(map(_measured, conjuncts(child)))
        elif mistagged(head, child):
            clause.objects.append(child)
        elif dep in ("attr", "acomp"):
            clause.attributes.extend(conjuncts(child))
        elif dep in ("prep", "agent", "dative") and child.pos_ in ("ADP", "SCONJ", "PART", "ADV"):
            _prepositions(clause, child, timed)
        elif dep == "prt":
            clause.particle = word
        elif dep == "auxpass":
            clause.passive = True
        elif dep == "neg":
            _negate(clause, child)
        elif dep in ("advmod", "npadvmod", "det"):
            _adverb(clause, child)
            for below in child.children if dep == "advmod" else ():
                # "back from Lisbon": the preposition hangs on the adverb.
                if below.dep_ == "prep":
                    _prepositions(clause, below, timed)
        elif dep in ("advcl", "xcomp") and _mistaken(head, child):
            clause.prepositions.append(("to", [child]))
    for noun in [*clause.objects, *clause.attributes]:
        for child in noun.children:
            if child.dep_ == "prep":
                _prepositions(clause, child, timed, clause.loose)
            elif child.dep_ == "neg":
                _negate(clause, child)
            elif child.dep_ == "det" and child.lower_ == "no":
                clause.negated = True
    _tense(clause)
    if clause.imperative and head.lower_ in _PAST_TOO and any(c.i in timed for c in head.children):
        # "quit smoking three years ago"
        clause.imperative, clause.implied, clause.tense = False, True, Tense.PAST
    return clause


def gapped(clause: Clause, timed: set[int]) -> Iterator[Clause]:
    """ "Staging is hosted on Hetzner, prod on AWS": the verb goes on for the second."""
    for child in clause.head.children:
        if child.dep_ == "conj" and child.pos_ in ("NOUN", "PROPN") and clause.prepositions and clause.subjects:
            other = Clause(
                clause.head, clause.sentence, [child], passive=clause.passive, tense=clause.tense, progressive=clause.progressive
            )
            for preposition in child.children:
                if preposition.dep_ == "prep" and preposition.lower_ == clause.prepositions[0][0]:
                    _prepositions(other, preposition, timed)
            if other.prepositions and not clause.negated and not clause.modal:
                other.governor, other.imperative = clause.governor, clause.imperative
                yield other


def _measured(noun: Token) -> Token:
    """What a quantity is one of: "a bit of German"."""
    if noun.lower_ in _QUANTITIES:
        of = next((c for c in noun.children if c.dep_ == "prep" and c.lower_ == "of"), None)
        return next((c for c in of.children if c.dep_ == "pobj"), noun) if of is not None else noun
    return noun


def mistagged(head: Token, child: Token) -> bool:
    """ "I hate cilantro": whether an unknown noun right behind a verb of taste was tagged as an adjective or a verb."""
    if child.i != head.i + 1 or lemma(head) not in _TASTED or any(c.dep_ in ("dobj", "ccomp") and c.i != child.i for c in head.children):
        return False
    if child.dep_ == "dobj" and child.tag_ in ("VBZ", "VBP", "VB"):
        return True
    return (child.dep_ in ("advmod", "acomp", "oprd") and child.tag_ == "JJ") or (
        child.dep_ == "xcomp" and child.tag_ in ("VB", "VBP", "JJ") and not any(c.dep_ in ("aux", "dobj", "prep") for c in child.children)
    )


def _mistaken(head: Token, child: Token) -> bool:
    """ "from webpack to vite": whether an unknown word after "to" was parsed as a verb."""
    bare = all(c.dep_ in ("aux", "npadvmod", "advmod", "punct") for c in child.children)
    return bare and child.tag_ == "VB" and lemma(head) in _CHANGES and child.lower_ not in LIGHT_VERBS


def _prepositions(
    clause: Clause, preposition: Token, timed: set[int], into: list[tuple[str, list[Token]]] | None = None, depth: int = 0
) -> None:
    into = clause.prepositions if into is None else into
    word = preposition.lower_
    for child in preposition.children:
        if child.dep_ in ("pobj", "pcomp") and child.i not in timed and child.dep_ != "prep":
            first = next((c for c in child.children if c.dep_ == "quantmod" and c.tag_ == "CD"), None)
            if word == "from" and first is not None and any(c.lower_ == "to" for c in child.children):
                # "from 13 to 15" is no amount.
                into.extend([("from", [first]), ("to", [child])])
                continue
            objects = [t for t in conjuncts(child) if t.i not in timed]
            into.append((word, objects))
            for token in objects:
                for below in token.children:
                    if below.dep_ == "prep" and below.lower_ not in ("of",) and depth < 2:
                        _prepositions(clause, below, timed, into, depth + 1)
        elif child.dep_ == "prep" and depth < 2:
            _prepositions(clause, child, timed, into, depth + 1)


def _negate(clause: Clause, word: Token) -> None:
    if word.lower_ == "never":
        clause.never = clause.negated = True
    elif word.lower_ == "no" and word.head.lower_ == "longer":
        clause.no_longer = True
    else:
        # "X, not Y" negates Y, not the clause.
        following = word.nbor(1) if word.i + 1 < len(word.doc) else None
        contrast = word.lower_ == "not" and word.i > clause.head.i + 1 and word.i > 0 and word.nbor(-1).is_punct and following is not None
        clause.negated = clause.negated or not contrast


def _adverb(clause: Clause, word: Token) -> None:
    text = word.lower_
    if text == "longer" and any(c.lower_ == "no" for c in word.children):
        clause.no_longer = True
    elif text == "never":
        clause.never = clause.negated = True
    elif text in ("anymore",) or (text == "more" and any(c.lower_ == "any" for c in word.children)):
        clause.no_longer = True
    elif text in ("also", "additionally") or (text == "too" and word.i > clause.head.i):
        clause.also = True
    elif text in ("now", "currently", "nowadays"):
        clause.now = True
    elif text == "formerly":
        clause.former = True


def _tense(clause: Clause) -> None:
    head = clause.head
    auxiliaries = [c for c in head.children if c.dep_ in ("aux", "auxpass")]
    words = [lemma(a) for a in auxiliaries]
    for auxiliary in auxiliaries:
        if auxiliary.tag_ == "MD" or auxiliary.lower_ in ("'ll", "wo"):
            clause.modal = {"'ll": "will", "wo": "will", "ca": "can", "'d": "would", "shall": "will"}.get(
                auxiliary.lower_, auxiliary.lower_
            )
    clause.progressive = head.tag_ == "VBG"
    finite = auxiliaries[0] if auxiliaries else head
    if clause.modal == "will":
        clause.tense = Tense.FUTURE
    elif "have" in words and head.tag_ in ("VBN", "VBD", "VBG"):
        clause.tense = Tense.PERFECT if finite.lower_ in ("have", "has", "'ve", "'s", "having", "ve", "s") else Tense.PAST
    elif finite.lower_ == "been":
        clause.tense = Tense.PERFECT
    elif finite.tag_ in ("VBD", "VBN"):
        clause.tense = Tense.PAST
    if (
        not auxiliaries
        and head.tag_ in ("VBP", "VB")
        and head.lower_ in ("quit", "split")
        and any(c.dep_ == "nsubj" for c in head.children)
    ):
        clause.tense = Tense.PAST
    if clause.no_longer and clause.negated:
        clause.negated = False
    if head.dep_ == "ROOT" and not clause.subjects:
        first = finite if auxiliaries else head
        if first.tag_ in ("VB", "VBP") and lemma(first) != "be":
            clause.imperative = True
