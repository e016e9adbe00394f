"""Patterns joined, on the command line."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.cli.faced import Faced
from tests.api.stating import state


@pytest.fixture
def town(faced: Faced) -> Faced:
    """Two colleagues in one town, who have moved, and one elsewhere."""
    works = [(name, "works_at", "Acme & Sons") for name in ("Ana", "Ben", "Cy")]
    state(faced.client, "e1", "2020-01-01", *works, ("Ana", "lives_in", "Porto"), ("Ben", "lives_in", "Porto"), ("Cy", "lives_in", "Rome"))
    state(faced.client, "e2", "2023-01-01", ("Ben", "lives_in", "Lisbon"))
    return faced


def bound(rows: list[Any]) -> list[dict[str, str]]:
    return [{each["variable"]: each["value"]["name"] for each in row["bindings"]} for row in rows]


def test_variables_stand_in_columns_and_what_says_so_beside_them(town: Faced) -> None:
    asked = ("match", "?p works_at 'Acme & Sons'", "?p lives_in ?city")
    lines = town.run(*asked).out.splitlines()
    assert lines[0].startswith("as of ") and lines[1].split() == ["?p", "?city", "because"]
    assert sorted(line.split()[:2] for line in lines[2::2]) == [["Ana", "Porto"], ["Ben", "Lisbon"], ["Cy", "Rome"]]
    assert sum("| works_at | Acme & Sons" in line for line in lines) == 3
    found = town.run(*asked, "--at", "2021", "--json").json["matches"]
    assert sorted(row["city"] for row in bound(found)) == ["Porto", "Porto", "Rome"]
    assert all(len(row["statements"]) == 2 for row in found)


def test_one_variable_in_two_patterns_is_one_thing(town: Faced) -> None:
    found = town.run("match", "?a lives_in ?town", "Ana lives_in ?town", "--at", "2021", "--json").json["matches"]
    assert sorted(row["a"] for row in bound(found)) == ["Ana", "Ben"]


def test_without_variables_the_statements_are_the_answer(town: Faced) -> None:
    assert "Ana | lives_in | Porto" in town.run("match", "Ana lives_in Porto").out
    assert town.run("match", "Ana lives_in Rome").out.endswith("  nothing fits\n")


def test_a_page_says_that_there_is_more_and_a_misspelt_predicate_is_named(town: Faced) -> None:
    assert town.run("match", "?p works_at ?o", "--first", "2").out.splitlines()[-1] == "(the first 2; more with --first)"
    assert "near it: lives_in" in town.run("match", "?p livesin ?x").err
