"""What a clause takes over from the one that it hangs on: subject, tense, aspect and denial."""

from __future__ import annotations

from typing import TYPE_CHECKING

from extraction.predication import Clause, lemma
from ontology.patterns import Tense

if TYPE_CHECKING:
    from spacy.tokens import Token

_END_VERBS = {"stop", "quit", "cease", "give"}
_STANDING = {"marry", "base", "engage", "divorce", "separate", "employ"}
"""Verbs whose participle, without a subject, tells how somebody is: "Married to Paolo since 2015"."""
_SUFFERED = {"raise", "educate", "bury", "adopt", "train", "hire", "appoint", "elect"}
_START_VERBS = {"start", "begin", "resume", "take"}


def inherit(clause: Clause, found: dict[int, Clause]) -> None:
    """Subject, tense and aspect from the clause that this one hangs on."""
    head = clause.head
    above = found.get(head.head.i)
    if head.dep_ == "relcl" and clause.subjects and clause.subjects[0].tag_ in ("WP", "WDT"):
        clause.subjects = _described(head.head, found)
    elif head.dep_ == "acl" and not clause.subjects:
        clause.subjects = _described(head.head, found)
        clause.passive = head.tag_ == "VBN"
        if clause.passive and clause.tense is Tense.PAST:
            # "the firm, based in Graz": a state that goes on.
            clause.tense = Tense.PRESENT
    if head.dep_ in ("xcomp", "pcomp") and not clause.subjects:
        governor = head.head if head.dep_ == "xcomp" else head.head.head
        over = found.get(governor.i)
        if over is not None:
            _complete(clause, over, head)
    elif not clause.subjects and above is not None and head.dep_ in ("conj", "advcl", "ccomp", "dep"):
        clause.imperative = above.imperative and head.tag_ in ("VB", "VBP")
        if head.dep_ == "conj" or head.tag_ in ("VBG", "VBN", "VBD"):
            clause.subjects, clause.implied = above.subjects, above.implied
            if head.dep_ == "conj":
                _share(clause, above, head)
    elif head.dep_ == "conj" and above is not None:
        clause.governor = None
    if (
        not clause.subjects
        and not clause.imperative
        and not clause.implied
        and head.tag_ in ("VBD", "VBN", "VBG")
        and head.dep_ in ("ROOT", "advcl", "ccomp", "dep")
    ):
        # "Started at Acme", "Been living in Riga": a dropped "I".
        clause.implied = head.i == head.sent.start or all(
            t.pos_ in ("ADV", "INTJ", "PUNCT", "AUX", "CCONJ") or t.ent_type_ == "DATE" for t in head.doc[head.sent.start : head.i]
        )
        bare = not any(c.dep_ in ("aux", "auxpass", "dobj", "oprd") for c in head.children)
        if clause.implied and bare and head.tag_ in ("VBN", "VBD") and head.dep_ == "ROOT":
            verb = lemma(head)
            if verb in _STANDING and any(c.dep_ == "prep" for c in head.children):
                clause.passive, clause.tense = True, Tense.PRESENT
            elif verb in ("bear", "raise"):
                # "Born and raised in Naples"
                clause.passive, clause.tense = True, Tense.PAST


def _complete(clause: Clause, over: Clause, head: Token) -> None:
    verb = lemma(over.head)
    clause.governor = over.head
    clause.subjects, clause.implied = over.subjects, over.implied
    if head.dep_ == "xcomp" and verb in ("want", "ask", "tell", "help", "let", "make", "get") and over.objects:
        clause.subjects, clause.implied = list(over.objects), False
    clause.tense, clause.negated = over.tense, clause.negated or over.negated
    clause.never = clause.never or over.never
    clause.modal = over.modal
    if verb == "use" and over.head.tag_ in ("VBD", "VBN") and head.tag_ == "VB":
        # "didn't use to" says neither what holds now nor that it never did.
        clause.former, clause.governor, clause.tense = True, over.head if over.negated else None, Tense.PAST
    elif head.tag_ == "VBG" and verb in _END_VERBS and over.negated:
        # "I haven't stopped smoking": it goes on.
        clause.negated, clause.governor, clause.tense = False, None, Tense.PRESENT
    elif head.dep_ == "pcomp" and head.head.lower_ in ("after", "since", "before", "upon") and over.tense in (Tense.PAST, Tense.PERFECT):
        # "She worked there after leaving Oxford": it happened.
        clause.governor, clause.tense, clause.negated, clause.never = None, Tense.PAST, False, False
    elif head.tag_ == "VBG" and verb in _END_VERBS and (verb != "give" or over.particle == "up"):
        clause.former, clause.governor = True, None
    elif (head.tag_ == "VBG" or verb in ("start", "begin")) and verb in _START_VERBS and (verb != "take" or over.particle == "up"):
        clause.begun, clause.governor = True, None
    elif verb in ("happen", "manage") or (verb == "have" and over.tense is Tense.PAST and not over.negated):
        clause.governor = None


def _share(clause: Clause, above: Clause, head: Token) -> None:
    """What a coordinated verb without a subject of its own takes over."""
    if not any(c.dep_ in ("aux", "auxpass") for c in head.children):
        if head.tag_ in ("VB", "VBG", "VBN"):
            clause.tense, clause.modal, clause.governor = above.tense, above.modal, above.governor
            clause.passive = clause.passive or (above.passive and head.tag_ == "VBN" and not clause.objects)
        if head.tag_ == "VBD" and lemma(head) in _SUFFERED and above.passive and not clause.objects:
            # "born in Lahore but raised in Bradford": the tagger takes the participle for a past.
            clause.passive = True
        if head.tag_ == "VBN" and lemma(above.head) == "be" and above.attributes and not clause.objects:
            # "a tool made by Ana and written in Go", where the parser hangs the second on "is".
            clause.passive, clause.tense = True, above.tense
        if head.tag_ == "VB":
            clause.former, clause.negated = above.former, clause.negated or above.negated


def _described(noun: Token, found: dict[int, Clause]) -> list[Token]:
    """Who a noun is said of, where it describes: "Ana is a painter based in Lyon", "Quill, the firm founded by Ana"."""
    above = found.get(noun.head.i)
    if noun.dep_ == "attr" and above is not None and lemma(above.head) == "be" and not above.negated and above.subjects:
        subject = above.subjects[0]
        if subject.pos_ in ("PROPN", "NOUN") or subject.lower_ in ("i", "he", "she", "we"):
            return list(above.subjects)
    if noun.dep_ == "appos" and noun.pos_ == "NOUN" and noun.head.pos_ == "PROPN":
        return [noun.head]
    return [noun]
