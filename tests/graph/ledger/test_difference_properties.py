"""What differs leads from one basis to the other, whatever was told, joined, parted, withdrawn or left out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from graph.drift import Cause, DifferenceView
from graph.views import EntityRef, StatementFilter, StatementView, Want
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant
from ontology.vocabulary import Vocabulary
from tests.graph.ledger.differing import Fact, diff, fact
from tests.graph.ledger.identity_checks import Check, Twins, begun, content, drawn, examined, two_ledgers
from tests.graph.ledger.identity_operations import SAME, Divided, Merged, said_at
from tests.graph.ledger.identity_strategies import predicates_of
from tests.graph.ledger.identity_worlds import NAMES, Story
from tests.graph.ledger.strategies import POINTS, Told
from tests.graph.ledger.worlds import pages

AFFIRMED = StatementFilter(polarity=True)
DATED = frozenset({Want.TRANSACTION})
EDGES = (UNBOUNDED_PAST, UNBOUNDED_FUTURE)


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory, vocabulary: Vocabulary, empty_ledger: Path) -> Iterator[Twins]:
    yield from two_ledgers(tmp_path_factory.mktemp("differences"), vocabulary, empty_ledger)


def some_bases(story: Story, data: st.DataObject) -> list[Any]:
    """Two snapshots of anything that was and may be said."""
    numbers = [0, *sorted({one.transaction for one in story.done} - {0})]
    said = sorted({said_at(one.operation) for one in story.done if isinstance(one.operation, Told)})
    limits = [None, None, *said, *(instant - 1 for instant in said)]

    def one() -> Any:
        # The last transaction is what is mostly asked about.
        number = data.draw(st.sampled_from([*numbers, *[numbers[-1]] * 3]))
        return story.snapshot(
            valid_at=data.draw(st.sampled_from([*POINTS, *EDGES])), transaction=number, evidence_until=data.draw(st.sampled_from(limits))
        )

    return [one(), one()]


def holding(snapshot: Any, filter: StatementFilter = AFFIRMED) -> list[StatementView]:
    """What holds on a basis, identity aside."""
    found = pages(lambda after: snapshot.statements(filter, first=100, after=after, want=DATED))
    return [view for view in found if view.predicate != SAME]


def steps(story: Story, start: Any, end: Any) -> list[tuple[Cause, Any, Any]]:
    """The bases of each cause."""
    of = {"transaction": end.basis.transaction, "evidence_until": end.basis.evidence_until}
    middle = story.snapshot(valid_at=start.basis.valid_at, **of)
    return [(Cause.BELIEF, start, middle), (Cause.WORLD, middle, end)]


def differences_lead_from_one_basis_to_the_other(twins: Twins, data: st.DataObject) -> None:
    story = begun(twins, data, drawn(twins, data, largest=6))
    graph = story.graph
    start, end = some_bases(story, data)
    # What only says that names are one is not compared, unless it is asked for.
    whole = [each for each in diff(graph, start, end, want=DATED) if each.predicate != SAME]
    assert diff(graph, start, start) == [] == diff(graph, end, end)
    for cause, before, after in steps(story, start, end):
        facts = [_facts(story, holding(basis), end) for basis in (before, after)]
        state = dict(facts[0])
        for difference in (each for each in whole if each.cause is cause):
            mine, theirs = (_facts(story, side, end) for side in (difference.before, difference.after))
            assert mine.keys() != theirs.keys()
            assert mine.items() <= facts[0].items()
            assert theirs.items() <= facts[1].items()
            _is_whole(story, difference, facts, (mine, theirs))
            for gone in mine.keys() - theirs.keys():
                del state[gone]
            state |= dict.fromkeys(theirs.keys() - mine.keys(), ())
        assert state.keys() == facts[1].keys()


def _facts(story: Story, views: Sequence[StatementView], end: Any) -> dict[Fact, tuple[Any, ...]]:
    """What statements say by the entities of a basis, with what tells each from others."""
    found: dict[Fact, list[Any]] = defaultdict(list)
    for view in views:
        found[fact(story.graph, view, end)].append((view.key, view.v_from, view.v_to, view.tx_from_at, view.support, view.evidence_count))
    return {said: tuple(sorted(each)) for said, each in found.items()}


def _is_whole(story: Story, difference: DifferenceView, facts: Sequence[Any], sides: Sequence[Any]) -> None:
    """A difference of a slot tells all that holds in it; one of many values has one."""
    known = story.graph.vocabulary().predicate(difference.predicate)
    if known.cardinality != "ONE" or known.temporal == "EVENT":
        assert {len(side) for side in sides} == {0, 1}
        return
    if not known.symmetric:
        for side, mine in zip(facts, sides, strict=True):
            place = (difference.subject.key, difference.predicate, difference.qualifier)
            slot = {said for said in side if isinstance(said[0], tuple) and (said[0][0], *said[1:]) == place}
            assert slot == mine.keys()


def pages_are_parts_of_one_order(twins: Twins, data: st.DataObject) -> None:
    story = begun(twins, data, drawn(twins, data, largest=5))
    start, end = some_bases(story, data)
    page = story.graph.diff(start, end, first=100)
    assert list(page.positions) == sorted(page.positions) and len(set(page.positions)) == len(page.positions)
    for size in (1, 2):
        assert tuple(diff(story.graph, start, end, first=size)) == page.items


def filters_choose_what_statements_are_chosen_by(twins: Twins, data: st.DataObject) -> None:
    """Those differences of which a statement is listed on its basis under the same filter."""
    story = begun(twins, data, drawn(twins, data, largest=6))
    graph = story.graph
    start, end = some_bases(story, data)
    named = st.sets(st.sampled_from(NAMES), min_size=1, max_size=2).map(
        lambda names: tuple(sorted(end.key_of(EntityRef(name=name)) for name in names))
    )
    predicates = st.lists(st.sampled_from(predicates_of(one.operation for one in story.done) or ["likes"]), min_size=1, max_size=2)
    maybe = {
        "predicates": st.one_of(st.none(), predicates.map(tuple)),
        "subjects": st.one_of(st.none(), st.none(), named),
        "objects": st.one_of(st.none(), st.none(), named),
        "polarity": st.sampled_from([None, None, True, False]),
        "min_confidence": st.sampled_from([None, None, 0.95]),
        "group": st.sampled_from([None, None, "g"]),
    }
    filter = StatementFilter(**{name: data.draw(value) for name, value in maybe.items()})
    plain = StatementFilter(predicates=filter.predicates, polarity=filter.polarity)
    expected = []
    bases = {cause: sides for cause, *sides in steps(story, start, end)}
    chosen: dict[Any, set[Any]] = {}
    for cause, sides in bases.items():
        for place, basis in enumerate(sides):
            # Keys are read by who is who on the last basis, as those of statements are.
            subjects, objects = (
                None if given is None else tuple(key for key in _keys(basis) if end.key_of(EntityRef(key=key)) in given)
                for given in (filter.subjects, filter.objects)
            )
            listed = holding(basis, replace(filter, polarity=filter.polarity is not False, subjects=subjects, objects=objects))
            chosen[cause, place] = {(view.key, view.v_from) for view in listed}
    for each in diff(graph, start, end, plain):
        mine, theirs = chosen[each.cause, 0], chosen[each.cause, 1]
        if any((view.key, view.v_from) in mine for view in each.before) or any((view.key, view.v_from) in theirs for view in each.after):
            expected.append(each)
    # What only says that names are one is told where it is asked for by name.
    expected = [each for each in expected if each.predicate != SAME]
    assert [each for each in diff(graph, start, end, filter) if each.predicate != SAME] == expected


def _keys(basis: Any) -> list[str]:
    """All keys of entities and literals on a basis."""
    always = StatementFilter(valid_during=EDGES)
    views = pages(lambda after: basis.statements(always, first=100, after=after))
    return sorted({thing.key for view in views for thing in (view.subject, view.object)})


def what_is_said_later_does_not_count(twins: Twins, data: st.DataObject) -> None:
    """Under a limit on both bases the ledger tells what one does that was only ever given what was said by then."""
    operations = [one for one in drawn(twins, data, largest=6) if not (isinstance(one, Told) and one.draft.revised_at)]
    until = data.draw(st.sampled_from([said_at(one) + beside for one in operations if isinstance(one, Told) for beside in (-1, 0)]))
    story, other = begun(twins, data), Story(twins.other)
    other.namespace = story.namespace
    steps: list[tuple[int, int]] = [(0, 0)]
    for one in operations:
        story.do(one)
        if not (isinstance(one, Merged | Divided) or (isinstance(one, Told) and said_at(one) > until)):
            other.do(one)
        steps.append((story.snapshot().basis.transaction, other.snapshot().basis.transaction))
    ends = [(data.draw(st.sampled_from(steps)), data.draw(st.sampled_from([*POINTS, *EDGES]))) for _ in range(2)]
    found = [
        [_said(each) for each in diff(mine.graph, *(_basis(mine, numbers[place], at, limit) for numbers, at in ends))]
        for place, (mine, limit) in enumerate(((story, until), (other, None)))
    ]
    assert found[0] == found[1]


def _basis(story: Story, number: int, at: Instant, until: Instant | None) -> Any:
    return story.snapshot(valid_at=at, transaction=number, evidence_until=until)


def _said(each: DifferenceView) -> tuple[Any, ...]:
    sides = (tuple(map(content, side)) for side in (each.before, each.after))
    return (each.kind, each.cause, each.subject, each.predicate, each.qualifier, *sides)


CHECKS: tuple[Check, ...] = (
    differences_lead_from_one_basis_to_the_other,
    pages_are_parts_of_one_order,
    filters_choose_what_statements_are_chosen_by,
    what_is_said_later_does_not_count,
)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_of_random_stories(check: Check, twins: Twins) -> None:
    examined(check, twins, 6)


@pytest.mark.deep
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_of_very_many_random_stories(check: Check, twins: Twins) -> None:
    examined(check, twins, 300)
