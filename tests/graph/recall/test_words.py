"""BM25 by hand: the statistics of what is admitted, rounded, in whatever levels the postings lie."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graph.recall.words as words_module
from graph.recall.columns import Numbers
from graph.recall.words import K1, B, Words, bm25

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "d", "e"]), max_size=8)


def made(documents: list[list[str]], portions: int = 1) -> Words:
    """Documents, appended in some portions."""
    words = Words(Numbers())
    size = max(1, -(-len(documents) // portions))
    for start in range(0, len(documents), size):
        words.append(documents[start : start + size])
        words.view()
    return words


def naive(documents: list[list[str]], query: list[str], admitted: list[bool]) -> list[float]:
    """Okapi over the admitted documents alone."""
    mine = [document for document, counts in zip(documents, admitted, strict=True) if counts]
    mean = sum(map(len, mine)) / len(mine) if mine else 1.0
    found = []
    for document, counts in zip(documents, admitted, strict=True):
        score = 0.0
        for term in dict.fromkeys(query):
            n = sum(term in other for other in mine)
            often = document.count(term)
            if counts and often:
                idf = math.log(1 + (len(mine) - n + 0.5) / (n + 0.5))
                score += idf * often * (K1 + 1) / (often + K1 * (1 - B + B * len(document) / (mean or 1.0)))
        found.append(score)
    return found


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(TEXTS, st.booleans()), min_size=1, max_size=12), TEXTS, st.integers(1, 4))
def test_scores_are_those_of_the_admitted_documents_alone(rows: list[tuple[list[str], bool]], query: list[str], portions: int) -> None:
    documents, admitted = [text for text, _ in rows], [counts for _, counts in rows]
    words = made(documents, portions)
    terms = [number for term in query if (number := words.terms.known(term)) is not None]
    found = bm25(words.view(), terms, np.array(admitted))
    assert found.scores.tolist() == pytest.approx(naive(documents, query, admitted), abs=6e-7)
    mine = Counter(term for text, counts in rows if counts for term in set(text))
    assert found.words == len([term for term in set(query) if mine[term]])


def test_documents_that_are_not_admitted_leave_no_trace_in_the_last_bit() -> None:
    documents = [["herring", "bread"], ["herring"], ["salt", "bread", "bread"]]
    alone = made(documents)
    more = made([*documents, ["herring"] * 9, ["bread", "herring"], ["other"] * 40], portions=3)
    query = ["herring", "bread", "salt"]
    one = bm25(alone.view(), [alone.terms.of(term) for term in query], np.ones(3, np.bool_)).scores
    other = bm25(more.view(), [more.terms.of(term) for term in query], np.array([True] * 3 + [False] * 3)).scores
    assert other[:3].tolist() == one.tolist()
    assert other[3:].tolist() == [0.0] * 3


def test_of_many_terms_the_rarest_count_and_of_equal_ones_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words_module, "MOST_TERMS", 2)
    words = made([["often", "rare"], ["often", "seldom"], ["often", "seldom"], ["often", "late"]])
    terms = [words.terms.of(term) for term in ("often", "seldom", "rare", "late")]
    found = bm25(words.view(), terms, np.ones(4, np.bool_))
    assert [score > 0 for score in found.scores.tolist()] == [True, False, False, True]
    assert found.words == 4
    terms = [words.terms.of(term) for term in ("seldom", "rare", "often")]
    found = bm25(words.view(), terms, np.ones(4, np.bool_))
    assert [score > 0 for score in found.scores.tolist()] == [True, True, True, False]


def test_a_term_asked_twice_counts_once() -> None:
    words = made([["a", "b"], ["b"]])
    term = words.terms.of("a")
    admitted = np.ones(2, np.bool_)
    assert bm25(words.view(), [term, term], admitted).scores.tolist() == bm25(words.view(), [term], admitted).scores.tolist()


@pytest.mark.parametrize("admitted", [[False, False], []])
def test_where_nothing_counts_nothing_is_found(admitted: list[bool]) -> None:
    words = made([["a"], ["a"]][: len(admitted)])
    found = bm25(words.view(), [0], np.array(admitted, np.bool_))
    assert found.scores.tolist() == [0.0] * len(admitted)
    assert found.words == 0


def test_empty_documents_are_no_fault() -> None:
    words = made([[], []])
    assert bm25(words.view(), [], np.ones(2, np.bool_)).scores.tolist() == [0.0, 0.0]
    words.append([["a"]])
    assert bm25(words.view(), [words.terms.of("a")], np.ones(3, np.bool_)).scores[2] > 0


def test_a_word_said_very_often_is_counted_as_often_as_can_be_kept() -> None:
    words = made([["a"] * 70_000, ["a"] * 65_535, ["b"]])
    scores = bm25(words.view(), [words.terms.of("a")], np.ones(3, np.bool_)).scores
    assert scores[0] > 0
    assert scores[1] > 0
