"""Joins that a text tells ("also known as"), looked at together: which of them may be believed.

A wrong join melts two people into one, for all time; a missed one leaves a person with two names. So what is doubtful is a
candidate: kept and listed for a person to confirm, and no belief.
"""

from __future__ import annotations

import re
from dataclasses import replace

from extraction.lexicon import SPEECH_ROLES, words
from extraction.roles import CANDIDATE, certainty, possessed, shared
from ontology.aliases import ambiguous
from ontology.claim import ClaimDraft
from ontology.names import normalise

JOIN = "also_known_as"
_SOMEBODY = SPEECH_ROLES | words("human me you somebody someone subagent ai model speaker speaker1 speaker2")
_NAMELIKE = re.compile(r"\A[^\W\d_a-zß-öø-ÿ]|[\d@_-]")


def settled(claims: list[ClaimDraft], text: str, *, machine: bool) -> list[ClaimDraft]:
    """The claims of a turn with its joins weighed. `machine`: an assistant speaks, whose knowledge of people is hearsay.

    - A role that is told to be a name ("my brother goes by Tom") is the alias of that name.
    - That somebody does not use a name does not make them somebody else: no claim.
    - Candidates are joins of what is no name ("the city"), of "user" and its like (whom many a text means), of an alias
      that is told of two names, and of roles that the text gives to several people.
    """
    found = [_turned(claim) for claim in claims if claim.predicate != JOIN or claim.polarity]
    told = [(normalise(claim.subject), normalise(claim.object.text)) for claim in found if claim.predicate == JOIN]
    several = ambiguous(told)
    return [
        replace(claim, confidence=min(claim.confidence, CANDIDATE))
        if claim.predicate == JOIN and (machine or normalise(claim.object.text) in several or _doubtful(claim, text))
        else claim
        for claim in found
    ]


def _turned(claim: ClaimDraft) -> ClaimDraft:
    role = possessed(claim.subject) if claim.predicate == JOIN else None
    if role is None:
        return claim
    confidence = min(claim.confidence, certainty(role, defined=True))
    return replace(claim, subject=claim.object.text, object=replace(claim.object, text=claim.subject), confidence=confidence)


def _doubtful(claim: ClaimDraft, text: str) -> bool:
    alias = claim.object.text
    role = possessed(alias)
    if role is not None:
        whose = alias.removesuffix(f"'s {role}").casefold()
        return whose in _SOMEBODY or possessed(alias.removesuffix(f"'s {role}")) is not None or shared(role, claim.subject, text)
    if claim.subject.casefold() in _SOMEBODY or alias.casefold() in _SOMEBODY or not _NAMELIKE.search(claim.subject):
        return True
    # A handle may be any word; what else is known by a plain one is mostly no name.
    return claim.rule != "alias:handle" and not _NAMELIKE.search(alias)
