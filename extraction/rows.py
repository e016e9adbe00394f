"""Rows of the dry run: a claim as `erstwhile extract` prints it, and turns as its input has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from extraction.calendar import bounds
from ontology.claim import ClaimDraft, ClaimKind, Modality
from ontology.edtf import parse_edtf
from ontology.episode import Turn
from ontology.errors import InvalidInput
from ontology.instant import zone_named
from ontology.vocabulary import Temporality, Vocabulary


def claim_row(turn: Turn, draft: ClaimDraft, vocabulary: Vocabulary) -> dict[str, Any]:
    """One line of output. Times are EDTF texts or null, `start` and `end` characters of the turn's text."""
    return {
        "turn": turn.id,
        "subject": draft.subject,
        "predicate": draft.predicate,
        "qualifier": draft.qualifier,
        "object": draft.object.text,
        "polarity": draft.polarity,
        "kind": draft.kind.value,
        "modality": draft.modality.value,
        "status": status(turn, draft, vocabulary),
        "validFrom": draft.valid_from,
        "validTo": draft.valid_to,
        "replaces": draft.replaces.text if draft.replaces else None,
        "additive": draft.additive,
        "attributedTo": draft.attributed_to,
        "start": draft.start,
        "end": draft.end,
        "rule": draft.rule,
        "confidence": draft.confidence,
    }


def status(turn: Turn, draft: ClaimDraft, vocabulary: Vocabulary) -> str:
    """PAST, NOW or FUTURE at the time of saying.

    PAST: an END, an event that is not ahead, or bounded and over. FUTURE: begins later; plans and wishes always.
    """
    if draft.modality in (Modality.PLANNED, Modality.DESIRED):
        return "FUTURE"
    begins = bounds(draft.valid_from, "from", turn.time_zone)
    ends = bounds(draft.valid_to, "to", turn.time_zone)
    if begins is not None and begins[0] > turn.said:
        return "FUTURE"
    if draft.kind is ClaimKind.END:
        # An ending that is scheduled still holds.
        return "NOW" if ends is not None and ends[0] > turn.said else "PAST"
    predicate = vocabulary.predicate(draft.predicate)
    if predicate.temporal is Temporality.EVENT and not draft.polarity and begins is None and ends is None:
        # "never been there" holds at the time of saying.
        return "NOW"
    if predicate.temporal is Temporality.EVENT:
        return "FUTURE" if draft.kind is ClaimKind.CHANGE and begins is None else "PAST"
    return "PAST" if ends is not None and ends[1] <= turn.said else "NOW"


def turn_from_row(row: Mapping[str, Any]) -> Turn:
    """A turn from `{"id", "speaker", "addressee", "said", "text"}` (optional: `timeZone`, `project`).

    Raises InvalidInput naming the key that is missing or wrong.
    """
    for key in ("id", "text", "said"):
        if not isinstance(row.get(key), str):
            raise InvalidInput(f"a turn needs the text {key!r}", path=(key,), reason="MISSING")
    zone = row.get("timeZone")
    said = parse_edtf(row["said"], zone=zone_named(zone if isinstance(zone, str) else None))
    return Turn(
        id=row["id"],
        text=row["text"],
        said=said.lo,
        speaker=row.get("speaker") or None,
        addressee=row.get("addressee") or None,
        time_zone=zone if isinstance(zone, str) else None,
        project=row.get("project") or None,
    )
