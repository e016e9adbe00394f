"""The decision table in the docs says what the resolver does."""

from __future__ import annotations

from graph.belief.checks import checked_bounds
from tests.graph.belief.decision_table import PAGE, TRAITS, read, render, sections


def test_the_decision_table_is_what_the_resolver_does() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run: python -m tests.graph.belief.decision_table"


def test_the_cases_may_be_recorded() -> None:
    for case in (case for cases in sections().values() for case in cases):
        for number, text in enumerate(case.claims):
            claim = read(text, number)
            checked_bounds(claim.kind, claim.valid_from, claim.valid_to, claim.said, TRAITS[case.traits])
