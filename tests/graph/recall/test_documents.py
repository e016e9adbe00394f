"""The texts of documents: what words are counted in, and what vectors are made of."""

from __future__ import annotations

from typing import Any

import pytest

from graph.ledger.schema import OPEN
from graph.recall import documents
from graph.recall.documents import BEFORE, SHORT, of_claim, of_episode, sentence
from graph.recall.feed import AROUND, ClaimDocument
from graph.recall.tokens import tokens
from graph.service import LedgerGraph
from ontology.claim import ClaimDraft
from ontology.episode import EpisodeDraft
from ontology.marking import BEGIN, END
from tests.graph.ledger.saying import claim


def told(**fields: Any) -> ClaimDocument:
    """A claim with fields of its own."""
    empty: dict[str, Any] = dict.fromkeys(ClaimDocument._fields, "")
    shape = {"polarity": True, "start": 0, "end": 0, "speaker": None, "window": "", "tx_to": OPEN}
    named = {"subject_text": "Ada", "predicate": "lives_in", "object_text": "Lisbon"}
    return ClaimDocument(**{**empty, **shape, **named, **fields})


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "Ada lives in Lisbon"),
        ({"polarity": False}, "Ada not lives in Lisbon"),
        ({"qualifier": "port"}, "Ada lives in port Lisbon"),
        ({"speaker": "Ada"}, "Ada lives in Lisbon"),
        ({"window": "I moved.", "start": 0, "end": 1}, "Ada lives in Lisbon. I moved."),
        ({"window": "I moved.", "start": 0, "end": 1, "speaker": "Ada"}, "Ada lives in Lisbon. Ada: I moved."),
        ({"window": "Hm. I moved. Yes", "start": 6, "end": 11, "speaker": "Ada"}, "Ada lives in Lisbon. Ada: I moved."),
        ({"window": "I moved.", "start": 0, "end": 0, "speaker": "Ada"}, "Ada lives in Lisbon"),
    ],
)
def test_a_claims_document_is_what_it_says_and_its_sentence(fields: dict[str, Any], text: str) -> None:
    assert of_claim(told(**fields)) == (text, text)


@pytest.mark.parametrize(
    ("window", "words", "found"),
    [
        ("One. Two here. Three.", "here", "Two here."),
        ("One? Two here! Three.", "here", "Two here!"),
        ("One\nTwo here\nThree", "here", "Two here"),
        ('He said "so." Then here.', "here", "Then here."),
        ("v3.12 is here, at 3.14 too. Next.", "here", "v3.12 is here, at 3.14 too."),
        ("到了。我在这里。好", "这里", "我在这里。"),
        ("One here. And there. End.", "here. And there", "One here. And there."),
        ("here", "here", "here"),
        ("One. here", "here", "here"),
        ("One\nhere too\nThree", "here", "here too"),
        ("here. One", "here", "here."),
        ("One. \n here \n\n", "here", "here"),
    ],
)
def test_the_sentence_is_that_around_the_words(window: str, words: str, found: str) -> None:
    start = window.index(words)
    assert sentence(window, start, start + len(words)) == found


def test_a_short_turn_means_what_was_said_before_it_too_and_has_its_own_words_alone() -> None:
    texts = of_episode("Ada", "Yes, I did.", ("Bob", "Did you move?"))
    assert texts == ("Ada: Yes, I did.", "Bob: Did you move?\nAda: Yes, I did.")
    assert of_episode(None, "Yes", (None, "So?")) == ("Yes", "So?\nYes")
    assert of_episode("Ada", "Yes", None) == ("Ada: Yes", "Ada: Yes")


def test_a_long_turn_stands_by_itself() -> None:
    short, long = "x" * (SHORT - 1), "x" * SHORT
    assert of_episode(None, short, (None, "before")).meaning == f"before\n{short}"
    assert of_episode(None, long, (None, "before")).meaning == long


def test_of_what_was_said_before_the_beginning_is_taken() -> None:
    assert of_episode(None, "Yes", ("Bob", "y" * (BEFORE + 50))).meaning == f"Bob: {'y' * BEFORE}\nYes"


@pytest.mark.parametrize("padding", [0, 5, AROUND - 20, AROUND, AROUND + 1, 3 * AROUND])
def test_the_sentence_of_a_claim_is_found_wherever_its_words_stand(graph: LedgerGraph, padding: int) -> None:
    text = f"{'Before. ' * (padding // 8)}{'é' * (padding % 8)} Ada moved to Lisbon 🙂 today. {'After. ' * (padding // 8)}"
    start = text.index("Ada")
    draft: ClaimDraft = claim("Ada lives_in Lisbon", start=start, end=start + len("Ada moved"))
    graph.record_extracted("n", [(EpisodeDraft(text, "chat", said_at="2024-01-01"), [draft], ())], extractor="test")
    graph._recall.index.catch_up()
    feed = graph._recall.index._feed
    space = graph._recall.index.space("n")
    assert space is not None
    (row,) = space.indexed.claims["row"].tolist()
    (found,) = feed.claims([row])
    said = documents.of_claim(found).words
    assert said.startswith("Ada lives in Lisbon. ")
    assert "Ada moved to Lisbon 🙂 today." in said
    assert "After" not in said
    assert "Before" not in said
    assert len(found.window) <= 2 * AROUND + len("Ada moved")
    assert space.indexed.claim_words.documents["length"].tolist() == [len(tokens(said))]


def test_a_block_that_was_written_for_a_prompt_is_no_part_of_what_was_said() -> None:
    pasted = f"See {BEGIN}\n- Ada | lives in | Porto\n{END} and tell me"
    assert documents.of_episode("Ben", pasted, None).words == "Ben: See  and tell me"
    assert documents.of_episode("Ben", f"Cut off {BEGIN} Porto", None).words == "Ben: Cut off"
    assert "Porto" not in documents.of_episode("Ben", "yes", ("Ada", pasted)).meaning
