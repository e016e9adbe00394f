"""Terms of BM25: words, stop words, identifiers, scripts without spaces."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graph.recall.stopwords import STOP_WORDS
from graph.recall.tokens import LONGEST, query_tokens, tokens

WORDS = st.text("abcdefghij", min_size=2, max_size=8)
JOINED = st.builds(lambda words, joint: joint.join(words), st.lists(WORDS, min_size=2, max_size=5), st.sampled_from("./_-\\@:&"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("running", "runs"),
        ("Adoption agencies", "adoption AGENCY"),
        ("Caroline's", "Caroline"),
        ("Caroline’s", "Caroline's"),
        ("ｆｕｌｌ　ｗｉｄｔｈ", "full width"),
        ("STRASSE", "Straße"),
        ("soft\u00adhyphen", "softhyphen"),
        ("zero\u200bwidth", "zerowidth"),
        ("٣٤", "34"),
        ("$1,500", "1500"),
    ],
)
def test_spellings_of_one_word_are_one_term(one: str, other: str) -> None:
    assert tokens(one) == tokens(other)


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("Zoë", "Zoe"),
        ("café", "cafe"),
        ("cafe\u0301", "cafe"),
        ("Łódź", "Lodz"),
        ("Ørsted", "Orsted"),
        ("İstanbul", "istanbul"),
        ("Ἀθῆναι", "Αθηναι"),
        ("ёж", "еж"),
        ("قَلَم", "قلم"),
        ("קוֹרֵא", "קורא"),
    ],
)
def test_accents_that_people_leave_out_are_left_out(marked: str, plain: str) -> None:
    assert tokens(marked) == tokens(plain)


@pytest.mark.parametrize(("one", "other"), [("мой", "мои"), ("が", "か"), ("नमस्ते", "नमसत"), ("ประ", "ปร")])
def test_marks_that_make_another_letter_stay(one: str, other: str) -> None:
    assert tokens(one) != tokens(other)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("helper.py", ["helper", "py"]),
        ("v3.12", ["3.12", "3", "12"]),
        ("ERR_42", ["err", "42"]),
        ("snake_case_name", ["snake", "case", "name"]),
        ("camelCase", ["camel", "case"]),
        ("HTTPServer", ["http", "server"]),
        ("ERR42", ["err", "42"]),
        ("__init__.py", ["__init__", "init", "py"]),
        ("src/graph/helperPool.py", ["src", "graph", "helperPool.py", "helper", "pool", "py"]),
        ("C\\Users\\ana", ["Users", "ana"]),
        ("ana.bell@mail.example.org", ["ana.bell", "ana", "bell", "mail.example.org", "example"]),
        ("#123", ["123"]),
        ("C++", ["C"]),
        ("AT&T", ["AT"]),
        ("std::vector", ["std", "vector"]),
        ("10:30", ["10", "30"]),
        ("2024-03-15", ["2024", "03", "15"]),
        ("1,500.50", ["1500.50", "1500", "50"]),
        ("well-known", ["well", "known"]),
        ("O'Brien", ["Brien"]),
        ("O'Brien's", ["O'Brien", "Brien"]),
        ("3pm", ["3", "pm"]),
    ],
)
def test_an_identifier_is_found_by_its_whole_and_by_each_part(text: str, parts: list[str]) -> None:
    found = tokens(f"It is in {text}, see there.")
    for wanted in [text, text.upper(), *parts]:
        assert set(tokens(wanted)) & set(found), wanted
    assert tokens(text)[0] in found


@given(JOINED)
def test_whatever_is_joined_is_found_whole_and_in_parts(identifier: str) -> None:
    found = tokens(f"see {identifier}.")
    assert identifier in found
    for part in re.split(r"[^a-z]", identifier):
        assert set(tokens(part)) <= set(found)


def test_wholes_tell_apart_what_parts_do_not() -> None:
    assert tokens("C#")[0] != tokens("C++")[0] != tokens("C")[0]
    assert tokens("v3.12")[0] != tokens("v3.13")[0]


def test_scripts_without_spaces_are_pairs_of_characters() -> None:
    assert tokens("日本語です") == ["日本", "本語", "語で", "です"]
    assert tokens("ไทย") == ["ไท", "ทย"]
    assert tokens("猫、犬") == ["猫", "犬"]
    assert tokens("iPhone手机") == [*tokens("iPhone"), "手机"]


def test_hangul_words_are_found_under_their_particles() -> None:
    assert tokens("학교에") == ["학교에", "학교", "교에"]
    assert tokens("학교")[0] in tokens("학교에")


def test_a_question_leaves_its_stop_words_out() -> None:
    assert query_tokens("What's the name of my dentist, and where is she?") == tokens("name dentist")
    assert query_tokens("What’s it?") == tokens("What's it?")


def test_a_question_of_stop_words_alone_finds_them() -> None:
    assert query_tokens("Who is it?") == ["who", "is", "it"]
    assert set(query_tokens("To be or not to be")) <= set(tokens("to be or not to be, that is the question"))


def test_a_name_that_looks_like_a_stop_word_is_asked_for() -> None:
    assert query_tokens("Is she in the US in May?") == ["us", "may"]


def test_what_has_no_words_has_no_terms() -> None:
    assert tokens("") == tokens(" \n") == tokens("?! … 🎉") == query_tokens("") == []


def test_the_stop_list_is_as_words_are_compared() -> None:
    assert all(word == word.casefold().strip() and word.isascii() for word in STOP_WORDS)
    assert len(STOP_WORDS) > 300


@given(st.text(), st.text())
def test_terms_of_two_texts_are_those_of_one_then_of_the_other(one: str, other: str) -> None:
    assert tokens(f"{one} {other}") == tokens(one) + tokens(other)


@example("\u064b")
@example("caf\u0301 \u0301")
@given(st.text(st.characters(codec=None), max_size=200))
def test_no_text_is_refused(text: str) -> None:
    found = tokens(text)
    assert all(term and len(term) <= LONGEST and not any(map(str.isspace, term)) for term in found)
    assert set(query_tokens(text)) <= set(found)
    assert bool(query_tokens(text)) == bool(found)


@pytest.mark.parametrize(
    "text",
    ["a", "a/", "aB", "'", "a'", "漢", "가", "\u0327\u0301", "1,000", "_", "#a#", "a.b-c_", "v1.", "::", "A", "ไ", "\ud800", "İ"],
)
def test_a_long_text_takes_time_by_its_length(text: str) -> None:
    long = (text * 100_000)[:100_000]
    started = time.process_time()
    found = tokens(long)
    assert time.process_time() - started < 3
    assert all(len(term) <= LONGEST for term in found)


def test_fifty_thousand_short_texts_take_less_than_a_minute() -> None:
    texts = [f"Session {number}: I moved the helper{number}.py to src/v{number}.2 and café no{number} opened" for number in range(2_500)]
    started = time.process_time()
    for text in texts:
        tokens(text)
    assert time.process_time() - started < 3
