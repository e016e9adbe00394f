"""A graph for tests of the outward faces: the ledger's, with plain answers of its own about identity, rejections and rehearsals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from graph.facade import Graph
from graph.service import LedgerGraph
from graph.views import (
    ChangeReceipt,
    ClaimView,
    EntityRef,
    EntityView,
    EpisodeView,
    EvidenceView,
    InvalidationView,
    LiteralView,
    Page,
    Reason,
    Rehearsal,
    StatementFilter,
    StatementView,
    SuspectedSplit,
    UndeclaredPredicate,
    Want,
)
from ontology.claim import ClaimDraft, ClaimKind, Modality
from ontology.episode import EpisodeDraft, EpisodeStatus
from ontology.errors import NotFound

CANDIDATE = 0.6
"""Claims of statements of less confidence are shown as candidates."""


class StandIn:
    """What it does not answer itself the ledger's graph does. Its writes commit nothing: they answer with the last transaction."""

    def __init__(self, graph: LedgerGraph) -> None:
        self._graph = graph
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.rejected: dict[str, str | None] = {}
        self.splits: dict[str, SuspectedSplit] = {}
        self.undeclared: list[UndeclaredPredicate] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._graph, name)

    def snapshot(self, namespace: str, **basis: Any) -> Any:
        return _Snapshot(self, self._graph.snapshot(namespace, **basis))

    def _last(self, namespace: str) -> int:
        return self._graph.snapshot(namespace).basis.transaction

    def _known(self, namespace: str, keys: Sequence[str]) -> None:
        for key in keys:
            if self._graph.snapshot(namespace).entity(EntityRef(key=key)) is None:
                raise NotFound("there is no such entity in this namespace", id=key)

    def reject(self, namespace: str, claims: Sequence[str], **more: Any) -> ChangeReceipt:
        self.calls.append(("reject", {"claims": list(claims), **more}))
        known = {view.id for view in self.snapshot(namespace).all_claims(StatementFilter())}
        for claim in claims:
            if claim not in known:
                raise NotFound("there is no such claim in this namespace", id=claim)
        self.rejected |= dict.fromkeys(claims, more["reason"])
        return ChangeReceipt(self._last(namespace), False, tuple(claims))

    def restore(self, namespace: str, claims: Sequence[str], **more: Any) -> ChangeReceipt:
        self.calls.append(("restore", {"claims": list(claims), **more}))
        for claim in claims:
            self.rejected.pop(claim)
        return ChangeReceipt(self._last(namespace), False, tuple(claims))

    def merge(self, namespace: str, entities: Sequence[str], **more: Any) -> ChangeReceipt:
        self.calls.append(("merge", {"entities": list(entities), **more}))
        self._known(namespace, entities)
        return ChangeReceipt(self._last(namespace), False, ("join",), min(entities))

    def split(self, namespace: str, entity: str, **more: Any) -> ChangeReceipt:
        self.calls.append(("split", {"entity": entity, **more}))
        self._known(namespace, [entity])
        return ChangeReceipt(self._last(namespace), False, ("split",), entity)

    def rehearse_extracted(
        self, namespace: str, episode: EpisodeDraft, claims: Sequence[ClaimDraft], flags: Sequence[str], **more: Any
    ) -> Rehearsal:
        self.calls.append(("rehearse_extracted", {"episode": episode, "flags": tuple(flags), **more}))
        return self._rehearsal(namespace, episode, () if more["quarantined"] else claims)

    def rehearse_stated(self, namespace: str, episode: EpisodeDraft, claims: Sequence[Any], **more: Any) -> Rehearsal:
        self.calls.append(("rehearse_stated", {"episode": episode, **more}))
        return self._rehearsal(namespace, episode, [claim.draft for claim in claims], ("statements.0.validFrom: no date",))

    def _rehearsal(self, namespace: str, episode: EpisodeDraft, drafts: Sequence[ClaimDraft], warnings: tuple[str, ...] = ()) -> Rehearsal:
        held = self._graph.snapshot(namespace).statements(StatementFilter()).items
        ending = InvalidationView(Reason.SUPERSEDED, "functional-slot", None, None, 0)
        return Rehearsal(
            claims=tuple(_drafted(episode, draft) for draft in drafts),
            asserted=tuple(held[:1]),
            invalidated=tuple(replace(view, invalidation=ending) for view in held[:1]),
            warnings=warnings,
        )


