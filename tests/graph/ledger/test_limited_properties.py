"""Under a said-time limit every field answers as a second service does that was only ever given what was said by then."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import strategies as st

from graph.ledger import gathered
from graph.service import LedgerGraph
from graph.store.projection import GraphProjection
from ontology.instant import Instant
from ontology.vocabulary import Vocabulary
from tests.graph.ledger.identity_checks import Twins, begun, drawn, examined, two_ledgers
from tests.graph.ledger.identity_operations import SAME, Divided, Merged, Operation, said_at
from tests.graph.ledger.identity_strategies import predicates_of
from tests.graph.ledger.identity_worlds import NAMES, Story
from tests.graph.ledger.limited_fields import EXTERNAL, FIELDS, Asked, filters, first_difference, told
from tests.graph.ledger.strategies import POINTS, Told
from tests.graph.ledger.worlds import ALWAYS


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory, vocabulary: Vocabulary, empty_ledger: Path) -> Iterator[Twins]:
    folder = tmp_path_factory.mktemp("limited")
    yield from two_ledgers(folder, vocabulary, empty_ledger, lambda engine: GraphProjection(engine, folder / "graph", "sql"))


def _given_by(one: Operation, until: Instant) -> bool:
    """Merges and splits are said when they are made, long after all that the episodes say."""
    return not isinstance(one, Merged | Divided) and not (isinstance(one, Told) and said_at(one) > until)


def _times(story: Story, numbers: list[int]) -> dict[Instant, int]:
    """The operations by the times of their transactions."""
    at = {view.number: view.at for view in story.graph.transactions(story.namespace, first=1000).items}
    return {at[number]: place for place, number in enumerate(numbers) if number}


def every_field_answers_as_a_service_that_was_told_no_more(twins: Twins, data: st.DataObject) -> None:
    # A later copy of an episode takes the earlier one out of the set for every limit.
    operations = [one for one in drawn(twins, data, largest=5) if not (isinstance(one, Told) and one.draft.revised_at)]
    until = data.draw(st.sampled_from([said_at(one) + beside for one in operations if isinstance(one, Told) for beside in (-1, 0)]))
    story, other = begun(twins, data), Story(twins.other)
    other.namespace = story.namespace
    numbers: list[int] = []
    fewer: list[int] = []
    for one in operations:
        numbers.append(story.do(one))
        fewer.append(other.do(one) if _given_by(one, until) else 0)
    predicates = predicates_of(operations)
    keys = [story.key((name.lower(), "")) for name in NAMES]
    at = data.draw(st.sampled_from(POINTS))
    chosen = [
        ALWAYS,
        data.draw(filters(twins.one.vocabulary(), predicates, keys)),
        data.draw(filters(twins.one.vocabulary(), predicates, keys)),
    ]
    pairs = data.draw(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), min_size=2, max_size=2))
    words = " ".join([*data.draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3)), *predicates[:1]])

    earlier = data.draw(st.sampled_from([said_at(one) for one in operations if isinstance(one, Told)]))
    then = data.draw(st.sampled_from(POINTS))
    place = data.draw(st.integers(0, len(operations) - 1))
    related = any(claim.predicate == SAME for one in operations if isinstance(one, Told) for claim in one.claims)

    def asked(of: Story, until: Instant | None, numbers: list[int]) -> Asked:
        episodes = [_episode_key(of.graph, of.namespace, source, name) for source in ("chat", "notes") for name in EXTERNAL]
        snapshot = of.snapshot(valid_at=at, evidence_until=until)
        others = [
            of.snapshot(valid_at=at, evidence_until=earlier if until is None else min(earlier, until)),
            of.snapshot(valid_at=then, evidence_until=until),
            of.snapshot(valid_at=then, evidence_until=until, transaction=max(numbers[: place + 1])),
        ]
        return Asked(snapshot, of.graph.diff, others, related, chosen, predicates, pairs, words, episodes, _times(of, numbers))

    limited, whole = asked(story, until, numbers), asked(other, None, fewer)
    for name, ask in FIELDS.items():
        assert first_difference(told(ask(limited), limited.times), told(ask(whole), whole.times), name) is None


def _episode_key(graph: LedgerGraph, namespace: str, source: str, external_id: str) -> str:
    return graph.keys.digest("episode", namespace, source, "id", external_id)


@pytest.mark.parametrize("most", [0, 2_000], ids=["from the tables", "by themselves"])
def test_of_random_stories(most: int, twins: Twins, monkeypatch: pytest.MonkeyPatch) -> None:
    # What is said of single things is gathered, or looked up in the tables of the namespace.
    monkeypatch.setattr(gathered, "MOST_GATHERED", most)
    examined(every_field_answers_as_a_service_that_was_told_no_more, twins, 2)


@pytest.mark.deep
def test_of_very_many_random_stories(twins: Twins) -> None:
    examined(every_field_answers_as_a_service_that_was_told_no_more, twins, 300)
