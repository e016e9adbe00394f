"""A data folder that a server of the tests answers for: commands reach it as they reach any server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.api.cli.running import Ran, erstwhile
from tests.api.clients import OverHttp


@dataclass(frozen=True, slots=True)
class Faced:
    """The folder, and a client in the test's namespace."""

    folder: Path
    client: OverHttp

    @property
    def options(self) -> tuple[str, ...]:
        """What sends a command here."""
        return "--data", str(self.folder), "--namespace", self.client.namespace

    def run(self, *arguments: str | Path) -> Ran:
        """Run a command here."""
        return erstwhile(*arguments, *self.options)

    def claims(self) -> list[dict[str, Any]]:
        """All claims as they are now, newest first: `of` (the object), `rejected` and `why`."""
        asked = "{ asOf { claims { edges { node { rejected why: rejection object { ... on Entity { of: name } } } } } } }"
        edges = self.client.ok(asked)["asOf"]["claims"]["edges"]
        return [{"of": node["object"]["of"], "rejected": node["rejected"], "why": node["why"]} for node in (edge["node"] for edge in edges)]
