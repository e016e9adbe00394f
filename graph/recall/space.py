"""What recall has of one namespace: its documents, how they are read, what counts, and where their vectors lie."""

from __future__ import annotations

from graph.recall.admission import Admissions
from graph.recall.columns import Columns
from graph.recall.dense import Dense, DenseFactory
from graph.recall.lives import Lives
from graph.recall.namespace import Indexed, Part
from graph.recall.reading import Readings

PARTS: tuple[Part, ...] = ("claims", "episodes")


class Space:
    """What recall has of a namespace."""

    def __init__(self, name: str, dense: DenseFactory, indexed: Indexed) -> None:
        self.indexed = indexed
        self.readings = Readings(self.indexed)
        self.admissions = Admissions()
        self.dense: dict[Part, Dense] = {part: dense(name, part) for part in PARTS}
        self.lives = Lives(indexed) if any(each.filters for each in self.dense.values()) else None

    def __getitem__(self, part: Part) -> Dense:
        return self.dense[part]

    def columns(self, part: Part) -> Columns:
        """The rows of a part's documents."""
        return self.indexed.claims if part == "claims" else self.indexed.episodes
