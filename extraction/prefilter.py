"""Which rules a text needs at all: one pass for the words of all of them, so that ordinary text costs next to nothing."""

from __future__ import annotations

from collections.abc import Sequence

import re2

_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), 0xFFFD)
_FULL = re2.Options()
_FULL.never_capture = True


def searchable(text: str) -> bytes:
    """`text` in UTF-8, of the same length as with its lone surrogates, for which U+FFFD stands."""
    return text.encode() if text.isascii() else text.translate(_SURROGATES).encode("utf-8")


class Prefilter:
    """Of rules that each name words, in any case, those of which a text holds one. A rule without words is always wanted."""

    def __init__(self, words: Sequence[Sequence[str]]) -> None:
        self._always = [place for place, own in enumerate(words) if not own]
        self._wanting: dict[str, list[int]] = {}
        for place, own in enumerate(words):
            for word in own:
                self._wanting.setdefault(word, []).append(place)
        self._order = list(self._wanting)
        self._set = re2.Set.SearchSet()
        for word in self._order:
            # Between slashes stands a pattern, for what no word tells.
            pattern = word[1:-1] if len(word) > 2 and word[0] == word[-1] == "/" else re2.escape(word)
            self._set.Add("(?i)" + pattern)
        if self._order:
            self._set.Compile()

    def wanted(self, text: bytes) -> list[int]:
        """The places of the rules to try, in order."""
        found = self._set.Match(text) if self._order else ()
        if not found:
            return self._always
        return sorted({*self._always, *(place for number in found for place in self._wanting[self._order[number]])})
