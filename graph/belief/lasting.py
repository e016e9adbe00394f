"""How long ago a value was last attested."""

from __future__ import annotations

from collections.abc import Iterable

from graph.belief.items import Atom
from ontology.instant import UNBOUNDED_PAST, Instant


def last_attested(cited: Iterable[Atom], start: Instant, end: Instant) -> Instant:
    """The last instant of `[start, end)` that the evidence cited for it attests, at most the last said time; that where it attests none."""
    atoms = list(cited)
    said = max((atom.made_by.said for atom in atoms), default=start)
    spans = [span for atom in atoms if (span := atom.attested) is not None]
    # What is so since ever is attested, but at no instant that could be told.
    inside = [min(last, end - 1) for first, last in spans if first < end and start <= last and last != UNBOUNDED_PAST]
    return min(max(inside), said) if inside else said
