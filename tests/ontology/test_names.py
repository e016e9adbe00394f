"""One key for all spellings of a name, and another for what only looks like it."""

from __future__ import annotations

import itertools
import unicodedata
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontology.errors import InvalidInput
from ontology.names import Keys, checked_name, normalise

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
FORMS: tuple[Form, ...] = ("NFC", "NFD", "NFKC", "NFKD")
MARKS = "\u00ad\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202e\u2060\u2066\u2069\ufe0e\ufe0f\ufeff"
SPACES = " \t\u00a0\u1680\u2003\u2009\u202f\u205f\u3000"
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12)
LETTERS = st.text(st.characters(categories=("Ll", "Lu", "Lo"), exclude_characters="\u0131"), min_size=1, max_size=12)
"""Without the dotless i, whose capital is that of the dotted one."""


@given(NAMES)
def test_a_key_is_the_key_of_itself(name: str) -> None:
    assert normalise(normalise(name)) == normalise(name)


@given(NAMES, st.sampled_from(FORMS))
def test_all_forms_of_unicode_are_one(name: str, form: Form) -> None:
    assert normalise(unicodedata.normalize(form, name)) == normalise(name)


@given(NAMES, st.lists(st.tuples(st.integers(0, 12), st.sampled_from(MARKS)), max_size=4))
def test_marks_that_cannot_be_seen_do_not_count_wherever_they_stand(name: str, marks: list[tuple[int, str]]) -> None:
    marked = name
    for place, mark in marks:
        marked = marked[:place] + mark + marked[place:]
    assert normalise(marked) == normalise(name)


@given(LETTERS)
def test_case_does_not_count(name: str) -> None:
    assert {normalise(name.upper()), normalise(name.lower()), normalise(name.casefold())} == {normalise(name)}


@given(st.lists(LETTERS, min_size=1, max_size=4), st.data())
def test_spaces_of_all_kinds_are_one(words: list[str], data: st.DataObject) -> None:
    gaps = st.text(st.sampled_from(SPACES), min_size=1, max_size=3)
    spaced = "".join(data.draw(gaps) + word for word in words) + data.draw(gaps)
    assert normalise(spaced) == normalise(" ".join(words))


def tags(text: str) -> str:
    """The tag characters of a flag."""
    return "".join(chr(0xE0000 + ord(character)) for character in text) + "\U000e007f"


ONE = [
    ("Zo\u00eb", "Zoe\u0308", "ZOE\u0308", "Zoe\u200b\u0308", "\u200eZo\u00eb\u200f"),
    ("Alice", "Al\u200bice", "Alice\u00a0", "\uff21\uff4c\uff49\uff43\uff45", "ALICE", "\u2068Alice\u2069", "Al\u00adice"),
    ("Gro\u00df", "GROSS", "gro\u1e9e"),
    ("\u039f\u03b4\u03c5\u03c3\u03c3\u03b5\u03cd\u03c2", "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u038e\u03a3"),
    ("\u0130pek", "I\u0307pek", "i\u0307pek"),
    ("\u2764\ufe0f Sam", "\u2764\ufe0e Sam", "\u2764 Sam"),
    ("\U0001f469\u200d\U0001f4bb Sam", "\U0001f469\U0001f4bb Sam"),
    ("\u845b\U000e0100\u57ce", "\u845b\u57ce"),
    ("Nguy\u1ec5n", "Nguye\u0302\u0303n"),
    ("\ud55c\uae00", "\u1112\u1161\u11ab\u1100\u1173\u11af"),
    ("\ufb01nn", "finn"),
    ("\u0627\u0644\u0644\u0647", "\ufdf2"),
    ("\u5f20 \u4f1f", "\u5f20\u3000\u4f1f"),
]
"""Spellings of one name."""

APART = [
    # Latin and Cyrillic, Latin and Greek: look-alikes.
    *(("Anna", "\u0410\u043d\u043d\u0430"), ("a", "\u0430"), ("Ana", "\u0410na"), ("Coco", "\u0421\u043e\u0441\u043e"), ("o", "\u03bf")),
    # Accents and letters that are none.
    *(("Zoe", "Zo\u00eb"), ("Muller", "M\u00fcller"), ("Mueller", "M\u00fcller"), ("\u0130pek", "Ipek"), ("\u0131", "i")),
    *(("\u0438", "\u0439"), ("\u0435", "\u0451"), ("O\u02bcBrien", "O'Brien")),
    # CJK: other characters, simplified and traditional, one that continues the other.
    *(("\u5f20\u4f1f", "\u5f35\u5049"), ("\u674e\u96f7", "\u674e\u857e"), ("\u738b", "\u738b\u82b3"), ("\u307f\u304b", "\u30df\u30ab")),
    # Arabic: hamza, yeh and its Persian form, teh marbuta.
    ("\u0623\u062d\u0645\u062f", "\u0627\u062d\u0645\u062f"),
    ("\u0639\u0644\u064a", "\u0639\u0644\u06cc"),
    ("\u0633\u0627\u0631\u0629", "\u0633\u0627\u0631\u0627"),
    # Emoji: of which one holds the other, skin tones, flags that differ by tags alone.
    ("\U0001f469\u200d\U0001f4bb Sam", "\U0001f468\u200d\U0001f4bb Sam"),
    ("\U0001f469 Sam", "\U0001f469\u200d\U0001f4bb Sam"),
    ("\U0001f44b\U0001f3fb", "\U0001f44b\U0001f3ff"),
    (f"\U0001f3f4{tags('gbsct')}", f"\U0001f3f4{tags('gbwls')}"),
    # A direction override shows another name; it is not turned round.
    *(("\u202eecilA", "Alice"), ("Alice", "Al ice"), ("Sam", "\U0001f469\u200d\U0001f4bb Sam")),
]


@pytest.mark.parametrize("spellings", ONE, ids=lambda spellings: ascii(spellings[0]))
def test_spellings_of_one_name_have_one_key(spellings: tuple[str, ...]) -> None:
    keys = Keys(b"secret")
    assert len({keys.entity("n", spelling) for spelling in spellings}) == 1


@pytest.mark.parametrize("names", APART, ids=ascii)
def test_names_that_differ_stay_apart(names: tuple[str, str]) -> None:
    keys = Keys(b"secret")
    assert keys.entity("n", names[0]) != keys.entity("n", names[1])


def test_all_the_names_of_the_table_stay_apart_from_each_other() -> None:
    keys = {normalise(spellings[0]) for spellings in ONE}
    assert len(keys) == len(ONE)
    assert all(normalise(one) != normalise(two) for one, two in itertools.combinations([spellings[0] for spellings in ONE], 2))


@pytest.mark.parametrize(
    "name", ["\U0001f469\u200d\U0001f4bb Sam", "\u202eecilA", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u2764\ufe0f"]
)
def test_a_name_keeps_what_its_key_leaves_out(name: str) -> None:
    assert checked_name(f" {name} ") == name


@pytest.mark.parametrize("name", ["", " ", "\u200b", "\u202e\u200f", "\ufe0f", "\u3164", "\x01", "\u2060 \u00a0"])
def test_what_cannot_be_seen_is_no_name(name: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        checked_name(name)
    assert refusal.value.reason == "EMPTY"
