"""What the evidence of a whole namespace says, as far as columns tell it: until when what is open was attested, and which propositions
have to be looked at one by one.

One by one go those that a correction touches, whose names may denote something else, or that may be contested; and the attestation
of what more than one piece of evidence speaks for, none of which settles it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graph.belief.atom_columns import AtomColumns, Flag, Int, atoms, may_oppose
from graph.belief.traits import traits_of
from graph.ledger.claim_columns import Evidence
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST
from ontology.vocabulary import Temporality, Vocabulary


@dataclass(frozen=True)
class Plain:
    """By value: twice the number of a proposition, and one more for its denial. `attested` of those that `settled` says; of every
    proposition whether it is to be looked at itself.
    """

    settled: Flag
    attested: Int
    apart: Flag


def plain(evidence: Evidence, vocabulary: Vocabulary, starts: Int) -> Plain:
    """What can be told. `starts`: by value since when it holds that holds without end; the unbounded future of others."""
    count = len(evidence.propositions.of)
    traits = _PredicateTraits(evidence, vocabulary)
    apart = _apart(evidence, traits, count)
    told = np.flatnonzero(~apart[evidence.proposition] & ~traits.event[evidence.predicate])
    claims = evidence.of(told, vocabulary)
    made = atoms(claims)
    proposition = evidence.proposition[told][made.claim]
    value = 2 * proposition + ~made.positive
    claim = told[made.claim]
    rank, said = claims.rank[made.claim], claims.said[made.claim]
    contested = _contested(evidence, traits, made, value, claim, rank, said, apart)
    settled, attested = _attested(made, value, said, starts)
    return Plain(settled, attested, apart | contested)


class _PredicateTraits:
    """Traits of predicates by their numbers."""

    def __init__(self, evidence: Evidence, vocabulary: Vocabulary) -> None:
        names = evidence.predicates.values
        known = [vocabulary.predicate(name) for name in names]
        own = [traits_of(each) for each in known]
        other = [traits_of(each if each.symmetric or each.inverse is None else vocabulary.predicate(each.inverse)) for each in known]
        self.one_valued = np.array([each.one_valued for each in own], bool)
        self.other_one_valued = np.array([each.one_valued for each in other], bool)
        self.event = np.array([each.temporal is Temporality.EVENT for each in own], bool)
        self.uneven = np.array([one.temporal is not two.temporal for one, two in zip(own, other, strict=True)], bool)


def _apart(evidence: Evidence, traits: _PredicateTraits, count: int) -> Flag:
    """The propositions whose claims cannot be read one by one."""
    found: Flag = np.zeros(count, bool)
    found[evidence.proposition[evidence.correcting | evidence.apart]] = True
    found[evidence.replaced[evidence.replaced >= 0]] = True
    # Read in two ways, from one side and from the other.
    found[evidence.proposition[traits.uneven[evidence.predicate] & (evidence.inverse_slot >= 0)]] = True
    return found


def _contested(
    evidence: Evidence, traits: _PredicateTraits, made: AtomColumns, value: Int, claim: Int, rank: Int, said: Int, apart: Flag
) -> Flag:
    """The propositions that stand in a unit in which something may be contested, or which has others in it that are `apart`."""
    slots, propositions = len(evidence.slots.of), len(apart)
    own, other = _units(evidence, traits, np.arange(len(evidence)), slots)
    unit, second = own[claim], other[claim]
    twice = np.flatnonzero(second >= 0)
    both = np.concatenate([np.arange(len(made)), twice])
    twofold = AtomColumns(*(getattr(made, name)[both] for name in AtomColumns.__dataclass_fields__))
    units = np.concatenate([unit, second[twice]])
    found = may_oppose(twofold, units, value[both], rank[both], said[both], slots + propositions)
    aside = apart[evidence.proposition]
    found[own[aside]] = True
    found[other[aside & (other >= 0)]] = True
    # Of an event, which has no rivals, what is affirmed and denied.
    event = np.flatnonzero(traits.event[evidence.predicate])
    sides = np.zeros((propositions, 2), bool)
    sides[evidence.proposition[event], evidence.polarity[event].astype(np.int64)] = True
    found[slots:] |= sides.all(axis=1)
    marked: Flag = np.zeros(propositions, bool)
    marked[evidence.proposition[found[own] | (found[other] & (other >= 0))]] = True
    return marked


def _units(evidence: Evidence, traits: _PredicateTraits, which: Int, slots: int) -> tuple[Int, Int]:
    """The units of some claims: on each side a slot or, behind all slots, a proposition; -1 where the other has none of its own."""
    predicate, alone = evidence.predicate[which], slots + evidence.proposition[which]
    own = np.where(traits.one_valued[predicate], evidence.slot[which], alone)
    inverse = evidence.inverse_slot[which]
    other = np.where(traits.other_one_valued[predicate], inverse, alone)
    return own, np.where((inverse >= 0) & (other != own), other, -1)


def _attested(made: AtomColumns, value: Int, said: Int, starts: Int) -> tuple[Flag, Int]:
    """By value when it was last attested, as `last_attested` of what is cited for it, and whether that is settled.

    All its evidence is cited where there is but one piece, or all of it attests what is open; else what attests last settles it,
    unless that lay ahead when it was said.
    """
    count = len(starts)
    attests = np.flatnonzero(made.attests & (made.last >= starts[value]) & (made.last != UNBOUNDED_PAST))
    last, spoken = (np.full(count, UNBOUNDED_PAST, np.int64) for _ in range(2))
    np.maximum.at(last, value[attests], np.minimum(made.last[attests], UNBOUNDED_FUTURE - 1))
    np.maximum.at(spoken, value[attests], said[attests])
    pieces, attesting = np.bincount(value, minlength=count), np.bincount(value[attests], minlength=count)
    whole = (pieces > 0) & (attesting == pieces)
    alone = (pieces == 1) & (attesting == 0)
    sole = np.full(count, UNBOUNDED_PAST, np.int64)
    np.maximum.at(sole, value, said)
    settled: Flag = whole | alone | ((attesting > 0) & (last <= spoken))
    return settled & (starts != UNBOUNDED_FUTURE), np.where(alone, sole, np.minimum(last, spoken))
