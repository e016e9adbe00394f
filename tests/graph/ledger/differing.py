"""Differences in tests: all of them, in words, and applied to what they lead away from."""

from __future__ import annotations

from typing import Any

from graph.drift import DifferenceKind, DifferenceView
from graph.service import LedgerGraph
from graph.views import EntityRef, StatementFilter, StatementView
from tests.graph.ledger.worlds import pages, shown

Fact = tuple[frozenset[str] | tuple[str, str], str, str]
"""Subject and object (of a symmetric relation in no order), predicate and qualifier, by the entities of some basis."""


def diff(
    graph: LedgerGraph, start: Any, end: Any, filter: StatementFilter | None = None, *, first: int = 100, **more: Any
) -> list[DifferenceView]:
    """All differences of two snapshots."""
    return pages(lambda after: graph.diff(start, end, filter or StatementFilter(), first=first, after=after, **more))


def told(difference: DifferenceView) -> str:
    """A difference in words: `WORLD Ann works_at: Acme -> Beta`."""
    before, after = (", ".join(map(value, side)) for side in (difference.before, difference.after))
    where = f"{difference.predicate}{' ' if difference.qualifier else ''}{difference.qualifier}"
    arrow = {DifferenceKind.ADDED: f"+ {after}", DifferenceKind.REMOVED: f"- {before}", DifferenceKind.CHANGED: f"{before} -> {after}"}
    return f"{difference.cause} {difference.subject.name} {where}: {arrow[difference.kind]}"


def value(view: StatementView) -> str:
    """The object of a statement."""
    return f"{'' if view.polarity else 'not '}{shown(view.object)}"


def fact(graph: LedgerGraph, view: StatementView, end: Any) -> Fact:
    """What a statement says, by the entities of a snapshot."""
    predicate = graph.vocabulary().canonical(view.predicate)
    one, other = (end.key_of(EntityRef(key=key)) for key in (view.subject.key, view.object.key))
    if predicate.swapped:
        one, other = other, one
    ends = frozenset({one, other}) if predicate.predicate.symmetric else (one, other)
    return ends, predicate.predicate.name, view.qualifier
