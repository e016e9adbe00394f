"""What a graph says, whoever brought it there and in whatever order: no transactions, no times of recording, no keyed IDs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from graph.facade import Graph
from graph.views import EVERYTHING, EntityView, LiteralView, Page, StatementFilter
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant

AT: Instant = 1_767_225_600_000_000
"""The instant at which support and conflict are told."""
_PAGE = 100


def canonical(graph: Graph, namespace: str = "default") -> list[str]:
    """Lines for episodes, claims and statements, sorted."""
    view = graph.snapshot(namespace, valid_at=AT, now=AT)
    lines = [
        repr(("episode", each.source, each.external_id, each.content, each.said_at, each.status.value, each.flags))
        for each in _all(lambda after: view.episodes(first=_PAGE, after=after))
    ]
    for claim in _all(lambda after: view.claims(EVERYTHING, first=_PAGE, after=after)):
        evidence = claim.evidence
        said = (claim.valid_from, claim.valid_to, claim.said_at, claim.kind.value, claim.modality.value, claim.confidence, claim.rule)
        place = (evidence.episode.source, evidence.episode.external_id, evidence.start, evidence.end, evidence.quote)
        what = (_name(claim.subject), claim.predicate, claim.qualifier, _name(claim.object), claim.polarity)
        lines.append(repr(("claim", *what, *said, claim.additive, claim.candidate, claim.rejected, *place)))
    everything = StatementFilter(valid_during=(UNBOUNDED_PAST, UNBOUNDED_FUTURE))
    for held in _all(lambda after: view.statements(everything, first=_PAGE, after=after)):
        what = (_name(held.subject), held.predicate, held.qualifier, _name(held.object), held.polarity)
        when = (held.v_from, held.v_to, held.from_stated, held.to_stated, held.last_attested_at, held.evidence_count)
        lines.append(repr(("statement", *what, *when, held.support.value, held.conflict.value, held.certain, held.confidence, held.text)))
    return sorted(lines)


def _name(shown: EntityView | LiteralView) -> tuple[str, ...]:
    if isinstance(shown, EntityView):
        return ("entity", shown.name, shown.type or "", shown.discriminator or "", *sorted(shown.aliases))
    return ("literal", shown.value, shown.datatype)


def _all(page: Callable[[Any], Page[Any]]) -> Iterator[Any]:
    after = None
    while True:
        found = page(after)
        yield from found.items
        if not found.has_next:
            return
        after = found.positions[-1]
