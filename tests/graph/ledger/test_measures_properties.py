"""What to distrust, of random stories: pages agree with what is counted slowly from statements and timelines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from graph.ledger import survey as surveying
from graph.ledger import surveys
from graph.ledger.columns import Columns
from graph.ledger.survey import Found, Surveyor
from graph.ledger.surveys import Surveys
from graph.views import EVERYTHING, StatementFilter
from ontology.instant import Instant
from ontology.vocabulary import Vocabulary
from tests.graph.ledger.identity_checks import Twins, begun, drawn, examined, two_ledgers
from tests.graph.ledger.identity_operations import SAME, Divided, Merged, Operation, said_at
from tests.graph.ledger.identity_strategies import predicates_of
from tests.graph.ledger.identity_worlds import NAMES, Story
from tests.graph.ledger.measured import Measured, place, places, slot_name
from tests.graph.ledger.strategies import POINTS, Told
from tests.graph.ledger.worlds import pages

FEW_STORIES = 3
"""Each is asked much."""


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory, vocabulary: Vocabulary, empty_ledger: Path) -> Iterator[Twins]:
    yield from two_ledgers(tmp_path_factory.mktemp("measures"), vocabulary, empty_ledger)


def listed(ask: Callable[..., Any], **asked: Any) -> list[Any]:
    """All of a connection, a few at a time."""
    return pages(lambda after: ask(first=2, after=after, **asked))


def agree(story: Story, filter: StatementFilter = EVERYTHING, **basis: Any) -> None:
    """All measures of a snapshot with what is counted slowly."""
    snapshot = story.snapshot(**basis)
    drift, slowly = snapshot.drift, Measured(snapshot, story.graph.vocabulary())
    assert places(listed(drift.contested, filter=filter)) == places(slowly.contested(filter))
    assert places(listed(drift.stale, filter=filter)) == places(slowly.stale(filter))
    if basis.get("evidence_until") is None:
        for lag in (0, 86_400 * 365 * 56):
            assert places(listed(drift.retro_edits, lag_seconds=lag, filter=filter)) == places(slowly.late(lag, filter))
    if filter == EVERYTHING:
        found = listed(drift.flip_flops)
        assert sorted(map(slot_name, found)) == sorted(slowly.flip_flops())
        ordered = [(-view.returns, -view.changes, view.subject.name, view.predicate, view.qualifier) for view in found]
        assert ordered == sorted(ordered)
        assert drift.volatility() == slowly.volatility()


def instants_of(operations: Sequence[Operation]) -> list[Instant]:
    said = [said_at(one) for one in operations if isinstance(one, Told)]
    return sorted({at + beside for at in said for beside in (-1, 0)}) or [0]


def filters(story: Story, predicates: Sequence[str]) -> st.SearchStrategy[StatementFilter]:
    keys = [story.key((name, "")) for name in NAMES]
    some_keys = st.none() | st.lists(st.sampled_from(keys), min_size=1, max_size=2).map(tuple)
    return st.builds(
        StatementFilter,
        subjects=some_keys,
        objects=some_keys,
        predicates=st.none() | st.lists(st.sampled_from([*predicates, "dislikes", "manager_of"]), min_size=1, max_size=3).map(tuple),
        polarity=st.sampled_from([None, None, True, False]),
        min_confidence=st.sampled_from([None, None, 0.9]),
        source=st.sampled_from([None, None, "chat"]),
    )


def measures_are_what_is_counted_slowly(twins: Twins, data: st.DataObject) -> None:
    """On any basis, with everything that may happen to a ledger, with and without a filter."""
    story = begun(twins, data)
    for one in drawn(twins, data):
        story.do(one)
        # Looked at now and then, so that what is found next is carried forward.
        if data.draw(st.sampled_from([True, False, False])):
            story.snapshot().drift.contested()
    operations = [one.operation for one in story.done]
    numbers = sorted({one.transaction for one in story.done}) or [0]
    late = max(POINTS) + 400 * 86_400_000_000
    for at in (data.draw(st.sampled_from(POINTS)), late):
        agree(story, valid_at=at)
        agree(story, valid_at=at, transaction=data.draw(st.sampled_from(numbers)))
        agree(story, data.draw(filters(story, predicates_of(operations))), valid_at=at)
        agree(story, valid_at=at, evidence_until=data.draw(st.sampled_from(instants_of(operations))))


def what_is_carried_forward_is_what_would_be_found_anew(twins: Twins, data: st.DataObject) -> None:
    story = begun(twins, data)
    for one in drawn(twins, data):
        story.do(one)
        assert found(story, twins.one._surveys) == found(story, Surveys(twins.one._identities))


def found(story: Story, kept: Surveys) -> Any:
    snapshot = story.snapshot()
    with snapshot.footing.read() as describer:
        survey = kept.at(describer, snapshot.footing)
        # As if it were asked about too many to look at alone.
        kept.weighed(describer, snapshot.footing, survey, np.zeros(surveys.FEW + 1, np.int64))
        assert survey.found is not None
        return rows_of(survey.columns), told(survey.found)


def rows_of(columns: Columns) -> list[Any]:
    """Each row with what stands in it, whatever the numbers of things are."""
    keys = columns.things.values
    found = []
    for row in range(len(columns)):
        named = (keys[columns.subject[row]], keys[columns.object[row]], columns.position(row), columns.name_of(columns.subject[row]))
        found.append((columns.base[row], int(columns.v_to[row]), int(columns.created[row]), named))
    return sorted(found)


def columns_say_what_claims_say_one_by_one(twins: Twins, data: st.DataObject) -> None:
    """On any basis the evidence read as columns, and looked at only where these do not tell, says what all of it says."""
    story = begun(twins, data)
    for one in drawn(twins, data):
        story.do(one)
    numbers = sorted({one.transaction for one in story.done}) or [0]
    instants = instants_of([one.operation for one in story.done])
    for basis in ({}, {"transaction": data.draw(st.sampled_from(numbers))}, {"evidence_until": data.draw(st.sampled_from(instants))}):
        footing = story.snapshot(**basis).footing
        with footing.read() as describer:
            columns = Surveys(twins.one._identities).at(describer, footing).columns
            opened = columns.opened(np.arange(len(columns)))
            visibility = describer.visibility(footing.basis.transaction)
            surveyor = Surveyor(describer.connection, footing.vocabulary, visibility, describer.identity)
            assert told(surveyor.everything(opened)) == told(surveyor.one_by_one(opened))


def told(found: Found) -> Any:
    return found.attested, {value: sorted(spans) for value, spans in found.contested.items()}


def what_is_said_later_does_not_count(twins: Twins, data: st.DataObject) -> None:
    """The answers are those of a ledger that was only ever given what was said by the limit."""
    operations = [one for one in drawn(twins, data, largest=6) if not (isinstance(one, Told) and one.draft.revised_at)]
    until = data.draw(st.sampled_from(instants_of(operations)))
    story, other = begun(twins, data), Story(twins.other)
    other.namespace = story.namespace
    for one in operations:
        story.do(one)
        if not (isinstance(one, Merged | Divided) or (isinstance(one, Told) and said_at(one) > until)):
            other.do(one)
    for at in (data.draw(st.sampled_from(POINTS)), max(POINTS) + 400 * 86_400_000_000):
        mine, theirs = story.snapshot(valid_at=at, evidence_until=until).drift, other.snapshot(valid_at=at).drift
        assert places(listed(mine.contested)) == places(listed(theirs.contested))
        assert places(listed(mine.stale)) == places(listed(theirs.stale))
        assert listed(mine.flip_flops) == listed(theirs.flip_flops)
        assert mine.volatility() == theirs.volatility()


def under_a_limit_lateness_is_that_of_what_was_said_by_it(twins: Twins, data: st.DataObject) -> None:
    """A statement was recorded with the first transaction since when, of what was said by the limit, it has always been believed."""
    operations = drawn(twins, data, largest=6)
    story = begun(twins, data, operations)
    until, at = data.draw(st.sampled_from(instants_of(operations))), data.draw(st.sampled_from(POINTS))
    page = story.snapshot(valid_at=at, evidence_until=until).drift.retro_edits(0, first=100)
    lags = [position[0] for position in page.positions]
    assert lags == sorted(lags, reverse=True)
    moments = [story.snapshot(valid_at=at, evidence_until=until, transaction=one.transaction) for one in story.done]
    believed = [set(map(place, Measured(each, story.graph.vocabulary()).ever)) for each in moments]
    assert {place(view) for view in page.items} == {each for each in (believed or [set()])[-1] if -(2**62) < each[2] <= at < each[3]}
    told_of_names = any(isinstance(one.operation, Merged | Divided) for one in story.done) or any(
        claim.predicate == SAME for one in operations if isinstance(one, Told) for claim in one.claims
    )
    for view, lag in zip(page.items, lags, strict=True):
        unknown = [number for number, known in enumerate(believed) if place(view) not in known]
        recorded = moments[unknown[-1] + 1 if unknown else 0].basis.recorded_at
        # Who has been joined since was believed before, by another key.
        assert view.v_from + lag == recorded or (told_of_names and view.v_from + lag < recorded)


CHECKS: Sequence[Callable[[Twins, st.DataObject], None]] = (
    measures_are_what_is_counted_slowly,
    what_is_carried_forward_is_what_would_be_found_anew,
    columns_say_what_claims_say_one_by_one,
    what_is_said_later_does_not_count,
    under_a_limit_lateness_is_that_of_what_was_said_by_it,
)


@pytest.fixture(autouse=True)
def columns_are_read_whatever_they_settle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surveying, "MOST_APART", 1.0)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_of_random_stories(check: Callable[[Twins, st.DataObject], None], twins: Twins, monkeypatch: pytest.MonkeyPatch) -> None:
    # Everything is looked at, however little it is.
    monkeypatch.setattr(surveys, "FEW", -1)
    examined(check, twins, FEW_STORIES)


def test_few_are_looked_at_by_themselves(twins: Twins) -> None:
    examined(measures_are_what_is_counted_slowly, twins, FEW_STORIES // 2)


@pytest.mark.deep
@pytest.mark.parametrize("few", [-1, 500])
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_of_very_many_random_stories(
    check: Callable[[Twins, st.DataObject], None], few: int, twins: Twins, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surveys, "FEW", few)
    examined(check, twins, 150)
