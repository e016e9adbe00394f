""" "I", "you", "we" and "user" from every source: who is meant, and that nobody is where nobody is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from extraction.extractor import SpacyExtractor
from ontology.claim import CANDIDATE_BELOW
from tests.workers.readers.writing import read, record, write_lines
from workers.readers import ReadOptions, Speakers
from workers.turns import said_at, turn_of

MAYA = ReadOptions(speaker="Maya")


@pytest.fixture
def told(tmp_path: Path, extractor: SpacyExtractor) -> Any:
    """`told(lines or text, options)`: the believed triples of a file."""

    def triples(content: list[dict[str, Any]] | str, options: ReadOptions | None = None) -> list[tuple[str, str, str]]:
        path = tmp_path / ("note.md" if isinstance(content, str) else "lines.jsonl")
        if isinstance(content, str):
            path.write_text(content, encoding="utf-8")
        else:
            write_lines(path, content)
        drafts, _, _ = read(path, options)
        found = extractor.extract([turn_of(draft, said_at(draft)) for draft in drafts])
        return [(c.subject, c.predicate, c.object.text) for claims in found for c in claims if c.confidence >= CANDIDATE_BELOW]

    return triples


def test_i_is_the_user_of_a_session_by_the_best_name_that_is_known(told: Any) -> None:
    lines = [record(1, "I live in Rome. My sister works at Acme.")]
    assert told(lines) == [("user", "lives_in", "Rome"), ("user's sister", "works_at", "Acme")]
    assert told(lines, MAYA) == [("Maya", "lives_in", "Rome"), ("Maya's sister", "works_at", "Acme")]
    mapped = ReadOptions(speakers=Speakers({"claude-code": {"user": "Mia"}}))
    assert told(lines, mapped) == [("Mia", "lives_in", "Rome"), ("Mia's sister", "works_at", "Acme")]


def test_you_is_the_user_where_the_assistant_says_it(told: Any) -> None:
    lines = [record(1, "You live in Rome, and your sister works at Acme.", "assistant")]
    assert told(lines, MAYA) == [("Maya", "lives_in", "Rome"), ("Maya's sister", "works_at", "Acme")]


def test_what_an_assistant_says_of_itself_is_no_belief(told: Any) -> None:
    assert told([record(1, "I live in Rome. I use Postgres.", "assistant")], MAYA) == []


def test_we_is_the_project_of_a_session_and_our_relatives_are_the_speakers(told: Any) -> None:
    lines = [record(1, "We use Postgres. Our daughter lives in Rome.", cwd="/home/maya/billing")]
    assert told(lines, MAYA) == [("billing", "uses", "Postgres"), ("Maya's daughter", "lives_in", "Rome")]
    assert told([record(1, "We use Postgres.", cwd="/home/maya")], MAYA) == [("Maya", "uses", "Postgres")]


def test_between_two_you_is_the_other_and_among_three_nobody(told: Any) -> None:
    ana = {"speaker": "Ana", "text": "You live in Rome.", "timestamp": 1_740_000_000}
    ben = {"speaker": "Ben", "text": "Hm.", "timestamp": 1_740_000_001}
    assert told([ana, ben]) == [("Ben", "lives_in", "Rome")]
    assert told([ana, ben, ben | {"speaker": "Cleo"}]) == []
    assert told([ana | {"to": "Cleo"}, ben, ben | {"speaker": "Dov"}]) == [("Cleo", "lives_in", "Rome")]


def test_we_in_a_chat_is_the_speaker(told: Any) -> None:
    lines = [{"speaker": "Ana", "text": "We live in Rome.", "timestamp": 1_740_000_000, "channel": "general"}]
    assert told(lines) == [("Ana", "lives_in", "Rome")]


def test_a_message_that_names_nobody_is_the_defaults(told: Any) -> None:
    lines = [{"speaker": "Ana", "text": "Hi.", "timestamp": 1_740_000_000}, {"text": "I live in Rome.", "timestamp": 1_740_000_001}]
    assert told(lines) == [("user", "lives_in", "Rome")]
    assert told(lines, MAYA) == [("Maya", "lives_in", "Rome")]


def test_a_note_is_its_authors_or_the_options_or_nobody_in_particulars(told: Any) -> None:
    assert told("I live in Rome.\n") == [("user", "lives_in", "Rome")]
    assert told("---\nauthor: Ana\n---\nI live in Rome.\n") == [("Ana", "lives_in", "Rome")]
    assert told("I live in Rome.\n", MAYA) == [("Maya", "lives_in", "Rome")]
    assert told("I live in Rome.\n", ReadOptions(speakers=Speakers(defaults={"": "Mia"}))) == [("Mia", "lives_in", "Rome")]


def test_you_in_a_note_is_nobody(told: Any) -> None:
    assert told("You live in Rome.\n", MAYA) == []


def test_a_named_relative_is_joined_with_the_role_under_the_mapped_name(told: Any) -> None:
    lines = [record(1, "My sister Mia works at Acme.")]
    assert ("Mia", "also_known_as", "Maya's sister") in told(lines, MAYA)
    assert not [row for row in told(lines) if row[1] == "also_known_as"]
