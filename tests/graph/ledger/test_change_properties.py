"""Properties of the feed of changes on random stories, with joins, splits, retractions and rejections in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from graph.drift import ChangeKind
from graph.views import StatementFilter
from ontology.vocabulary import Vocabulary
from tests.graph.ledger.feed_reading import BARE, fed, rebuilds_every_snapshot
from tests.graph.ledger.identity_checks import DEEP, QUICK, Check, Twins, begun, drawn, examined, two_ledgers
from tests.graph.ledger.identity_worlds import NAMES, Story
from tests.graph.ledger.worlds import ALWAYS, pages


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory, vocabulary: Vocabulary, empty_ledger: Path) -> Iterator[Twins]:
    yield from two_ledgers(tmp_path_factory.mktemp("feed"), vocabulary, empty_ledger)


def replay_rebuilds_every_snapshot(twins: Twins, data: st.DataObject) -> None:
    """(12): from the beginning, by pages of any size."""
    story = begun(twins, data, drawn(twins, data))
    rebuilds_every_snapshot(twins.one, story.namespace, data.draw(st.integers(1, 12)))


def pages_of_any_size_are_parts_of_one_feed(twins: Twins, data: st.DataObject) -> None:
    story = begun(twins, data, drawn(twins, data))
    whole = fed(twins.one, story.namespace, first=1000)
    assert [at for _, at in whole] == sorted({at for _, at in whole})
    assert fed(twins.one, story.namespace, first=data.draw(st.integers(1, 7))) == whole
    assert twins.one.changes.last(story.namespace) == (whole[-1][1] if whole else None)
    for place, (_, at) in enumerate(whole):
        page = twins.one.changes.page(story.namespace, after=at, first=3, want=BARE)
        assert list(zip(page.items, page.positions, strict=True)) == whole[place + 1 : place + 4]


def filters_choose_as_those_of_statements(twins: Twins, data: st.DataObject) -> None:
    """What a filter lets through of the openings is what it finds on their transaction; whom it concerns passes always."""
    story = begun(twins, data, drawn(twins, data))
    filter = drawn_filter(story, data)
    whole = fed(twins.one, story.namespace, first=1000)
    chosen = {at for _, at in fed(twins.one, story.namespace, first=data.draw(st.integers(1, 9)), filter=filter)}
    for view, at in whole:
        if view.kind is ChangeKind.IDENTITY:
            assert at in chosen
        elif view.kind is ChangeKind.OPENED:
            snapshot = story.snapshot(transaction=view.transaction)
            here = replace(filter, valid_during=filter.valid_during or ALWAYS.valid_during)
            found = pages(lambda after, on=snapshot, asked=here: on.statements(asked, first=100, after=after, want=BARE))
            assert ((view.key, view.statement.v_from) in {(one.stored_key, one.v_from) for one in found}) == (at in chosen), (filter, view)


def drawn_filter(story: Story, data: st.DataObject) -> StatementFilter:
    """One that may match some of a story."""
    key = story.key((data.draw(st.sampled_from(NAMES)), ""))
    part: dict[str, Any] = data.draw(
        st.sampled_from(
            [
                {"subjects": (key,)},
                {"objects": (key,)},
                {"group": "g"},
                {"source": "notes"},
                {"polarity": False},
                {"predicates": ("dislikes", "manager_of", "works_at")},
                {"predicates": ("reports_to", "friend_of"), "subjects": (key,)},
                {"min_confidence": 0.95, "valid_during": (0, 10**11)},
            ]
        )
    )
    return StatementFilter(**part)


CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (replay_rebuilds_every_snapshot, pages_of_any_size_are_parts_of_one_feed, filters_choose_as_those_of_statements)
}


@pytest.mark.parametrize("check", CHECKS)
def test_of_random_stories(check: str, twins: Twins) -> None:
    examined(CHECKS[check], twins, QUICK // 2)


@pytest.mark.deep
@pytest.mark.parametrize("check", CHECKS)
def test_of_very_many_random_stories(check: str, twins: Twins) -> None:
    examined(CHECKS[check], twins, DEEP)
