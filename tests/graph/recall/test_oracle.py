"""Recall against the brute-force oracle of docs/recall.md, on random histories, bases, options and filters."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from graph.recall.views import Kind, RecallOptions
from graph.recall.weighing import SHARE
from graph.service import LedgerGraph
from graph.views import EntityRef, EpisodeView, StatementFilter
from tests.graph.ledger.identity_worlds import NAMES, fresh
from tests.graph.ledger.saying import claim, say, when
from tests.graph.recall.oracle import Oracle, Unit
from tests.graph.recall.worlds import EMBEDDER, Tale, bases, choices, embed, examined, filters, queries, recalled, tales, waiting

EXACT = 1.5e-6
"""Scores are rounded to 1e-6: one that lies in the middle may fall on either side."""


def agree(graph: LedgerGraph, namespace: str, text: str, options: RecallOptions, filter: StatementFilter, **basis: Any) -> int:
    """Recall says what the oracle says; answers with the number of hits."""
    oracle = Oracle(graph, namespace, EMBEDDER, waits=waiting(graph), **basis)
    asked = oracle.ask(text, options, filter)
    missed = graph._recall.mismatches
    answer = recalled(oracle.snapshot, text, options, filter)
    assert graph._recall.mismatches == missed, "every hit is in the ledger"
    by_key = {
        base if polarity else graph.keys.denial(base): (kind, base, polarity) for kind, base, _ in asked.hits for polarity in (True, False)
    }
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
            assert said[arm][0] == pytest.approx(score, abs=EXACT), (arm, unit)
            assert said[arm][1] == rank, (arm, unit)
        # A score of PageRank is divided by the greatest, which may be small.
        most = asked.most[unit[0]]
        off = 2 * SHARE * EXACT / most if most else 0.0
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


def a_small_world(graph: LedgerGraph) -> list[int]:
    """A history by hand with who is who in it; answers with its transactions."""
    say(graph, "2024-01-01", "Robert lives_in Lisbon", "Ann likes Robert", group="g", content="Robert lives in Lisbon", speaker="Ann")
    say(graph, "2024-01-02", "Bob likes herring", "Cy reports_to Bob", group="g", content="Bob likes herring", speaker="Ann")
    say(graph, "2024-01-03", "Bob likes bread", "Alex lives_in Porto", group="h", content="Alex is in Porto", speaker="Cy")
    say(graph, "2024-01-04", claim("Alex lives_in Faro", kind="CHANGE"), group="i", content="Alex moved to Faro")
    key = {name: graph.snapshot("n").key_of(EntityRef(name=name)) for name in ("Robert", "Bob", "Alex")}
    graph.merge("n", [key["Robert"], key["Bob"]])
    graph.split("n", key["Alex"], groups=["i"], discriminator="2")
    say(graph, "2024-02-01", claim("Bob lives_in Porto", kind="CHANGE"), group="h", content="Bob moved to Porto", speaker="Cy")
    say(graph, "2024-02-02", claim("Robert likes bread", kind="END"), "Ann friend_of Robert", group="g", content="He eats no bread")
    say(graph, "2024-01-15", claim("Ann likes Cy", kind="CORRECTION", replaces="Robert"), group="g", content="I meant Cy")
    embed(graph)
    return sorted(view.number for view in graph.transactions("n", first=100).items)


@pytest.mark.parametrize("text", ["where does Bob live", "Alex and bread?"])
def test_recall_of_a_small_world_is_as_the_oracle_says_at_every_transaction(graph: LedgerGraph, text: str) -> None:
    shown = 0
    for number in a_small_world(graph)[3::2]:
        for kinds in ((Kind.STATEMENT,), (Kind.STATEMENT, Kind.EPISODE)):
            options = RecallOptions(kinds=kinds, candidates=3)
            shown += agree(graph, "n", text, options, StatementFilter(), valid_at=when("2024-03-01"), transaction=number)
    options = RecallOptions(kinds=tuple(Kind))
    agree(graph, "n", text, options, StatementFilter(include_invalidated=True), valid_at=when("2024-03-01"))
    agree(graph, "n", text, options, StatementFilter(), valid_at=when("2024-03-01"), evidence_until=when("2024-01-31"))
    assert shown > 10


@pytest.mark.deep
@pytest.mark.parametrize("shape", [{"identity": False, "by_key": False}, {"until": False}, {}], ids=["facts", "identity", "limits"])
def test_recall_of_many_histories_is_as_the_oracle_says(shared: LedgerGraph, shape: dict[str, Any]) -> None:
    examined(lambda data: told_and_asked(shared, data, **shape), 300)
