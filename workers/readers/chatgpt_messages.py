"""What a message of ChatGPT's export holds: speech, the output of a tool, or something that nobody said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from extraction.segmentation import speech_spans

_SPEECH = ("text", "multimodal_text")
_OUTPUT = ("text", "multimodal_text", "execution_output", "tether_quote", "tether_browsing_display", "code")
_OWN = ("is_visually_hidden_from_conversation", "is_user_system_message")


@dataclass(frozen=True, slots=True)
class Found:
    """A text, who or what wrote it, and what it is where nobody said it."""

    text: str
    speaker: str
    artifact: str | None = None


def is_hidden(message: Mapping[str, Any]) -> bool:
    """Whether the app put it there without showing it."""
    metadata = message.get("metadata")
    return isinstance(metadata, dict) and any(metadata.get(key) is True for key in _OWN)


def found_in(message: Mapping[str, Any], skipped: Counter[str]) -> Found | None:
    """What a message says; None, and counted, where that is nothing to keep."""
    author, content = message.get("author"), message.get("content")
    role = author.get("role") if isinstance(author, dict) else None
    kind = content.get("content_type") if isinstance(content, dict) else None
    if role in ("user", "assistant") and isinstance(content, dict):
        if role == "assistant" and message.get("recipient") not in (None, "all"):
            skipped["tool call"] += 1
            return None
        if kind in _SPEECH:
            text = _text(content, skipped)
            if speech_spans(text):
                return Found(text, str(role))
            skipped["no speech"] += 1
            return None
    elif role == "tool" and isinstance(content, dict) and kind in _OUTPUT:
        text = _text(content, skipped)
        if text.strip():
            name = author.get("name") if isinstance(author, dict) else None
            return Found(text, name[:200] if isinstance(name, str) and name.strip() else "tool", "tool_result")
        skipped["tool"] += 1
        return None
    # Custom instructions, thoughts, code for a tool, system messages.
    skipped[str(kind if role in ("user", "assistant") else role)[:40]] += 1
    return None


def _text(content: Mapping[str, Any], skipped: Counter[str]) -> str:
    """The words of a message: typed, or spoken and written down. Images and files are counted."""
    parts = content.get("parts")
    if not isinstance(parts, list):
        alone = content.get("text", content.get("result"))
        return alone if isinstance(alone, str) else ""
    texts = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
            continue
        kind = part.get("content_type") if isinstance(part, dict) else None
        if isinstance(part, dict) and kind == "audio_transcription" and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif kind == "image_asset_pointer":
            skipped["image"] += 1
        else:
            skipped[str(kind)[:40]] += 1
    return "\n\n".join(text for text in texts if text.strip())
