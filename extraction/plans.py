"""Plans and wishes: "going to", "plan to", "want to", and what is announced for a date."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from extraction.predication import Clause, lemma
from extraction.times import When
from ontology.claim import Modality
from ontology.patterns import Tense

if TYPE_CHECKING:
    from spacy.tokens import Token

_PLANNING = {"plan", "intend", "aim", "arrange", "go"}
_WEAK = {
    "be",
    "try",
    "see",
    "say",
    "tell",
    "ask",
    "get",
    "let",
    "keep",
    "think",
    "know",
    "check",
    "take",
    "do",
    "have",
    "make",
    "need",
    "look",
    "feel",
    "find",
    "hear",
    "talk",
    "share",
    "forget",
    "expect",
    "remember",
    "stay",
    "cry",
    "love",
    "miss",
    "enjoy",
    "start",
    "use",
    "focus",
    "work",
    "discuss",
}


ANNOUNCED = 0.55
"""Confidence of a plan that is told by a future with a date."""


def own(clause: Clause) -> bool:
    """Whether the clause is about its speaker or the speaker's group."""
    return clause.implied or any(t.lower_ in ("i", "we") for t in clause.subjects)


def plan(clause: Clause) -> tuple[Modality, str, float] | None:
    """The modality of an unrealised clause, the words of the plan and the confidence; None where it is none."""
    governor = clause.governor
    head = clause.head
    if governor is not None and head.dep_ in ("xcomp", "conj") and head.tag_ in ("VB", "VBG"):
        verb = lemma(governor)
        future = governor.tag_ == "VBG" if verb == "go" else True
        if verb in _PLANNING and future and clause.tense in (Tense.PRESENT,) and not clause.modal:
            return Modality.PLANNED, verb_phrase(head, clause.whens), 0.7 if lemma(head) not in _WEAK else 0.4
        if verb == "want" and clause.tense is Tense.PRESENT and not clause.modal and not any(c.dep_ == "dobj" for c in governor.children):
            return Modality.DESIRED, verb_phrase(head, clause.whens), 0.6 if lemma(head) not in _WEAK else 0.4
        return None
    if head.dep_ in ("ROOT", "conj", "ccomp") and any(when.future or when.role in ("at", "since") for when in clause.whens):
        announced = (clause.tense is Tense.FUTURE and not clause.negated) or (
            clause.tense is Tense.PRESENT and clause.progressive and not clause.passive
        )
        if (
            announced
            and not clause.imperative
            and lemma(head) not in _WEAK
            and head.pos_ == "VERB"
            and (clause.objects or clause.prepositions)
        ):
            return Modality.PLANNED, verb_phrase(head, clause.whens), ANNOUNCED
    return None


def verb_phrase(head: Token, whens: Sequence[When] = ()) -> str:
    """A verb's words from the verb on, in its base form and without time: "drop Android 9 support"."""
    kept: list[Token] = [head]
    for child in head.rights:
        if child.dep_ in ("conj", "cc", "punct", "advcl", "ccomp", "mark") or child.ent_type_ in ("DATE", "TIME"):
            if child.dep_ in ("punct", "cc"):
                break
            continue
        if child.dep_ == "prep" and any(c.ent_type_ in ("DATE", "TIME") for c in child.children):
            continue
        kept += list(child.subtree)
    kept = [t for t in kept if not any(t.idx < w.end and t.idx + len(t) > w.start for w in whens)]
    tokens = sorted({t.i: t for t in kept}.values(), key=lambda t: t.i)[:20]
    words = "".join((t.lemma_ + t.whitespace_ if t.i == head.i else t.text_with_ws) for t in tokens).strip()
    return words.rstrip(".,;:!")


def verb_words(head: Token) -> str:
    """The words of an activity as they stand: "finding new trends"."""
    words = verb_phrase(head)
    return words if head.lemma_ == head.text else words.replace(head.lemma_, head.text, 1)


def desired(clause: Clause) -> Iterator[tuple[Token | None, Token]]:
    """ "I want a cargo bike": (who, what) of every wish for a thing in the present."""
    if lemma(clause.head) == "want" and clause.tense is Tense.PRESENT and not clause.modal:
        holders: list[Token | None] = [None] if clause.implied else list(clause.subjects)
        if any(c.dep_ in ("xcomp", "ccomp") for c in clause.head.children):
            return
        for holder in holders:
            for object_ in clause.objects:
                if object_.pos_ in ("NOUN", "PROPN"):
                    yield holder, object_


def complement(clause: Clause) -> str:
    """The words after the verb, up to the end of its clause: "stick with REST for the public API" without "stick"."""
    head = clause.head
    kept = []
    for child in head.rights:
        if child.dep_ in ("punct", "conj", "cc", "advcl", "parataxis") or (
            child.dep_ in ("npadvmod", "advmod") and child.ent_type_ == "DATE"
        ):
            if child.dep_ == "punct" and child.text not in ("-",):
                break
            continue
        kept += [t for t in child.subtree if not (t.dep_ == "punct" and t.i == child.right_edge.i)]
    tokens = sorted(kept, key=lambda t: t.i)
    while tokens and tokens[0].lower_ in ("to", "that", "on", "just", "really", "also"):
        tokens = tokens[1:]
    return "".join(t.text_with_ws for t in tokens).strip().rstrip(".,;:!") if len(tokens) <= 25 else ""
