"""The feed of changes: its order, what it tells, filters, positions, and that it rebuilds every snapshot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from graph.drift import ChangeKind, ChangeView
from graph.service import LedgerGraph
from graph.views import EVERYTHING, EntityRef, StatementFilter, Want
from ontology.errors import InvalidInput
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST
from ontology.vocabulary import Cardinality, Vocabulary
from tests.graph.belief.vectors import VECTORS, instant, text
from tests.graph.ledger.feed_reading import BARE, fed, in_words, rebuilds_every_snapshot, told
from tests.graph.ledger.reading import episode, read
from tests.graph.ledger.saying import claim
from tests.graph.ledger.vectors import LedgerWorld, name

DRIFT = {vector["id"]: vector for vector in VECTORS["drift"]}


@pytest.fixture
def career(graph: LedgerGraph) -> LedgerWorld:
    return LedgerWorld(graph, "career", VECTORS["drift_bases"]["career"])


def row(change: ChangeView) -> list[Any]:
    found = change.statement
    assert found is not None
    kind = {ChangeKind.OPENED: "open", ChangeKind.CLOSED: "close"}[change.kind]
    return [change.transaction, kind, found.subject.name, found.predicate, name(found), found.v_from, found.v_to]


def key(graph: LedgerGraph, name: str, namespace: str = "n") -> str:
    return graph.snapshot(namespace).key_of(EntityRef(name=name))


def test_d08_the_feed_since_a_cursor(graph: LedgerGraph, career: LedgerWorld) -> None:
    vector = DRIFT["D08"]
    since = [at for view, at in fed(graph, "career") if view.transaction <= vector["feed"]["since"]][-1]
    wanted = [[tx, kind, s, p, text(o), instant(a), instant(b)] for tx, kind, s, p, o, a, b in vector["expect"]]
    for first in (1, 2, 100):
        assert [row(view) for view, _ in fed(graph, "career", first=first, after=since)] == wanted


def test_d09_replay_rebuilds_every_snapshot(graph: LedgerGraph, career: LedgerWorld) -> None:
    assert DRIFT["D09"]["expect"] is True
    for first in (1, 3, 100):
        rebuilds_every_snapshot(graph, "career", first)


def test_opening_and_closing_of_a_rectangle_have_one_key(graph: LedgerGraph, career: LedgerWorld) -> None:
    changes = [view for view, _ in fed(graph, "career")]
    opened = {(view.key, row(view)[5], row(view)[6]) for view in changes if view.kind is ChangeKind.OPENED}
    closed = {(view.key, row(view)[5], row(view)[6]) for view in changes if view.kind is ChangeKind.CLOSED}
    assert closed and closed <= opened


def test_a_statement_stands_on_the_transaction_of_its_change(graph: LedgerGraph, career: LedgerWorld) -> None:
    for want in (frozenset[Want](), frozenset({Want.PROVENANCE}), frozenset({Want.INVALIDATION, Want.HISTORY})):
        for view, _ in fed(graph, "career", want=want):
            assert view.statement is not None
            there = graph.snapshot("career", valid_at=view.valid_at, transaction=view.transaction)
            assert view.at == there.basis.recorded_at
            same = there.statement(view.statement.stored_key, view.statement.v_from, want=want)
            if view.kind is ChangeKind.OPENED:
                assert view.statement == same
                assert view.statement.tx_from_at == view.at
            else:
                assert view.statement.tx_to_at == view.at
            assert (view.statement.invalidation is not None) == (
                Want.INVALIDATION in want and (view.kind is ChangeKind.CLOSED or view.statement.v_to != UNBOUNDED_FUTURE)
            )


def test_a_statement_without_a_beginning_is_shown_at_its_last_instant(graph: LedgerGraph) -> None:
    read(graph, episode("one"), "Ada not likes tea")
    (view,) = [view for view, _ in fed(graph, "n")]
    assert view.statement is not None
    assert (view.valid_at == view.statement.v_from) == (view.statement.v_from != UNBOUNDED_PAST)


def test_closings_go_before_openings_and_both_before_who_is_who(graph: LedgerGraph) -> None:
    read(graph, episode("one"), "Ada works_at Acme", "Bob likes tea")
    read(graph, episode("two", "2024-02-01"), "Ada works_at Beta")
    merged = graph.merge("n", [key(graph, "Ada"), key(graph, "Bob")])
    changes = [view for view, _ in fed(graph, "n")]
    assert told(fed(graph, "n"))[:5] == [
        "1 OPENED Ada works_at Acme",
        "1 OPENED Bob likes tea",
        "2 CLOSED Ada works_at Acme",
        "2 OPENED Ada works_at Beta",
        "2 OPENED Ada works_at Acme",
    ]
    *_, last = changes
    assert (last.kind, last.key, last.transaction) == (ChangeKind.IDENTITY, merged.entity, merged.transaction)
    assert last.members == tuple(sorted({key(graph, "Ada"), *(graph.keys.entity("n", one) for one in ("Ada", "Bob"))}))
    assert last.statement is None
    assert {view.members for view in changes[:-1]} == {()}


def test_a_key_that_vanished_is_a_member_and_one_that_came_back_an_entity(graph: LedgerGraph) -> None:
    read(graph, episode("one"), "Ada likes tea", "Bob likes jazz", "Cy likes art")
    keys = sorted(graph.keys.entity("n", one) for one in ("Ada", "Bob", "Cy"))
    merged = graph.merge("n", keys)
    graph.reject("n", merged.claims, reason="no")
    moved = [view for view, _ in fed(graph, "n") if view.kind is ChangeKind.IDENTITY]
    assert [(view.key, list(view.members)) for view in moved] == [
        (keys[0], keys),
        (keys[0], keys),
        (keys[1], keys[1:2]),
        (keys[2], keys[2:]),
    ]
    for first in (1, 2, 100):
        rebuilds_every_snapshot(graph, "n", first)


def test_splits_and_joins_of_one_group_are_told_too(graph: LedgerGraph) -> None:
    read(graph, episode("one", group="g"), "Alex likes tea")
    read(graph, episode("two", group="h"), "Alex likes jazz")
    split = graph.split("n", graph.keys.entity("n", "Alex"), groups=["h"], sources=[], discriminator="2")
    read(graph, episode("three", group="g"), "Robert also_known_as Bob", "Bob likes art")
    moved = [view for view, _ in fed(graph, "n") if view.kind is ChangeKind.IDENTITY]
    assert {view.transaction for view in moved} == {split.transaction, split.transaction + 1}
    assert {split.entity, graph.keys.entity("n", "Alex")} <= {view.key for view in moved}
    assert {graph.keys.entity("n", "Bob"), graph.keys.entity("n", "Robert")} <= {one for view in moved for one in view.members}
    rebuilds_every_snapshot(graph, "n", 2)


def test_every_page_size_gives_the_same(graph: LedgerGraph, career: LedgerWorld) -> None:
    graph.merge("career", [key(graph, "Acme", "career"), key(graph, "Bravo", "career")])
    whole = fed(graph, "career", first=1000)
    assert len(whole) > 8
    for first in range(1, len(whole) + 2):
        assert fed(graph, "career", first=first) == whole


def test_the_last_position_is_that_of_the_last_change(graph: LedgerGraph) -> None:
    assert graph.changes.last("n") is None
    assert graph.changes.page("n").end is None
    read(graph, episode("one"), "Ada works_at Acme", "Bob likes tea")
    for act in (
        lambda: read(graph, episode("two", "2024-02-01"), "Ada works_at Beta"),
        lambda: graph.merge("n", [key(graph, "Ada"), key(graph, "Bob")]),
        lambda: graph.retract("n", source="chat", external_id="two", reason=None),
    ):
        act()
        last = fed(graph, "n")[-1][1]
        assert graph.changes.last("n") == last
        page = graph.changes.page("n", after=last)
        assert (page.items, page.has_next, page.end) == ((), False, last)
    graph.accept("n", [(episode("waits"), ())])
    assert graph.changes.last("n") == last


def test_a_position_holds_after_a_restart(open_graph: Callable[..., LedgerGraph]) -> None:
    first = open_graph()
    LedgerWorld(first, "career", VECTORS["drift_bases"]["career"])
    first.merge("career", [key(first, "Acme", "career"), key(first, "Beta", "career")])
    whole = fed(first, "career", first=3)
    first.close()
    again = open_graph()
    for place, (_, at) in enumerate(whole):
        assert fed(again, "career", after=at) == whole[place + 1 :]


def test_nothing_of_another_namespace_is_told(graph: LedgerGraph) -> None:
    read(graph, episode("one"), "Ada likes tea")
    read(graph, episode("one"), "Cy likes art", "Dan likes art", namespace="other")
    graph.merge("other", [key(graph, "Cy", "other"), key(graph, "Dan", "other")])
    assert told(fed(graph, "n")) == ["1 OPENED Ada likes tea"]
    assert told(fed(graph, "nobody")) == []
    assert graph.changes.latest(["n", "other", "nobody"]) == {"n": 1, "other": 3, "nobody": 0}


MOVED = ["3 CLOSED Ada works_at Acme", "3 OPENED Ada works_at Beta", "3 OPENED Ada works_at Acme"]
FILTERED = [
    (
        {"predicates": ("works_at",)},
        ["1 OPENED Ada works_at Acme", *MOVED],
    ),
    ({"predicates": ("manager_of",)}, ["2 OPENED Eve manager_of Ada"]),
    ({"predicates": ("dislikes",)}, ["2 OPENED not Bob likes tea"]),
    ({"polarity": False}, ["2 OPENED not Bob likes tea"]),
    ({"source": "notes"}, ["2 OPENED not Bob likes tea", "2 OPENED Ada reports_to Eve"]),
    (
        {"group": "g"},
        [
            "1 OPENED Ada works_at Acme",
            "1 OPENED Bob likes tea",
            "2 CLOSED Bob likes tea",
            "2 OPENED Bob likes tea",
            MOVED[0],
            MOVED[2],
        ],
    ),
    ({"min_confidence": 0.9, "predicates": ("reports_to",)}, []),
    ({"min_confidence": 0.7, "predicates": ("reports_to",)}, ["2 OPENED Ada reports_to Eve"]),
    ({"valid_during": (instant("2020-01-01"), instant("2024-01-01"))}, []),
]


@pytest.mark.parametrize(("chosen", "wanted"), FILTERED, ids=lambda each: "-".join(each) if isinstance(each, dict) else "")
@pytest.mark.parametrize("first", [1, 100])
def test_filters_are_asked_of_each_statement(graph: LedgerGraph, chosen: dict[str, Any], wanted: list[str], first: int) -> None:
    several(graph)
    assert told(fed(graph, "n", filter=StatementFilter(**chosen), first=first)) == wanted


def several(graph: LedgerGraph) -> None:
    read(graph, episode("one", group="g"), "Ada works_at Acme", "Bob likes tea")
    read(graph, episode("two", "2024-02-01", source="notes"), "not Bob likes tea", claim("Ada reports_to Eve", confidence=0.8))
    read(graph, episode("three", "2024-03-01"), "Ada works_at Beta")


def test_subjects_and_objects_are_those_of_each_transaction(graph: LedgerGraph) -> None:
    several(graph)
    ada, bob = key(graph, "Ada"), key(graph, "Bob")
    mine = StatementFilter(subjects=(ada,))
    assert len(fed(graph, "n", filter=mine)) == 5
    assert told(fed(graph, "n", filter=StatementFilter(subjects=(key(graph, "Eve"),), predicates=("manager_of",)))) == [
        "2 OPENED Eve manager_of Ada"
    ]
    assert told(fed(graph, "n", filter=StatementFilter(objects=(ada,)))) == []
    merged = graph.merge("n", [ada, bob])
    read(graph, episode("four", "2024-04-01"), "Bob likes art")
    *_, join, last = fed(graph, "n", filter=mine)
    assert (join[0].key, join[0].transaction) == (merged.entity, merged.transaction)
    assert in_words(last[0]).endswith("likes art")


def test_who_is_who_passes_every_filter(graph: LedgerGraph) -> None:
    read(graph, episode("one"), "Ada likes tea", "Bob likes jazz")
    graph.merge("n", [key(graph, "Ada"), key(graph, "Bob")])
    for filter in (StatementFilter(predicates=("works_at",)), StatementFilter(source="nowhere"), StatementFilter(subjects=())):
        assert [view.kind for view, _ in fed(graph, "n", filter=filter)] == [ChangeKind.IDENTITY]


def test_a_page_that_looked_through_much_is_short_and_goes_on(graph: LedgerGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graph.ledger.changes.LOOKED_THROUGH", 4)
    monkeypatch.setattr("graph.ledger.changes.WEIGHED", 2)
    for number in range(1, 21):
        read(graph, episode(f"e{number}", f"2024-01-{number:02}"), f"P{number} likes {'art' if number == 20 else 'tea'}")
    for filter in (StatementFilter(objects=(key(graph, "art"),)), StatementFilter(source="nowhere")):
        page = graph.changes.page("n", first=5, filter=filter)
        assert (page.items, page.has_next, page.end) == ((), True, (4, 1, 4))
    assert told(fed(graph, "n", first=5, filter=StatementFilter(objects=(key(graph, "art"),)))) == ["20 OPENED P20 likes art"]
    assert len(fed(graph, "n", first=5, filter=StatementFilter(source="chat"))) == 20
    end = graph.changes.page("n", after=(18, 1, 18), filter=StatementFilter(source="nowhere"))
    assert (end.items, end.has_next, end.end) == ((), False, (20, 1, 20))


@pytest.mark.parametrize("after", [(1,), (1, 5, 1), (1, 0, "x"), (1, 2, 3), ("1", 0, 1), (1, 0, 1, 1)])
def test_what_is_no_position_is_refused(graph: LedgerGraph, after: tuple[Any, ...]) -> None:
    with pytest.raises(InvalidInput) as refused:
        graph.changes.page("n", after=after)
    assert (refused.value.path, refused.value.reason) == (("after",), "INVALID_CURSOR")


def test_a_position_behind_the_last_transaction_is_refused_as_it_would_leave_changes_out(graph: LedgerGraph) -> None:
    number = read(graph, episode("one"), "Ada likes tea").transaction
    (_, last), *_ = fed(graph, "n")
    assert graph.changes.page("n", after=last).items == ()
    for namespace, after in (("n", (number + 1, *last[1:])), ("empty", last)):
        with pytest.raises(InvalidInput, match="another ledger or namespace") as refused:
            graph.changes.page(namespace, after=after)
        assert (refused.value.path, refused.value.reason) == (("after",), "INVALID_CURSOR")


def test_what_cannot_be_asked_of_changes_is_refused(graph: LedgerGraph) -> None:
    with pytest.raises(InvalidInput) as refused:
        graph.changes.page("n", filter=replace(EVERYTHING, include_invalidated=True))
    assert refused.value.path == ("filter", "includeInvalidated")
    for first in (0, 1001):
        with pytest.raises(InvalidInput) as refused:
            graph.changes.page("n", first=first)
        assert refused.value.reason == "OUT_OF_RANGE"


def test_names_are_those_of_each_transaction(graph: LedgerGraph) -> None:
    read(graph, episode("one"), "ada likes tea")
    read(graph, episode("two", "2024-02-01"), "Ada likes jazz")
    read(graph, episode("three", "2024-03-01"), "Ada likes art")
    assert told(fed(graph, "n", want=BARE)) == ["1 OPENED ada likes tea", "2 OPENED Ada likes jazz", "3 OPENED Ada likes art"]
    assert told(fed(graph, "n", want=frozenset())) == told(fed(graph, "n", want=BARE))


def test_a_changed_vocabulary_and_the_other_direction_are_told(open_graph: Callable[..., LedgerGraph], vocabulary: Vocabulary) -> None:
    first = open_graph()
    read(first, episode("one"), "Zoe friend_of Ada", "Ada speaks French")
    read(first, episode("two", "2024-02-01"), "Ada speaks Greek", "Bob reports_to Ada")
    first.close()
    speaks = replace(vocabulary.predicate("speaks"), cardinality=Cardinality.ONE)
    again = open_graph(Vocabulary("changed", {**vocabulary.predicates, "speaks": speaks}, vocabulary.entity_types))
    again.retract("n", source="chat", external_id="two", reason=None)
    assert told(fed(again, "n"))[:2] == ["1 OPENED Ada friend_of Zoe", "1 OPENED Ada speaks French"]
    assert [text for text in told(fed(again, "n")) if text.startswith("3")] == ["3 CLOSED Ada speaks French", "3 OPENED Ada speaks French"]
    zoe = StatementFilter(subjects=(key(again, "Zoe"),))
    assert told(fed(again, "n", filter=zoe)) == ["1 OPENED Zoe friend_of Ada"]
    for size in (1, 2, 100):
        rebuilds_every_snapshot(again, "n", size)
