"""What counts on a basis, by hand-made rectangles and claims, and against a naive reading of them."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.ledger.schema import OPEN
from graph.recall.admission import KEPT, Admissions
from graph.recall.namespace import Indexed
from graph.recall.reading import Reading
from tests.graph.recall.made import AGES, Made, base


def counted(flags: Any) -> list[int]:
    """The numbers of the rows that count."""
    return [number for number, flag in enumerate(flags) if flag]


def test_a_document_counts_where_its_statement_holds() -> None:
    made = Made()
    made.rectangle("Ann likes Bob", 10, 20)
    doc = made.claim("Ann likes Bob")
    for at, holds in ((9, False), (10, True), (19, True), (20, False)):
        assert counted(made.admission(at).claims) == ([doc] if holds else []), at


def test_a_denial_counts_where_the_denial_holds_and_not_the_statement() -> None:
    made = Made()
    made.rectangle("Ann likes Bob", 10, 20)
    made.rectangle("Ann likes Bob", 20, AGES, polarity=False)
    plain, denied = made.claim("Ann likes Bob"), made.claim("Ann likes Bob", polarity=False)
    assert counted(made.admission(15).claims) == [plain]
    assert counted(made.admission(25).claims) == [denied]


def test_what_ends_speaks_for_the_side_that_holds_its_own_first() -> None:
    made = Made()
    made.rectangle("Ann likes Bob", 10, 21)
    made.rectangle("Ann likes Bob", 20, AGES, polarity=False)
    doc = made.claim("Ann likes Bob", ends=True)
    number = made.indexed.bases.known(base("Ann likes Bob"))
    assert number is not None
    units = [int(made.admission(at).units[doc]) for at in (15, 20, 25)]
    assert units == [2 * number + 1, 2 * number + 1, 2 * number]
    assert [counted(made.admission(at).claims) for at in (5, 15, 20, 25)] == [[], [doc], [doc], [doc]]


@pytest.mark.parametrize(("tx", "seen"), [(1, False), (2, True), (4, True), (5, False)])
def test_claims_count_in_the_transactions_that_they_are_evidence_in(tx: int, seen: bool) -> None:
    made = Made()
    made.rectangle("Ann likes Bob", 0, AGES)
    doc = made.claim("Ann likes Bob", tx_from=2, tx_to=5)
    assert counted(made.admission(5, tx=tx).claims) == ([doc] if seen else [])


def test_what_was_said_after_the_limit_does_not_count() -> None:
    made = Made()
    made.rectangle("Ann likes Bob", 0, AGES)
    made.episode("early", said=3)
    made.episode("late", said=4)
    docs = [made.claim("Ann likes Bob", said=said) for said in (2, 3, 4)]
    admission = made.admission(5, until=3)
    assert counted(admission.claims) == docs[:2]
    assert counted(admission.episodes) == [0]
    assert counted(made.admission(5).claims) == docs


def test_episodes_count_whatever_the_instant() -> None:
    made = Made()
    made.episode("one", said=3, tx=2)
    assert [counted(made.admission(at, tx=2).episodes) for at in (-5, 99)] == [[0], [0]]
    assert counted(made.admission(5, tx=1).episodes) == []


def test_a_period_is_met_by_what_holds_at_some_instant_of_it() -> None:
    made = Made()
    for start, end in ((0, 10), (10, 20), (20, 30), (30, 40)):
        made.rectangle(f"Ann likes P{start}", start, end)
    assert counted(made.admission(10, end=21).rectangles) == [1, 2]


def test_the_past_is_the_last_known_intervals_that_have_begun_or_are_gone() -> None:
    made = Made()
    over = made.rectangle("Ann likes A", 0, 10)
    made.rectangle("Ann likes B", 50, 60)
    moved_away = made.rectangle("Ann likes C", 50, 60, tx=(1, 3))
    outlived = made.rectangle("Ann likes D", 0, 30, tx=(1, 3))
    longer = made.rectangle("Ann likes D", 0, AGES, tx=(3, OPEN))
    scheduled = made.rectangle("Ann likes E", 50, 60, tx=(1, 3))
    made.rectangle("Ann likes E", 55, 60, tx=(3, OPEN))
    found = counted(made.admission(20, tx=3, past=True).rectangles)
    assert found == [over, moved_away, longer]
    assert {outlived, scheduled} & set(found) == set()
    assert counted(made.admission(20, tx=2, past=True).rectangles) == [over, outlived]
    assert counted(made.admission(20, tx=3).rectangles) == [longer]


def test_an_edge_weighs_less_the_more_statements_of_its_predicate_count() -> None:
    made = Made()
    for number in range(6):
        made.rectangle(f"Ann likes P{number}", 0, AGES)
    made.rectangle("Ann knows P1", 0, AGES)
    made.rectangle("Ann knows P2", 0, 5)
    weights = made.admission(7).weights()
    likes, knows = (made.indexed.predicates.known(name) for name in ("likes", "knows"))
    assert weights[likes] == pytest.approx(1 / math.log2(8))
    assert weights[knows] == pytest.approx(1 / math.log2(3))
    assert weights[-1] == 1.0


SPANS = st.tuples(st.integers(0, 6), st.integers(1, 4))
ROWS = st.lists(st.tuples(st.sampled_from("ABC"), st.booleans(), SPANS, SPANS), max_size=10)


@settings(max_examples=40, deadline=None)
@given(ROWS, st.integers(0, 8), st.integers(1, 5), st.integers(0, 10), st.booleans())
def test_what_holds_is_what_a_naive_reading_says(rows: list[Any], at: int, length: int, tx: int, past: bool) -> None:
    made = Made()
    for object, polarity, (v_from, long), (tx_from, lasts) in rows:
        tx_to = tx_from + lasts if tx_from + lasts < 9 else OPEN
        made.rectangle(f"Ann likes {object}", v_from, v_from + long, tx=(tx_from, tx_to), polarity=polarity)
    kept = [(o, p, vf, vf + lo, tf, tf + la if tf + la < 9 else OPEN) for o, p, (vf, lo), (tf, la) in rows]
    known = [row for row in kept if row[4] <= tx]

    def last(row: tuple[Any, ...]) -> bool:
        beside = [other for other in known if other[:2] == row[:2] and other[2] < row[3] and row[2] < other[3]]
        return all(min(other[5], tx + 1) <= min(row[5], tx + 1) for other in beside)

    inside = [row for row in known if row[2] < at + length and row[3] > at]
    if past:
        begun = [row for row in known if row[2] < at + length or row[5] <= tx] if length == 1 else inside
        expected = [row for row in begun if last(row)]
    else:
        expected = [row for row in inside if row[5] > tx]
    admission = made.admission(at, end=at + length, tx=tx, past=past)
    assert [kept[number] for number in counted(admission.rectangles)] == [row for row in kept if row in expected]
    holding = {(base(f"Ann likes {o}"), p) for o, p, *_ in expected}
    names = made.indexed.bases.names
    assert {(names[number // 2], bool(number % 2)) for number in counted(admission.holds)} == holding


def test_an_admission_serves_every_instant_at_which_the_same_holds() -> None:
    made, admissions = Made(), Admissions()
    made.rectangle("Ann likes A", 0, 10)
    made.rectangle("Ann likes B", 10, 20)
    made.claim("Ann likes A")
    reading = Reading(made.indexed, made.indexed.state)

    def at(instant: int, **fields: Any) -> Any:
        return admissions.at(reading, made.point(instant, **fields))

    first = at(0)
    assert at(9) is first
    assert at(10) is not first
    assert counted(at(10).rectangles) == [1]
    first = at(5)
    assert counted(first.rectangles) == [0]
    assert at(5, tx=2) is not first
    assert at(5, until=3) is not first
    assert at(5, past=True) is not first
    assert at(0, end=7) is not first
    again = Reading(made.indexed, made.indexed.state)
    assert admissions.at(again, made.point(0)) is not first


def test_what_is_kept_is_forgotten_in_the_order_of_use() -> None:
    made, admissions = Made(), Admissions()
    made.rectangle("Ann likes A", 0, 10)
    reading = Reading(made.indexed, made.indexed.state)
    first = admissions.at(reading, made.point(0, tx=1))
    for tx in range(2, KEPT + 1):
        admissions.at(reading, made.point(0, tx=tx))
    assert admissions.at(reading, made.point(0, tx=1)) is first
    admissions.at(reading, made.point(0, tx=KEPT + 1))
    assert admissions.at(reading, made.point(0, tx=1)) is first
    for tx in range(KEPT + 2, 2 * KEPT + 2):
        admissions.at(reading, made.point(0, tx=tx))
    assert admissions.at(reading, made.point(0, tx=1)) is not first


def test_where_nothing_is_indexed_nothing_counts() -> None:
    indexed = Indexed()
    admission = Made(indexed).admission(0)
    assert [len(values) for values in (admission.claims, admission.episodes, admission.rectangles, admission.holds)] == [0] * 4
