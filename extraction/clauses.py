"""The clauses of a sentence: which verbs it has, and which time goes with which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from extraction.arguments import gapped, read
from extraction.inheritance import inherit
from extraction.predication import SUBJECTS, Clause
from extraction.times import When
from ontology.patterns import Tense

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

MAX_CLAUSES = 40
"""Clauses of one sentence that are read; a longer one is a list or machine text."""


def clauses(sentence: Span, whens: Sequence[When]) -> list[Clause]:
    """The clauses of a sentence; `whens` are those of its document, in its characters."""
    found: dict[int, Clause] = {}
    timed = {t.i for w in whens for t in sentence if t.idx < w.end and t.idx + len(t) > w.start}
    for head in verbs(sentence):
        clause = read(head, sentence, timed)
        inherit(clause, found)
        found[head.i] = clause
    for clause in found.values():
        over = found.get(clause.head.head.i)
        if (
            clause.head.dep_ == "advcl"
            and clause.head.tag_ in ("VBN", "VBD")
            and over is not None
            and over.subjects
            and over.subjects[0].lower_ not in ("that", "this", "it", "which")
            and over.head.i > clause.head.i
            and clause.implied
        ):
            # "Born in Accra, Kojo moved": the subject comes after.
            clause.subjects, clause.implied, clause.passive, clause.tense = over.subjects, False, True, Tense.PAST
        if clause.head.dep_ == "pcomp" and not clause.subjects and clause.head.head.lower_ in ("after", "before", "since", "upon"):
            # "After leaving Oxford, she worked": it happened.
            over = found.get(clause.head.head.head.i)
            if over is not None and over.tense in (Tense.PAST, Tense.PERFECT):
                clause.subjects, clause.implied, clause.governor, clause.tense = over.subjects, over.implied, None, Tense.PAST
    _attach(found, sentence, whens)
    return [*found.values(), *(gap for clause in found.values() for gap in gapped(clause, timed))]


def verbs(sentence: Span) -> Iterator[Token]:
    """Heads of clauses in order, MAX_CLAUSES at most."""
    count = 0
    for token in sentence:
        if token.dep_ in ("aux", "auxpass", "amod", "compound", "det", "punct"):
            continue
        if token.pos_ in ("VERB", "AUX") or any(c.dep_ in SUBJECTS for c in token.children):
            yield token
            count += 1
            if count >= MAX_CLAUSES:
                return


def _attach(found: dict[int, Clause], sentence: Span, whens: Sequence[When]) -> None:
    """Each time goes to the clause that it hangs on; a leading one counts for the coordinated clauses as well."""
    for when in whens:
        tokens = [t for t in sentence if t.idx < when.end and t.idx + len(t) > when.start]
        if not tokens:
            continue
        inside = {t.i for t in tokens}
        at = tokens[0]
        while at.i in inside and at.head.i != at.i:
            at = at.head
        steps = 0
        while at.i not in found and at.head.i != at.i and steps < 50:
            at = at.head
            steps += 1
        owner = found.get(at.i)
        if owner is None:
            continue
        opening = tokens[0] if tokens[0].lower_ == "for" or tokens[0].i == 0 else tokens[0].nbor(-1)
        if opening.lower_ == "for" and when.role == "at" and owner.tense is Tense.PAST:
            # "approved the budget for 2026": the year is the budget's.
            continue
        owner.whens.append(when)
        if tokens[0].i < owner.head.i:
            for clause in found.values():
                if clause.head.dep_ == "conj" and clause.head.head.i == owner.head.i and clause.tense is owner.tense:
                    clause.whens.append(when)
