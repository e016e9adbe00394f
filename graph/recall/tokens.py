"""Terms of a text for BM25: what a document is found by and a question asks for.

- Words are NFKC, case-folded and stemmed (Snowball English). The accents of Latin and Greek letters are left out, since people leave them
  out ("Zoë" is "zoe"); so are Cyrillic ё's dots, Arabic vowels and Hebrew points. The marks of other scripts make other letters and stay.
- A number, version, identifier, path or address is kept whole and in parts: `src/helperPool.py` is itself, `helperpool.py`, `helperpool`
  and `src`, `helper`, `pool`, `py`. A part of a word that is a single letter is none ("v3" has "3"). Thousands have no commas.
- Scripts written without spaces (Han, kana, Thai, Lao, Khmer, Myanmar and like ones) are pairs of characters, a single one where it
  stands alone; Hangul words are kept whole and in pairs, since particles are glued to them.
- A term has at most 200 characters; of a longer one the first 200 are kept, and its parts.

Documents hold the stop words too and questions leave them out, unless there is nothing else in them: "Who is it?" finds something.
Terms of two texts with a space between are those of the one, then those of the other. Time is linear in the length of the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import Stemmer

from graph.recall.stopwords import NAMES, STOP_WORDS

LONGEST = 200

# No cache of its own: a call is then a plain function that holds the interpreter's lock, so threads can share the stemmer.
_STEMMER = Stemmer.Stemmer("english", 0)

# First and last code point of the scripts that put no spaces between words.
_UNSPACED = (
    *((0x0E01, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x1950, 0x19FF), (0x1A20, 0x1AAF), (0x1B00, 0x1B7F), (0x2E80, 0x2FDF)),
    *((0x3005, 0x3007), (0x3021, 0x3029), (0x3041, 0x312F), (0x31A0, 0x31BF), (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF)),
    *((0xA980, 0xA9FF), (0xAA60, 0xAADF), (0xF900, 0xFAFF), (0x1AFF0, 0x1B16F), (0x20000, 0x3FFFF)),
)
_HANGUL = ((0x1100, 0x11FF), (0x3130, 0x318F), (0xA960, 0xA97F), (0xAC00, 0xD7FF))


def _within(point: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(low <= point <= high for low, high in ranges)


class _Kinds(dict[int, str]):
    """Each character's kind, as one ASCII character: `a` of a word, `0` digit, `c` unspaced, `k` Hangul, a joint itself, else a space."""

    def __missing__(self, point: int) -> str:
        character, kind = chr(point), " "
        category = unicodedata.category(character)
        if character in "./-_,:@&+#'\\":
            kind = character
        elif character in "’ʼ":
            kind = "'"
        elif category == "Nd":
            kind = "0"
        elif category[0] in "LN" or category in ("Mn", "Mc"):
            kind = "c" if _within(point, _UNSPACED) else "k" if _within(point, _HANGUL) else "a"
        self[point] = kind
        return kind


class _Letters(dict[int, str]):
    """What stands for a character in a term, after case-folding: digits as ASCII, letters with a stroke or joined as they are typed."""

    def __missing__(self, point: int) -> str:
        character = chr(point)
        digit = unicodedata.decimal(character, None)
        self[point] = character if digit is None else str(digit)
        return self[point]


_KINDS = _Kinds()
_LETTERS = _Letters()
_LETTERS.update(
    {ord(a): b for a, b in zip("øłđħıæœþð’ʼёς", ("o", "l", "d", "h", "i", "ae", "oe", "th", "d", "'", "'", "е", "σ"), strict=True)}
)

# Over kinds. A joint joins where it stands alone between two words, a comma only before thousands; C++ and C# keep their ends.
_RUN = re.compile(r"#?[a0_]+(?:(?:[./\\@&'+-]|::?|(?<=0),(?=000(?!0)))[a0_]+)*(?:\+\+|#)?|c+|k+")
_JOINTS = tuple(map(re.compile, (r"[/\\@:&]+", r"\.", r"[-_+#]+", r"['’ʼ]")))
_VERSION = re.compile(r"[vV](\d+\.[\d.]*\d)")
_CLITICS = frozenset({"s", "t", "re", "ve", "ll", "d", "m"})
_INVISIBLE = re.compile("[\u00ad\u034f\u061c\u0640\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ud800-\udfff]")
_ACCENT = re.compile("(?<=[a-zͰ-Ͽ])[\u0300-\u036f]+|[\u064b-\u065f\u0670\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]+")
_PIECE = 1000


