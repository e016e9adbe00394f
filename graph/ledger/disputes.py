"""Contested statements: such as hold against evidence to the contrary."""

from __future__ import annotations

import numpy as np

from graph.ledger.listing import Listing
from graph.ledger.surveys import Survey, Surveys
from graph.views import Page, Positions, StatementView, Want


def contested(
    listing: Listing, survey: Survey, surveys: Surveys, first: int, after: Positions | None, want: frozenset[Want]
) -> Page[StatementView]:
    """Statements that hold at `validAt` and whose conflict there is TIED or RESOLVED, in the order of statements."""
    at = listing.footing.basis.valid_at
    holding = listing.matching() & survey.columns.holding(at)
    weighed = surveys.weighed(listing.describer, listing.footing, survey, np.flatnonzero(holding))
    rows = weighed.contested_at(at)
    return listing.page(rows[holding[rows]], (), first, after, want)
