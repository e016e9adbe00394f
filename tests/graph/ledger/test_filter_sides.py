"""Filters that name predicates which are stored under another name, from the other side or in the other polarity; or both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from graph.drift import Pattern, Term
from graph.ledger.selection import asked
from graph.service import LedgerGraph
from graph.views import EntityRef, StatementFilter, StatementView
from ontology.loading import load_vocabulary
from tests.graph.ledger.saying import say, when, words

SIDES = """predicates:
  supports:     {inverse: supported_by}
  supported_by: {inverse: supports}
  opposed_by:   {antonyms: [supported_by]}
  friend_of:    {symmetric: true}
  enemy_of:     {symmetric: true, antonyms: [friend_of]}
"""
AT = when("2024-06-01")


@pytest.fixture
def sided(open_graph: Callable[..., LedgerGraph], tmp_path: Path) -> Iterator[LedgerGraph]:
    overlay = tmp_path / "sides.yaml"
    overlay.write_text(SIDES, encoding="utf-8")
    graph = open_graph(load_vocabulary(overlay))
    say(graph, "2024-01-01", "Plan opposed_by Bob", "Plan supported_by Ann", "Ann enemy_of Bob", "Ann friend_of Cy")
    yield graph


def both(graph: LedgerGraph, list_of: Callable[[Any, StatementFilter], list[StatementView]], **named: Any) -> list[str]:
    """What a field gives, in words: the same under a said-time limit after all that was said."""
    found = []
    for until in (None, when("2024-01-02")):
        snapshot = graph.snapshot("n", valid_at=AT, evidence_until=until)
        keys = {
            side: tuple(snapshot.key_of(EntityRef(name=name)) for name in named.get(side, ())) or None for side in ("subjects", "objects")
        }
        filter = StatementFilter(**{**named, **keys})
        found.append(sorted(words(view) for view in list_of(snapshot, filter)))
        say(graph, "2024-01-03", "Eve owns boat", external_id="later")
    assert found[0] == found[1]
    return found[0]


def statements(snapshot: Any, filter: StatementFilter) -> list[StatementView]:
    return list(snapshot.statements(filter).items)


def late(snapshot: Any, filter: StatementFilter) -> list[StatementView]:
    return list(snapshot.drift.retro_edits(0, filter).items)


@pytest.mark.parametrize("field", [statements, late])
def test_the_antonym_of_an_inverse_matches_denials_seen_from_the_other_side(sided: LedgerGraph, field: Any) -> None:
    denied = ["not Plan supported_by Bob"]
    assert both(sided, field, predicates=("opposed_by",)) == denied
    assert both(sided, field, predicates=("opposed_by",), polarity=True) == denied
    assert both(sided, field, predicates=("opposed_by",), polarity=False) == ["Plan supported_by Ann"]
    assert both(sided, field, predicates=("opposed_by",), subjects=("Plan",)) == denied
    assert both(sided, field, predicates=("opposed_by",), objects=("Bob",)) == denied
    assert both(sided, field, predicates=("opposed_by",), subjects=("Bob",)) == []
    assert both(sided, field, predicates=("supported_by", "opposed_by"), subjects=("Plan",)) == [
        "Plan supported_by Ann",
        "not Plan supported_by Bob",
    ]


@pytest.mark.parametrize("field", [statements, late])
def test_the_antonym_of_a_symmetric_predicate_matches_from_either_side(sided: LedgerGraph, field: Any) -> None:
    for one, other in (("Ann", "Bob"), ("Bob", "Ann")):
        assert both(sided, field, predicates=("enemy_of",), subjects=(one,)) == [f"not {one} friend_of {other}"]
        assert both(sided, field, predicates=("enemy_of",), subjects=(one,), objects=(other,)) == [f"not {one} friend_of {other}"]
    assert both(sided, field, predicates=("enemy_of",), subjects=("Cy",)) == []


@pytest.mark.parametrize(
    ("predicate", "subject", "object"),
    [("opposed_by", "Plan", "Bob"), ("enemy_of", "Ann", "Bob"), ("enemy_of", "Bob", "Ann"), ("supported_by", "Plan", "Ann")],
)
def test_differences_changes_and_claims_are_chosen_so_too(sided: LedgerGraph, predicate: str, subject: str, object: str) -> None:
    now, before = (sided.snapshot("n", valid_at=when(at)) for at in ("2024-06-01", "2023-06-01"))
    one, two = (now.key_of(EntityRef(name=name)) for name in (subject, object))
    straight, crossed = (StatementFilter(predicates=(predicate,), subjects=(sub,), objects=(ob,)) for sub, ob in ((one, two), (two, one)))
    symmetric = predicate == "enemy_of"
    for filter, number in ((straight, 1), (crossed, int(symmetric))):
        differences = sided.diff(before, now, filter).items
        assert len(differences) == number
        assert all(view.polarity is (predicate == "supported_by") for each in differences for view in each.after)
        assert len(sided.changes.page("n", filter=filter).items) == number
        assert len(now.claims(filter).items) == number


def test_patterns_and_questions_take_it_so(sided: LedgerGraph) -> None:
    say(sided, "2024-01-03", "Eve owns boat")
    now = sided.snapshot("n", valid_at=AT, evidence_until=when("2024-01-02"))
    (found,) = now.patterns.match([Pattern(Term(variable="what"), "opposed_by", Term(name="Bob"))]).items
    assert [words(view) for view in found.statements] == ["not Plan supported_by Bob"]


def test_a_predicate_that_is_asked_from_both_sides_is_read_as_it_is_stored(sided: LedgerGraph) -> None:
    names = asked(sided.vocabulary(), ("supports", "opposed_by", "supported_by", "enemy_of"))
    assert (names.plain, names.negated, names.swapped) == (
        frozenset({"supports"}),
        frozenset({"supports", "friend_of"}),
        frozenset(),
    )
    assert asked(sided.vocabulary(), ("opposed_by",)).swapped == {"supports"}
