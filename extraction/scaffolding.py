"""Regions that a program wrapped into a message: reminders, command echoes, hook output, comments. Nobody said them."""

from __future__ import annotations

import re

from ontology import marking

# Elements that assistants' clients put round injected or machine-made text. An element that people write about in prose
# (`<context>`) counts only when it is closed; those that only a program writes also count when cut off.
_CLIENT = (
    "system-reminder",
    "system_reminder",
    "command-name",
    "command-message",
    "command-args",
    "command-contents",
    "local-command-stdout",
    "local-command-stderr",
    "local-command-caveat",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
    "user-prompt-submit-hook",
    "session-start-hook",
    "post-tool-use-hook",
    "task-notification",
    "teammate-message",
    "tool_use_error",
    "tool_result",
    "tool_results",
    "function_results",
    "function_calls",
    "persisted-output",
    "new-diagnostics",
    "ide_opened_file",
    "ide_selection",
    "ide_diagnostics",
    "environment_context",
    "user_instructions",
    "permissions instructions",
    "user-memory-input",
    "claude-background-info",
    "retrieval_status",
    # Our own: what was recalled for a prompt is no news when it comes back.
    marking.NAME,
)
_PROSE = (
    "context",
    "thinking",
    "stdout",
    "stderr",
    "output",
    "document",
    "file",
    "system",
    "instructions",
    "pasted_text",
    "details",
    "pre",
    "code",
)
_NAMES = "|".join(re.escape(name) for name in (*_CLIENT, *_PROSE))
_TOKEN = re.compile(rf"<!--|-->|<(?P<close>/?)(?P<name>{_NAMES})(?P<attributes>\s[^<>\n]{{0,300}})?>", re.IGNORECASE)
_INLINE_FENCE = re.compile(r"```[^`\n]{1,4000}```")

Region = tuple[int, int]


def _tokens(text: str) -> list[tuple[int, int, str, bool]]:
    """(start, end, element, whether it closes) of every scaffolding tag, in order."""
    found = []
    for match in _TOKEN.finditer(text):
        if match["name"] is None:
            found.append((match.start(), match.end(), "!--", match.group() == "-->"))
        elif not (match["attributes"] or "").endswith("/"):
            found.append((match.start(), match.end(), match["name"].lower(), bool(match["close"])))
    return found


def scaffolding(text: str) -> list[Region]:
    """The `[start, end)` regions of scaffolding, disjoint and in order.

    Nested elements of one name are counted; where they do not balance the region ends at the last end tag, so that too
    much is stripped rather than too little. A stray end tag is a region of its own. Linear: a name that found no end tag
    is not looked for again.
    """
    if "<" not in text and "-->" not in text and "```" not in text:
        return []
    tokens = _tokens(text)
    last_close = {name: at for at, (_, _, name, closes) in enumerate(tokens) if closes}
    regions: list[Region] = []
    at = 0
    while at < len(tokens):
        start, end, name, closes = tokens[at]
        if not closes and last_close.get(name, -1) > at:
            depth, stop = 0, last_close[name]
            for place in range(at, stop + 1):
                if tokens[place][2] == name:
                    depth += -1 if tokens[place][3] else 1
                    if depth == 0 or (name == "!--" and tokens[place][3]):
                        stop = place
                        break
            regions.append((start, tokens[stop][1]))
            at = stop + 1
            continue
        # Ours may be quoted, or follow words of the prompt that it stood in.
        if not closes and name in _CLIENT and (name == marking.NAME or not text[text.rfind("\n", 0, start) + 1 : start].strip()):
            regions.append((start, len(text)))
            break
        if name in _CLIENT:
            regions.append((start, end))
        at += 1
    regions.extend(match.span() for match in _INLINE_FENCE.finditer(text))
    return _merged(regions)


def _merged(regions: list[Region]) -> list[Region]:
    merged: list[Region] = []
    for start, end in sorted(regions):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def blanked(text: str, regions: list[Region]) -> str:
    """`text` of the same length with the regions' characters, except line ends, as NUL (which is no indentation)."""
    if not regions:
        return text
    pieces, at = [], 0
    for start, end in regions:
        pieces.append(text[at:start])
        pieces.append("\n".join("\0" * len(line) for line in text[start:end].split("\n")))
        at = end
    pieces.append(text[at:])
    return "".join(pieces)


def without(span: Region, regions: list[Region], first: int) -> tuple[list[Region], int]:
    """What of `span` lies outside the regions, and the index of the first region that may touch a later span.

    `first` is the index returned for the span before.
    """
    left, end = span
    pieces = []
    while first < len(regions) and regions[first][1] <= left:
        first += 1
    place = first
    while place < len(regions) and regions[place][0] < end:
        if regions[place][0] > left:
            pieces.append((left, regions[place][0]))
        left = max(left, regions[place][1])
        place += 1
    if left < end:
        pieces.append((left, end))
    return pieces, first
