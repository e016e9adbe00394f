"""A data folder that a server of the tests answers for, over the stand-in graph: commands reach it as they reach any server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.api.cli.running import Ran, erstwhile
from tests.api.clients import OverHttp
from tests.api.standing_in import StandIn


@dataclass(frozen=True, slots=True)
class Faced:
    """The folder, what stands in behind it, and a client in the test's namespace."""

    folder: Path
    graph: StandIn
    client: OverHttp

    @property
    def options(self) -> tuple[str, ...]:
        """What sends a command here."""
        return "--data", str(self.folder), "--namespace", self.client.namespace

    def run(self, *arguments: str | Path) -> Ran:
        """Run a command here."""
        return erstwhile(*arguments, *self.options)
