"""How `ingest` and its likes read, and what a draft is called in the API."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ontology.episode import EpisodeDraft
from ontology.errors import InvalidInput
from ontology.instant import zone_named
from workers.readers import ReadOptions, Speakers, built_in_readers, load_speakers
from workers.readers.options import DateOrder
from workers.readers.stamps import parse_stamp


def read_options(
    speakers: Path | None,
    *,
    speaker: str | None,
    time_zone: str | None,
    date_order: DateOrder | None = None,
    start: str | None = None,
    bots: bool = False,
    subagents: bool = False,
    artifacts: bool = True,
) -> ReadOptions:
    """How to read, with the speakers that a file names. Raises InvalidInput naming file, line and key, or the `start`."""
    known = Speakers() if speakers is None else load_speakers(speakers, [reader.source for reader in built_in_readers()])
    try:
        began = None if start is None else parse_stamp(start, zone_named(time_zone))
    except InvalidInput as failure:
        raise failure.under("start") from failure
    return ReadOptions(
        speaker,
        time_zone,
        include_sidechains=subagents,
        include_artifacts=artifacts,
        speakers=known,
        date_order=date_order,
        start=began,
        include_bots=bots,
    )


def one_meeting(paths: Sequence[Path], start: str | None) -> None:
    """A start is that of one meeting. Raises InvalidInput where several files would get it."""
    if start is not None and (len(paths) != 1 or paths[0].is_dir()):
        raise InvalidInput("--start is when one meeting began: give the file of that meeting alone", path=("start",))


def episode_input(draft: EpisodeDraft) -> dict[str, object]:
    """The draft as `EpisodeInput`."""
    # The metadata carries to the server what the input has no field for.
    metadata = {**draft.metadata, **({"project": draft.project} if draft.project else {}), **({} if draft.speech else {"speech": False})}
    stated = {
        "content": draft.content,
        "source": draft.source,
        "externalId": draft.external_id,
        "group": draft.group,
        "speaker": draft.speaker,
        "addressee": draft.addressee,
        "saidAt": draft.said_at,
        "timeZone": draft.time_zone,
        "rank": draft.rank,
        "metadata": metadata or None,
        "revisedAt": draft.revised_at,
    }
    return {name: value for name, value in stated.items() if value is not None}
