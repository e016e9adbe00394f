"""Patterns as people type them."""

from __future__ import annotations

from typing import Any

import pytest

from api.cli.pattern import pattern
from ontology.errors import InvalidInput
from tests.api.cli.running import erstwhile


@pytest.mark.parametrize(
    ("text", "subject", "predicate", "object"),
    [
        ("?p works_at Acme", {"variable": "p"}, "works_at", {"name": "Acme"}),
        ("?p works_at 'Acme & Sons'", {"variable": "p"}, "works_at", {"name": "Acme & Sons"}),
        ("  'Ana  Lima' lives_in   ?city_2 ", {"name": "Ana  Lima"}, "lives_in", {"variable": "city_2"}),
        ("\"O'Neil\" likes 'Ana''s \"tea\"'", {"name": "O'Neil"}, "likes", {"name": 'Ana\'s "tea"'}),
        ("Ana age '30'^^xsd:integer", {"name": "Ana"}, "age", {"literal": {"value": "30", "datatype": "xsd:integer"}}),
        ("'?p' likes '?'", {"name": "?p"}, "likes", {"name": "?"}),
        ("Zoë likes O'Hara", {"name": "Zoë"}, "likes", {"name": "O'Hara"}),
    ],
    ids=["bare", "quoted", "spaces", "quotes in quotes", "literal", "no variables in quotes", "apostrophe"],
)
def test_reads_variables_names_and_literals(text: str, subject: Any, predicate: str, object: Any) -> None:
    assert pattern(text) == {"subject": subject, "predicate": predicate, "object": object}


@pytest.mark.parametrize(
    ("text", "marked", "said"),
    [
        ("?p works_at 'Acme", "?p works_at >>>'Acme", "is not closed"),
        ("?p works_at", "?p works_at>>>", "the object is missing"),
        ("", ">>>", "the subject is missing"),
        ("?p works_at Acme Sons", "?p works_at Acme >>>Sons", "there is a fourth word"),
        ("?p ?how Acme", "?p >>>?how Acme", "a predicate cannot be a variable"),
        ("?p Works! Acme", "?p >>>Works! Acme", "is no predicate"),
        ("?1 works_at Acme", ">>>?1 works_at Acme", "?1 is no variable"),
        ("? works_at Acme", ">>>? works_at Acme", "? is no variable"),
        ("'a'b works_at Acme", "'a'>>>b works_at Acme", "a space must follow"),
        ("'a'^^xsd:string works_at Acme", ">>>'a'^^xsd:string works_at Acme", "a literal can only be the object"),
        ("?p works_at '  '", "?p works_at >>>'  '", "name"),
    ],
    ids=[
        "open quote",
        "short",
        "empty",
        "long",
        "predicate variable",
        "no predicate",
        "digit",
        "mark",
        "glued",
        "literal subject",
        "blank",
    ],
)
def test_points_at_the_bad_place(text: str, marked: str, said: str) -> None:
    with pytest.raises(InvalidInput) as failure:
        pattern(text)
    assert said in failure.value.message and f"{marked!r}, character {marked.index('>>>') + 1}:" in failure.value.message


def test_a_bad_pattern_is_one_sentence_before_anything_is_opened() -> None:
    ran = erstwhile("match", "?p works_at Acme", "?p lives_in", "--data", "/dev/null/none")
    assert (ran.status, ran.out, ran.err.count("\n")) == (1, "", 1) and "'?p lives_in>>>'" in ran.err
