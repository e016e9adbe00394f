"""Stale statements: open ones that nobody has attested for longer than their predicate allows."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np

from graph.ledger.columns import Columns, Int
from graph.ledger.histories import Lengths, apart
from graph.ledger.listing import Listing
from graph.ledger.surveys import Survey, Surveys
from graph.views import Page, Positions, StatementView, Want
from ontology.instant import SECOND, UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant
from ontology.vocabulary import Vocabulary

MEDIANS = 3
"""A statement is stale when it has gone unattested for so many times the median length of its predicate's closed intervals."""


def thresholds(columns: Columns, lengths: Lengths, vocabulary: Vocabulary, at: Instant) -> dict[int, Fraction]:
    """Microseconds after which statements of a predicate, by its number, are stale at an instant: its `staleAfter`, else 3 x the median
    length of its closed intervals that have ended by then. A predicate without either is not there.
    """
    found = {predicate: MEDIANS * median for predicate, median in lengths.medians(at).items()}
    for name, predicate in columns.predicates.of.items():
        stale_after = vocabulary.predicate(name).stale_after
        if stale_after is not None:
            found[predicate] = Fraction(stale_after) * SECOND
    return found


def stale(
    listing: Listing, survey: Survey, surveys: Surveys, first: int, after: Positions | None, want: frozenset[Want]
) -> Page[StatementView]:
    """Statements that hold at `validAt`, are open, and for which `validAt - lastAttestedAt` exceeds the threshold of their predicate;
    the longest unattested first, then in the order of statements.
    """
    columns, at = survey.columns, listing.footing.basis.valid_at
    cutoff = _cutoffs(columns, thresholds(columns, survey.lengths, survey.vocabulary, at), at)[columns.predicate]
    open_ones = columns.holding(at) & (columns.v_to == UNBOUNDED_FUTURE) & (cutoff != UNBOUNDED_PAST)
    rows = np.flatnonzero(listing.matching() & open_ones)
    attested = surveys.weighed(listing.describer, listing.footing, survey, rows).attested
    rows = rows[attested[rows] < cutoff[rows]]
    return listing.page(rows, [apart(attested[rows], at)], first, after, want)


def _cutoffs(columns: Columns, found: dict[int, Fraction], at: Instant) -> Int:
    """For each predicate the first instant that is not too long ago; unbounded where nothing is."""
    cutoffs = np.full(len(columns.predicates.of), UNBOUNDED_PAST, np.int64)
    for predicate, threshold in found.items():
        # What was attested before it is older than the threshold by a microsecond or more.
        cutoffs[predicate] = max(ceil(at - threshold), UNBOUNDED_PAST)
    return cutoffs
