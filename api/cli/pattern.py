"""Patterns as people type them: `?p works_at 'Acme & Sons'`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ontology.errors import InvalidInput
from ontology.names import checked_name, checked_predicate

_PLACES = ("subject", "predicate", "object")
_DATATYPE = re.compile(r"\^\^([A-Za-z]\w*:\w+)", re.ASCII)
_VARIABLE = re.compile(r"\?[A-Za-z_]\w*", re.ASCII)
_QUOTES = "'\""


@dataclass(frozen=True, slots=True)
class _Word:
    """One of the three parts. `at`: its first character, from 1. `datatype`: what follows a quoted literal after `^^`."""

    text: str
    at: int
    quoted: bool = False
    datatype: str | None = None


def pattern(text: str) -> dict[str, Any]:
    """A PatternInput: subject, predicate and object, parted by spaces.

    `?name` is a variable, a name with spaces stands in quotes (a quote inside is doubled), a literal is `'30'^^xsd:integer`. Raises
    InvalidInput, which says at which character of which pattern.
    """
    words = _words(text)
    if len(words) < len(_PLACES):
        raise _wrong(text, len(text) + 1, f"the {_PLACES[len(words)]} is missing: a pattern is SUBJECT PREDICATE OBJECT")
    if len(words) > len(_PLACES):
        raise _wrong(text, words[3].at, "there is a fourth word; a name with spaces stands in quotes, as in \"?p works_at 'Acme Corp'\"")
    subject, predicate, object = words
    if predicate.text.startswith("?") and not predicate.quoted:
        raise _wrong(text, predicate.at, "a predicate cannot be a variable")
    if subject.datatype is not None:
        raise _wrong(text, subject.at, "a literal can only be the object")
    try:
        name = checked_predicate(predicate.text)
    except InvalidInput as failure:
        raise _wrong(text, predicate.at, failure.message) from failure
    return {"subject": _term(text, subject), "predicate": name, "object": _term(text, object)}


def _words(text: str) -> list[_Word]:
    found: list[_Word] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        start = at
        if text[at] in _QUOTES:
            value, at = _quoted(text, at)
            typed = _DATATYPE.match(text, at)
            if typed is not None:
                at = typed.end()
            if at < len(text) and not text[at].isspace():
                raise _wrong(text, at + 1, "a space must follow the quote; a quote inside quotes is doubled")
            found.append(_Word(value, start + 1, True, typed[1] if typed else None))
        else:
            while at < len(text) and not text[at].isspace():
                at += 1
            found.append(_Word(text[start:at], start + 1))
    return found


def _quoted(text: str, at: int) -> tuple[str, int]:
    """The text in quotes, and where it ends."""
    quote, start, parts = text[at], at, []
    while True:
        end = text.find(quote, at + 1)
        if end < 0:
            raise _wrong(text, start + 1, f"the quote {quote} is not closed")
        parts.append(text[at + 1 : end])
        if text[end + 1 : end + 2] != quote:
            return quote.join(parts), end + 1
        at = end + 1


def _term(text: str, word: _Word) -> Mapping[str, Any]:
    """A TermInput."""
    if word.datatype is not None:
        return {"literal": {"value": word.text, "datatype": word.datatype}}
    if word.text.startswith("?") and not word.quoted:
        if not _VARIABLE.fullmatch(word.text):
            raise _wrong(text, word.at, f"{word.text} is no variable: a letter, then letters, digits and _")
        return {"variable": word.text[1:]}
    try:
        return {"name": checked_name(word.text)}
    except InvalidInput as failure:
        raise _wrong(text, word.at, failure.message) from failure


def _wrong(text: str, at: int, why: str) -> InvalidInput:
    """The place is marked in the text itself, for a message is one line."""
    marked = f"{text[: at - 1]}>>>{text[at - 1 :]}"
    return InvalidInput(f"pattern {marked!r}, character {at}: {why}", path=("patterns",), reason="UNPARSEABLE")
