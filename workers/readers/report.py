"""What became of the lines and files that were read: taken, passed over, mended or refused."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

KEPT_REJECTIONS = 10_000
"""So many refusals are kept with place and message; beyond that they are only counted."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A line (from 1; None: the whole file), or the item of a JSON array that begins on it, that could not be read, and why.

    `kind` is one of: missing, unreadable, empty, binary, unrecognised, date-order, start (files); json, not-an-object, empty-line,
    too-long, timestamp, text, name, id (lines). The message holds nothing of the text.
    """

    path: str
    line: int | None
    kind: str
    message: str

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.message}"


@dataclass(slots=True)
class ReadReport:
    """Counts of one reading.

    `read` are the episodes handed out, `files` the files that were opened; `skipped` counts by kind what is no speech or
    of no known type, `artifacts` by kind what is no speech and was kept, `mended` what was taken after a repair, `rejected`
    by kind what was refused.
    """

    read: int = 0
    files: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    artifacts: Counter[str] = field(default_factory=Counter)
    mended: Counter[str] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    rejections: list[Rejected] = field(default_factory=list)

    def reject(self, rejected: Rejected) -> None:
        """Note a refusal."""
        self.rejected[rejected.kind] += 1
        if len(self.rejections) < KEPT_REJECTIONS:
            self.rejections.append(rejected)
