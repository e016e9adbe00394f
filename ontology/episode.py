"""Episodes: what was said. `EpisodeDraft` is one as a reader or client hands it in, before scrubbing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ontology.instant import Instant


class EpisodeStatus(StrEnum):
    """The stages of an episode."""

    PENDING = "PENDING"
    EXTRACTED = "EXTRACTED"
    QUARANTINED = "QUARANTINED"
    FAILED = "FAILED"
    RETRACTED = "RETRACTED"
    ERASED = "ERASED"


@dataclass(frozen=True, slots=True)
class EpisodeDraft:
    """A unit of source material as it comes in.

    `said_at` and `revised_at` are EDTF texts (None: not stated), `time_zone` an IANA name for wall times in them and in the
    content. `speech` is False for text that is kept but not extracted (summaries, pasted tool output). `project` is what
    "we" denotes in it (from the working directory or the group; None: the speaker).
    """

    content: str
    source: str
    external_id: str | None = None
    group: str | None = None
    speaker: str | None = None
    addressee: str | None = None
    said_at: str | None = None
    time_zone: str | None = None
    rank: int = 0
    metadata: Mapping[str, Any] = field(default_factory=dict)
    revised_at: str | None = None
    speech: bool = True
    project: str | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """What extraction reads: one scrubbed text and who said it to whom, when.

    `said` is the reference for relative dates, `time_zone` an IANA name or None for UTC. `project` is what "we" denotes
    (None: the speaker). `about` is whom or what a text is a note on: its words may leave that out ("Prefers tea").
    """

    id: str
    text: str
    said: Instant
    speaker: str | None = None
    addressee: str | None = None
    time_zone: str | None = None
    project: str | None = None
    about: str | None = None
