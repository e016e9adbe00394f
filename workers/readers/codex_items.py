"""What the items and events of Codex rollouts hold: speech, and the output of tools that nobody said."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ENVELOPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
ITEMS = frozenset(
    {
        *("message", "reasoning", "function_call", "function_call_output", "local_shell_call", "local_shell_call_output"),
        *("custom_tool_call", "custom_tool_call_output", "web_search_call", "ghost_snapshot", "compaction", "tool_search_call"),
    }
)
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
_CALLS_KEPT = 10_000
# How messages begin that the client put into the user's part.
_INJECTED = (
    "<environment_context>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<turn_aborted>",
    "<user_shell_command>",
    "<skill>",
    "<subagent_notification>",
)
_REQUEST = "## My request for Codex:"
"""What an editor puts between the files that are open and the user's words."""


@dataclass(frozen=True, slots=True)
class Message:
    """A text of a rollout. `role` is user or assistant, of an artifact what made it."""

    role: str
    text: str
    artifact: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


class Names:
    """Which tool each call names, for the outputs that come later."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def called(self, item: Mapping[str, Any]) -> None:
        call, name = item.get("call_id"), item.get("name") or ("shell" if item.get("type") == "local_shell_call" else None)
        if isinstance(call, str) and isinstance(name, str) and name.strip():
            while len(self._names) >= _CALLS_KEPT:
                del self._names[next(iter(self._names))]
            self._names[call] = name[:200]

    def named(self, call: Any) -> str:
        return self._names.get(call, "tool") if isinstance(call, str) else "tool"


def is_injected(message: Message) -> bool:
    """Whether the client wrote it in the user's part."""
    return message.artifact is None and message.role == "user" and message.text.lstrip().startswith(_INJECTED)


def spoken_event(payload: Mapping[str, Any]) -> Message | None:
    """What a person or the assistant said, as an event tells it."""
    role = {"user_message": "user", "agent_message": "assistant"}.get(str(payload.get("type")))
    text = payload.get("message")
    return Message(role, text) if role is not None and isinstance(text, str) and text.strip() else None


def item_message(item: Mapping[str, Any], names: Names, skipped: Counter[str]) -> Message | None:
    """The text of an item to keep; None, and counted by its type, where there is none."""
    kind, role = str(item.get("type"))[:40], item.get("role")
    if kind == "message" and role in ("user", "assistant"):
        text = _text(item.get("content"), skipped)
        return Message(str(role), _request(text)) if text else None
    if kind == "message":
        skipped[str(role)[:40]] += 1
        return None
    if kind in _OUTPUTS:
        text = _output(item.get("output"), skipped)
        if text.strip():
            call = item.get("call_id")
            return Message(names.named(call), text, "tool_result", {"toolUseId": call[:200]} if isinstance(call, str) else {})
    elif kind in _CALLS:
        names.called(item)
    skipped[kind if kind in ITEMS else f"unknown item: {kind}"] += 1
    return None


def _text(content: Any, skipped: Counter[str]) -> str:
    """The text parts of a message; the others are counted."""
    if isinstance(content, str):
        return content
    texts = []
    for part in content if isinstance(content, list) else ():
        kind = part.get("type") if isinstance(part, dict) else None
        if isinstance(part, dict) and kind in ("input_text", "output_text", "text") and isinstance(part.get("text"), str):
            if not Message("user", part["text"]).text.lstrip().startswith(_INJECTED):
                texts.append(part["text"])
            else:
                skipped["no speech"] += 1
        else:
            skipped[str(kind)[:40]] += 1
    return "\n\n".join(text for text in texts if text.strip())


def _request(text: str) -> str:
    """The user's own words where an editor put what is open before them."""
    if text.lstrip().startswith("# Context from my IDE setup:") and _REQUEST in text:
        return text.partition(_REQUEST)[2].strip()
    return text


def _output(output: Any, skipped: Counter[str]) -> str:
    """The text of a tool's output: as it is, that of its parts, or the `output` of an object in JSON."""
    if isinstance(output, list):
        return _text(output, skipped)
    if isinstance(output, dict):
        inner = output.get("content", output.get("output"))
        return _text(inner, skipped) if isinstance(inner, (str, list)) else ""
    if not isinstance(output, str):
        return ""
    if output.startswith('{"output":'):
        try:
            inner = json.loads(output)["output"]
        except (ValueError, RecursionError):
            return output
        return inner if isinstance(inner, str) else output
    return output
