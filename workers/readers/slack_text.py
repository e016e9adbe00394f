"""Slack's markup as what a person reads: mentions as names, links with labels, entities unescaped."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

_MARKUP = re.compile(r"<([^<>\n]{1,4000})>")
_CODE = re.compile(r"(```.*?```|`[^`\n]+`)", re.DOTALL)
# Marks inside addresses and names of files are none.
_EMPHASIS = re.compile(r"([*_~])(?<![\w/.=&-][*_~])(?=\S)([^*_~\n]*[^*_~\s])\1(?![\w/])")
_NESTED = 3
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))
_MENTION = re.compile(r"<@([UW][A-Z0-9]{1,30})(?:\|[^<>]*)?>")

Names = Callable[[str, str], str]
"""(`"user"`, `"channel"` or `"group"`; its ID) to its name, or the ID where it has none here."""


def readable(text: str, names: Names) -> str:
    """The text without Slack's markup. Code keeps its backticks, a quotation its `>`."""
    pieces = []
    for place, piece in enumerate(_CODE.split(text)):
        # Markup in code is escaped by Slack too; emphasis in it is none.
        plain = _MARKUP.sub(lambda match: _shown(match[1], names), piece)
        for _ in range(0 if place % 2 else _NESTED):
            plain, found = _EMPHASIS.subn(r"\2", plain)
            if not found:
                break
        pieces.append(plain)
    joined = "".join(pieces)
    for entity, character in _ENTITIES:
        joined = joined.replace(entity, character)
    return joined


def addressed(text: str) -> str | None:
    """The ID of the one user whom a message begins by naming."""
    start = text.lstrip()
    match = _MENTION.match(start)
    return match[1] if match and not _MENTION.match(start[match.end() :].lstrip(" ,&")) else None


def _shown(markup: str, names: Names) -> str:
    target, _, label = markup.partition("|")
    kind, name = target[:1], target[1:]
    if kind == "@":
        # Without the "@": in prose the name is a name ("Ben Ito moved to Oslo"), a handle is only somebody's.
        known = names("user", name)
        return known if known != name else f"@{label.lstrip('@') or name}"
    if kind == "#":
        known = names("channel", name)
        return f"#{label.lstrip('#') if known == name and label else known}"
    if kind == "!":
        return _special(name, label, names)
    if label:
        return label
    return target.removeprefix("mailto:").removeprefix("tel:")


def _special(name: str, label: str, names: Names) -> str:
    word, _, rest = name.partition("^")
    if label:
        return label
    if word == "subteam":
        return f"@{names('group', rest)}"
    return f"@{word}" if word in ("here", "channel", "everyone") else word


def block_text(blocks: Any) -> str:
    """The markup of a message that has blocks and no text; empty where they hold none."""
    return "\n".join(piece for piece in _pieces(blocks, 0) if piece.strip())


def _pieces(node: Any, depth: int) -> Iterator[str]:
    if depth > 20:
        return
    if isinstance(node, list):
        for item in node:
            yield from _pieces(item, depth + 1)
    elif isinstance(node, dict):
        kind = node.get("type")
        if kind in ("rich_text_section", "rich_text_quote", "rich_text_preformatted") and isinstance(node.get("elements"), list):
            inline = "".join(_inline(element) for element in node["elements"] if isinstance(element, dict))
            yield {"rich_text_quote": f"&gt; {inline}", "rich_text_preformatted": f"```{inline}```"}.get(str(kind), inline)
        elif kind in ("section", "header", "mrkdwn", "plain_text"):
            text = node.get("text")
            yield text if isinstance(text, str) else str(text.get("text", "")) if isinstance(text, dict) else ""
        else:
            yield from _pieces(node.get("elements"), depth + 1)


def _inline(element: dict[str, Any]) -> str:
    kind, own = element.get("type"), {name: value for name, value in element.items() if isinstance(value, str)}
    if kind == "user":
        return f"<@{own.get('user_id', '')}>"
    if kind == "channel":
        return f"<#{own.get('channel_id', '')}>"
    if kind == "usergroup":
        return f"<!subteam^{own.get('usergroup_id', '')}>"
    if kind == "broadcast":
        return f"<!{own.get('range', 'here')}>"
    if kind == "emoji":
        return f":{own.get('name', '')}:"
    return own.get("text") or own.get("url", "")
