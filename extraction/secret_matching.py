"""Where one rule finds secrets in a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from math import log2
from typing import Any

import re2

from extraction.rule_files import SecretRule

_BEFORE = 60
"""Bytes before a match that `not_after` looks at."""

_MATERIAL = re2.compile("[A-Za-z0-9+/]{16}")

Span = tuple[int, int]


def entropy(value: bytes) -> float:
    """Shannon's entropy of the bytes of a value, in bits a byte; 0 where it has no letters or no digits: a word or a number."""
    if not any(48 <= byte <= 57 for byte in value) or not any(65 <= byte <= 90 or 97 <= byte <= 122 for byte in value):
        return 0.0
    length = len(value)
    return -sum(count / length * log2(count / length) for count in Counter(value).values())


class SecretMatcher:
    """One rule. `spans(text)` are the `[start, end)`, in bytes of UTF-8, of the secrets that it finds; none is empty.

    Its patterns are compiled when they are first needed: most texts need few of them.
    """

    def __init__(self, name: str, rule: SecretRule) -> None:
        self.name = name
        self._rule = rule

    def spans(self, text: bytes) -> Iterator[Span]:
        """In order of the text."""
        if self._rule.pattern is None:
            yield from self._blocks(text)
            return
        for match in self._pattern.finditer(text):
            if self._rule.not_after and self._not_after.search(text[max(0, match.start() - _BEFORE) : match.start()]):
                continue
            found = [span for span in map(match.span, self._groups) if span[0] >= 0] or [match.span()]
            for start, end in found:
                if start < end and self._is_secret(text[start:end]):
                    yield start, end

    def _is_secret(self, value: bytes) -> bool:
        if self._rule.unless and self._unless.fullmatch(value):
            return False
        return self._rule.entropy is None or entropy(value) >= self._rule.entropy

    def _blocks(self, text: bytes) -> Iterator[Span]:
        """From a beginning to the next end; one without an end goes on as long as the body matches."""
        marks: list[Span] = [match.span() for match in self._pattern.finditer(text)]
        begins = [bool(self._begin.fullmatch(text[start:end])) for start, end in marks]
        for place, (start, end) in enumerate(marks):
            if not begins[place]:
                continue
            following = marks[place + 1][0] if place + 1 < len(marks) else len(text)
            ended = place + 1 < len(marks) and not begins[place + 1]
            last = following if ended else end + int(self._body.match(text[end:following]).end())
            # Where only the marks stand, somebody writes about keys.
            if _MATERIAL.search(text[end:last]):
                yield start, marks[place + 1][1] if ended else last

    @cached_property
    def _pattern(self) -> Any:
        rule = self._rule
        return re2.compile(f"(?:{rule.begin})|(?:{rule.end})" if rule.pattern is None else rule.pattern)

    @cached_property
    def _groups(self) -> list[int]:
        return [index for group, index in self._pattern.groupindex.items() if group.startswith("secret")]

    @cached_property
    def _begin(self) -> Any:
        return re2.compile(self._rule.begin)

    @cached_property
    def _body(self) -> Any:
        return re2.compile(self._rule.body)

    @cached_property
    def _unless(self) -> Any:
        return re2.compile("|".join(f"(?:{pattern})" for pattern in self._rule.unless))

    @cached_property
    def _not_after(self) -> Any:
        return re2.compile(rf"(?:{self._rule.not_after})\z")
