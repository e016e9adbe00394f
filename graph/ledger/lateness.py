"""Late records: statements that were believed only long after they had begun to be true."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graph.belief.traits import traits_of
from graph.ledger.arrivals import arrivals
from graph.ledger.columns import Int
from graph.ledger.histories import apart
from graph.ledger.history import transaction_times
from graph.ledger.listing import Listing
from graph.ledger.surveys import Survey
from graph.views import Page, Positions, StatementView, Want
from ontology.errors import InvalidInput
from ontology.instant import SECOND, UNBOUNDED_PAST

TOGETHER = 50
"""Statements of which it is worked out together when they were first said."""
FURTHER = 4
"""So many times as many are worked out where what they cite leaves a page short."""


def retro_edits(
    listing: Listing, survey: Survey, lag_seconds: int, first: int, after: Positions | None, want: frozenset[Want]
) -> Page[StatementView]:
    """Statements that hold at `validAt` and were recorded (`transactionTime.from`) more than the lag after they began to be true;
    the latest first, then in the order of statements. Unbounded starts are not measured.

    Raises InvalidInput for a negative lag; QueryTooComplex where, under a said-time limit, too many transactions would have to be
    weighed again.
    """
    if lag_seconds < 0:
        raise InvalidInput(f"lagSeconds is 0 or more, not {lag_seconds}", path=("lagSeconds",), reason="OUT_OF_RANGE")
    columns, basis = survey.columns, listing.footing.basis
    lag = lag_seconds * SECOND
    dated = listing.matching() & columns.holding(basis.valid_at) & (columns.v_from != UNBOUNDED_PAST)
    if basis.evidence_until is None:
        rows = np.flatnonzero(dated & (columns.v_from < columns.created - lag))
        return listing.page(rows, [apart(columns.v_from[rows], columns.created[rows])], first, after, want)
    late = _Late(listing, survey, np.flatnonzero(dated & (columns.v_from < basis.recorded_at - lag)), lag)
    most = first + 1
    while True:
        rows, lags, whole = late.greatest(most, None if after is None else after[0])
        page = listing.page(rows, [lags], first, after, want)
        if page.has_next or whole:
            return page
        most *= FURTHER


class _Late:
    """Rows that may have been recorded late, under a said-time limit: since when the evidence has said so is worked out as it is needed."""

    def __init__(self, listing: Listing, survey: Survey, rows: Int, lag: int) -> None:
        self._listing = listing
        self._columns = survey.columns
        if survey.first_said is None:
            survey.first_said = _first_said(listing, survey)
        self._earliest, self._latest = survey.first_said
        self._rows = rows
        self._lag = lag

    def greatest(self, most: int, after: int | None) -> tuple[Int, NDArray[np.uint64], bool]:
        """The rows that were recorded latest, at least `most` of those whose lag is not above `after`, their lags, and whether
        these are all that there are.

        Raises QueryTooComplex where too much would have to be weighed again.
        """
        while True:
            rows = self._rows[self._starts(self._rows) < self._latest[self._rows] - self._lag]
            least, greatest = (apart(self._starts(rows), self._not_before(rows, at)) for at in (self._earliest, self._latest))
            if after is not None:
                follows = least <= np.uint64(after)
                rows, least, greatest = rows[follows], least[follows], greatest[follows]
            known = least == greatest
            told = greatest[known]
            shown = np.partition(told, len(told) - most)[len(told) - most] if len(told) >= most else np.uint64(0)
            above = greatest >= shown
            unknown = np.flatnonzero(~known & above)
            if not len(unknown):
                return rows[above], greatest[above], bool(above.all())
            self._work_out(rows[unknown[np.argsort(~greatest[unknown], kind="stable")[:TOGETHER]]])

    def _starts(self, rows: Int) -> Int:
        return self._columns.v_from[rows]

    def _not_before(self, rows: Int, at: Int) -> Int:
        """What is recorded before it begins to be true is not late."""
        return np.maximum(at[rows], self._starts(rows))

    def _work_out(self, rows: Int) -> None:
        describer = self._listing.describer
        stored = self._columns.rectangles(describer, rows.tolist(), describer.basis.transaction)
        begun = describer.begun(stored)
        times = transaction_times(describer.connection, set(begun.values()))
        self._earliest[rows] = self._latest[rows] = [times[begun[row]] for row in stored]


def _first_said(listing: Listing, survey: Survey) -> tuple[Int, Int]:
    """Between which instants the evidence under the limit first said so, of each row of a survey."""
    footing, columns = listing.footing, survey.columns
    basis, vocabulary = footing.basis, footing.vocabulary
    assert basis.evidence_until is not None
    known = arrivals(listing.describer.connection, basis.namespace, basis.transaction, basis.evidence_until)
    single = [traits_of(vocabulary.predicate(name)).one_valued for name in columns.predicates.values]
    other = [traits_of(vocabulary.predicate(vocabulary.predicate(name).inverse or name)).one_valued for name in columns.predicates.values]
    told = zip(columns.base.astype(str).tolist(), columns.predicate.tolist(), strict=True)
    between = [known.between(base, single=single[at], other_single=other[at]) for base, at in told]
    first, last = np.array(between, np.int64).reshape(-1, 2).T
    return known.at(first), known.at(last)
