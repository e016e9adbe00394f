"""`filter.validDuring`: what held at any moment of a window, wherever statements are listed (vector D10), by what was said by then too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graph.service import LedgerGraph
from graph.views import EntityRef, Page, StatementFilter, StatementView
from ontology.instant import Instant
from tests.graph.belief.vectors import VECTORS, instant
from tests.graph.ledger.saying import claim, say, when
from tests.graph.ledger.vectors import LedgerWorld, name

BETWEEN = next(vector for vector in VECTORS["drift"] if vector["id"] == "D10")


def _everything(snapshot: Any, filter: StatementFilter, subject: str) -> Page[StatementView]:
    found: Page[StatementView] = snapshot.statements(filter, first=100)
    return found


def _of_the_entity(snapshot: Any, filter: StatementFilter, subject: str) -> Page[StatementView]:
    found: Page[StatementView] = snapshot.statements_about(snapshot.key_of(EntityRef(name=subject)), "SUBJECT", filter, first=100)
    return found


def _recalled(snapshot: Any, filter: StatementFilter, subject: str) -> Page[StatementView]:
    page = snapshot.recall(f"where does {subject} work, at Acme, Beta, Bravo or Cola", filter=filter, first=100).page
    return Page(tuple(hit.node for hit in page.items), (), False)


FIELDS = (_everything, _of_the_entity, _recalled)
Field = Callable[[Any, StatementFilter, str], Page[StatementView]]
of_each_field = pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.__name__.strip("_"))


def clamped(page: Page[StatementView], window: tuple[Instant, Instant]) -> list[list[Any]]:
    """Values with the part of their time that lies in a window, in order of time."""
    rows = ([name(view), max(view.v_from, window[0]), min(view.v_to, window[1])] for view in page.items)
    return sorted(rows, key=lambda row: row[1:])


@of_each_field
@pytest.mark.parametrize("until", [None, "2030-01-01"], ids=["by everything", "by what was said"])
def test_values_of_a_window_are_found_with_clamped_bounds(field: Field, until: str | None, graph: LedgerGraph) -> None:
    LedgerWorld(graph, "n", VECTORS["drift_bases"][BETWEEN["base"]])
    if until is not None:
        # Then the limit leaves something out.
        say(graph, "2031-01-01", claim("alice works_at Dodo", kind="CORRECTION", replaces="Acme"))
    asked = BETWEEN["between"]
    window = (instant(asked["from"]), instant(asked["to"]))
    filter = StatementFilter(predicates=(asked["p"],), polarity=True, valid_during=window)
    snapshot = graph.snapshot("n", evidence_until=None if until is None else when(until))
    wanted = [[value, instant(start), instant(end)] for value, start, end in BETWEEN["expect"]]
    assert clamped(field(snapshot, filter, asked["s"]), window) == wanted


@pytest.fixture
def moved(graph: LedgerGraph) -> LedgerGraph:
    """Said in May that it was otherwise all along, and in June that it is over now."""
    say(graph, "2024-01-01", "alice works_at Acme", external_id="first")
    say(graph, "2024-03-01", "alice works_at Beta")
    say(graph, "2024-05-01", claim("alice works_at Bravo", kind="CORRECTION", replaces="Beta"))
    say(graph, "2024-06-01", "alice works_at Cola")
    return graph


@of_each_field
def test_a_window_touches_what_begins_before_its_end_and_ends_after_its_start(field: Field, moved: LedgerGraph) -> None:
    def found(start: str, end: str, **asked: Any) -> list[str]:
        until = asked.pop("evidence_until", None)
        snapshot = moved.snapshot("n", evidence_until=until)
        page = field(snapshot, StatementFilter(valid_during=(when(start), when(end)), polarity=True, **asked), "alice")
        return sorted(name(view) for view in page.items)

    assert found("2023-01-01", "2024-01-01") == []
    assert found("2024-02-29", "2024-03-01") == ["Acme"]
    assert found("2024-02-29", "2024-03-02") == ["Acme", "Bravo"]
    assert found("2024-06-01", "2024-07-01") == ["Cola"]
    in_april = when("2024-04-01")
    assert found("2024-06-01", "2024-07-01", evidence_until=in_april) == ["Beta"]
    assert found("2024-02-29", "2024-03-02", evidence_until=in_april) == ["Acme", "Beta"]
    assert found("2024-02-29", "2024-03-01", evidence_until=in_april) == ["Acme"]


@of_each_field
def test_a_window_limits_what_is_no_longer_believed_too(field: Field, moved: LedgerGraph) -> None:
    def found(start: str, end: str, until: str | None) -> list[str]:
        snapshot = moved.snapshot("n", evidence_until=None if until is None else when(until))
        asked = StatementFilter(valid_during=(when(start), when(end)), polarity=True, include_invalidated=True)
        return sorted({name(view) for view in field(snapshot, asked, "alice").items})

    # Beta was believed from March on; under a limit before the correction it still is. What is last known of Acme ends in March.
    assert found("2024-03-01", "2024-03-02", None) == ["Beta", "Bravo"]
    assert found("2024-03-01", "2024-03-02", "2024-05-15") == ["Beta", "Bravo"]
    assert found("2024-03-01", "2024-03-02", "2024-04-01") == ["Beta"]
    assert found("2024-01-01", "2024-01-02", "2024-04-01") == ["Acme"]
    assert found("2023-01-01", "2024-01-01", "2024-05-15") == []
