"""`erstwhile` as a process with the small extractor, which takes no time to load: `python -m tests.api.cli.importing_process ...`.

What the extractor is told in a text (`wait for PATH`) holds its thread.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

from ontology.claim import ClaimDraft
from ontology.episode import Turn


class Inline:
    """Extracts in the thread that asks."""

    def extract(self, turns: Sequence[Turn]) -> tuple[str, list[list[ClaimDraft]]]:
        """As `ExtractionPool`."""
        from tests.workers.extracting import TripleExtractor

        return TripleExtractor.id, TripleExtractor().extract(turns)

    def close(self) -> None:
        """Nothing to stop."""


def open_inline(settings: Any) -> Any:
    """The service of the folder of some settings."""
    from api.service import Service
    from graph.ledger.database import open_database
    from graph.service import LedgerGraph
    from ontology.loading import load_vocabulary
    from tests.api.opening import OVERLAY
    from tests.graph.ledger.conftest import NoProjection
    from tests.workers.extracting import OneSecret, scan
    from workers.ingestion import Ingestion
    from workers.pool import ExtractionPool

    graph = LedgerGraph(open_database(f"sqlite:///{settings.data / 'ledger.db'}"), load_vocabulary(OVERLAY), lambda _: NoProjection())
    return Service(graph, Ingestion(graph, cast(ExtractionPool, Inline()), OneSecret(), scan))


class Process:
    """A running command. `out` and `err` are read when it has ended."""

    def __init__(self, *arguments: str | Path, data: Path | None, environment: dict[str, str] | None = None) -> None:
        more = () if data is None else ("--data", str(data))
        command = [sys.executable, "-m", "tests.api.cli.importing_process", *map(str, arguments), *more]
        root = Path(__file__).parents[3]
        self._process = subprocess.Popen(
            command,
            cwd=root,
            env={**os.environ, **(environment or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    def until(self, condition: Callable[[], bool], patience: float = 60) -> None:
        """Wait for something that the process does."""
        import time

        end = time.monotonic() + patience
        while not condition():
            assert self._process.poll() is None, self.ended()
            assert time.monotonic() < end, "it takes too long"
            time.sleep(0.02)

    def signal(self, number: int) -> None:
        """Send a signal."""
        self._process.send_signal(number)

    def kill(self) -> None:
        """SIGKILL, where it still runs."""
        self.signal(signal.SIGKILL)
        self.ended()

    def ended(self, patience: float = 60) -> tuple[int, str, str]:
        """Status, output and errors when it has ended."""
        out, err = self._process.communicate(timeout=patience)
        return self._process.returncode, out, err


if __name__ == "__main__":
    from api.cli import feeding, main

    with patch.object(feeding, "open_service", open_inline):
        main()
