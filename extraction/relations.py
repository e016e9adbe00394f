"""What one clause states: the vocabulary's patterns, the copula's own rules, and else an open predicate."""

from __future__ import annotations

from extraction import appointments, apposition, nominal, openness
from extraction.calendar import Granule
from extraction.matching import Match, Patterns
from extraction.predication import Clause
from ontology.claim import CANDIDATE_BELOW


def stated(clause: Clause, patterns: Patterns, said: Granule, *, open_too: bool) -> list[Match]:
    """The relations of a clause said on a day. Open predicates only where `open_too` and nothing better was found."""
    text = clause.head.doc.text
    special = [
        *nominal.copular(clause),
        *nominal.favourites(clause),
        *nominal.settings(clause),
        *nominal.incumbents(clause),
        *nominal.introductions(clause),
        *appointments.appointed(clause, text),
        *appointments.beginnings(clause, said),
    ]
    known = patterns.matches(clause)
    if any(match.predicate == "favorite" for match in special):
        # The pattern knows no kind of thing; the rule has it as the qualifier.
        known = [match for match in known if match.predicate != "favorite"]
    found = known + special + ([] if special else list(nominal.kinds(clause)))
    if open_too and not any(match.confidence >= CANDIDATE_BELOW for match in found):
        found += openness.open_matches(clause)
    return [match for match in map(_by_name, found) if match is not None]


def _by_name(match: Match) -> Match | None:
    """ "a dog named Rex" is kept by its name; "two kittens, Miso and Tofu" by theirs alone."""
    if match.predicate != "has_pet" or isinstance(match.object, str) or match.object.pos_ != "NOUN":
        return match
    names = apposition.names(match.object)
    if any(name.dep_ == "conj" for name in names):
        return None
    if names:
        match.object = names[0]
    return match
