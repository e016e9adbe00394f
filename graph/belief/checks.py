"""What a claim's bounds must be before it may be recorded."""

from __future__ import annotations

from graph.belief.items import Item, Strength, bounds_of, end_of, event_bounds, reads_as_end
from graph.belief.traits import Traits
from ontology.claim import Claim, ClaimKind
from ontology.edtf import Stated
from ontology.errors import InvalidInput
from ontology.instant import Instant, format_instant
from ontology.vocabulary import Temporality


def checked_bounds(kind: ClaimKind, valid_from: Stated | None, valid_to: Stated | None, said: Instant, traits: Traits) -> None:
    """Refuse an interval in which there is no instant. Raises InvalidInput (EMPTY_INTERVAL, INVERTED_INTERVAL).

    A correction is checked by the bounds that it states; static claims have bounds that do not count, but must not be nonsense.
    """
    if kind is ClaimKind.CORRECTION and (valid_from is None or valid_to is None):
        return
    claim = Claim("", "", 0, "", "", said, kind=kind, valid_from=valid_from, valid_to=valid_to)
    item = Item(claim, "", True, kind, valid_from, valid_to, said, Strength(0, said), False)
    if traits.temporal is Temporality.EVENT:
        bounds = event_bounds(item)
        start, end = bounds.start, bounds.end
    elif reads_as_end(item):
        if valid_from is None:
            return
        start, end = valid_from.lo, end_of(item)[1]
    else:
        found = bounds_of(item)
        start, end = found.start, found.end
    if start == end:
        raise InvalidInput(
            f"the interval is empty: it starts and ends at {format_instant(start)}", path=("validTo",), reason="EMPTY_INTERVAL"
        )
    if start > end:
        raise InvalidInput(
            f"the interval ends at {format_instant(end)}, before it starts at {format_instant(start)}",
            path=("validTo",),
            reason="INVERTED_INTERVAL",
        )
