"""What a source states as facts and not in words: an episode with its claims."""

from __future__ import annotations

from dataclasses import dataclass

from graph.views import StatedClaim
from ontology.episode import EpisodeDraft


@dataclass(frozen=True, slots=True)
class StatedEpisode:
    """An episode whose 1 to 1,000 `claims` are recorded as they are; nothing is extracted from its content."""

    episode: EpisodeDraft
    claims: tuple[StatedClaim, ...]


Draft = EpisodeDraft | StatedEpisode
"""What a reader hands out to be recorded."""
