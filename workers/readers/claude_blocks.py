"""What the records of Claude Code hold: speech, and the text of tools, files and summaries that nobody said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_TOOLS = 10_000
"""So many tool calls may wait for their results."""

# What marks a message that nobody wrote, and how it is counted.
_UNSAID = (
    ("isMeta", "meta"),
    ("isVisibleInTranscriptOnly", "transcript only"),
    ("isApiErrorMessage", "api error"),
    ("error", "api error"),
    ("apiErrorStatus", "api error"),
)
_PEOPLE = ("human", "user", "channel")
"""Origins of a prompt that a person wrote; the others are made by the client."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A text of a record. `artifact` says what it is where nobody said it, `speaker` what made it then; `place` tells the
    pieces of one record apart."""

    text: str
    artifact: str | None = None
    speaker: str | None = None
    place: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


class Tools:
    """Which tool each call names, for the results that come later."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def called(self, block: Mapping[str, Any]) -> None:
        call, name = block.get("id"), block.get("name")
        if isinstance(call, str) and isinstance(name, str) and name.strip():
            while len(self._names) >= _TOOLS:
                del self._names[next(iter(self._names))]
            self._names[call] = name[:200]

    def named(self, call: Any) -> str:
        return self._names.get(call, "tool") if isinstance(call, str) else "tool"


def said_by_person(record: Mapping[str, Any]) -> str | None:
    """Why nobody wrote the message of a user's or assistant's record; None where somebody did, or where it is a summary."""
    if record.get("isCompactSummary") is True:
        return None
    for key, counted in _UNSAID:
        if record.get(key):
            return counted
    message = record.get("message")
    if isinstance(message, dict) and message.get("model") == "<synthetic>":
        return "synthetic"
    return _made_by_client(record.get("origin"))


def _made_by_client(origin: Any) -> str | None:
    kind = origin.get("kind") if isinstance(origin, dict) else None
    return None if kind is None or kind in _PEOPLE else str(kind)[:40]


def pieces_of(content: Any, tools: Tools, skipped: Counter[str]) -> list[Piece]:
    """The text of a message as one piece, and each tool's result as another; the other blocks are counted by their type."""
    if isinstance(content, str):
        return [Piece(content)] if content else []
    texts, results = [], []
    for number, block in enumerate(content if isinstance(content, list) else ()):
        kind = block.get("type") if isinstance(block, dict) else None
        if isinstance(block, str):
            texts.append(block)
        elif isinstance(block, dict) and kind == "text" and isinstance(block.get("text"), str):
            texts.append(block["text"])
        elif isinstance(block, dict) and kind in ("tool_result", "advisor_tool_result"):
            results.append(_result(block, number, tools, skipped))
        else:
            if isinstance(block, dict) and kind in ("tool_use", "server_tool_use"):
                tools.called(block)
            skipped[str(kind)[:40]] += 1
    text = "\n\n".join(text for text in texts if text.strip())
    return ([Piece(text)] if text else []) + [result for result in results if result.text.strip()]


def _result(block: Mapping[str, Any], number: int, tools: Tools, skipped: Counter[str]) -> Piece:
    """What a tool gave back. A result without text is counted as such."""
    content, call = block.get("content"), block.get("tool_use_id")
    if isinstance(content, dict):
        content = [content]
    texts = [content] if isinstance(content, str) else []
    for item in content if isinstance(content, list) else ():
        if isinstance(item, str):
            texts.append(item)
        elif isinstance(item, dict) and isinstance(item.get("text"), str):
            texts.append(item["text"])
        else:
            skipped[str(item.get("type") if isinstance(item, dict) else type(item).__name__)[:40]] += 1
    text = "\n\n".join(text for text in texts if text.strip())
    if not text:
        skipped["tool_result"] += 1
    metadata: dict[str, Any] = {"toolUseId": call[:200]} if isinstance(call, str) else {}
    if block.get("is_error") is True:
        metadata["isError"] = True
    place = call[:200] if isinstance(call, str) and call else str(number + 1)
    return Piece(text, "tool_result", tools.named(call), place, metadata)


def attached(attachment: Any, skipped: Counter[str]) -> list[Piece]:
    """What an attachment holds: a prompt that waited while the assistant wrote is speech, the text of files an artifact.

    Output of hooks, reminders and the client's other notes are counted.
    """
    kind = attachment.get("type") if isinstance(attachment, dict) else None
    if kind == "queued_command":
        machine = attachment.get("isMeta") is True or attachment.get("commandMode") not in (None, "prompt")
        if not machine and _made_by_client(attachment.get("origin")) is None:
            prompts = [piece for piece in pieces_of(attachment.get("prompt"), Tools(), skipped) if piece.artifact is None]
            if prompts:
                return prompts
    text, name = _file_text(attachment, kind) if isinstance(attachment, dict) else (None, None)
    if isinstance(text, str) and text.strip():
        metadata = {"filename": name[:1000]} if isinstance(name, str) else {}
        return [Piece(text, f"attachment {kind}", "attachment", metadata=metadata)]
    skipped[f"attachment {str(kind)[:40]}"] += 1
    return []


def _file_text(attachment: Mapping[str, Any], kind: Any) -> tuple[Any, Any]:
    """Text and name of an attached file."""
    content = attachment.get("content")
    if kind == "file" and isinstance(content, dict) and isinstance(content.get("file"), dict):
        return content["file"].get("content"), attachment.get("filename")
    if kind == "nested_memory" and isinstance(content, dict):
        return content.get("content"), attachment.get("path")
    if kind == "edited_text_file":
        return attachment.get("snippet"), attachment.get("filename")
    if kind == "plan_file_reference":
        return attachment.get("planContent"), attachment.get("planFilePath")
    return None, None
