"""What one basis of a ledger says of change. Implements `graph.drift.Drift`."""

from __future__ import annotations

from graph.drift import BoundaryView
from graph.ledger.footing import Footing
from graph.ledger.why import why_changed
from graph.views import EntityRef, Want
from ontology.instant import Instant


class LedgerDrift:
    """Drift on one basis."""

    def __init__(self, footing: Footing) -> None:
        self._footing = footing

    def why_changed(
        self,
        subject: EntityRef,
        predicate: str,
        qualifier: str = "",
        *,
        start: Instant | None = None,
        end: Instant | None = None,
        want: frozenset[Want] = frozenset(),
    ) -> list[BoundaryView]:
        """The boundaries of a slot in `[start, end)`. Raises InvalidInput, QueryTooComplex."""
        return why_changed(self._footing, subject, predicate, qualifier, start=start, end=end, want=want)
