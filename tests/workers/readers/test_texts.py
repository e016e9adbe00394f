"""Long texts are cut where a reader would pause, and nothing of them is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workers.readers import ReadReport
from workers.readers.texts import parts, storable


@given(st.text(alphabet="ab .\n#", max_size=300), st.integers(2, 40))
def test_parts_join_to_the_text_and_keep_the_limit(text: str, limit: int) -> None:
    found = parts(text, limit)
    assert all(0 < len(part) <= limit and part.strip() for part in found)
    assert "".join("".join(found).split()) == "".join(text.split())


def test_a_cut_prefers_headings_then_paragraphs_then_sentences() -> None:
    assert parts("a" * 30 + "\n\n" + "b" * 10 + "\n# c\n" + "d" * 20, 50)[0] == "a" * 30 + "\n\n" + "b" * 10 + "\n"
    assert parts("a" * 30 + "\n\n" + "b. c" * 10, 50)[0] == "a" * 30 + "\n\n"
    assert parts("a" * 30 + ". " + "b c" * 10, 50)[0] == "a" * 30 + ". "
    assert parts("a" * 100, 50) == ["a" * 50, "a" * 50]


def test_nul_and_lone_surrogates_are_replaced_and_counted_and_the_rest_stays() -> None:
    report = ReadReport()
    assert storable("a\0b\ud800c", report) == "a\ufffdb\ufffdc"
    assert storable("\u202eecilA Al\u200bice 👩‍💻\u2028\x85", report) == "\u202eecilA Al\u200bice 👩‍💻\u2028\x85"
    assert report.mended == {"NUL or lone surrogate": 1}
