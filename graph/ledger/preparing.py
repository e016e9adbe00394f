"""From drafts to rows: an episode and its claims with their keys, checked, before any transaction begins. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from zoneinfo import ZoneInfo

from graph.belief.checks import checked_bounds
from graph.belief.traits import traits_of
from graph.views import StatedClaim
from ontology.claim import CANDIDATE_BELOW, ClaimDraft, ClaimKind, Modality, ObjectDraft
from ontology.echo import echo
from ontology.edtf import Stated, exactly, parse_edtf
from ontology.episode import EpisodeDraft
from ontology.errors import InvalidInput, NotFound, OntologyViolation
from ontology.instant import Instant, format_instant, zone_named
from ontology.names import Keys, checked_content, checked_name, checked_predicate, is_text, normalise
from ontology.vocabulary import Predicate, Vocabulary

MAX_CLAIMS = 1000
_PLANS = {"plans_to": Modality.PLANNED, "wants": Modality.DESIRED}
_NOT_STATED = ("file", "next", "previous")
_NEVER_BELIEF = (Modality.PLANNED, Modality.DESIRED, Modality.HYPOTHETICAL)


@dataclass(slots=True)
class PreparedEpisode:
    """Rows for the ledger. `claims` lack only their transactions; `extracted` is False for one that waits for extraction."""

    row: dict[str, Any]
    claims: list[dict[str, Any]]
    extracted: bool
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Thing:
    """A subject or object: its key, surface form, and its literal type (None for an entity)."""

    key: str
    text: str
    datatype: str | None = None


EntityName = Callable[[str], str | None]
"""The name of an entity by its key; None where there is none."""


class Preparer:
    """Makes rows of drafts for one namespace."""

    def __init__(self, namespace: str, keys: Keys, vocabulary: Vocabulary, now: Instant, entity_name: EntityName) -> None:
        self._namespace = namespace
        self._keys = keys
        self._vocabulary = vocabulary
        self._now = now
        self._entity_name = entity_name

    def extracted(
        self, draft: EpisodeDraft, claims: Sequence[ClaimDraft], flags: Sequence[str], extractor: str, status: str
    ) -> PreparedEpisode:
        """An episode whose claims extraction found; what cannot be stored of them is left out with a warning."""
        episode = self._episode(draft, flags, [], status)
        zone = zone_named(draft.time_zone)
        rows: list[dict[str, Any]] = []
        warnings: list[str] = []
        for place, claim in enumerate(claims):
            try:
                rows.append(self._claim(episode, place, StatedClaim(claim), zone, extractor, draft.rank))
            except (InvalidInput, NotFound) as failure:
                warnings.append(f"claims.{place}: {failure.message}")
        return PreparedEpisode(episode, _identified(self._keys, episode["key"], rows), True, tuple(warnings))

    def pending(self, draft: EpisodeDraft, flags: Sequence[str]) -> PreparedEpisode:
        """An episode that waits for extraction."""
        return PreparedEpisode(self._episode(draft, flags, [], "PENDING"), [], False)

    def stated(
        self, draft: EpisodeDraft, claims: Sequence[StatedClaim], flags: Sequence[str] = (), *, drop_bad_dates: bool
    ) -> PreparedEpisode:
        """An episode with the statements that a client states. Raises InvalidInput naming the path, OntologyViolation, NotFound."""
        if not 1 <= len(claims) <= MAX_CLAIMS:
            raise InvalidInput(
                f"an input has 1 to {MAX_CLAIMS:,} statements; this has {len(claims):,}", path=("statements",), reason="TOO_MANY"
            )
        zone = zone_named(draft.time_zone)
        warnings: list[str] = []
        rows: list[dict[str, Any]] = []
        episode = self._episode(draft, (), [], "EXTRACTED", need_content=False)
        for place, claim in enumerate(claims):
            where = ("statements", str(place))
            try:
                claim = self._with_span(claim, draft.content, where)
                if drop_bad_dates:
                    claim, dropped = _without_bad_dates(claim, zone)
                    warnings += [f"{'.'.join(where)}.{field}: {reason}" for field, reason in dropped]
                rows.append(self._claim(episode, place, claim, zone, "client", draft.rank))
            except InvalidInput as failure:
                raise failure if failure.path[:1] == ("statements",) else failure.under(*where) from failure
        stated = [[row[name] for name in _STATED] for row in rows]
        episode = self._episode(draft, flags, stated, "EXTRACTED", need_content=False)
        for row in rows:
            row["episode"], row["revision"] = episode["key"], episode["revision"]
        return PreparedEpisode(episode, _identified(self._keys, episode["key"], rows), True, tuple(warnings))

    def key_of(self, draft: EpisodeDraft) -> tuple[str, str]:
        """(key, revision) of an episode as a reader hands it in."""
        row = self._episode(draft, (), [], "PENDING")
        return row["key"], row["revision"]

    def _episode(
        self, draft: EpisodeDraft, flags: Sequence[str], stated: list[Any], status: str, *, need_content: bool = True
    ) -> dict[str, Any]:
        content = checked_content(draft.content) if need_content or draft.content else ""
        for name in ("source", "external_id", "group", "speaker", "addressee", "project"):
            value = getattr(draft, name)
            if value is not None:
                checked_name(value, path=(name,))
        zone = zone_named(draft.time_zone)
        said = _time(draft.said_at, zone, "saidAt")
        revised = _time(draft.revised_at, zone, "revisedAt")
        # A time that only the file or a neighbour gave is no part of what the source says: the same text, read again from a file
        # that has grown since, is no other episode or revision and keeps its first time.
        own = said if draft.metadata.get("saidAtFrom") not in _NOT_STATED else None
        stated_said = f"{own.lo}:{own.hi}" if own else ""
        if draft.external_id is not None:
            key = self._keys.digest("episode", self._namespace, draft.source, "id", draft.external_id)
        else:
            parts = (draft.group or "", draft.speaker or "", stated_said, content)
            key = self._keys.digest("episode", self._namespace, draft.source, "text", *parts)
        said_at = said.lo if said else self._now
        order_text = json.dumps(
            [content, stated, [stated_said, draft.rank, draft.speaker, draft.addressee, draft.group, draft.time_zone, draft.project]],
            ensure_ascii=False,
        )
        return {
            "namespace": self._namespace,
            "key": key,
            "revision": self._keys.digest("revision", key, order_text, f"{revised.lo if revised else ''}"),
            "content": content or None,
            "source": draft.source,
            "external_id": draft.external_id,
            "grp": draft.group,
            "speaker": draft.speaker,
            "addressee": draft.addressee,
            "said": said_at,
            "revised": revised.lo if revised else said_at,
            "said_text": draft.said_at,
            "revised_text": draft.revised_at,
            "time_zone": draft.time_zone,
            "project": draft.project,
            "speech": draft.speech,
            "rank": draft.rank,
            "metadata": dict(draft.metadata) or None,
            "flags": list(flags),
            "order_text": order_text,
            "status": status,
            "error": None,
        }

    def _with_span(self, claim: StatedClaim, content: str, where: tuple[str, ...]) -> StatedClaim:
        """The claim with the place of its quote; without a quote the whole content is its evidence."""
        if claim.quote is None or not content:
            if claim.quote and not content:
                raise InvalidInput("a quote needs the `content` that it stands in", path=(*where, "quote"), reason="QUOTE_WITHOUT_CONTENT")
            draft = claim.draft
            return (
                claim if (draft.start, draft.end) == (0, len(content)) else replace(claim, draft=replace(draft, start=0, end=len(content)))
            )
        start = content.find(claim.quote) if claim.quote else -1
        if start < 0:
            raise InvalidInput("the quote does not stand in the content", path=(*where, "quote"), reason="QUOTE_NOT_FOUND")
        return replace(claim, draft=replace(claim.draft, start=start, end=start + len(claim.quote)))

    def _entity(self, name: str, key: str | None, path: str) -> Thing:
        if key is not None:
            known = self._entity_name(key)
            if known is None:
                raise NotFound(f"there is no entity with the ID {echo(key, 80)} in this namespace", id=key)
            return Thing(key, known)
        name = checked_name(name, path=(path,))
        return Thing(self._keys.entity(self._namespace, name), name)

    def _object(self, draft: ObjectDraft, key: str | None, predicate: Predicate, path: str) -> Thing:
        """A literal where one is stated or the predicate's range is a literal type, else an entity."""
        datatype = draft.datatype or (predicate.literal_range if key is None else None)
        if datatype is None:
            return self._entity(draft.text, key, path)
        if draft.datatype is not None and predicate.range is not None and predicate.literal_range is None:
            raise OntologyViolation(
                f"the object of {predicate.name!r} is a {predicate.range}, not a literal; give its name instead",
                path=(path, "literal"),
                reason="LITERAL_FOR_ENTITY",
            )
        text = checked_name(draft.text, path=(path,))
        return Thing(self._keys.literal(self._namespace, text, datatype), text, datatype)

    def _claim(
        self, episode: dict[str, Any], place: int, claim: StatedClaim, zone: ZoneInfo | None, extractor: str, rank: int
    ) -> dict[str, Any]:
        draft = claim.draft
        stated = self._vocabulary.predicate(checked_predicate(draft.predicate))
        canonical = self._vocabulary.canonical(stated.name)
        predicate = canonical.predicate
        subject = self._entity(draft.subject, claim.subject_key, "subject")
        object = self._object(draft.object, claim.object_key, stated, "object")
        wrong = None
        if draft.replaces is not None or claim.replaces_key is not None:
            wrong = self._object(draft.replaces or ObjectDraft(""), claim.replaces_key, stated, "replaces")
        qualifier = checked_qualifier(draft.qualifier)
        bounds = self._bounds(claim, zone)
        # A plan that is reported is a plan.
        stands = draft.modality in (Modality.ASSERTED, Modality.REPORTED)
        modality = _PLANS.get(predicate.name, draft.modality) if stands else draft.modality
        said: Instant = episode["said"]
        checked_bounds(draft.kind, *bounds, said, traits_of(predicate))
        if not 0 <= draft.confidence <= 1:
            raise InvalidInput("a confidence lies between 0 and 1", path=("confidence",), reason="OUT_OF_RANGE")
        placed = self.place(subject, object, canonical.swapped, predicate, qualifier)
        replaced = self.place(subject, wrong, canonical.swapped, predicate, qualifier) if wrong else None
        types = (draft.subject_type or stated.domain, draft.object_type or (stated.range if object.datatype is None else None))
        if placed.turned:
            subject, object, types = object, subject, (types[1], types[0])
        start, end = bounds
        return {
            "namespace": self._namespace,
            "episode": episode["key"],
            "revision": episode["revision"],
            "grp": episode["grp"],
            "source": episode["source"],
            "place": place,
            "subject": subject.key,
            "predicate": predicate.name,
            "qualifier": qualifier,
            "object": object.key,
            "slot": placed.slot,
            "inverse_slot": placed.inverse_slot,
            "proposition": placed.proposition,
            "turned": placed.turned,
            "replaces": wrong.key if wrong else None,
            "replaces_proposition": replaced.proposition if replaced else None,
            "replaces_subject": replaced.subject if replaced else None,
            "replaces_object": replaced.object if replaced else None,
            "scope_group": claim.scope_group,
            "scope_source": claim.scope_source,
            "polarity": draft.polarity != canonical.negated,
            "kind": str(draft.kind),
            "from_lo": start.lo if start else None,
            "from_hi": start.hi if start else None,
            "from_text": start.text if start else None,
            "to_lo": end.lo if end else None,
            "to_hi": end.hi if end else None,
            "to_text": end.text if end else None,
            "said": said,
            "rank": rank - (modality is Modality.REPORTED),
            "additive": draft.additive,
            "modality": str(modality),
            "attributed_to": draft.attributed_to,
            "confidence": draft.confidence,
            "rule": draft.rule or ("stated" if extractor == "client" else ""),
            "extractor": extractor,
            "start": draft.start,
            "end": draft.end,
            "subject_text": subject.text,
            "object_text": object.text,
            "datatype": object.datatype,
            "subject_type": types[0] if types[0] != "Thing" else None,
            "object_type": types[1] if types[1] != "Thing" else None,
            # An undated act is kept and listed: as an END it would deny from then on what never was a state.
            "believed": modality not in _NEVER_BELIEF
            and draft.confidence >= CANDIDATE_BELOW
            and not (draft.act and draft.kind is ClaimKind.END and draft.valid_to is None),
        }

    def _bounds(self, claim: StatedClaim, zone: ZoneInfo | None) -> tuple[Stated | None, Stated | None]:
        draft = claim.draft
        if claim.at is not None:
            if draft.valid_from is not None or draft.valid_to is not None:
                raise InvalidInput("`at` stands instead of `validFrom` and `validTo`", path=("at",), reason="CONFLICTING_TIMES")
            at = _parsed(claim.at, zone, "from", "at")
            # An exact `at` lasts one microsecond, an imprecise one its granule.
            return at, exactly(at.lo + 1, format_instant(at.lo + 1)) if at.exact else at
        start = _parsed(draft.valid_from, zone, "from", "validFrom") if draft.valid_from is not None else None
        end = _parsed(draft.valid_to, zone, "to", "validTo") if draft.valid_to is not None else None
        return start, end

    def place(self, subject: Thing, object: Thing, swapped: bool, predicate: Predicate, qualifier: str) -> Placed:
        """Where a proposition stands: stored direction, slots and key."""
        turned = swapped
        if predicate.symmetric and object.datatype is None:
            # Of the two directions of a symmetric relation the one with the smaller name is stored.
            turned = (normalise(object.text), object.key) < (normalise(subject.text), subject.key)
        if turned and object.datatype is not None:
            raise OntologyViolation(
                f"{predicate.inverse or predicate.name!r} relates two entities", path=("object",), reason="LITERAL_FOR_ENTITY"
            )
        one, other = (object.key, subject.key) if turned else (subject.key, object.key)
        slot = self._keys.slot(self._namespace, one, predicate.name, qualifier)
        inverse_slot = None
        if object.datatype is None and (predicate.symmetric or predicate.inverse):
            inverse_slot = self._keys.slot(
                self._namespace, other, predicate.name if predicate.symmetric else predicate.inverse or "", qualifier
            )
        paired = inverse_slot is not None and predicate.symmetric
        proposition = self._keys.proposition(self._namespace, one, predicate.name, qualifier, other, symmetric=paired)
        return Placed(slot, inverse_slot, proposition, turned, one, other)


