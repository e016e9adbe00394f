"""Properties of who is who: a real ledger against the brute-force oracle of docs/identity.md, on random small worlds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import strategies as st

from graph.facade import Graph
from graph.views import EntityRef, Reason, StatementView, Want
from ontology.instant import Instant
from ontology.vocabulary import Vocabulary
from tests.graph.ledger.identity_checks import (
    DEEP,
    QUICK,
    Check,
    Twins,
    a_join_of,
    about,
    agree_everywhere,
    begun,
    content,
    contents,
    drawn,
    examined,
    two_ledgers,
)
from tests.graph.ledger.identity_operations import SAME, Divided, Merged, Operation, Rejected, raw, said_at
from tests.graph.ledger.identity_picture import Row
from tests.graph.ledger.identity_strategies import predicates_of
from tests.graph.ledger.identity_worlds import NAMES, Story
from tests.graph.ledger.strategies import POINTS, Told, Withdrawn
from tests.graph.ledger.worlds import ALWAYS, EVERYTHING, pages


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory, vocabulary: Vocabulary, empty_ledger: Path) -> Iterator[Twins]:
    yield from two_ledgers(tmp_path_factory.mktemp("identity"), vocabulary, empty_ledger)


def the_ledger_is_as_the_oracle_says(twins: Twins, data: st.DataObject) -> None:
    """Every rule at once, operations by key included."""
    agree_everywhere(begun(twins, data, drawn(twins, data)), data)


def joins_that_are_told_and_stated_are_as_the_oracle_says(twins: Twins, data: st.DataObject) -> None:
    """The same without operations by key: joins, denials and corrections in episodes alone."""
    agree_everywhere(begun(twins, data, drawn(twins, data, by_key=False)), data)


def order_and_batches_do_not_matter(twins: Twins, data: st.DataObject) -> None:
    operations = drawn(twins, data, by_key=False)
    story = begun(twins, data, operations)
    other = Story(twins.other, namespace=story.namespace)
    other.in_batches(data.draw(st.permutations(operations)), data.draw(st.lists(st.integers(1, 4), max_size=4)))
    assert contents(other) == contents(story)


def rejections_wait_for_no_other_episode(twins: Twins, data: st.DataObject) -> None:
    """A rejection acts the same at once and when all else has arrived."""
    operations = [one for one in drawn(twins, data, by_key=True) if not isinstance(one, Merged | Divided)]
    operations = [one for one in operations if not isinstance(one, Rejected) or one.episode.startswith("e")]
    wrong = [one for one in operations if isinstance(one, Rejected)]
    rest = [one for one in operations if not isinstance(one, Rejected)]
    gone = {one.external_id for one in operations if isinstance(one, Withdrawn)}
    wrong = [one for one in wrong if one.episode not in gone and not one.restore]
    early: list[Operation] = []
    for each in rest:
        early.append(each)
        if isinstance(each, Told):
            early += [one for one in wrong if one.episode == each.draft.external_id]
    story = begun(twins, data, early)
    assert contents(Story(twins.other, [*rest, *wrong], namespace=story.namespace)) == contents(story)


def a_join_that_is_taken_back_leaves_no_trace(twins: Twins, data: st.DataObject) -> None:
    """By rejecting it or retracting its episode, whoever made it, and whatever else was said."""
    story = begun(twins, data, drawn(twins, data))
    before = contents(story)
    one, other = data.draw(st.permutations(NAMES))[:2]
    how = data.draw(st.sampled_from(["reject a statement", "reject a merge", "reject a told one", "retract"]))
    told = replace(a_join_of(one, other), draft=replace(a_join_of(one, other).draft, group="g"), stated=how != "reject a told one")
    join: Operation = Merged("join", (raw(one), raw(other)), 0) if how == "reject a merge" else told
    if story.do(join):
        if how == "retract":
            story.graph.retract(story.namespace, key=_episode(story, "join"), reason=None)
        else:
            assert story.do(Rejected("join", 0))
    assert contents(story) == before


def _episode(story: Story, label: str) -> str:
    (key,) = [view.key for view in pages(lambda after: story.snapshot().episodes(first=100, after=after)) if view.external_id == label]
    return str(key)


def merging_twice_is_merging_once(twins: Twins, data: st.DataObject) -> None:
    story = begun(twins, data, drawn(twins, data))
    facade = cast(Graph, story.graph)
    keys = sorted(view.key for view in pages(lambda after: story.snapshot().entities(first=100, after=after)))
    if len(keys) < 2:
        return
    pair = data.draw(st.permutations(keys))[:2]
    first = facade.merge(story.namespace, pair)
    before, last = contents(story), story.snapshot().basis.transaction
    again = facade.merge(story.namespace, data.draw(st.permutations(pair)))
    assert (again.deduplicated, again.transaction, again.claims) == (True, first.transaction, first.claims)
    assert contents(story) == before and story.snapshot().basis.transaction == last
    assert first.entity == again.entity == story.snapshot().key_of(EntityRef(key=pair[0]))


def rejecting_and_restoring_is_as_before(twins: Twins, data: st.DataObject) -> None:
    story = begun(twins, data, drawn(twins, data))
    facade = cast(Graph, story.graph)
    snapshot = story.snapshot()
    ids = [
        claim
        for one in story.done
        if isinstance(one.operation, Told)
        for place in range(len(one.operation.claims))
        for claim in story.claims_at(one.operation.draft.external_id or "", place)
        if claim not in story._rejected
    ]
    if not ids:
        return
    places = data.draw(st.lists(st.integers(0, len(ids) - 1), min_size=1, max_size=3))
    chosen = list(dict.fromkeys(ids[place] for place in places))
    before = contents(story)
    rejected = facade.reject(story.namespace, chosen, reason="wrong")
    assert sorted(rejected.claims) == sorted(chosen)
    assert facade.reject(story.namespace, chosen, reason="wrong").deduplicated
    restored = facade.restore(story.namespace, chosen)
    assert rejected.transaction < restored.transaction
    assert contents(story) == before
    assert contents(story, transaction=snapshot.basis.transaction) == before


def the_past_stays(twins: Twins, data: st.DataObject) -> None:
    """Answers at a transaction never change, nor do they under a said-time limit."""
    operations = drawn(twins, data)
    story = begun(twins, data)
    until = data.draw(st.sampled_from(POINTS))
    kept: dict[int, Any] = {}
    for one in operations:
        if number := story.do(one):
            kept[number] = _whole(story, number, until)
    for number, answers in kept.items():
        assert _whole(story, number, until) == answers, number


def _whole(story: Story, number: int, until: Instant) -> list[Any]:
    snapshot = story.snapshot(transaction=number)
    gone = replace(ALWAYS, include_invalidated=True)
    found: list[Any] = [snapshot.statements(filter, first=100, want=EVERYTHING) for filter in (ALWAYS, gone)]
    found += [snapshot.entities(first=100), contents(story, transaction=number, evidence_until=until)]
    return found + [snapshot.entity(EntityRef(name=name)) for name in NAMES]


def what_is_said_later_does_not_count(twins: Twins, data: st.DataObject) -> None:
    """With evidenceUntil K the ledger answers as one that was only ever given what was said by K."""
    operations = [one for one in drawn(twins, data) if not (isinstance(one, Told) and one.draft.revised_at)]
    until = data.draw(st.sampled_from([said_at(one) + beside for one in operations if isinstance(one, Told) for beside in (-1, 0)]))
    story, other = begun(twins, data), Story(twins.other)
    other.namespace = story.namespace
    for one in operations:
        story.do(one)
        # A merge and a split are said when they are made, long after all that the episodes say.
        if not (isinstance(one, Merged | Divided) or (isinstance(one, Told) and said_at(one) > until)):
            other.do(one)
    assert contents(story, evidence_until=until) == contents(other, evidence_until=until)
    assert contents(other, evidence_until=until)[0] == _without_limit(other)


def _without_limit(story: Story) -> list[str]:
    snapshot = story.snapshot()
    keys = sorted({snapshot.key_of(EntityRef(name=name)) for name in NAMES})
    views = [view for key in keys for view in pages(about(snapshot, key, frozenset({Want.PROVENANCE})))]
    return sorted(map(str, map(content, views)))


def a_join_touches_only_what_it_changes(twins: Twins, data: st.DataObject) -> None:
    """What keeps its interval keeps its history; what is closed is REIDENTIFIED; the past is that of the propositions now one."""
    story = begun(twins, data, drawn(twins, data, identity=False, by_key=False))
    last = story.snapshot().basis.transaction
    one, other = data.draw(st.permutations(NAMES))[:2]
    merged = data.draw(st.booleans())
    number = story.do(Merged("join", (raw(one), raw(other)), 0) if merged else a_join_of(one, other))
    if not number:
        return
    picture = story.picture()
    things = story.things(picture)
    # Before the join each name was an entity: read its statements as of the entities that there are now.
    single = {story.key(raw(name)): picture.identity.found(raw(name)) for name in NAMES}
    then: dict[Row, set[Instant]] = defaultdict(set)
    for view in pages(lambda after: story.snapshot(transaction=last).statements(ALWAYS, first=100, after=after)):
        then[story.row(view, single)].add(view.tx_from_at)
    snapshot = story.snapshot()
    made = snapshot.basis.recorded_at
    wanted = frozenset({Want.HISTORY})
    views = [v for v in pages(lambda after: snapshot.statements(ALWAYS, first=100, after=after, want=wanted)) if v.predicate != SAME]
    now = {story.row(view, things): view for view in views}
    for row, view in now.items():
        assert view.tx_from_at in then[row] if row in then else view.tx_from_at == made, row
        assert [v for v in view.history if (v.v_from, v.v_to, v.tx_to_at) == (view.v_from, view.v_to, None)], row
        if row in then:
            assert all(version.tx_from_at != made for version in view.history if version.v_from == view.v_from), row
    changed = {wanted: [v for v in wanted(story.namespace, number) if v.predicate != SAME] for wanted in _changes(story)}
    opened, closed = changed.values()
    assert {story.row(view, things) for view in opened} <= now.keys() - then.keys()
    assert not {story.row(view, {**single, **things}) for view in closed} & then.keys() & now.keys()
    for view in closed:
        assert view.invalidation is not None
        assert view.tx_to_at is None or view.invalidation.reason is Reason.REIDENTIFIED
    _history_is_of_what_is_now_one(story, {v.key: v for v in views}, things, single, number)


def _changes(story: Story) -> tuple[Callable[[str, int], list[StatementView]], Callable[[str, int], list[StatementView]]]:
    return story.graph.opened_by, story.graph.closed_by


def _history_is_of_what_is_now_one(story: Story, views: dict[str, StatementView], things: Any, single: Any, number: int) -> None:
    """At each earlier transaction a statement's versions cover what the propositions that are now it then covered."""
    times = {row.number: row.at for row in story.graph.transactions(story.namespace, first=100).items}
    for earlier in [one for one in times if one < number]:
        rows = {
            story.row(view, single)
            for view in pages(lambda after, at=earlier: story.snapshot(transaction=at).statements(ALWAYS, first=100, after=after))
        }
        for view in views.values():
            mine = story.row(view, things)
            spans = [row[5:] for row in rows if row[:5] == mine[:5]]
            alive = [
                (version.v_from, version.v_to)
                for version in view.history
                if version.tx_from_at <= times[earlier] and (version.tx_to_at is None or times[earlier] < version.tx_to_at)
            ]
            for at in POINTS:
                assert any(a <= at < b for a, b in alive) == any(a <= at < b for a, b in spans), (earlier, at, mine)


