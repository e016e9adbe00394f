"""What extraction reads of an episode."""

from __future__ import annotations

from time import time_ns

from ontology.edtf import parse_edtf
from ontology.episode import EpisodeDraft, Turn
from ontology.errors import InvalidInput
from ontology.instant import UNBOUNDED_PAST, Instant, zone_named


def said_at(episode: EpisodeDraft) -> Instant:
    """The reference for relative dates: the first instant of the stated time, else now. Raises InvalidInput with its path."""
    try:
        zone = zone_named(episode.time_zone)
    except InvalidInput as failure:
        raise failure.under("timeZone") from failure
    if episode.said_at is None:
        return time_ns() // 1000
    try:
        said = parse_edtf(episode.said_at, zone=zone).lo
    except InvalidInput as failure:
        raise failure.under("saidAt") from failure
    if said == UNBOUNDED_PAST:
        raise InvalidInput("something is said at a time, not at '..'", path=("saidAt",), reason="UNPARSEABLE")
    return said


def turn_of(episode: EpisodeDraft, said: Instant) -> Turn:
    """What extraction reads of an episode that was said then."""
    about = episode.metadata.get("about")
    return Turn(
        id=episode.external_id or "",
        text=episode.content,
        said=said,
        speaker=episode.speaker,
        addressee=episode.addressee,
        time_zone=episode.time_zone,
        project=episode.project,
        about=about if isinstance(about, str) and about.strip() else None,
    )
