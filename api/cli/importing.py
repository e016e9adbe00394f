"""How `ingest` and its likes read, and what a draft is called in the API."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from graph.views import StatedClaim
from ontology.claim import ObjectDraft
from ontology.episode import EpisodeDraft
from ontology.errors import InvalidInput
from ontology.instant import zone_named
from workers.readers import ReadOptions, Speakers, StatedEpisode, built_in_readers, load_speakers
from workers.readers.options import DateOrder
from workers.readers.stamps import parse_stamp


def read_options(
    speakers: Path | None,
    *,
    speaker: str | None,
    time_zone: str | None,
    subagents: bool = False,
    artifacts: bool = True,
    date_order: DateOrder | None = None,
    start: str | None = None,
    bots: bool = False,
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
        include_bots=bots,
        date_order=date_order,
        start=began,
        speakers=known,
    )


def one_meeting(paths: Sequence[Path], start: str | None) -> None:
    """A start is that of one meeting. Raises InvalidInput where several files would get it."""
    if start is not None and (len(paths) != 1 or paths[0].is_dir() or paths[0].suffix.lower() == ".zip"):
        raise InvalidInput("--start is when one meeting began: give the file of that meeting alone", path=("start",))


def stated_input(stated: StatedEpisode) -> dict[str, object]:
    """The episode and its claims, which are of names, as `AssertStatementsInput`."""
    episode = stated.episode
    fields = {
        "source": episode.source,
        "externalId": episode.external_id,
        "group": episode.group,
        "speaker": episode.speaker,
        "saidAt": episode.said_at,
        "timeZone": episode.time_zone,
        "rank": episode.rank,
        "metadata": dict(episode.metadata) or None,
        "content": episode.content or None,
        "statements": [_statement(claim) for claim in stated.claims],
    }
    return {name: value for name, value in fields.items() if value is not None}


def _statement(claim: StatedClaim) -> dict[str, object]:
    draft = claim.draft
    fields = {
        "subject": {"name": draft.subject},
        "predicate": draft.predicate,
        "qualifier": draft.qualifier,
        "object": _object(draft.object),
        "polarity": draft.polarity,
        "kind": str(draft.kind),
        "validFrom": draft.valid_from,
        "validTo": draft.valid_to,
        "at": claim.at,
        "replaces": None if draft.replaces is None else _object(draft.replaces),
        "quote": claim.quote,
        "additive": draft.additive,
        "confidence": draft.confidence,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _object(object: ObjectDraft) -> dict[str, object]:
    return {"name": object.text} if object.datatype is None else {"literal": {"value": object.text, "datatype": object.datatype}}


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
