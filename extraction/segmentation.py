"""Which parts of a text a person said."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^```.*?(?:^```[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)


def speech_spans(text: str) -> list[tuple[int, int]]:
    """Half-open character spans of `text` outside fenced code, in order."""
    spans, at = [], 0
    for fence in _FENCE.finditer(text):
        spans.append((at, fence.start()))
        at = fence.end()
    spans.append((at, len(text)))
    return [(start, end) for start, end in spans if text[start:end].strip()]
