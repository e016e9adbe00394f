"""How error messages show what they were given: short, and never a part of a word."""

from __future__ import annotations

import re

MOST = 60
"""Characters."""

_WORDS = re.compile(r"\S+|\s+")


def echo(text: str, most: int = MOST) -> str:
    """`text` in quotes, of a longer one the first words up to `most` characters and "...".

    A word that does not fit is left out whole: of a secret cut in two nobody who scrubs the message would know the first half.
    """
    if len(text) <= most:
        return repr(text)
    shown = ""
    for word in _WORDS.findall(text[: most + 1]):
        if len(shown) + len(word) > most:
            break
        shown += word
    return repr(f"{shown.rstrip()}...")
