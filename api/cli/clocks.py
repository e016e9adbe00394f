"""The transactions of a namespace, of a server's or of a graph that is open here: by them a journal knows its destination again."""

from __future__ import annotations

from api.cli.documents import LAST_TRANSACTION, LAST_TRANSACTION_BY
from api.cli.link import RemoteLink
from graph.facade import Graph
from ontology.instant import Instant, format_instant, parse_instant
from workers.journal import Anchor


class RemoteClock:
    """Asks a server."""

    def __init__(self, link: RemoteLink) -> None:
        self._link = link

    def last(self) -> Anchor:
        """The last transaction."""
        basis = self._link.execute(LAST_TRANSACTION)["asOf"]["basis"]
        return Anchor(basis["transaction"], parse_instant(basis["recordedAt"]))

    def last_by(self, at: Instant) -> int:
        """The number of the last one by a time."""
        number: int = self._link.execute(LAST_TRANSACTION_BY, {"at": format_instant(at)})["asOf"]["basis"]["transaction"]
        return number


class LocalClock:
    """Asks a graph."""

    def __init__(self, graph: Graph, namespace: str) -> None:
        self._graph, self._namespace = graph, namespace

    def last(self) -> Anchor:
        """The last transaction."""
        basis = self._graph.snapshot(self._namespace).basis
        return Anchor(basis.transaction, basis.recorded_at)

    def last_by(self, at: Instant) -> int:
        """The number of the last one by a time."""
        return self._graph.snapshot(self._namespace, recorded_at=at).basis.transaction
