"""Extraction anew: what was said is read again by the extractor of today, and its claims take the place of the old ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from graph.facade import Graph
from graph.views import ClaimView, PendingEpisode, Reextraction, StatementFilter
from ontology.claim import ClaimDraft
from ontology.errors import ErstwhileError
from ontology.instant import Instant
from workers.pool import ExtractionPool
from workers.turns import turn_of

BATCH = 64
PAGE = 500


@dataclass(frozen=True, slots=True)
class Outcome:
    """One episode: what changed, or why it could not be read again (its claims stay then)."""

    episode: PendingEpisode
    done: Reextraction | None
    failure: str | None = None


Read = tuple[PendingEpisode, str, list[ClaimDraft] | Exception]


def reextract(
    graph: Graph, pool: ExtractionPool, namespace: str, *, since: Instant | None = None, source: str | None = None, threads: int = 1
) -> Iterator[Outcome]:
    """Read the extracted episodes of a namespace again, in the order of the ledger, `threads` batches ahead."""
    with ThreadPoolExecutor(threads) as executor:
        ahead: deque[Future[list[Read]]] = deque()
        pages = _pages(graph, namespace, since, source)
        for page in pages:
            ahead.append(executor.submit(_read, pool, page))
            if len(ahead) > threads:
                yield from _put(graph, namespace, ahead.popleft().result())
        while ahead:
            yield from _put(graph, namespace, ahead.popleft().result())


def _pages(graph: Graph, namespace: str, since: Instant | None, source: str | None) -> Iterator[list[PendingEpisode]]:
    after = 0
    while page := graph.extracted(namespace, since=since, source=source, after=after, limit=BATCH):
        yield page
        after = page[-1].row


def _read(pool: ExtractionPool, page: Sequence[PendingEpisode]) -> list[Read]:
    """The claims of each episode; one that the extractor stumbles over costs itself alone."""
    try:
        extractor, found = pool.extract([turn_of(each.draft, each.said) for each in page])
    except Exception as failure:
        if len(page) == 1:
            return [(page[0], "", failure)]
        return [read for each in page for read in _read(pool, [each])]
    return [(each, extractor, claims) for each, claims in zip(page, found, strict=True)]


def _put(graph: Graph, namespace: str, reads: Sequence[Read]) -> Iterator[Outcome]:
    for episode, extractor, claims in reads:
        if isinstance(claims, Exception):
            yield Outcome(episode, None, f"extraction failed: {claims}")
            continue
        try:
            yield Outcome(episode, graph.reextract(namespace, episode, claims, extractor=extractor))
        except ErstwhileError as failure:
            yield Outcome(episode, None, failure.message)


def claims_named(
    graph: Graph, namespace: str, ids: set[str], *, transaction: int | None = None, source: str | None = None
) -> dict[str, ClaimView]:
    """The claims of some IDs as a transaction (None: the last) has them, in one walk over all that it has."""
    found: dict[str, ClaimView] = {}
    snapshot, after = graph.snapshot(namespace, transaction=transaction), None
    while len(found) < len(ids):
        page = snapshot.claims(StatementFilter(source=source), first=PAGE, after=after)
        found |= {view.id: view for view in page.items if view.id in ids}
        if not page.has_next:
            break
        after = page.positions[-1]
    return found
