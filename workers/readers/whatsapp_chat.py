"""What a whole WhatsApp export says about itself: the form of its heads, the order of its dates, its name, who takes part."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from workers.readers.date_order import DateOrders
from workers.readers.files import SourceFile
from workers.readers.whatsapp_lines import MARKS, Shape, parse_head, plain_name
from workers.readers.whatsapp_notices import group_named, is_notice, spoken, tells_of_group

_NAMED = re.compile(r".*\bwhatsapp\b.*?(?:\b(?:with|mit|con|avec|com|met|med|z)\b|[ _]-[ _])\s*(?P<name>.+?)(?: ?\(\d+\))?", re.IGNORECASE)
_SENDER = re.compile(r"(?P<name>[^\n]{1,160}?):(?:[ \u00a0\u202f]|(?=\n)|$)(?P<text>.*)", re.DOTALL)
_LABEL = re.compile(r"(?P<label>[^:\n]{1,40}): ")
_PEOPLE = 3
_SENDERS = 5_000
_ENOUGH = 3
"""So many messages that all begin with one label show that it is part of the sender's name."""


@dataclass(slots=True)
class Chat:
    """A chat as its file shows it. `people` are at most three of those who wrote or sent something."""

    name: str
    shape: Shape
    orders: DateOrders
    people: list[str] = field(default_factory=list)
    is_group: bool = False
    long_names: dict[str, str] = field(default_factory=dict)
    """Senders up to their first colon, to the label behind it that belongs to their name."""

    def split(self, raw: str) -> tuple[str | None, str]:
        """(sender, text) of what stands behind a head; no sender where it is a notice."""
        match = _SENDER.match(raw)
        if match is None or is_notice(MARKS.sub("", match["name"])):
            return None, raw
        name, text = plain_name(match["name"]), match["text"]
        label = self.long_names.get(name)
        if label is not None and text.startswith(f"{label}: "):
            name, text = f"{name}: {label}", text[len(label) + 2 :]
        return (name or None), text


@dataclass(slots=True)
class _Sender:
    messages: int = 0
    label: str | None = None


def survey(file: SourceFile, lines: Iterable[str]) -> Chat:
    """Read a chat once for what decides about all of its messages; little of it is kept in memory."""
    chat: Chat | None = None
    senders: dict[str, _Sender] = {}
    told: str | None = None
    for line in lines:
        head = parse_head(line)
        if head is None:
            continue
        first = chat is None
        if chat is None:
            chat = Chat("", head.shape, DateOrders(head.shape.year_first, head.shape.full_year))
        elif head.shape != chat.shape:
            continue
        chat.orders.add(head.date)
        name, text = chat.split(head.rest)
        if name is None:
            chat.is_group = chat.is_group or tells_of_group(head.rest)
            told = told or group_named(head.rest)
            continue
        written, kind, _ = spoken(text)
        if kind == "system" and not written:
            # iOS puts its first notice under the name of the chat, later ones under somebody's.
            chat.is_group = chat.is_group or tells_of_group(text)
            told = told or group_named(text) or (name if first else None)
            continue
        if len(senders) < _SENDERS or name in senders:
            _note(senders.setdefault(name, _Sender()), text)
    assert chat is not None, "a reader surveys only what it recognised"
    chat.name = chat_name(file, told)
    for name, sender in senders.items():
        if sender.label and (sender.messages >= _ENOUGH or _plain(f"{name}: {sender.label}") == _plain(chat.name)):
            chat.long_names[name] = sender.label
    chat.people = [f"{name}: {chat.long_names[name]}" if name in chat.long_names else name for name in senders][:_PEOPLE]
    return chat


def _note(sender: _Sender, text: str) -> None:
    match = _LABEL.match(text)
    label = match["label"] if match else None
    sender.label = label if sender.messages == 0 or sender.label == label else None
    sender.messages += 1


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()


def chat_name(file: SourceFile, told: str | None) -> str:
    """The name of a chat: as WhatsApp names its files, else as a notice tells it, else the file's."""
    stems = [file.stem, *([file.folder] if file.stem.strip("_ ").casefold() == "chat" else [])]
    if file.archive is not None:
        stems.append(file.path.stem)
    for stem in stems:
        match = _NAMED.fullmatch(stem)
        if match:
            return match["name"].strip()
    return told or stems[-1]
