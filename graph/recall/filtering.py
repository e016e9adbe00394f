"""The filter of the contract over documents: what may be found of what counts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from graph.ledger.identity import Identity
from graph.ledger.selection import asked
from graph.recall.admission import Admission
from graph.recall.columns import Bools, Ints, Numbers
from graph.views import EVERYTHING, StatementFilter
from ontology.vocabulary import Vocabulary

_OF_STATEMENTS = ("subjects", "objects", "predicates", "aspects", "polarity", "min_confidence", "valid_during")


@dataclass(frozen=True, slots=True)
class Allowed:
    """The documents of claims that may be found, and what each speaks for; `both`: for either polarity."""

    claims: Bools
    units: Ints
    both: Bools


def allowed_claims(admission: Admission, filter: StatementFilter, vocabulary: Vocabulary) -> Allowed:
    """The documents of claims that match a filter; its `subjects` and `objects` are all keys of entities. One claim must match all."""
    twins = admission.twins
    both = np.zeros(len(admission.claims), np.bool_)
    allowed = admission.claims if filter == EVERYTHING else _matching(admission, admission.units, filter, vocabulary)
    if not len(twins):
        return Allowed(allowed, admission.units, both)
    units = admission.units.copy()
    units[twins] ^= 1
    others = admission.claims if filter == EVERYTHING else _matching(admission, units, filter, vocabulary)
    both[twins] = allowed[twins] & others[twins]
    # Where only the other polarity is asked for a document speaks for that.
    back = twins[allowed[twins]]
    units[back] ^= 1
    allowed = allowed.copy()
    allowed[twins] |= others[twins]
    return Allowed(allowed, units, both)


def _matching(admission: Admission, units: Ints, filter: StatementFilter, vocabulary: Vocabulary) -> Bools:
    reading = admission.reading
    table, indexed = reading.state.claims, reading.indexed
    allowed = admission.claims.copy()
    denied = (units & 1) == 0
    predicates = table["predicate"]

    def of(numbers: Numbers, names: Collection[str], column: str) -> Bools:
        return np.isin(table[column], [number for name in names if (number := numbers.known(name)) is not None])

    def named(names: Collection[str]) -> Bools:
        return np.isin(predicates, [number for name in names if (number := indexed.predicates.known(name)) is not None])

    folded = asked(vocabulary, filter.predicates or ())
    symmetric = {name for name, known in vocabulary.predicates.items() if known.symmetric}
    if filter.predicates is not None:
        straight = named(folded.plain)
        if filter.polarity is not None:
            straight &= denied != filter.polarity
        # An antonym is the same slot with the other polarity.
        allowed &= straight | (named(folded.negated) & (denied == (filter.polarity is not False)))
    elif filter.polarity is not None:
        allowed &= denied != filter.polarity
    if filter.aspects is not None:
        allowed &= named([name for name, known in vocabulary.predicates.items() if known.aspect in filter.aspects])
    if filter.subjects is not None or filter.objects is not None:
        turned = named(folded.swapped | (symmetric if filter.predicates is None else symmetric & folded.names))
        straight = ~named(folded.swapped)
        for keys, one, other in ((filter.subjects, "subject", "object"), (filter.objects, "object", "subject")):
            if keys is not None:
                mine = [number for key in keys if (number := indexed.things.known(key)) is not None]
                straight &= np.isin(reading.claims[one], mine)
                turned &= np.isin(reading.claims[other], mine)
        allowed &= straight | turned
    if filter.min_confidence is not None:
        allowed &= table["confidence"] >= filter.min_confidence
    for value, numbers, column in (
        (filter.group, indexed.groups, "group"),
        (filter.source, indexed.sources, "source"),
        (filter.speaker, indexed.speakers, "speaker"),
    ):
        if value is not None:
            allowed &= of(numbers, [value], column)
    return allowed


def allowed_episodes(admission: Admission, filter: StatementFilter, claims: Bools) -> Bools:
    """The documents of episodes that match: by group, source and speaker; what else is asked, one of their `claims` must match."""
    reading = admission.reading
    table, indexed = reading.state.episodes, reading.indexed
    allowed = admission.episodes.copy()
    for value, numbers, column in (
        (filter.group, indexed.groups, "group"),
        (filter.source, indexed.sources, "source"),
        (filter.speaker, indexed.speakers, "speaker"),
    ):
        if value is not None:
            number = numbers.known(value)
            allowed &= table[column] == (-2 if number is None else number)
    if any(getattr(filter, name) is not None for name in _OF_STATEMENTS):
        telling = np.zeros(len(indexed.episode_keys), np.bool_)
        telling[reading.state.claims["episode"][claims]] = True
        allowed &= telling[table["episode"]]
    return allowed


def with_all_keys(filter: StatementFilter, identity: Identity) -> StatementFilter:
    """The filter with all keys of the entities that it names: what joins names stands between these."""
    identity.load({key for keys in (filter.subjects, filter.objects) for key in keys or ()})

    def all_keys(keys: Sequence[str] | None) -> tuple[str, ...] | None:
        return None if keys is None else tuple(sorted({member for key in keys for member in identity.members(key)}))

    return replace(filter, subjects=all_keys(filter.subjects), objects=all_keys(filter.objects))
