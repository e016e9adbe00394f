"""Ellipsis: "so is my mum", "I'm not", "Rohan does", "that was my brother" repeat what was said with another subject."""

from __future__ import annotations

from dataclasses import replace

from extraction.drafting import Frame
from extraction.mentions import Mentions
from extraction.predication import Clause, lemma
from extraction.things import things
from ontology.claim import ClaimDraft, ClaimKind
from ontology.patterns import Tense, Thing

_AUXILIARIES = ("be", "do", "have", "will", "can")


def completed(clause: Clause, last: list[ClaimDraft], mentions: Mentions, frame: Frame) -> list[ClaimDraft]:
    """The claims of an elliptical clause, made from the `last` ones of the turn; none where the clause is complete."""
    if (
        last
        and lemma(clause.head) in ("leave", "quit", "resign")
        and not clause.objects
        and not clause.after("for", "to", "from")
        and not frame.negated
    ):
        return [
            replace(
                draft,
                kind=ClaimKind.END,
                valid_from=None,
                valid_to=str(frame.stretch.hi or frame.stretch.lo or "") or None,
                rule="ellipsis:left",
            )
            for draft in last
            if draft.predicate in ("works_at", "member_of") and draft.polarity and frame.tense is Tense.PAST
        ]
    if not last or lemma(clause.head) not in _AUXILIARIES or clause.objects or clause.prepositions:
        return []
    so = any(c.lower_ in ("so", "neither", "nor") and c.i < clause.head.i for c in clause.head.children)
    that = bool(clause.subjects) and clause.subjects[0].lower_ == "that" and lemma(clause.head) == "be"
    if that or (so and not clause.subjects):
        holders = [t for t in clause.attributes if t.pos_ in ("PROPN", "PRON") or Thing.PERSON in things(t)]
    elif clause.attributes or any(c.dep_ in ("xcomp", "ccomp", "acomp", "advcl") and c.i > clause.head.i for c in clause.head.children):
        return []
    else:
        holders = list(clause.subjects)
    if any(c.dep_ == "expl" for c in clause.head.children) or any(
        c.lower_ in ("there", "here", "well", "out", "home", "off", "back") for c in clause.head.children
    ):
        return []
    made: list[ClaimDraft] = []
    for holder in holders:
        name = mentions.name(holder, subject=True)
        if name is None or (holder.pos_ == "PRON" and holder.tag_ != "PRP") or holder.lower_ in ("it",):
            continue
        negative = frame.negated or any(c.lower_ in ("neither", "nor") for c in clause.head.children)
        for draft in last:
            if draft.subject == name:
                continue
            kind = ClaimKind.STATE if not (frame.tense is Tense.PAST and not negative) else ClaimKind.END
            made.append(
                replace(
                    draft,
                    subject=name,
                    polarity=not negative,
                    kind=kind,
                    valid_from=None,
                    valid_to=None,
                    replaces=None,
                    rule="ellipsis",
                    confidence=round(draft.confidence * 0.85, 2),
                )
            )
    return made
