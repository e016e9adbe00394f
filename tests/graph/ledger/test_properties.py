"""Properties of the ledger: each an invariant of the design, on random histories through the facade, on a real file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from graph.ledger.schema import OPEN
from graph.service import LedgerGraph
from graph.views import EntityRef, ObjectRef, StatementFilter, Want
from ontology.edtf import parse_edtf
from ontology.instant import DAY, UNBOUNDED_FUTURE, UNBOUNDED_PAST
from tests.graph.ledger.strategies import POINTS, Event, Told, histories, moved, respelled
from tests.graph.ledger.worlds import ALWAYS, EVERYTHING, Judge, World, content, pages

QUICK, DEEP = 8, 150
Check = Callable[[LedgerGraph, list[Event], st.DataObject], None]


def examined(check: Check, ledger: LedgerGraph, number: int, *, exact: bool = False, largest: int = 5) -> None:
    """Try a check on random histories: the same ones in every run, unless there are very many."""

    @settings(
        max_examples=number,
        derandomize=number <= QUICK,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    @given(histories(ledger.vocabulary(), largest=largest, exact=exact), st.data())
    def run(events: list[Event], data: st.DataObject) -> None:
        check(ledger, events, data)

    run()


def rectangles_are_in_order(ledger: LedgerGraph, events: list[Event], data: st.DataObject) -> None:
    """(1) to (3): bounds, one change at most, disjoint and not adjacent, one untied value."""
    world = World(ledger)
    before: dict[int, Any] = {}
    for one in events:
        world.record(one)
        rows = {row.row: row for row in world.stored()}
        assert before.keys() <= rows.keys()
        for number, row in before.items():
            same = {name: value for name, value in row._mapping.items() if name != "tx_to"}
            assert {name: value for name, value in rows[number]._mapping.items() if name != "tx_to"} == same
            assert row.tx_to in (OPEN, rows[number].tx_to)
        before = rows
    assert all(row.v_from < row.v_to and row.tx_from < row.tx_to for row in before.values())
    for number in world.numbers():
        spans = defaultdict(list)
        for row in before.values():
            if row.tx_from <= number < row.tx_to:
                spans[row.proposition].append((row.v_from, row.v_to))
        assert all(one[1] < other[0] for found in spans.values() for one, other in pairwise(sorted(found)))


def one_value_at_most_is_untied(ledger: LedgerGraph, events: list[Event], data: st.DataObject) -> None:
    """(3): one untied value at a point of a one-valued slot, additive ones and shadows aside."""
    plain = [
        Told(one.draft, tuple(c for c in one.claims if not c.additive), held=one.held) if isinstance(one, Told) else one for one in events
    ]
    world = World(ledger, plain)
    vocabulary = ledger.vocabulary()
    for at in data.draw(st.lists(st.sampled_from(POINTS), min_size=3, max_size=6)):
        views = world.snapshot(valid_at=at).statements(StatementFilter(polarity=True), first=100).items
        judge = Judge(world, vocabulary, world.snapshot().basis.transaction)
        values: dict[tuple[str, str, str], dict[str, str]] = defaultdict(dict)
        for view in views:
            base = view.key
            if all(side.oracle.weigh(base, True, at).shadow for side in judge.sides(base)):
                continue
            known = vocabulary.predicate(view.predicate)
            paired = known if known.symmetric else vocabulary.predicate(known.inverse) if known.inverse else None
            for predicate, key in ((known, view.subject.key), (paired, view.object.key)):
                if predicate is not None and predicate.cardinality == "one" and predicate.temporal != "event":
                    values[predicate.name, view.qualifier, key][view.key] = view.conflict
        for found in values.values():
            assert sum(conflict != "TIED" for conflict in found.values()) <= 1, (at, found)


def stored_is_what_the_claims_say(ledger: LedgerGraph, events: list[Event], data: st.DataObject) -> None:
    """(4), at every transaction."""
    world = World(ledger)
    world.in_batches(events, data.draw(st.lists(st.integers(1, 4), max_size=4)))
    for number in world.numbers():
        judge = Judge(world, ledger.vocabulary(), number)
        stored = world.stored_at(number)
        assert {base for base, *_ in stored} <= judge.places.keys()
        ends = {end + beside for _, _, *bounds in stored for end in bounds for beside in (-1, 0, 1)}
        points = [at for at in {*POINTS, *ends} if UNBOUNDED_PAST <= at < UNBOUNDED_FUTURE]
        for base in judge.places:
            for polarity in (True, False):
                mine = [(start, end) for one, sign, start, end in stored if (one, sign) == (base, polarity)]
                for at in points:
                    assert any(a <= at < b for a, b in mine) == judge.holds(base, polarity, at), (number, base, polarity, at)


def order_and_batches_do_not_matter(ledger: LedgerGraph, events: list[Event], data: st.DataObject) -> None:
    """(5)."""
    told = World(ledger, events).picture()
    shuffled = World(ledger)
    shuffled.in_batches(data.draw(st.permutations(events)), data.draw(st.lists(st.integers(1, 4), max_size=4)))
    assert shuffled.picture() == told


def waiting_does_not_matter(ledger: LedgerGraph, events: list[Event], data: st.DataObject) -> None:
    """(5), where episodes are accepted first and extracted when other things have happened."""
    told = World(ledger, events).picture()
    waited = World(ledger)
    left: list[Told] = []
    for one in data.draw(st.permutations(events)):
        waits: bool = data.draw(st.booleans())
        if waits and isinstance(one, Told) and not one.stated:
            ledger.accept(waited.namespace, [(one.draft, ())])
            left.append(one)
        else:
            waited.record(one)
        while left and data.draw(st.integers(0, 1)) == 1:
            waited.record(left.pop(data.draw(st.integers(0, len(left) - 1))))
    if left:
        waited.together(left)
    assert waited.picture() == told
    assert not [one for one in ledger.backlog.unsent("live", 1000) if one.namespace == waited.namespace]


def twice_is_once(ledger: LedgerGraph, events: list[Event], data: st.DataObject) -> None:
    """(6)."""
    world = World(ledger)
    first = [world.record(one) for one in events]
    before, numbers = world.everything(OPEN - 1), world.numbers()
    for place in data.draw(st.permutations(range(len(events)))):
        receipt, again = first[place], world.record(events[place])
        assert receipt is None if again is None else receipt is not None and again.deduplicated
        assert again is None or receipt is None or again.transaction == receipt.transaction
    assert world.numbers() == numbers
    assert world.everything(OPEN - 1) == before


def a_retraction_undoes_its_episode(ledger: LedgerGraph, events: list[Event], data: st.DataObject) -> None:
    """(7)."""
    told = [one for one in events if isinstance(one, Told) and one.draft.source == "chat"]
    if not told:
        return
    gone = data.draw(st.sampled_from(told)).draft.external_id
    without = [one for one in events if not isinstance(one, Told) or one.draft.external_id != gone or one.draft.source != "chat"]
    world, other = World(ledger, events), World(ledger, without)
    ledger.retract(world.namespace, source="chat", external_id=gone, reason=None)
    one, two = world.picture(), other.picture()
    assert one["statements"] == two["statements"]
    assert one["entities"] == two["entities"]


def the_past_stays(ledger: LedgerGraph, events: list[Event], data: st.DataObject) -> None:
    """(8)."""
    world = World(ledger)
    seen: dict[int, list[Any]] = {0: world.everything(0)}
    for one in events:
        if isinstance(one, Told) and not one.stated and data.draw(st.booleans()):
            ledger.accept(world.namespace, [(one.draft, ())])
            number = world.snapshot().basis.transaction
            seen.setdefault(number, world.everything(number))
        world.record(one)
        number = world.snapshot().basis.transaction
        seen.setdefault(number, world.everything(number))
    for number, answers in seen.items():
        assert world.everything(number) == answers, number


def a_range_is_the_union_of_its_points(ledger: LedgerGraph, events: list[Event], data: st.DataObject) -> None:
    """(10)."""
    world = World(ledger, events)
    start, end = sorted(data.draw(st.lists(st.sampled_from(POINTS), min_size=2, max_size=2, unique=True)))
    within = StatementFilter(valid_during=(start, end))
    during = {(view.key, view.v_from) for view in world.snapshot().statements(within, first=100).items}
    bounds = {at for row in world.stored() for at in (row.v_from, row.v_to - 1)}
    points = [at for at in {start, end - 1, *bounds} if start <= at < end]
    union = {
        (view.key, view.v_from) for at in points for view in world.snapshot(valid_at=at).statements(StatementFilter(), first=100).items
    }
    assert during == union


def every_rectangle_is_supported(ledger: LedgerGraph, events: list[Event], data: st.DataObject) -> None:
    """(13): at each transaction of its life a visible claim carries it."""
    world = World(ledger, events)
    wanted = frozenset({Want.PROVENANCE})
    for number in world.numbers():
        snapshot = world.snapshot(transaction=number)
        views = pages(lambda after, here=snapshot: here.statements(ALWAYS, first=100, after=after, want=wanted))
        stored = world.stored_at(number)
        assert len(views) == len(stored)
        for view in views:
            assert view.provenance and view.evidence_count == len({one.episode.key for one in view.provenance}), view


def _answers(world: World, names: list[str], predicates: list[str], **basis: Any) -> list[Any]:
    """What can be asked under a said-time limit, by content."""
    snapshot = world.snapshot(**basis)
    found: list[Any] = []
    for name in names:
        ref = EntityRef(name=name)
        key = snapshot.key_of(ref)
        entity = snapshot.entity(ref)
        found.append(entity and (entity.name, entity.type, entity.aliases))
        for role in ("SUBJECT", "OBJECT", "ANY"):
            for filter in (StatementFilter(), ALWAYS, StatementFilter(predicates=tuple(predicates), polarity=True)):
                views = pages(
                    lambda after, role=role, filter=filter, key=key: snapshot.statements_about(
                        key, role, filter, first=2, after=after, want=frozenset({Want.PROVENANCE})
                    )
                )
                found.append([content(view) for view in views])
                for view in views:
                    again = snapshot.statement(view.key, view.v_from, swapped=view.swapped, want=frozenset({Want.PROVENANCE}))
                    assert again is not None and content(again) == content(view)
        for predicate in predicates:
            timeline = snapshot.timeline(ref, predicate, want=frozenset({Want.PROVENANCE}))
            found.append([(part.v_from, part.v_to, sorted(map(content, part.statements), key=str)) for part in timeline.segments])
            for other in names:
                answer = snapshot.ask(ref, predicate, ObjectRef(name=other))
                found.append((answer.value, sorted(content(view)[:7] for view in answer.statements)))
    return found


def _apart(events: list[Event]) -> list[Told]:
    """The episodes, none a revision of another."""
    told = [one for one in events if isinstance(one, Told)]
    return [replace(one, draft=replace(one.draft, external_id=f"{place}")) for place, one in enumerate(told)]


def what_is_said_later_does_not_count(ledger: LedgerGraph, events: list[Event], data: st.DataObject) -> None:
    """Under evidenceUntil the ledger answers as one that holds only what was said by then."""
    told = _apart(events)
    until = data.draw(st.sampled_from([parse_edtf(one.draft.said_at or "").lo + beside for one in told for beside in (-1, 0)]))
    world, other = World(ledger, told), World(ledger, [one for one in told if parse_edtf(one.draft.said_at or "").lo <= until])
    predicates = sorted({claim.predicate for one in told for claim in one.claims})
    names, at = ["Anna", "Bob", "Carl"], data.draw(st.sampled_from(POINTS))
    assert _answers(world, names, predicates, evidence_until=until, valid_at=at) == _answers(other, names, predicates, valid_at=at)


def evidence_until_is_replayed(ledger: LedgerGraph, events: list[Event], data: st.DataObject) -> None:
    """Under evidenceUntil t_created is the transaction from which what was said by then has made the rectangle, without a break."""
    world = World(ledger, events)
    until = data.draw(st.sampled_from(POINTS))
    judges = {number: Judge(world, ledger.vocabulary(), number, until) for number in world.numbers()}
    snapshot = world.snapshot(evidence_until=until)
    views = {
        view.key: view
        for name in ("Anna", "Bob", "Carl")
        for view in snapshot.statements_about(snapshot.key_of(EntityRef(name=name)), "ANY", ALWAYS, first=100, want=EVERYTHING).items
    }
    times = {row.at: row.number for row in (ledger.transactions(world.namespace, first=100).items)}
    for view in views.values():
        spans = defaultdict(set)
        for version in view.history:
            end = OPEN if version.tx_to_at is None else times[version.tx_to_at]
            for number in judges:
                if times[version.tx_from_at] <= number < end:
                    spans[number].add((version.v_from, version.v_to))
        for number, judge in judges.items():
            if view.polarity:
                for at in POINTS:
                    inside = any(start <= at < end for start, end in spans[number])
                    assert inside == judge.holds(view.key, True, at), (number, at, view)


def asking_is_reading(ledger: LedgerGraph, events: list[Event], data: st.DataObject) -> None:
    """`ask` says what the rectangles and the plain claims on either side say."""
    world = World(ledger, events)
    judge = Judge(world, ledger.vocabulary(), world.snapshot().basis.transaction)
    at = data.draw(st.sampled_from(POINTS))
    snapshot = world.snapshot(valid_at=at)
    predicates = sorted({claim.predicate for one in events if isinstance(one, Told) for claim in one.claims})
    for predicate, (subject, object), qualifier in product(predicates, product(("Anna", "Bob", "Carl"), repeat=2), ("", "q")):
        answer = snapshot.ask(EntityRef(name=subject), predicate, ObjectRef(name=object), qualifier)
        expected = judge.ask(snapshot.key_of(EntityRef(name=subject)), predicate, snapshot.key_of(EntityRef(name=object)), qualifier, at)
        assert (answer.value, bool(answer.statements)) == (expected, expected != "UNKNOWN"), (subject, predicate, object, qualifier, at)


def spelling_does_not_matter(ledger: LedgerGraph, events: list[Event], data: st.DataObject) -> None:
    """(14): equal instants in other spellings are the same episodes: the same keys, and nothing to commit."""
    world = World(ledger)
    first = [world.record(one) for one in events]
    before, numbers = world.everything(OPEN - 1), world.numbers()
    again = [world.record(respelled(one, data.draw(st.sampled_from([2, -5, 14])))) for one in events]
    assert [one and (one.episode_key, one.transaction) for one in again] == [one and (one.episode_key, one.transaction) for one in first]
    assert world.numbers() == numbers and world.everything(OPEN - 1) == before
    other = World(ledger, [respelled(one, 2) for one in events])
    assert other.picture() == world.picture()


def time_has_no_origin(ledger: LedgerGraph, events: list[Event], data: st.DataObject) -> None:
    """(16): where all times are exact, moving them moves every answer."""
    by = data.draw(st.sampled_from([1, -7 * DAY, 1_700_000_000_000_000, -60_000_000_000_000_000]))
    one, other = World(ledger, events).picture(), World(ledger, [moved(each, by) for each in events]).picture(valid_at=by)

    def shifted(at: Any) -> Any:
        return at + by if type(at) is int and UNBOUNDED_PAST < at < UNBOUNDED_FUTURE else at

    expected = [(*row[:5], *map(shifted, row[5:7]), *row[7:11], shifted(row[11]), *row[12:]) for row in one["statements"]]
    assert sorted(map(str, other["statements"])) == sorted(map(str, expected))
    assert other["entities"] == one["entities"]


CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        rectangles_are_in_order,
        one_value_at_most_is_untied,
        stored_is_what_the_claims_say,
        order_and_batches_do_not_matter,
        waiting_does_not_matter,
        twice_is_once,
        a_retraction_undoes_its_episode,
        the_past_stays,
        a_range_is_the_union_of_its_points,
        every_rectangle_is_supported,
        what_is_said_later_does_not_count,
        evidence_until_is_replayed,
        asking_is_reading,
        spelling_does_not_matter,
        time_has_no_origin,
    )
}


EXACT = ("time_has_no_origin",)
SLOW = ("what_is_said_later_does_not_count", "the_past_stays", "evidence_until_is_replayed")


@pytest.mark.parametrize("check", CHECKS)
def test_of_random_histories(check: str, ledger: LedgerGraph) -> None:
    examined(CHECKS[check], ledger, QUICK // 3 if check in SLOW else QUICK, exact=check in EXACT)


@pytest.mark.deep
@pytest.mark.parametrize("check", CHECKS)
def test_of_very_many_random_histories(check: str, ledger: LedgerGraph) -> None:
    examined(CHECKS[check], ledger, DEEP // 4 if check in SLOW else DEEP, largest=8, exact=check in EXACT)
