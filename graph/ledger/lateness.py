"""Late records: statements that were believed only long after they had begun to be true."""

from __future__ import annotations

import numpy as np

from graph.ledger.columns import Int
from graph.ledger.histories import apart
from graph.ledger.history import transaction_times
from graph.ledger.listing import Listing
from graph.ledger.rectangles import replayed
from graph.ledger.surveys import Survey
from graph.views import Page, Positions, StatementView, Want
from ontology.errors import InvalidInput, QueryTooComplex
from ontology.instant import SECOND, UNBOUNDED_PAST, Instant

MOST_REPLAYED = 2_000
"""Most statements of which it is found out for one answer, under a said-time limit, which transaction first said so; some 5 s."""


def retro_edits(
    listing: Listing, survey: Survey, lag_seconds: int, first: int, after: Positions | None, want: frozenset[Want]
) -> Page[StatementView]:
    """Statements that hold at `validAt` and were recorded (`transactionTime.from`) more than the lag after they began to be true;
    the latest first, then in the order of statements. Unbounded starts are not measured.

    Raises InvalidInput for a negative lag; QueryTooComplex where, under a said-time limit, too many transactions would have to be
    resolved again.
    """
    if lag_seconds < 0:
        raise InvalidInput(f"lagSeconds is 0 or more, not {lag_seconds}", path=("lagSeconds",), reason="OUT_OF_RANGE")
    columns, basis = survey.columns, listing.footing.basis
    lag = lag_seconds * SECOND
    dated = listing.matching() & columns.holding(basis.valid_at) & (columns.v_from != UNBOUNDED_PAST)
    if basis.evidence_until is None:
        rows = np.flatnonzero(dated & (columns.v_from < columns.created - lag))
        return listing.page(rows, [apart(columns.v_from[rows], columns.created[rows])], first, after, want)
    rows = np.flatnonzero(dated & (columns.v_from < basis.recorded_at - lag))
    created = _first_said(listing, survey, rows)
    late = columns.v_from[rows] < created - lag
    rows, created = rows[late], created[late]
    return listing.page(rows, [apart(columns.v_from[rows], created)], first, after, want)


def _first_said(listing: Listing, survey: Survey, rows: Int) -> Int:
    """When the evidence under the limit first said so, of each of some rows."""
    footing, describer, columns, known = listing.footing, listing.describer, survey.columns, survey.first_said
    unknown = [row for row in rows.tolist() if row not in known]
    if len(unknown) > MOST_REPLAYED:
        raise QueryTooComplex(
            f"{len(unknown):,} statements may have been recorded so late; with `evidenceUntil` at most {MOST_REPLAYED:,} are looked at: "
            "ask for a longer lag, or filter"
        )
    transaction, until = footing.basis.transaction, footing.basis.evidence_until
    assert until is not None
    stored = columns.rectangles(describer, unknown, transaction)
    describer.identity.load({key for row in stored for key in (row.subject, row.object)})
    begun: dict[tuple[str, bool, Instant], int] = {}
    # Each by itself: together all would be resolved again at every transaction that changed any of them.
    for place in {place.proposition: place for place in (describer.identity.here(row.place) for row in stored)}.values():
        by = (describer.connection, footing.keys, footing.vocabulary, [place], transaction, until)
        believed = (row for row in replayed(*by, describer.identity_at) if row.tx_to > transaction)
        begun |= {(row.base, row.polarity, row.v_from): row.tx_from for row in believed}
    times = transaction_times(describer.connection, set(begun.values()))
    for number, row in zip(unknown, stored, strict=True):
        known[number] = times[begun[describer.identity.here(row.place).proposition, row.polarity, row.v_from]]
    return np.array([known[row] for row in rows.tolist()], np.int64)
