"""How often each predicate changes."""

from __future__ import annotations

import numpy as np

from graph.drift import VolatilityView
from graph.ledger.surveys import Survey
from ontology.instant import DAY, SECOND, Instant

CHANGES_BEFORE, SLOT_YEARS_BEFORE = 1, 4
"""What is taken for seen of each predicate before anything is: one change in four slot-years."""
YEAR = 365.25 * DAY
"""Microseconds."""


def volatility(survey: Survey, at: Instant) -> list[VolatilityView]:
    """Every predicate with an affirmation that begins by an instant: most volatile first, then by name.

    slots = its slots with such an affirmation. changes = as `flip_flops` counts them, added up. per_slot_year = (changes + 1) / (slot-years
    + 4): a slot is observed from its first bounded instant to `at`, in years of 365.25 days. median_seconds = of the lengths of its
    affirmed intervals with both bounds that have ended by `at`, of an even number the mean of the two in the middle.
    """
    histories, columns = survey.histories, survey.columns
    begun = histories.begun(at)
    count = len(columns.predicates.of)
    slots = np.bincount(histories.predicate[begun], minlength=count)
    changes = np.zeros(count, np.int64)
    np.add.at(changes, histories.predicate, histories.changes(at))
    observed, medians = histories.observed(at), survey.lengths.medians(at)
    found = []
    for name, predicate in columns.predicates.of.items():
        if slots[predicate]:
            years = observed.get(predicate, 0) / YEAR
            median = medians.get(predicate)
            rate = (int(changes[predicate]) + CHANGES_BEFORE) / (years + SLOT_YEARS_BEFORE)
            seconds = None if median is None else float(median / SECOND)
            found.append(VolatilityView(name, int(slots[predicate]), int(changes[predicate]), rate, seconds))
    return sorted(found, key=lambda view: (-view.per_slot_year, view.predicate))
