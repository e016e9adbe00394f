"""Run in a process of its own, which dies of loading a graph: by a kill before its second part, as native code would end it.

Arguments: the ledger's file, the graph's folder.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from sqlalchemy import create_engine

from graph.store.kuzu_engine import KuzuStore
from graph.store.port import Part
from graph.store.projection import GraphProjection
from tests.graph.store.conftest import ENGINE, SETTINGS
from tests.graph.store.ledgers import vocabulary_at


class Dying(KuzuStore):
    """A store that can take one part."""

    parts = 0

    def load_part(self, part: Part) -> None:
        """Take the first; die of the next."""
        if self.parts:
            os.kill(os.getpid(), signal.SIGKILL)
        self.parts += 1
        super().load_part(part)


def main(ledger: str, folder: str) -> None:
    """Start as the service does, which loads what is not there."""
    import graph.store.kuzu_engine

    graph.store.kuzu_engine.KuzuStore = Dying  # type: ignore[misc]
    settings = SETTINGS.model_copy(update={"copy_from": 1})
    projection = GraphProjection(create_engine(f"sqlite:///{ledger}"), Path(folder), ENGINE, settings=settings, vocabulary_at=vocabulary_at)
    projection.catch_up()
    # Not reached, unless nothing was loaded.
    sys.stdout.write(projection.health().degraded or "")
    projection.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
