"""Reading the feed of changes as a client does: page by page, and replayed into what holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from graph.drift import ChangeKind, ChangeView
from graph.facade import Graph
from graph.views import EVERYTHING, EntityView, StatementFilter, StatementView, Want
from ontology.instant import Instant
from tests.graph.ledger.worlds import ALWAYS, pages, shown

BARE = frozenset({Want.BARE})
Held = tuple[str, frozenset[str], Instant, Instant]
"""A statement as a client holds it: key, the entities that it is about, from, to."""


def fed(
    graph: Graph, namespace: str, *, first: int = 100, after: Any = None, filter: StatementFilter = EVERYTHING, **more: Any
) -> list[Any]:
    """All changes after a position with their positions, by pages of a size."""
    found: list[Any] = []
    while True:
        page = graph.changes.page(namespace, after=after, first=first, filter=filter, **{"want": BARE, **more})
        assert len(page.items) <= first
        found += zip(page.items, page.positions, strict=True)
        if not page.has_next:
            return found
        assert page.end is not None and page.end != after
        after = page.end


def told(changes: Iterable[tuple[ChangeView, Any]]) -> list[str]:
    """Changes in words."""
    return [in_words(view) for view, _ in changes]


def in_words(view: ChangeView) -> str:
    """A change in words."""
    if view.statement is None:
        return f"{view.transaction} {view.kind} {view.key}"
    found = view.statement
    denied = "" if found.polarity else "not "
    return f"{view.transaction} {view.kind} {denied}{found.subject.name} {found.predicate} {shown(found.object)}"


def held(view: StatementView) -> Held:
    """A statement as it is held."""
    # A literal is nobody: another name of an entity, shown as one, bears the key that it had by itself.
    entities = frozenset(end.key for end in (view.subject, view.object) if isinstance(end, EntityView))
    return view.key, entities, view.v_from, view.v_to


class Replica:
    """What a client holds that follows the feed from the beginning and reads again what identity changes tell it to."""

    def __init__(self, graph: Graph, namespace: str) -> None:
        self._graph, self._namespace = graph, namespace
        self.held: set[Held] = set()

    def take(self, change: ChangeView) -> None:
        """One change."""
        if change.kind is ChangeKind.IDENTITY:
            members = set(change.members)
            assert change.key in members
            self.held = {one for one in self.held if not one[1] & members}
            self.held.update(self._read(change.key, change.at))
        elif change.kind is ChangeKind.OPENED:
            assert change.statement is not None and change.statement.tx_to_at is None
            self.held.add(held(change.statement))
        else:
            assert change.statement is not None and change.statement.tx_to_at == change.at
            self.held.discard(held(change.statement))

    def _read(self, key: str, at: Instant) -> Iterator[Held]:
        snapshot = self._graph.snapshot(self._namespace, valid_at=0, recorded_at=at)
        return map(held, pages(lambda after: snapshot.statements_about(key, "ANY", ALWAYS, first=100, after=after, want=BARE)))


def rebuilds_every_snapshot(graph: Graph, namespace: str, first: int) -> None:
    """Replaying the feed from the beginning gives what holds at each transaction."""
    replica = Replica(graph, namespace)
    changes = [view for view, _ in fed(graph, namespace, first=first)]
    numbers = pages(lambda after: graph.transactions(namespace, first=100, after=after))
    for transaction in sorted(view.number for view in numbers):
        while changes and changes[0].transaction == transaction:
            replica.take(changes.pop(0))
        snapshot = graph.snapshot(namespace, valid_at=0, transaction=transaction)
        believed = {held(view) for view in pages(lambda after, here=snapshot: here.statements(ALWAYS, first=100, after=after, want=BARE))}
        assert replica.held == believed, transaction
    assert changes == []
