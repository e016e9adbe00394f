"""What the caller of a reader may choose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read.

    `speaker` is who "user" is, and who speaks in notes. `time_zone` is the IANA name for times without an offset (None:
    UTC). `speaker_map` gives other names to speakers as they stand in the source (`{"U01": "Maya"}`), before anything else.
    `include_sidechains` reads what an assistant and its sub-agents said to each other.
    """

    speaker: str | None = None
    time_zone: str | None = None
    speaker_map: Mapping[str, str] = field(default_factory=dict)
    include_sidechains: bool = False

    def name_of(self, speaker: str) -> str:
        """The name to keep for a speaker of the source."""
        mapped = self.speaker_map.get(speaker)
        if mapped is not None:
            return mapped
        return self.speaker if speaker == "user" and self.speaker is not None else speaker
