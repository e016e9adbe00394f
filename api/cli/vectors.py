"""Waiting for vectors where no server makes them: a command ends with its process, and what waits would wait for the next one."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from api.cli.link import LocalLink, RemoteLink, linked
from api.cli.options import hint, settings_of
from api.wiring import open_service

if TYPE_CHECKING:
    from api.service import Service

PATIENCE = 60.0
"""Seconds that a question waits for the vectors of what it may find; after them it is answered with those that are there."""
_MANY = 1_000_000
_LOOK = 0.5


@contextmanager
def recalling_link(data: Path | None, namespace: str) -> Iterator[RemoteLink | LocalLink]:
    """A link for recall; without a server what waits for its vector gets it first, as far as patience goes."""
    # This process loads the embedder for the question anyway: another one would load it a second time.
    with linked(settings_of(data, graph_engine="sql", embedding_workers=0), namespace, open_service) as link:
        if isinstance(link, LocalLink):
            finish(link.service, PATIENCE)
        yield link


def finish(service: Service, patience: float | None = None) -> int:
    """Have all vectors made that are wanted, with a line that says how far it is; how many were. What cannot be made is told."""
    embedding = service.embedding
    wanted = 0 if embedding is None else len(service.graph.unembedded(_MANY))
    if embedding is None or not wanted:
        return 0
    done: list[bool] = []
    # A thread of its own, so that Ctrl-C is heard: closing the service ends it.
    waiting = Thread(target=lambda: done.append(embedding.finish(patience)), daemon=True)
    waiting.start()
    shown = sys.stderr.isatty()
    if not shown:
        hint(f"{wanted:,} texts get their vectors, so that they are found by meaning")
    began = time.monotonic()
    left = wanted
    while waiting.is_alive():
        waiting.join(_LOOK)
        if shown:
            left = len(service.graph.unembedded(_MANY))
            elapsed = time.monotonic() - began
            print(f"\r  vectors: {wanted - left:,} of {wanted:,}  {(wanted - left) / elapsed:,.0f}/s ", end="", file=sys.stderr, flush=True)
    if shown:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    left = len(service.graph.unembedded(_MANY))
    if done != [True]:
        hint(f"{left:,} texts have no vectors yet and are found by words alone" + (f": {embedding.degraded}" if embedding.degraded else ""))
    return wanted - left