def a_timeline_does_not_show_a_join_as_changes(twins: Twins, data: st.DataObject) -> None:
    """Joining two names of which one is used by nothing else changes no segment, support or history."""
    story = begun(twins, data, drawn(twins, data, identity=False, by_key=False))
    predicates = predicates_of(one.operation for one in story.done)
    lone = a_join_of("Ann", "Nobody else")
    before = [_line(story, name, predicate) for name in NAMES for predicate in predicates]
    number = story.do(lone)
    assert [_line(story, name, predicate) for name in NAMES for predicate in predicates] == before
    opened, closed = (change(story.namespace, number) for change in _changes(story))
    assert [view for view in opened if view.predicate != SAME] == [] and closed == []


def _line(story: Story, name: str, predicate: str) -> list[Any]:
    found = story.snapshot().timeline(EntityRef(name=name), predicate, want=frozenset({Want.HISTORY, Want.PROVENANCE}))
    return [
        (part.v_from, part.v_to, [(v.subject.name, v.polarity, v.v_from, v.v_to, v.tx_from_at, v.history) for v in part.statements])
        for part in found.segments
    ]


CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        the_ledger_is_as_the_oracle_says,
        joins_that_are_told_and_stated_are_as_the_oracle_says,
        order_and_batches_do_not_matter,
        rejections_wait_for_no_other_episode,
        a_join_that_is_taken_back_leaves_no_trace,
        merging_twice_is_merging_once,
        rejecting_and_restoring_is_as_before,
        the_past_stays,
        what_is_said_later_does_not_count,
        a_join_touches_only_what_it_changes,
        a_timeline_does_not_show_a_join_as_changes,
    )
}
SLOW = ("the_past_stays", "what_is_said_later_does_not_count")


@pytest.mark.parametrize("check", CHECKS)
def test_of_random_stories(check: str, twins: Twins) -> None:
    examined(CHECKS[check], twins, QUICK // 2 if check in SLOW else QUICK)


@pytest.mark.deep
@pytest.mark.parametrize("check", CHECKS)
def test_of_very_many_random_stories(check: str, twins: Twins) -> None:
    examined(CHECKS[check], twins, DEEP // 2 if check in SLOW else DEEP)
