"""Notes on somebody: words without a subject are of whom the note is on, and all others as they are anywhere."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extraction.extractor import SpacyExtractor
from ontology.episode import Turn

Triple = tuple[str, str, str]


def noted(extractor: SpacyExtractor, text: str, about: str | None = "Ann") -> list[Triple]:
    (claims,) = extractor.extract([Turn("t", text, 1_770_000_000_000_000, about, about=about)])
    for claim in claims:
        assert 0 <= claim.start < claim.end <= len(text)
    return [(claim.subject, claim.predicate, claim.object.text) for claim in claims if claim.confidence >= 0.5]


@pytest.mark.parametrize("about", ["Ann", "John_Smith", "default_user", "billing-service", "Acme Corp", "José"])
@pytest.mark.parametrize(
    ("text", "predicate", "object"),
    [
        ("Prefers dark mode", "prefers", "dark mode"),
        ("works at Acme.", "works_at", "Acme"),
        ("Drinks oat milk", "drinks", "oat milk"),
        ("Was born in Porto", "born_in", "Porto"),
        ("Married to Maria", "spouse_of", "Maria"),
        ("Founded Initech", "founded", "Initech"),
        ("Fluent in Spanish", "speaks", "Spanish"),
        ("Born in Porto", "born_in", "Porto"),
        ("Moved to Berlin", "lives_in", "Berlin"),
        ("Hosted on AWS", "hosted_on", "AWS"),
    ],
)
def test_words_without_a_subject_are_of_whom_the_note_is_on(
    extractor: SpacyExtractor, text: str, predicate: str, object: str, about: str
) -> None:
    assert noted(extractor, text, about) == [(about, predicate, object)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ann works at Globex", [("Ann", "works_at", "Globex")]),
        ("Bob works at Globex", [("Bob", "works_at", "Globex")]),
        ("The user prefers tea", [("user", "prefers", "tea")]),
        ("She is allergic to peanuts", []),
        ("Software engineer at Acme", []),
        ("Notes are kept in Notion", [("Notes", "located_in", "Notion")]),
        ("Written docs are rare", []),
        ("Running tests takes long", []),
    ],
)
def test_words_with_a_subject_keep_it(extractor: SpacyExtractor, text: str, found: list[Triple]) -> None:
    assert noted(extractor, text) == found


def test_each_sentence_and_item_of_a_note_is_on_the_same(extractor: SpacyExtractor) -> None:
    for text in ("Lives in Porto. Works at Acme.", "- Lives in Porto\n- Works at Acme", "Lives in Porto; works at Acme"):
        assert noted(extractor, text) == [("Ann", "lives_in", "Porto"), ("Ann", "works_at", "Acme")]


def test_a_denial_in_a_note_denies(extractor: SpacyExtractor) -> None:
    (claims,) = extractor.extract([Turn("t", "Does not eat meat", 0, "Ann", about="Ann")])
    assert [(claim.subject, claim.predicate, claim.polarity) for claim in claims] == [("Ann", "eats", False)]


def test_the_same_words_in_a_conversation_make_no_claim(extractor: SpacyExtractor) -> None:
    (claims,) = extractor.extract([Turn("t", "Prefers dark mode", 0, "Ann")])
    assert claims == []


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.sampled_from(["Prefers", "tea", "works at", "Acme", ".", "\n- ", "; ", "the", "\u2019s", "gonna", "is", "ä"]), max_size=8),
    st.sampled_from(["Ann", "a_b", "x; y", "-", "Dr. Lee", " Ann  B ", "你好"]),
)
def test_any_note_is_read_with_its_evidence_inside_it(extractor: SpacyExtractor, words: list[str], about: str) -> None:
    noted(extractor, " ".join(words), about)


def test_a_note_does_not_change_what_others_beside_it_say(extractor: SpacyExtractor) -> None:
    turn = Turn("t", "I live in Rome.", 0, "Bob")
    note = replace(turn, text="Prefers tea", about="Ann", speaker="Ann")
    assert extractor.extract([turn, note, turn])[0] == extractor.extract([turn])[0]
