"""What one basis of a ledger says of change. Implements `graph.drift.Drift`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from graph.drift import BoundaryView, SlotView, VolatilityView
from graph.ledger.disputes import contested
from graph.ledger.flips import flip_flops
from graph.ledger.footing import Footing
from graph.ledger.lateness import retro_edits
from graph.ledger.listing import Listing
from graph.ledger.staleness import stale
from graph.ledger.surveys import Survey, Surveys
from graph.ledger.volatility import volatility
from graph.ledger.why import why_changed
from graph.views import EVERYTHING, EntityRef, Page, Positions, StatementFilter, StatementView, Want
from ontology.instant import Instant


class LedgerDrift:
    """Drift on one basis."""

    def __init__(self, footing: Footing, surveys: Surveys) -> None:
        self._footing = footing
        self._surveys = surveys

    @contextmanager
    def _listing(self, filter: StatementFilter) -> Iterator[tuple[Listing, Survey]]:
        with self._footing.read() as describer:
            survey = self._surveys.at(describer, self._footing)
            yield Listing(self._footing, describer, survey.columns, filter), survey

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

    def contested(
        self,
        filter: StatementFilter = EVERYTHING,
        *,
        first: int = 20,
        after: Positions | None = None,
        want: frozenset[Want] = frozenset(),
    ) -> Page[StatementView]:
        """Statements that hold on the basis and are TIED, or RESOLVED against evidence to the contrary."""
        with self._listing(filter) as (listing, survey):
            return contested(listing, survey, self._surveys, first, after, want)

    def stale(
        self,
        filter: StatementFilter = EVERYTHING,
        *,
        first: int = 20,
        after: Positions | None = None,
        want: frozenset[Want] = frozenset(),
    ) -> Page[StatementView]:
        """Open statements that hold on the basis and were last attested longer ago than their predicate allows; longest first."""
        with self._listing(filter) as (listing, survey):
            return stale(listing, survey, self._surveys, first, after, want)

    def flip_flops(self, filter: StatementFilter = EVERYTHING, *, first: int = 20, after: Positions | None = None) -> Page[SlotView]:
        """Slots in which a value came back, most returns first."""
        with self._listing(filter) as (listing, survey):
            return flip_flops(listing, survey, first, after)

    def volatility(self) -> list[VolatilityView]:
        """How often each predicate changes, most volatile first."""
        with self._footing.read() as describer:
            return volatility(self._surveys.at(describer, self._footing), self._footing.basis.valid_at)

    def retro_edits(
        self,
        lag_seconds: int,
        filter: StatementFilter = EVERYTHING,
        *,
        first: int = 20,
        after: Positions | None = None,
        want: frozenset[Want] = frozenset(),
    ) -> Page[StatementView]:
        """Statements that were recorded more than so many seconds after they began to be true; longest first."""
        with self._listing(filter) as (listing, survey):
            return retro_edits(listing, survey, lag_seconds, first, after, want)
