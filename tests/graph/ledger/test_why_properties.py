"""Properties of why slots changed, on random histories with retractions, revisions, rejections, joins and splits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from sqlalchemy import select

from graph.belief.traits import traits_of
from graph.drift import BoundaryView
from graph.ledger.endings import WITHDRAWING
from graph.ledger.schema import claims
from graph.service import LedgerGraph
from graph.views import EntityRef, StatementFilter, StatementView, Want
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST, Instant
from ontology.vocabulary import Vocabulary
from tests.graph.ledger import identity_checks as identity
from tests.graph.ledger.identity_checks import Twins, two_ledgers
from tests.graph.ledger.identity_operations import SAME, Divided, Merged, said_at
from tests.graph.ledger.identity_worlds import Story
from tests.graph.ledger.strategies import POINTS, Event, Told
from tests.graph.ledger.test_properties import DEEP, QUICK, examined
from tests.graph.ledger.test_review_properties import judge, judgements, places, read_only
from tests.graph.ledger.worlds import ALWAYS, World, pages, shown

GONE = replace(ALWAYS, include_invalidated=True)
Slot = tuple[str, str, str]
"""Subject key, predicate and qualifier."""
Proposition = tuple[str, bool]


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory, vocabulary: Vocabulary, empty_ledger: Path) -> Iterator[Twins]:
    yield from two_ledgers(tmp_path_factory.mktemp("why"), vocabulary, empty_ledger)


def statements(snapshot: Any, filter: StatementFilter = GONE) -> list[StatementView]:
    """All that was ever believed, as last known, with what ended it."""
    found: list[StatementView] = pages(
        lambda after: snapshot.statements(filter, first=100, after=after, want=frozenset({Want.INVALIDATION}))
    )
    return found


def slots(vocabulary: Vocabulary, found: Sequence[StatementView]) -> list[Slot]:
    """The slots of statements, from both sides."""
    mine = {(view.subject.key, view.predicate, view.qualifier) for view in found}
    for view in found:
        known = vocabulary.predicate(view.predicate)
        other = view.predicate if known.symmetric else known.inverse
        if other is not None and not hasattr(view.object, "value"):
            mine.add((view.object.key, other, view.qualifier))
    return sorted(mine)


def proposition(view: StatementView) -> Proposition:
    return (f"{view.subject.key} {view.object.key}", view.polarity)


def why(snapshot: Any, slot: Slot, **window: Instant | None) -> list[BoundaryView]:
    found: list[BoundaryView] = snapshot.drift.why_changed(EntityRef(key=slot[0]), slot[1], slot[2], **window)
    return found


def every_close_is_told(graph: LedgerGraph, namespace: str, snapshot: Any) -> None:
    """A statement that is over or gone names the words that ended it, or the transaction that withdrew it."""
    last = snapshot.basis.transaction
    for view in statements(snapshot):
        ended = view.invalidation
        if view.tx_to_at is None and view.v_to == UNBOUNDED_FUTURE:
            assert ended is None
            continue
        assert ended is not None and 0 < ended.transaction <= last
        assert ended.evidence is not None or ended.rule in WITHDRAWING, (view, ended)
        if view.tx_to_at is None:
            assert ended.rule not in WITHDRAWING
            assert_visible(graph, namespace, [ended.evidence.claim] if ended.evidence else [], snapshot.basis)


def assert_visible(graph: LedgerGraph, namespace: str, ids: Sequence[str], basis: Any) -> None:
    """The claims are evidence on the basis."""
    query = select(claims.c.id, claims.c.said).where(
        claims.c.namespace == namespace, claims.c.id.in_(ids), claims.c.tx_from <= basis.transaction, claims.c.tx_to > basis.transaction
    )
    with graph._engine.connect() as connection:
        found = list(connection.execute(query))
    assert {row.id for row in found} == set(ids)
    assert all(basis.evidence_until is None or row.said <= basis.evidence_until for row in found)


def boundaries_are_right(graph: LedgerGraph, namespace: str, snapshot: Any, middle: Instant) -> None:
    """Of every slot: they are the bounds of its timeline, tell it when applied in order, and name what decides them."""
    vocabulary = graph.vocabulary()
    for slot in slots(vocabulary, statements(snapshot) if snapshot.basis.evidence_until is None else known(graph, namespace, snapshot)):
        found = why(snapshot, slot)
        believed = [one for one in found if one.transaction is None]
        line = snapshot.timeline(EntityRef(key=slot[0]), slot[1], slot[2])
        one_valued = traits_of(vocabulary.predicate(slot[1])).one_valued
        rebuilds(believed, line, one_valued=one_valued)
        for one in believed:
            assert one.evidence, one
            assert_visible(graph, namespace, [each.claim for each in one.evidence], snapshot.basis)
        for one in found:
            if one.transaction is not None:
                assert 0 < one.transaction.number <= snapshot.basis.transaction and one.rule in WITHDRAWING
                holding = {proposition(view) for part in line.segments for view in part.statements if view.v_from <= one.at < view.v_to}
                now = {proposition(view) for view in one.after}
                assert now <= holding and (not one_valued or now == holding)
                assert {proposition(view) for view in one.before} - now
        assert why(snapshot, slot, end=middle) + why(snapshot, slot, start=middle) == found
        assert [(one.at, one.transaction is not None) for one in found] == sorted((one.at, one.transaction is not None) for one in found)


def known(graph: LedgerGraph, namespace: str, snapshot: Any) -> list[StatementView]:
    """All that was believed without the limit."""
    return statements(graph.snapshot(namespace, valid_at=0, transaction=snapshot.basis.transaction))


def rebuilds(believed: Sequence[BoundaryView], line: Any, *, one_valued: bool) -> None:
    """Each change applied to what was there gives what is there next; where nothing changes there is no boundary."""
    views = {(proposition(view), view.v_from): view for part in line.segments for view in part.statements}
    if one_valued:
        bounds = {at for part in line.segments for at in (part.v_from, part.v_to)} - {UNBOUNDED_PAST, UNBOUNDED_FUTURE}
        assert [one.at for one in believed] == sorted(bounds)
    holding = {key for (key, start), _ in views.items() if start == UNBOUNDED_PAST}
    for one in believed:
        before, after = {proposition(view) for view in one.before}, {proposition(view) for view in one.after}
        assert before != after
        assert before <= holding and (not one_valued or before == holding)
        holding = holding - before | after
        assert all(view.v_from <= one.at < view.v_to for view in one.after)
        assert all(view.v_from < one.at <= view.v_to for view in one.before)
    turns = {(key, at) for (key, _), view in views.items() for at in (view.v_from, view.v_to)}
    told = {(proposition(view), one.at) for one in believed for view in (*one.before, *one.after) if one.at in (view.v_from, view.v_to)}
    assert told == {turn for turn in turns if turn[1] not in (UNBOUNDED_PAST, UNBOUNDED_FUTURE)}


def content(one: BoundaryView) -> tuple[Any, ...]:
    """A boundary without what depends on namespaces and transactions."""

    def told(views: Sequence[StatementView]) -> list[Any]:
        return [(view.subject.name, view.predicate, shown(view.object), view.polarity, view.v_from, view.v_to) for view in views]

    words = [(each.episode.content or "", each.quote) for each in one.evidence]
    withdrawn = one.transaction and one.transaction.kind
    return one.at, one.reason, one.rule, told(one.before), told(one.after), sorted(words), withdrawn


def of_histories(ledger: LedgerGraph, events: list[Event], data: st.DataObject) -> None:
    """Revisions, retractions, rejections and restored claims; on the last transaction, an earlier one, and under a said-time limit."""
    events = read_only(events) if data.draw(st.booleans()) else events
    world = World(ledger)
    world.in_batches(events, data.draw(st.lists(st.integers(1, 3), max_size=3)))
    for one in judgements(events, set(places(world)), data)[:3]:
        judge(world, one)
    numbers = world.numbers()
    middle = data.draw(st.sampled_from(POINTS))
    for basis in ({}, {"transaction": data.draw(st.sampled_from(numbers or [0]))}, {"evidence_until": data.draw(st.sampled_from(POINTS))}):
        snapshot = world.snapshot(**basis)
        if "evidence_until" not in basis:
            every_close_is_told(ledger, world.namespace, snapshot)
        boundaries_are_right(ledger, world.namespace, snapshot, middle)


def of_stories(twins: Twins, data: st.DataObject) -> None:
    """The same with joins and splits, told and made."""
    story = identity.begun(twins, data, identity.drawn(twins, data))
    middle = data.draw(st.sampled_from(POINTS))
    for basis in ({}, {"evidence_until": data.draw(st.sampled_from(POINTS))}):
        snapshot = story.snapshot(**basis)
        if not basis:
            every_close_is_told(story.graph, story.namespace, snapshot)
        boundaries_are_right(story.graph, story.namespace, snapshot, middle)


def what_is_said_later_does_not_count(twins: Twins, data: st.DataObject) -> None:
    """Under a said-time limit the boundaries are those of a ledger that was only ever given what was said by it.

    Of withdrawn ones that goes where nobody is joined: under a limit the past is read through the names of the basis.
    """
    drawn = identity.drawn(twins, data, largest=6, identity=data.draw(st.booleans()))
    operations = [one for one in drawn if not (isinstance(one, Told) and one.draft.revised_at) and not isinstance(one, Merged | Divided)]
    until = data.draw(st.sampled_from([said_at(one) + beside for one in operations if isinstance(one, Told) for beside in (-1, 0)]))
    story, other = identity.begun(twins, data), Story(twins.other)
    other.namespace = story.namespace
    for one in operations:
        story.do(one)
        if not (isinstance(one, Told) and said_at(one) > until):
            other.do(one)
    under, whole = story.snapshot(evidence_until=until), other.snapshot()
    joined = any(claim.predicate == SAME for one in operations if isinstance(one, Told) for claim in one.claims)

    def told(snapshot: Any, slot: Slot) -> list[Any]:
        return [content(one) for one in why(snapshot, slot) if one.transaction is None or not joined]

    for slot in slots(twins.one.vocabulary(), statements(whole)):
        assert told(under, slot) == told(whole, slot), slot


def test_of_random_histories(ledger: LedgerGraph) -> None:
    examined(of_histories, ledger, QUICK)


def test_of_random_stories(twins: Twins) -> None:
    identity.examined(of_stories, twins, identity.QUICK)


def test_of_what_is_said_later(twins: Twins) -> None:
    identity.examined(what_is_said_later_does_not_count, twins, identity.QUICK)


@pytest.mark.deep
def test_of_very_much_that_is_said_later(twins: Twins) -> None:
    identity.examined(what_is_said_later_does_not_count, twins, identity.DEEP)


@pytest.mark.deep
def test_of_very_many_random_histories(ledger: LedgerGraph) -> None:
    examined(of_histories, ledger, DEEP, largest=8)


@pytest.mark.deep
def test_of_very_many_random_stories(twins: Twins) -> None:
    identity.examined(of_stories, twins, identity.DEEP)