@dataclass(frozen=True, slots=True)
class Placed:
    """The keys of a proposition; `turned`: subject and object are stored the other way round."""

    slot: str
    inverse_slot: str | None
    proposition: str
    turned: bool
    subject: str
    object: str


# What a client's statement says, as numbers and keys: equal instants in any spelling give equal revisions.
_STATED = (
    "subject",
    "predicate",
    "qualifier",
    "object",
    "replaces",
    "polarity",
    "kind",
    "from_lo",
    "from_hi",
    "to_lo",
    "to_hi",
    "additive",
    "modality",
    "confidence",
    "start",
    "end",
)


def checked_qualifier(qualifier: str) -> str:
    """The qualifier in its normal form, or InvalidInput: at most 128 characters."""
    folded = normalise(qualifier)
    if len(folded) > 128:
        raise InvalidInput("a qualifier has at most 128 characters", path=("qualifier",), reason="TOO_LONG")
    if not is_text(folded):
        raise InvalidInput("a qualifier cannot hold NUL characters or lone surrogates", path=("qualifier",), reason="INVALID_TEXT")
    return folded


def _parsed(text: str, zone: ZoneInfo | None, side: str, path: str) -> Stated:
    try:
        return parse_edtf(text, zone=zone, side=side)
    except InvalidInput as failure:
        raise failure.under(path) from failure


