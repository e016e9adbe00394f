"""The running parts of a process that owns a data folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graph.facade import Graph
    from workers.ingestion import Ingestion


@dataclass(frozen=True, slots=True)
class Service:
    """The graph and the way into it."""

    graph: Graph
    ingestion: Ingestion

    def start(self) -> None:
        """Begin background work."""
        self.ingestion.start()

    def close(self) -> None:
        """Stop background work, then release the graph's files."""
        self.ingestion.close()
        self.graph.close()


Opener = Callable[[], Service]
"""Opens the service; picklable, since the worker process that calls it is spawned."""
