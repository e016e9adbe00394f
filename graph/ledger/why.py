"""Why a slot changed: its boundaries as readers see them, those that are believed and those that were withdrawn."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import select

from graph.belief.traits import traits_of
from graph.drift import BoundaryView
from graph.ledger.borrowed import borrowed
from graph.ledger.boundaries import Boundary, Standing, Window, checked_number, told
from graph.ledger.chunks import among, rows_among
from graph.ledger.details import Describer
from graph.ledger.footing import Footing
from graph.ledger.rectangles import Rectangle, read_as
from graph.ledger.schema import transactions
from graph.ledger.withdrawn import Withdrawn
from graph.views import EntityRef, EntityView, StatementView, TransactionView, Want
from ontology.errors import InvalidInput
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant
from ontology.names import normalise

_TRANSACTIONS = select(transactions).where(among(transactions.c.number))


def why_changed(
    footing: Footing,
    subject: EntityRef,
    predicate: str,
    qualifier: str,
    *,
    start: Instant | None,
    end: Instant | None,
    want: frozenset[Want],
) -> list[BoundaryView]:
    """The boundaries of a slot in `[start, end)`, in order of time; at one instant those that are believed come first.

    Raises InvalidInput for an empty or inverted window, QueryTooComplex for more boundaries than one answer holds.
    """
    window = _window(start, end)
    canonical = footing.vocabulary.canonical(predicate)
    shown_as = predicate if canonical.swapped else canonical.predicate.name
    qualifier = normalise(qualifier)
    with footing.read() as describer:
        key = footing.key(describer, subject)
        rows, _ = footing.slots.rows(describer, key, shown_as, qualifier)
        ever = footing.slots.ever(describer, key, shown_as, qualifier)
        known = list(dict.fromkeys([*rows, *ever]))
        describer.identity.load({each for row in known for each in (row.subject, row.object)})
        bases = {row: read_as(describer.identity, row).base for row in known}
        # Under a limit the past is read through the names of the basis.
        limited = footing.basis.evidence_until is not None
        of_others = [] if limited else borrowed(describer, footing.basis.transaction, key, shown_as, qualifier)
        bases |= {each.row: each.base for each in of_others if each.row not in bases}
        ever = list(dict.fromkeys([*ever, *(each.row for each in of_others)]))
        standing = Standing(rows, bases, one_valued=traits_of(footing.vocabulary.predicate(shown_as)).one_valued)
        standing.turns(window)
        found = told(describer.scene(footing.basis.transaction, rows), standing, window)
        found += Withdrawn(describer, footing.vocabulary, ever, standing).boundaries(window)
        checked_number(len(found))
        swapped = footing.slots.from_other_side(describer, known, key, shown_as) | {each.row.base for each in of_others if each.turned}
        return _views(describer, found, swapped, want)


def _window(start: Instant | None, end: Instant | None) -> Window:
    if start is not None and end is not None and end <= start:
        reason = "EMPTY_INTERVAL" if end == start else "INVERTED_INTERVAL"
        raise InvalidInput("the window's `to` has to lie after its `from`", path=("to",), reason=reason)
    return Window(UNBOUNDED_PAST if start is None else start, UNBOUNDED_FUTURE if end is None else end)


def _views(describer: Describer, found: Collection[Boundary], swapped: frozenset[str], want: frozenset[Want]) -> list[BoundaryView]:
    rows = list(dict.fromkeys(row for boundary in found for row in (*boundary.before, *boundary.after)))
    views = dict(zip(rows, describer.views(rows, want, swapped, sided=True), strict=True))
    words = describer.words(list({claim.row: claim for boundary in found for claim in boundary.claims}.values()))
    numbers = {boundary.transaction for boundary in found if boundary.transaction is not None}
    by_number = {
        row.number: TransactionView(row.number, row.at, row.kind, row.actor, row.reason)
        for row in rows_among(describer.connection, _TRANSACTIONS, numbers)
    }

    def shown(told: Collection[Rectangle]) -> tuple[StatementView, ...]:
        return tuple(sorted((views[row] for row in told), key=lambda view: (not view.polarity, _order(view))))

    made = [
        BoundaryView(
            boundary.at,
            boundary.reason,
            boundary.rule,
            shown(boundary.before),
            shown(boundary.after),
            tuple(words[claim.row] for claim in boundary.claims),
            None if boundary.transaction is None else by_number[boundary.transaction],
        )
        for boundary in found
    ]
    return sorted(made, key=_place)


def _place(view: BoundaryView) -> tuple[Any, ...]:
    number = 0 if view.transaction is None else view.transaction.number
    return view.at, number, *(_order(each) for each in (view.after or view.before)[:1])


def _order(view: StatementView) -> tuple[Any, ...]:
    """The order of statements: newest first, then by names."""
    object = view.object.name if isinstance(view.object, EntityView) else view.object.value
    return -view.v_from, normalise(view.subject.name), view.predicate, view.qualifier, normalise(object), view.polarity, view.key
