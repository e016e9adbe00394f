"""The order in which hits are shown: what has ended after what ended it, no conversation too often, nothing twice."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from graph.recall.admission import Admission, Point
from graph.recall.columns import Ints
from graph.recall.namespace import NOBODY, episode_node
from graph.recall.views import Kind
from graph.recall.weighing import Weighed

OneValued = Callable[[str, bool], bool]
"""Whether a slot of a predicate, or of what it is read as from the other side, holds one value at a time."""


def superseded_last(hits: Sequence[Weighed], admission: Admission, point: Point, one_valued: OneValued) -> list[Weighed]:
    """Put an episode whose statements on a slot have all ended directly after the hit that ended them, where it stands before it."""
    places = {hit.unit: place for place, hit in enumerate(hits) if hit.kind is Kind.EPISODE}
    if len(places) < 2:
        return list(hits)
    after: dict[int, int] = {}
    for episode, enders in _ended(admission, point, np.array(sorted(places), np.int64), one_valued).items():
        found = [places[ender] for ender in enders if ender in places]
        if found and min(found) > places[episode]:
            after[places[episode]] = min(found)
    # What waits stands before what it waits for.
    waiting: dict[int, list[int]] = defaultdict(list)
    order: list[int] = []
    for place in range(len(hits)):
        if place in after:
            waiting[after[place]].append(place)
            continue
        coming = [place]
        while coming:
            order.append(coming.pop())
            coming += reversed(waiting[order[-1]])
    return [hits[place] for place in order]


def _ended(admission: Admission, point: Point, episodes: Ints, one_valued: OneValued) -> dict[int, set[int]]:
    """Of episodes all of whose statements on a slot have ended, those whose later ones hold there."""
    reading = admission.reading
    table, state = reading.state.claims, reading.state
    owners, (reasons,) = state.edges.among(episode_node(episodes), "reason")
    told = reasons % 3 == 1
    docs, tellers = reasons[told] // 3, episodes[owners[told]]
    visible = (table["tx_from"][docs] <= point.transaction) & (table["tx_to"][docs] > point.transaction)
    if point.said_until is not None:
        visible &= table["said"][docs] <= point.said_until
    docs, tellers = docs[visible], tellers[visible]
    holding = admission.claims[docs]
    by_slot: dict[int, list[int]] = defaultdict(list)
    one_value: dict[int, bool] = {}
    names = reading.indexed.predicates.names
    for place, doc in enumerate(docs.tolist()):
        for column in ("slot", "inverse_slot"):
            slot = int(reading.claims[column][doc])
            if slot != NOBODY:
                by_slot[slot].append(place)
                one_value[slot] = one_valued(names[table["predicate"][doc]], column == "inverse_slot")
    bases, replaced, said = reading.claims["base"], reading.claims["replaced"], table["said"]
    found: dict[int, set[int]] = defaultdict(set)
    for slot, together in by_slot.items():
        held = [place for place in together if holding[place]]
        still = {int(tellers[place]) for place in held}
        for place in together:
            teller, doc = int(tellers[place]), docs[place]
            if teller not in still:
                later = (other for other in held if said[docs[other]] > said[doc])
                found[teller] |= {
                    int(tellers[other]) for other in later if one_value[slot] or bases[doc] in (bases[docs[other]], replaced[docs[other]])
                }
    return {teller: enders for teller, enders in found.items() if enders}


def one_each(hits: Sequence[Weighed], admission: Admission) -> list[Weighed]:
    """Without the episodes that say what one before them says, word for word but for case, endings and marks.

    Statements are never left out: two of the same words may speak of two of one name.
    """
    prints = admission.reading.state.episodes["print"]
    seen: set[int] = set()
    kept = []
    for hit in hits:
        if hit.kind is Kind.EPISODE:
            said = int(prints[hit.doc])
            if said in seen:
                continue
            seen.add(said)
        kept.append(hit)
    return kept


def at_most(hits: Sequence[Weighed], admission: Admission, most: int) -> list[Weighed]:
    """At most so many of one conversation: the group of an episode, else its source."""
    state = admission.reading.state
    tables = {Kind.STATEMENT: state.claims, Kind.EPISODE: state.episodes}
    counted: Counter[tuple[str, int]] = Counter()
    kept = []
    for hit in hits:
        table = tables[hit.kind]
        group = int(table["group"][hit.doc])
        conversation = ("source", int(table["source"][hit.doc])) if group == NOBODY else ("group", group)
        counted[conversation] += 1
        if counted[conversation] <= most:
            kept.append(hit)
    return kept
