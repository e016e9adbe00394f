"""Structured facts to load: entities with twenty slots each, a tenth of the facts superseding an earlier one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from benchmarks.plain import Fact
from graph.facade import Graph
from graph.views import StatedClaim
from ontology.claim import ClaimDraft, ObjectDraft
from ontology.episode import EpisodeDraft
from ontology.instant import DAY, MINUTE, format_instant

START = 20_000 * DAY
SLOTS = 20
ONE_VALUED = ("works_at", "lives_in", "has_role", "status", "version", "runs_on", "hosted_on", "written_in", "reports_to", "part_of")
MANY_VALUED = ("uses", "likes", "knows", "speaks", "owns", "works_on", "member_of", "depends_on", "plays", "eats")
PREDICATES = tuple(name for pair in zip(ONE_VALUED, MANY_VALUED, strict=True) for name in pair)


def facts(count: int, *, first: int = 0) -> Iterator[Fact]:
    """`count` facts in the order in which they were said; every tenth gives a one-valued slot of before a new value."""
    for number in range(first, first + count):
        said = START + number * MINUTE
        if number % 10 == 9:
            earlier = number - 9
            subject, slot = divmod(earlier, SLOTS)
            yield f"entity {subject}", PREDICATES[slot - slot % 2], f"newer value {number % 997}", said
        else:
            subject, slot = divmod(number, SLOTS)
            yield f"entity {subject}", PREDICATES[slot], f"value {number % 997}", said


def record(graph: Graph, namespace: str, batch: list[Fact], name: str) -> int:
    """Commit facts as one episode; the transaction's number."""
    claims = [StatedClaim(ClaimDraft(s, p, ObjectDraft(o), valid_from=format_instant(said))) for s, p, o, said in batch]
    episode = EpisodeDraft("", "benchmark", external_id=name, said_at=format_instant(batch[-1][3]))
    return graph.record_stated(namespace, episode, claims).transaction


def batched(count: int, size: int) -> Iterator[list[Fact]]:
    """The same in lists."""
    source = facts(count)
    while batch := list(islice(source, size)):
        yield batch
