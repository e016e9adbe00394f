"""How `ingest` reads, and where it sends what it reads when a server owns the data folder."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from api.cli.documents import ASSERT, INGEST
from api.cli.link import RemoteLink
from graph.views import StatedClaim
from ontology.claim import ObjectDraft
from ontology.episode import EpisodeDraft
from ontology.errors import InvalidInput
from ontology.instant import zone_named
from workers.bulk import Tally, one_by_one, place_of
from workers.readers import Draft, ReadOptions, Speakers, StatedEpisode, built_in_readers, load_speakers
from workers.readers.options import DateOrder
from workers.readers.stamps import parse_stamp

PATIENCE = 120
"""Times that a full server is asked again for one episode."""


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


class RemoteSink:
    """Sends episode by episode to a server."""

    def __init__(self, link: RemoteLink) -> None:
        self._link = link

    def take(self, drafts: Sequence[Draft]) -> Tally:
        """Send a batch; what the server refuses is named."""
        return one_by_one(drafts, self._send)

    def _send(self, draft: Draft) -> Tally:
        for _ in range(PATIENCE):
            result = self._answer(draft)
            if result["__typename"] != "OverloadedError":
                break
            time.sleep(result["retryAfter"])
        if "message" in result:
            tally = Tally()
            tally.fail(place_of(draft), result["message"])
            return tally
        if result["deduplicated"]:
            return Tally(known=1)
        return Tally(held_back=1) if result["episode"]["status"] == "QUARANTINED" else Tally(accepted=1)

    def _answer(self, draft: Draft) -> dict[str, Any]:
        if isinstance(draft, StatedEpisode):
            found: dict[str, Any] = self._link.execute(ASSERT, {"input": stated_input(draft)})["assertStatements"]
        else:
            found = self._link.execute(INGEST, {"input": episode_input(draft)})["ingestEpisode"]
        return found


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
