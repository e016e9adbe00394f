"""Patterns as data: an overlay adds a predicate and extraction finds it; mistakes are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from extraction.extractor import SpacyExtractor
from extraction.rows import turn_from_row
from ontology.errors import InvalidInput
from ontology.loading import load_vocabulary
from ontology.vocabulary import Vocabulary


def overlay(tmp_path: Path, text: str) -> Vocabulary:
    path = tmp_path / "ours.yaml"
    path.write_text(text, encoding="utf-8")
    return load_vocabulary(path)


def test_at_least_42_predicates_have_patterns(vocabulary: Vocabulary) -> None:
    assert sum(bool(predicate.patterns) for predicate in vocabulary.predicates.values()) >= 42


def test_an_overlay_adds_a_predicate_that_extraction_finds(tmp_path: Path, extractor: SpacyExtractor) -> None:
    vocabulary = overlay(
        tmp_path,
        """predicates:
  mentors:
    domain: Person
    patterns:
      - {verb: [mentor, coach], objectType: [person], confidence: 0.9}
      - {noun: [mentor]}
      - {verb: [take], light: [apprentice], preposition: [on]}
""",
    )
    ours = SpacyExtractor(vocabulary, extractor.model)
    turns = [
        turn_from_row({"id": str(n), "speaker": "Ada", "said": "2025-03-12T10:00:00Z", "text": text})
        for n, text in enumerate(["Maria mentored Leo Brandt for two years.", "Karen is my mentor.", "Maria coached Leo Brandt in 2019."])
    ]
    found = [[(c.subject, c.predicate, c.object.text, c.confidence) for c in claims] for claims in ours.extract(turns)]
    assert found[0] == [("Maria", "mentors", "Leo Brandt", 0.9)]
    assert ("Karen", "mentors", "Ada", 0.8) in found[1]
    assert found[2] == [("Maria", "mentors", "Leo Brandt", 0.9)]
    assert ours.id != extractor.id


def test_built_in_patterns_stay_where_an_overlay_gives_none(tmp_path: Path, vocabulary: Vocabulary) -> None:
    ours = overlay(tmp_path, "predicates:\n  works_at: {cardinality: many}\n")
    assert ours.predicates["works_at"].patterns == vocabulary.predicates["works_at"].patterns
    assert ours.version != vocabulary.version


def test_on_and_off_are_prepositions_and_no_truth_values(tmp_path: Path) -> None:
    ours = overlay(tmp_path, "predicates:\n  sits_on:\n    patterns:\n      - {verb: [sit], preposition: [on, off]}\n")
    assert ours.predicates["sits_on"].patterns[0].preposition == ("on", "off")


@pytest.mark.parametrize(
    ("pattern", "line", "why"),
    [
        ("{verb: [mentor], noun: [mentor]}", 4, "exactly one"),
        ("{preposition: [at]}", 4, "exactly one"),
        ("{verb: [mentor], colour: red}", 4, "colour"),
        ("{verb: []}", 4, "verb"),
        ("{verb: [Mentor]}", 4, "lower case"),
        ("{verb: [mentor], kind: PATCH}", 4, "CHANGE"),
        ("{verb: [mentor], objectType: [planet]}", 4, "objectType"),
        ("{verb: [mentor], noObject: true}", 4, "value"),
        ("{verb: [mentor], confidence: 2}", 4, "confidence"),
        ("{verb: [mentor], previous: [from]}", 4, "preposition"),
    ],
)
def test_a_mistake_in_a_pattern_is_named_with_file_and_line(tmp_path: Path, pattern: str, line: int, why: str) -> None:
    with pytest.raises(InvalidInput, match=rf"ours\.yaml, line {line}, predicates\.mentors\.patterns\.0") as caught:
        overlay(tmp_path, f"predicates:\n  mentors:\n    patterns:\n      - {pattern}\n")
    assert why in str(caught.value)
