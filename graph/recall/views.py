"""What recall is asked for, and what it answers with. Importing this loads no model and no index."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from graph.views import EpisodeView, Page, StatementView


class Arm(StrEnum):
    """A way of finding."""

    VECTOR = "VECTOR"
    BM25 = "BM25"
    PAGERANK = "PAGERANK"


class Fusion(StrEnum):
    """How the scores of the arms are joined."""

    CONVEX = "CONVEX"
    RRF = "RRF"


class Kind(StrEnum):
    """What can be found."""

    STATEMENT = "STATEMENT"
    EPISODE = "EPISODE"


@dataclass(frozen=True, slots=True)
class RecallOptions:
    """How recall ranks. `candidates` (1 to 500) are those of each arm; `seeds` are keys of entities; `max_per_group` counts hits
    of one conversation (the group of an episode, else its source).
    """

    arms: tuple[Arm, ...] = (Arm.VECTOR, Arm.BM25, Arm.PAGERANK)
    fusion: Fusion = Fusion.CONVEX
    candidates: int = 50
    seeds: tuple[str, ...] | None = None
    superseded_last: bool = True
    max_per_group: int | None = None
    kinds: tuple[Kind, ...] = (Kind.STATEMENT,)


DEFAULTS = RecallOptions()
"""As the contract has them."""


@dataclass(frozen=True, slots=True)
class ArmScore:
    """What one arm says of a hit: its raw score, comparable within the arm, and the 1-based rank."""

    arm: Arm
    score: float
    rank: int


@dataclass(frozen=True, slots=True)
class Hit:
    """What was found: the fused score, what each arm that found it said, and for a hit of PageRank the names on the way from a seed."""

    node: StatementView | EpisodeView
    score: float
    arms: tuple[ArmScore, ...]
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recalled:
    """A page of hits, how many more were weighed, and the arms and parts that could not be used."""

    page: Page[Hit]
    not_shown: int
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Context:
    """A block of text for a prompt with the statements that it tells; `tokens` by the tokenizer that docs/recall.md names."""

    text: str
    tokens: int
    statements: tuple[StatementView, ...]
    degraded: tuple[str, ...] = ()
