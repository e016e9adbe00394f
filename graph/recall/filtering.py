"""The filter of the contract over documents: what may be found of what counts."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from graph.belief.identity import IDENTITY
from graph.ledger.selection import asked
from graph.recall.admission import Admission
from graph.recall.columns import Bools, Numbers
from graph.views import StatementFilter
from ontology.vocabulary import Vocabulary

_OF_STATEMENTS = ("subjects", "objects", "predicates", "aspects", "polarity", "min_confidence", "valid_during")


def allowed_claims(admission: Admission, filter: StatementFilter, vocabulary: Vocabulary) -> Bools:
    """The documents of claims that match; `subjects` and `objects` are keys of entities on the basis. One claim must match all."""
    reading = admission.reading
    table, indexed = reading.state.claims, reading.indexed
    allowed = admission.claims.copy()
    denied = (admission.units & 1) == 0
    predicates = table["predicate"]

    def of(numbers: Numbers, names: Collection[str], column: str) -> Bools:
        return np.isin(table[column], [number for name in names if (number := numbers.known(name)) is not None])

    def named(names: Collection[str]) -> Bools:
        return np.isin(predicates, [number for name in names if (number := indexed.predicates.known(name)) is not None])

    folded = asked(vocabulary, filter.predicates or ())
    symmetric = {name for name, known in vocabulary.predicates.items() if known.symmetric} - {IDENTITY}
    if filter.predicates is not None:
        straight = named(folded.plain | folded.swapped)
        if filter.polarity is not None:
            straight &= denied != filter.polarity
        # An antonym is the same slot with the other polarity.
        allowed &= straight | (named(folded.negated) & (denied == (filter.polarity is not False)))
    elif filter.polarity is not None:
        allowed &= denied != filter.polarity
    if filter.aspects is not None:
        allowed &= named([name for name, known in vocabulary.predicates.items() if known.aspect in filter.aspects])
    if filter.subjects is not None or filter.objects is not None:
        turned = named(folded.swapped | (symmetric if filter.predicates is None else symmetric & folded.plain))
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