def tokens(text: str) -> list[str]:
    """All terms of a document, in its order, stop words among them; one that occurs twice is there twice."""
    return [term for chunk in text.split() for term, _ in _terms(chunk)]


def query_tokens(text: str) -> list[str]:
    """The terms of a question without its stop words; with them where it has no other."""
    found = [pair for chunk in text.split() for pair in _terms(chunk)]
    telling = [term for term, stops in found if not stops]
    return telling or [term for term, _ in found]


def _terms(chunk: str) -> tuple[tuple[str, bool], ...]:
    """The terms of what stands between two spaces, each with whether it is a stop word."""
    return _remembered(chunk) if len(chunk) <= 32 else _all(chunk)


@lru_cache(maxsize=32_768)
def _remembered(chunk: str) -> tuple[tuple[str, bool], ...]:
    return _all(chunk)


def _all(chunk: str) -> tuple[tuple[str, bool], ...]:
    # Of a lone accent nothing is left.
    return tuple(pair for pair in _read(chunk) if pair[0])


def _read(chunk: str) -> Iterator[tuple[str, bool]]:
    if not chunk.isascii():
        # In pieces: composing sorts the marks of a letter, which takes the square of their number.
        chunk = _INVISIBLE.sub("", chunk)
        chunk = "".join(unicodedata.normalize("NFKC", chunk[at : at + _PIECE]) for at in range(0, len(chunk), _PIECE))
    kinds = chunk.translate(_KINDS)
    for match in _RUN.finditer(kinds):
        run, kind = chunk[match.start() : match.end()], kinds[match.start()]
        if kind == "c":
            yield from ((pair, False) for pair in _pairs(run))
        elif kind == "k":
            if len(run) != 2:
                yield run[:LONGEST], False
            if len(run) > 1:
                yield from ((pair, False) for pair in _pairs(run))
        else:
            yield from _joined(run.replace(",", ""), 0)


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def _joined(text: str, level: int) -> Iterator[tuple[str, bool]]:
    """A word, or what is joined of words: the whole, then the parts, from the widest joints to the narrowest."""
    if level == len(_JOINTS):
        yield from _word(text)
        return
    pieces = [piece for piece in _JOINTS[level].split(text) if piece]
    if level == len(_JOINTS) - 1 and len(pieces) > 1 and pieces[-1].lower() in _CLITICS:
        if len(pieces) == 2:
            yield from _word(text)
            return
        text, pieces = text[: -1 - len(pieces[-1])], pieces[:-1]
    if pieces and pieces[0] != text:
        yield _folded(text)[:LONGEST], _folded(text) in STOP_WORDS
        if version := _VERSION.fullmatch(text):
            yield _folded(version[1])[:LONGEST], False
    for piece in pieces:
        yield from _joined(piece, level + 1)


def _word(text: str) -> Iterator[tuple[str, bool]]:
    folded = _folded(text)
    if folded.isalpha() or "'" in folded:
        yield _stem(folded[:LONGEST]), folded in STOP_WORDS and text not in NAMES
    else:
        yield folded[:LONGEST], False
    parts = list(_parts(text))
    if len(parts) > 1:
        for part in map(_folded, parts):
            if len(part) > 1 or part.isdecimal():
                yield _stem(part[:LONGEST]), part in STOP_WORDS


def _parts(text: str) -> Iterator[str]:
    """Where digits begin or end, a capital follows a small letter, or the last of some capitals begins a word: `HTTPServer2`."""
    if text.isalpha() and (text.islower() or text.isupper() or (text[1:].islower()) or (text[-1] == "s" and text[:-1].isupper())):
        return
    start = 0
    for at in range(1, len(text)):
        before, here = text[at - 1], text[at]
        after = text[at + 1] if at + 1 < len(text) else ""
        turns = here.isdecimal() != before.isdecimal()
        if turns or (here.isupper() and (before.islower() or (before.isupper() and after.islower()))):
            yield text[start:at]
            start = at
    yield text[start:]


def _folded(text: str) -> str:
    folded = text.casefold()
    if folded.isascii():
        return folded
    apart = _ACCENT.sub("", unicodedata.normalize("NFD", folded[: 2 * LONGEST]))
    return unicodedata.normalize("NFC", apart).translate(_LETTERS)


@lru_cache(maxsize=32_768)
def _stem(word: str) -> str:
    stem: str = _STEMMER.stemWord(word)
    return stem
