"""Messages show what they were given, short, and never a part of a word."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from extraction.scrubbing import Scrubber
from ontology.echo import MOST, echo

TOKEN = "gh" + "p_" + "aB3dE5gH7j" * 4


def test_a_short_text_is_shown_whole() -> None:
    assert echo("it's 5") == '"it\'s 5"'
    assert echo("x" * MOST) == repr("x" * MOST)


def test_of_a_long_text_whole_words_are_shown() -> None:
    assert echo("one two three", 9) == "'one two...'"
    assert echo("one two three", 7) == "'one two...'"
    assert echo("one two three", 6) == "'one...'"
    assert echo("abcdefgh", 4) == "'...'"


@given(st.integers(0, 90))
def test_a_secret_that_is_cut_leaves_nothing_of_itself(place: int) -> None:
    shown = echo("x" * (place // 2) + " " * (place - place // 2) + TOKEN + " and more words to make it long enough to be cut somewhere")
    assert TOKEN[:6] not in Scrubber(b"key").scrub(shown).text


@given(st.text(), st.integers(1, 80))
def test_what_is_shown_is_short_and_a_beginning_of_the_text(text: str, most: int) -> None:
    shown = echo(text, most)
    assert shown == repr(text) or len(text) > most
    if len(text) > most:
        inner = shown[1:-1]
        assert inner.endswith("...")
        assert len(inner) <= 10 * most + 3
