"""Columns that grow, and entries by key against a dictionary of lists."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.recall.columns import Columns, Grouped, Numbers

KEYS = st.integers(0, 12)
BATCHES = st.lists(st.lists(st.tuples(KEYS, st.integers(0, 1000)), max_size=40), max_size=12)


def test_rows_are_kept_over_growth_and_old_views_stay_as_they_were() -> None:
    columns = Columns(number=np.int64, flag=np.bool_)
    assert columns.append([(1, True)]) == 0
    early = columns["number"]
    first = columns.append([(at, at % 2 == 0) for at in range(5000)])
    assert first == 1
    assert early.tolist() == [1]
    assert columns["number"].tolist() == [1, *range(5000)]
    assert columns["flag"].tolist() == [True, *(at % 2 == 0 for at in range(5000))]
    assert columns.size == 5001
    assert columns.append([]) == 5001


def test_whole_columns_and_rows_make_the_same() -> None:
    rows, whole = Columns(a=np.int32, b=np.float64), Columns(a=np.int32, b=np.float64)
    rows.append([(at, at / 2) for at in range(3000)])
    assert whole.extend({"a": np.arange(3000), "b": np.arange(3000) / 2}) == 0
    assert {name: values.tolist() for name, values in rows.kept().items()} == {
        name: values.tolist() for name, values in whole.kept().items()
    }


def test_a_cell_changes_in_place() -> None:
    columns = Columns(a=np.int64)
    columns.append([(1,), (2,)])
    columns["a"][1] = 9
    assert columns["a"].tolist() == [1, 9]


@settings(max_examples=20, deadline=None)
@given(st.lists(st.text(max_size=2), max_size=20))
def test_a_name_has_one_number_in_the_order_of_first_naming(names: list[str]) -> None:
    numbers = Numbers()
    assert [numbers.names[numbers.of(name)] for name in names] == names
    assert numbers.names == list(dict.fromkeys(names))
    assert len(numbers) == len(set(names))
    assert numbers.known("never said") is None
    assert len(numbers) == len(set(names))


@settings(max_examples=30, deadline=None)
@given(BATCHES, st.lists(KEYS, max_size=8))
def test_entries_are_found_by_key_in_the_order_of_their_arrival(batches: list[list[tuple[int, int]]], asked: list[int]) -> None:
    grouped = Grouped(value=np.int32, place=np.int64)
    expected: dict[int, list[tuple[int, int]]] = defaultdict(list)
    place = 0
    for batch in batches:
        rows = []
        for key, value in batch:
            rows.append((key, value, place))
            expected[key].append((value, place))
            place += 1
        grouped.entries.append(rows)
        grouped.settle()
        for key in (0, 5, 12):
            values, places = grouped.view.of(key, "value", "place")
            assert list(zip(values.tolist(), places.tolist(), strict=True)) == expected[key]
    keys = np.array(asked, np.int64)
    owners, (values, places) = grouped.view.among(keys, "value", "place")
    found = list(zip(owners.tolist(), values.tolist(), places.tolist(), strict=True))
    assert found == [(at, *entry) for at, key in enumerate(asked) for entry in expected[key]]
    assert grouped.view.counts(keys).tolist() == [len(expected[key]) for key in asked]


@settings(max_examples=20, deadline=None)
@given(BATCHES)
def test_a_view_never_changes(batches: list[list[tuple[int, int]]]) -> None:
    grouped = Grouped(value=np.int32)
    views = []
    for batch in batches:
        grouped.entries.append(batch)
        grouped.settle()
        views.append((grouped.view, [grouped.view.of(key, "value")[0].tolist() for key in range(13)]))
    for view, then in views:
        assert [view.of(key, "value")[0].tolist() for key in range(13)] == then


def test_there_are_few_levels_however_often_something_is_appended() -> None:
    grouped = Grouped(value=np.int32)
    for at in range(600):
        grouped.entries.append([(at % 7, at)])
        grouped.settle()
    assert len(grouped.view.levels) <= 8
    assert sorted(value for key in range(7) for value in grouped.view.of(key, "value")[0].tolist()) == list(range(600))


def test_what_is_appended_and_not_settled_is_not_seen() -> None:
    grouped = Grouped(value=np.int32)
    grouped.entries.append([(1, 5)])
    assert grouped.view.of(1, "value")[0].tolist() == []
    assert grouped.view.among(np.array([1]), "value")[1][0].tolist() == []
    grouped.settle()
    assert grouped.view.of(1, "value")[0].tolist() == [5]
