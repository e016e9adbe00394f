"""The running parts of a process that owns a data folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from api.metrics import Metrics, Reader

if TYPE_CHECKING:
    from graph.facade import Graph
    from workers.embedding import Embedding
    from workers.ingestion import Ingestion


@dataclass(frozen=True, slots=True)
class Service:
    """The graph, the way into it, what makes the vectors of its texts (None where no embedder is chosen), and the figures of them."""

    graph: Graph
    ingestion: Ingestion
    embedding: Embedding | None = None
    metrics: Metrics = field(default_factory=Metrics)

    def start(self) -> None:
        """Begin background work."""
        self.metrics.watch(Reader(self.graph, self.ingestion.pipeline.dispatch))
        self.ingestion.start()
        if self.embedding is not None:
            self.embedding.start()

    def close(self) -> None:
        """Stop background work, then release the graph's files."""
        self.ingestion.close()
        if self.embedding is not None:
            self.embedding.close()
        self.graph.close()


Opener = Callable[[], Service]
"""Opens the service; picklable, since the worker process that calls it is spawned."""