class _Snapshot:
    def __init__(self, graph: StandIn, snapshot: Any) -> None:
        self._graph = graph
        self._snapshot = snapshot

    def __getattr__(self, name: str) -> Any:
        return getattr(self._snapshot, name)

    def all_claims(self, filter: StatementFilter) -> list[ClaimView]:
        held = self._snapshot.statements(replace(filter, include_invalidated=True), first=1000, want=frozenset({Want.PROVENANCE})).items
        return [self._claim(view, evidence) for view in held for evidence in view.provenance]

    def _claim(self, view: StatementView, evidence: EvidenceView) -> ClaimView:
        return ClaimView(
            id=evidence.claim,
            subject=view.subject,
            predicate=view.predicate,
            qualifier=view.qualifier,
            object=view.object,
            polarity=view.polarity,
            kind=ClaimKind.STATE,
            modality=Modality.ASSERTED,
            valid_from=view.from_stated,
            valid_to=view.to_stated,
            said_at=evidence.episode.said_at,
            confidence=view.confidence,
            rule="client",
            additive=False,
            candidate=view.confidence < CANDIDATE,
            rejected=evidence.claim in self._graph.rejected,
            rejection=self._graph.rejected.get(evidence.claim),
            evidence=evidence,
        )

    def claims(
        self,
        filter: StatementFilter,
        *,
        candidate: bool | None = None,
        rejected: bool | None = None,
        first: int = 20,
        after: Sequence[Any] | None = None,
    ) -> Page[ClaimView]:
        found = {
            (-view.said_at, view.id): view
            for view in self.all_claims(filter)
            if candidate in (None, view.candidate) and rejected in (None, view.rejected)
        }
        places = sorted(place for place in found if after is None or place > tuple(after))
        shown = places[:first]
        return Page(tuple(found[place] for place in shown), tuple(shown), len(places) > first)

    def suspected_splits(self, key: str) -> tuple[SuspectedSplit, ...]:
        return (self._graph.splits[key],) if key in self._graph.splits else ()

    def suspects(self, *, first: int = 20, after: Sequence[Any] | None = None) -> Page[EntityView]:
        found = sorted((split.entity for split in self._graph.splits.values()), key=lambda view: view.name)
        rest = [view for view in found if after is None or view.name > after[0]]
        return Page(tuple(rest[:first]), tuple((view.name,) for view in rest[:first]), len(rest) > first)

    def undeclared(self, *, least: int = 5) -> list[UndeclaredPredicate]:
        return [view for view in self._graph.undeclared if view.claims >= least]


def _drafted(episode: EpisodeDraft, draft: ClaimDraft) -> ClaimView:
    source = EpisodeView("e", "r", episode.content, episode.source, None, None, None, None, 0, 0, EpisodeStatus.EXTRACTED, (), None)
    return ClaimView(
        id="new",
        subject=EntityView(draft.subject, draft.subject),
        predicate=draft.predicate,
        qualifier=draft.qualifier,
        object=EntityView(draft.object.text, draft.object.text)
        if draft.object.datatype is None
        else LiteralView("", draft.object.text, draft.object.datatype),
        polarity=draft.polarity,
        kind=draft.kind,
        modality=draft.modality,
        valid_from=draft.valid_from,
        valid_to=draft.valid_to,
        said_at=0,
        confidence=draft.confidence,
        rule=draft.rule,
        additive=draft.additive,
        candidate=draft.confidence < CANDIDATE,
        rejected=False,
        rejection=None,
        evidence=EvidenceView("new", source, episode.content[draft.start : draft.end], draft.start, draft.end, "test"),
    )


def as_graph(stand_in: StandIn) -> Graph:
    """The stand-in as what it stands in for."""
    return cast(Graph, stand_in)
