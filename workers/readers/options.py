"""What the caller of a reader may choose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ontology.instant import Instant
from workers.readers.speakers import UNNAMED, Speakers

DateOrder = Literal["dmy", "mdy", "ymd"]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read.

    `speaker` is who "user" is, and who speaks in notes and in turns that name nobody. `time_zone` is the IANA name for times
    without an offset (None: UTC). `speaker_map` gives other names to speakers as they stand in any source (`{"U01": "Maya"}`),
    before anything else; `speakers` does so source by source, and has defaults where `speaker` is not given.
    `include_sidechains` reads what an assistant and its sub-agents said to each other, `include_bots` what the bots of a
    workspace wrote. `include_artifacts` keeps what nobody said but what is text all the same (results of tools, attached files,
    summaries) as episodes that are not extracted. `date_order` decides dates such as 04/05/2026 where a file does not: "dmy",
    "mdy" or "ymd". `start` is when the one meeting that is read began.
    """

    speaker: str | None = None
    time_zone: str | None = None
    speaker_map: Mapping[str, str] = field(default_factory=dict)
    include_sidechains: bool = False
    include_artifacts: bool = True
    include_bots: bool = False
    date_order: DateOrder | None = None
    start: Instant | None = None
    speakers: Speakers = field(default_factory=Speakers)

    def name_of(self, speaker: str, source: str = "") -> str:
        """The name to keep for a speaker of a source."""
        mapped = self.speaker_map.get(speaker) or self.speakers.name_of(source, speaker)
        if mapped is not None:
            return mapped
        return (self.unnamed(source) or speaker) if speaker.casefold() in UNNAMED else speaker

    def unnamed(self, source: str) -> str | None:
        """Who speaks where a source names nobody, or only a "user"."""
        return self.speaker or self.speakers.default(source)
