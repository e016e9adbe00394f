"""Recall against the brute-force oracle of docs/recall.md, on random histories, bases, options and filters."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from graph.recall.views import Arm, Kind, RecallOptions
from graph.recall.weighing import SHARE
from graph.service import LedgerGraph
from graph.views import EpisodeView, StatementFilter
from tests.graph.ledger.identity_worlds import NAMES, fresh
from tests.graph.recall.oracle import Oracle, Unit
from tests.graph.recall.worlds import EMBEDDER, Tale, bases, choices, embed, examined, filters, queries, recalled, tales, waiting

NEAR = 1e-4
"""How near PageRank's truncated scores come."""
EXACT = 1.5e-6
"""Scores are rounded to 1e-6: one that lies in the middle may fall on either side."""


def agree(graph: LedgerGraph, namespace: str, text: str, options: RecallOptions, filter: StatementFilter, **basis: Any) -> int:
    """Recall says what the oracle says; answers with the number of hits."""
    oracle = Oracle(graph, namespace, EMBEDDER, waits=waiting(graph), **basis)
    asked = oracle.ask(text, options, filter)
    missed = graph._recall.mismatches
    answer = recalled(oracle.snapshot, text, options, filter)
    assert graph._recall.mismatches == missed, "every hit is in the ledger"
    by_key = {graph.keys.denial(unit[1]) if not unit[2] else unit[1]: unit for unit in asked.hits}
    shown: list[Unit] = []
    scores: dict[Unit, float] = {}
    for hit in answer.page.items:
        kind = Kind.EPISODE if isinstance(hit.node, EpisodeView) else Kind.STATEMENT
        unit = by_key.get(hit.node.key, (kind, hit.node.key, True))
        if unit in scores and filter.include_invalidated:
            continue
        shown.append(unit)
        scores[unit] = hit.score
        assert unit in asked.hits, f"{hit.node} was not to be found"
        expected = asked.hits[unit]
        said = {one.arm: (one.score, one.rank) for one in hit.arms}
        assert set(said) == set(expected.opinions), unit
        for arm, (score, rank) in expected.opinions.items():
            near = NEAR if arm is Arm.PAGERANK else EXACT
            assert said[arm][0] == pytest.approx(score, abs=near), (arm, unit)
            if arm is not Arm.PAGERANK:
                assert said[arm][1] == rank, (arm, unit)
        most = asked.most[unit[0]]
        off = 2 * SHARE * NEAR / most if most else 0.0
        assert hit.score == pytest.approx(expected.score, abs=off + 3 * EXACT), unit
    assert shown == asked.order(scores)
    assert answer.not_shown == len(asked.hits) - len(shown)
    return len(shown)


def told_and_asked(graph: LedgerGraph, data: st.DataObject, **shape: Any) -> None:
    until = shape.pop("until", True)
    tale = Tale(graph, namespace=fresh(graph, data.draw(st.permutations(NAMES))))
    tale.tell(data.draw(tales(graph.vocabulary(), **shape)))
    when = data.draw(st.sampled_from(["at once", "partly", "never"]))
    if when != "never":
        embed(graph, None if when == "at once" else 3)
    for _ in range(4):
        basis = bases(data, tale, until=until)
        filter = data.draw(filters())
        if basis.get("evidence_until") is not None and filter.include_invalidated:
            filter = StatementFilter()
        agree(graph, tale.namespace, data.draw(queries()), data.draw(choices()), filter, **basis)


def test_recall_of_facts_is_as_the_oracle_says(shared: LedgerGraph) -> None:
    examined(lambda data: told_and_asked(shared, data, identity=False, by_key=False))


def test_recall_with_joins_splits_and_rejections_is_as_the_oracle_says(shared: LedgerGraph) -> None:
    examined(lambda data: told_and_asked(shared, data, until=False))


@pytest.mark.deep
@pytest.mark.parametrize("shape", [{"identity": False, "by_key": False}, {"until": False}, {}], ids=["facts", "identity", "limits"])
def test_recall_of_many_histories_is_as_the_oracle_says(shared: LedgerGraph, shape: dict[str, Any]) -> None:
    examined(lambda data: told_and_asked(shared, data, **shape), 300)
