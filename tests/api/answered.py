"""Answers over GraphQL as the facade's views: what to select, and what it says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph.belief.weighing import Conflict, Support
from graph.views import (
    ClaimView,
    EntityView,
    EpisodeView,
    EvidenceView,
    InvalidationView,
    LiteralView,
    Reason,
    StatementView,
    VersionView,
    Want,
)
from ontology.claim import ClaimKind, Modality
from ontology.episode import EpisodeStatus
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant, parse_instant

Node = Mapping[str, Any]

ENTITY = "key name type aliases"
OBJECT = f"object {{ __typename ... on Entity {{ {ENTITY} }} ... on Literal {{ value datatype }} }}"
EPISODE = "key revision content source externalId group speaker saidAt recordedAt status flags metadata"
EVIDENCE = f"claim quote start end extractor episode {{ {EPISODE} }}"
STATEMENT = f"""key subject {{ {ENTITY} }} predicate {{ name }} qualifier {OBJECT} polarity
  validTime {{ from to fromStated toStated }} transactionTime {{ from to }} support conflict certainty text confidence
  lastAttestedAt evidenceCount"""
CLAIM = f"""subject {{ {ENTITY} }} predicate {{ name }} qualifier {OBJECT} polarity kind modality validFrom validTo saidAt confidence
  rule additive candidate rejected rejection evidence {{ {EVIDENCE} }}"""
PARTS = {
    Want.HISTORY: "history { validTime { from to } transactionTime { from to } }",
    Want.PROVENANCE: f"provenance(first: 50) {{ edges {{ evidence {{ {EVIDENCE} }} }} }}",
    Want.INVALIDATION: f"invalidation {{ reason rule decidedAt evidence {{ {EVIDENCE} }} }}",
}
"""What each part of a statement is selected by."""
CHANGED = f"{STATEMENT} {PARTS[Want.INVALIDATION]}"
CHANGES = f"asserted {{ {CHANGED} }} invalidated {{ {CHANGED} }}"


def selected(want: frozenset[Want]) -> str:
    """A statement with some parts."""
    return " ".join([STATEMENT, *(PARTS[part] for part in sorted(want) if part in PARTS)])


def _bounds(period: Node) -> tuple[Instant, Instant]:
    start, end = period["from"], period["to"]
    return parse_instant(start) if start else UNBOUNDED_PAST, parse_instant(end) if end else UNBOUNDED_FUTURE


def _believed(period: Node) -> tuple[Instant, Instant | None]:
    return parse_instant(period["from"]), parse_instant(period["to"]) if period["to"] else None


def entity(node: Node) -> EntityView:
    """An entity."""
    return EntityView(node["key"], node["name"], node["type"], tuple(node["aliases"]))


def thing(node: Node) -> EntityView | LiteralView:
    """An object; GraphQL shows no key of a literal."""
    return entity(node) if node["__typename"] == "Entity" else LiteralView("", node["value"], node["datatype"])


def episode(node: Node) -> EpisodeView:
    """An episode; GraphQL does not show to whom it was said."""
    times = parse_instant(node["saidAt"]), parse_instant(node["recordedAt"])
    names = (node["source"], node["externalId"], node["group"], node["speaker"], None)
    status, flags = EpisodeStatus[node["status"]], tuple(node["flags"])
    return EpisodeView(node["key"], node["revision"], node["content"], *names, *times, status, flags, node["metadata"])


def evidence(node: Node) -> EvidenceView:
    """Words in an episode."""
    return EvidenceView(node["claim"], episode(node["episode"]), node["quote"], node["start"], node["end"], node["extractor"])


def _invalidation(node: Node | None) -> InvalidationView | None:
    if node is None:
        return None
    decisive = None if node["evidence"] is None else evidence(node["evidence"])
    return InvalidationView(Reason[node["reason"]], node["rule"], None, decisive, parse_instant(node["decidedAt"]))


def statement(node: Node) -> StatementView:
    """A statement with the parts that were selected."""
    valid = node["validTime"]
    told = [evidence(edge["evidence"]) for edge in node.get("provenance", {"edges": ()})["edges"]]
    return StatementView(
        node["key"],
        entity(node["subject"]),
        node["predicate"]["name"],
        node["qualifier"],
        thing(node["object"]),
        node["polarity"],
        *_bounds(valid),
        valid["fromStated"],
        valid["toStated"],
        *_believed(node["transactionTime"]),
        Support[node["support"]],
        Conflict[node["conflict"]],
        node["certainty"] == "CERTAIN",
        node["text"],
        node["confidence"],
        parse_instant(node["lastAttestedAt"]),
        node["evidenceCount"],
        invalidation=_invalidation(node.get("invalidation")),
        history=tuple(VersionView(*_bounds(each["validTime"]), *_believed(each["transactionTime"])) for each in node.get("history", ())),
        provenance=tuple(told),
    )


def claim(node: Node) -> ClaimView:
    """A claim."""
    return ClaimView(
        node["evidence"]["claim"],
        entity(node["subject"]),
        node["predicate"]["name"],
        node["qualifier"],
        thing(node["object"]),
        node["polarity"],
        ClaimKind[node["kind"]],
        Modality[node["modality"]],
        node["validFrom"],
        node["validTo"],
        parse_instant(node["saidAt"]),
        node["confidence"],
        node["rule"],
        node["additive"],
        node["candidate"],
        node["rejected"],
        node["rejection"],
        evidence(node["evidence"]),
    )