def _time(text: str | None, zone: ZoneInfo | None, path: str) -> Stated | None:
    """A stated said or revision time."""
    if text is None:
        return None
    stated = _parsed(text, zone, "from", path)
    if stated.text == "..":
        raise InvalidInput("this time must be a point, not '..'", path=(path,), reason="UNPARSEABLE")
    return stated


def _without_bad_dates(claim: StatedClaim, zone: ZoneInfo | None) -> tuple[StatedClaim, list[tuple[str, str]]]:
    """The claim without the dates that cannot be read, and (field, reason) of each."""
    dropped: list[tuple[str, str]] = []
    kept: dict[str, str | None] = {}
    for field, text, side in (
        ("validFrom", claim.draft.valid_from, "from"),
        ("validTo", claim.draft.valid_to, "to"),
        ("at", claim.at, "from"),
    ):
        kept[field] = text
        if text is not None:
            try:
                parse_edtf(text, zone=zone, side=side)
            except InvalidInput as failure:
                dropped.append((field, failure.reason or "INVALID_DATE"))
                kept[field] = None
    draft = replace(claim.draft, valid_from=kept["validFrom"], valid_to=kept["validTo"])
    return replace(claim, draft=draft, at=kept["at"]), dropped


def _identified(keys: Keys, episode: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give claims their IDs: by what they say and the how-manieth of its kind, not by place, confidence or extractor's version."""
    seen: Counter[str] = Counter()
    for row in rows:
        words = "\x1f".join(str(row[name]) for name in _STATED[:13])
        if row["scope_group"] is not None or row["scope_source"] is not None:
            words = "\x1f".join([words, repr((row["scope_group"], row["scope_source"]))])
        seen[words] += 1
        row["id"] = keys.digest("claim", episode, words, str(seen[words]))
    return rows
