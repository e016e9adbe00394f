"""The decision table in the docs says what the resolver does."""

from __future__ import annotations

from graph.belief.checks import checked_bounds
from graph.belief.turning import Turn
from graph.belief.unit import Unit
from ontology.claim import ClaimKind
from tests.graph.belief.decision_table import PAGE, TRAITS, read, render, sections, turnings

RULES = {
    *("first-value", "outlasts", "correction", "patch", "bounded-rival"),
    *("bounded", "explicit-end", "polarity", "functional-slot", "static-value"),
}
"""Those of `graph.belief.turning`."""


def test_the_decision_table_is_what_the_resolver_does() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run: python -m tests.graph.belief.decision_table"


def test_the_cases_may_be_recorded() -> None:
    for case in (case for cases in sections().values() for case in cases):
        for number, text in enumerate(case.claims):
            claim = read(text, number)
            checked_bounds(claim.kind, claim.valid_from, claim.valid_to, claim.said, TRAITS[case.traits])


def test_the_table_has_every_kind_on_every_kind_of_predicate_and_every_reason_of_the_resolver() -> None:
    cases = [case for found in sections().values() for case in found]
    claims = {(case.traits, claim.kind, claim.polarity) for case in cases for claim in map(read, case.claims, range(9))}
    assert claims == {(trait, kind, positive) for trait in TRAITS for kind in ClaimKind for positive in (True, False)}
    units = [Unit([read(text, number) for number, text in enumerate(case.claims)], TRAITS[case.traits]) for case in cases]
    told = {(turning.turn, turning.rule) for unit in units for _, turning in turnings(unit)}
    assert {turn for turn, _ in told} == set(Turn)
    assert {rule for _, rule in told} == RULES
