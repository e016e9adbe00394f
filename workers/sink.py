"""The sink of bulk imports into a graph that this process has opened."""

from __future__ import annotations

from collections.abc import Sequence

from graph.facade import Graph
from ontology.claim import ClaimDraft
from ontology.episode import EpisodeDraft
from ontology.errors import ErstwhileError
from workers.bulk import Tally, one_by_one, place_of
from workers.cleaning import Clean
from workers.ingestion import Ingestion
from workers.pool import ExtractionPool
from workers.readers.stated import Draft, StatedEpisode
from workers.turns import said_at, turn_of


class LocalSink:
    """Extracts in the pool and commits a batch in one transaction; what is stated is committed by itself."""

    def __init__(self, graph: Graph, ingestion: Ingestion, pool: ExtractionPool, namespace: str) -> None:
        self._graph, self._ingestion, self._pool, self._namespace = graph, ingestion, pool, namespace

    def take(self, drafts: Sequence[Draft]) -> Tally:
        """Record a batch; where it cannot go in whole, one by one."""
        told = [draft for draft in drafts if not isinstance(draft, StatedEpisode)]
        try:
            tally = self._record(told)
        except ErstwhileError:
            tally = one_by_one(told, lambda draft: self._record([draft]))
        tally.add(one_by_one([draft for draft in drafts if isinstance(draft, StatedEpisode)], self._state))
        return tally

    def _state(self, stated: StatedEpisode) -> Tally:
        receipt = self._ingestion.state(self._namespace, stated.episode, stated.claims, drop_bad_dates=False)
        return Tally(known=1) if receipt.deduplicated else Tally(accepted=1, claims=len(stated.claims))

    def _record(self, drafts: Sequence[EpisodeDraft]) -> Tally:
        clean = [self._ingestion.clean(draft) for draft in drafts]
        known = self._graph.known(self._namespace, [each.episode for each in clean])
        tally = Tally(known=sum(known))
        fresh = [each for each, before in zip(clean, known, strict=True) if not before]
        if not fresh:
            return tally
        extractor, found = self._extract(fresh, tally)
        episodes = [(each.episode, claims, each.flags) for each, claims in found]
        held = [each.quarantine for each, _ in found]
        receipts = self._graph.record_extracted(self._namespace, episodes, extractor=extractor, quarantined=held)
        for receipt, hold, (_, claims) in zip(receipts, held, found, strict=True):
            tally.known += receipt.deduplicated
            tally.held_back += hold and not receipt.deduplicated
            tally.accepted += not hold and not receipt.deduplicated
            tally.empty += not hold and not receipt.deduplicated and not claims
            tally.claims += 0 if hold or receipt.deduplicated else len(claims)
        return tally

    def _extract(self, fresh: Sequence[Clean], tally: Tally) -> tuple[str, list[tuple[Clean, list[ClaimDraft]]]]:
        """The claims of each episode; one that the extractor cannot take is named and left out."""
        speaking = [each for each in fresh if each.episode.speech and not each.quarantine]
        claims: dict[int, list[ClaimDraft]] = {}
        extractor = "none"
        try:
            extractor, found = self._pool.extract([turn_of(each.episode, said_at(each.episode)) for each in speaking])
            claims = {id(each): drafts for each, drafts in zip(speaking, found, strict=True)}
        except Exception as failure:
            if len(fresh) > 1:
                # Find the one that it stumbles over.
                parts = [self._extract([each], tally) for each in fresh]
                return max((name for name, _ in parts), key=len), [pair for _, pairs in parts for pair in pairs]
            tally.fail(place_of(fresh[0].episode), f"extraction failed: {failure}")
            return extractor, []
        return extractor, [(each, claims.get(id(each), [])) for each in fresh]
