"""Short ways to extract, list and judge claims in tests."""

from __future__ import annotations

from typing import Any

from graph.service import LedgerGraph
from graph.views import ClaimView, Receipt, StatementFilter
from ontology.claim import ClaimDraft
from ontology.episode import EpisodeDraft
from tests.graph.ledger.saying import claim
from tests.graph.ledger.worlds import pages, shown


def episode(content: str, said: str | None = "2024-01-01", **fields: Any) -> EpisodeDraft:
    """An episode whose external ID is its content, unless another is given."""
    return EpisodeDraft(content, **{"source": "chat", "external_id": content, "said_at": said, **fields})


def read(graph: LedgerGraph, draft: EpisodeDraft, *words: str | ClaimDraft, namespace: str = "n") -> Receipt:
    """Record an episode as extraction hands it over."""
    claims = [claim(one) if isinstance(one, str) else one for one in words]
    return graph.record_extracted(namespace, [(draft, claims, ())], extractor="test 1")[0]


def listed(graph: LedgerGraph, filter: StatementFilter | None = None, *, namespace: str = "n", **chosen: Any) -> list[ClaimView]:
    """All claims; `transaction` and `evidence_until` are of the basis, the rest of the listing."""
    basis = {name: chosen.pop(name) for name in ("transaction", "evidence_until", "valid_at") if name in chosen}
    snapshot = graph.snapshot(namespace, **basis)
    return pages(lambda after: snapshot.claims(filter or StatementFilter(), first=2, after=after, **chosen))


def told(view: ClaimView) -> str:
    """A claim in words, as `saying.words` puts statements; a rejected one in brackets."""
    text = f"{'' if view.polarity else 'not '}{view.subject.name} {view.predicate} {shown(view.object)}"
    return f"({text})" if view.rejected else text


def ids(graph: LedgerGraph, *texts: str, namespace: str = "n") -> list[str]:
    """The IDs of claims by their words."""
    found = {told(view).strip("()"): view.id for view in listed(graph, namespace=namespace)}
    return [found[text] for text in texts]
