"""The extraction pool: processes that hold one extractor each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from ontology.claim import ClaimDraft
from ontology.episode import Turn
from workers.processes import ATTEMPTS, Processes, ProcessesFailed

if TYPE_CHECKING:
    from extraction.extractor import Extractor


T = TypeVar("T")
ExtractorFactory = Callable[[], "Extractor"]
"""Makes an extractor inside a worker process; picklable (a module's function, or a `partial` of one)."""


@dataclass(frozen=True, slots=True)
class Left:
    """A piece of a turn that makes no claim: half-open characters of its text, and why."""

    start: int
    end: int
    reason: str


@dataclass(frozen=True, slots=True)
class Findings:
    """What a turn yields: its claims, and what was left out."""

    claims: Sequence[ClaimDraft] = ()
    dropped: Sequence[Left] = ()


def _extract(extractor: Extractor, turns: Sequence[Turn]) -> tuple[str, list[list[ClaimDraft]]]:
    return extractor.id, extractor.extract(turns)


def _examine(extractor: Extractor, turns: Sequence[Turn]) -> tuple[str, list[Findings]]:
    examine = getattr(extractor, "examine", None)
    if examine is None:
        # An extractor need not say what it leaves out.
        return extractor.id, [Findings(claims) for claims in extractor.extract(turns)]
    return extractor.id, [
        Findings(found.claims, [Left(each.start, each.end, each.reason) for each in found.dropped]) for found in examine(turns)
    ]


class ExtractionFailed(Exception):
    """The processes that extracted a turn died each time."""


class ExtractionPool:
    """Extracts in up to `workers` processes. Thread-safe; blocks the calling thread only."""

    def __init__(self, factory: ExtractorFactory, *, workers: int = 1, niceness: int = 0) -> None:
        self._processes = Processes(factory, workers=workers, niceness=niceness)

    def extract(self, turns: Sequence[Turn], *, attempts: int = ATTEMPTS) -> tuple[str, list[list[ClaimDraft]]]:
        """(extractor's ID, claims of each turn), after waiting for a process. Raises ExtractionFailed, or what the extractor raised.

        Where the process dies it is tried again, `attempts` times in all.
        """
        return self._run(_extract, turns, attempts)

    def examine(self, turns: Sequence[Turn]) -> tuple[str, list[Findings]]:
        """The same with what was left out of each turn, where the extractor says so."""
        return self._run(_examine, turns, ATTEMPTS)

    def _run(self, task: Callable[[Extractor, Sequence[Turn]], T], turns: Sequence[Turn], attempts: int) -> T:
        try:
            return self._processes.run(task, turns, attempts=attempts)
        except ProcessesFailed as failure:
            raise ExtractionFailed(f"the turn cannot be extracted: {failure}") from failure

    def close(self) -> None:
        """Stop each process after what it is doing."""
        self._processes.close()
