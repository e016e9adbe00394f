"""Slack exports: a folder or zip with `users.json`, lists of channels, and for each channel a folder with one JSON array a day."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ontology.episode import EpisodeDraft
from ontology.instant import Instant
from workers.readers.conversation import Conversation, Utterance
from workers.readers.files import SourceFile
from workers.readers.lines import Record, read_objects, split_items
from workers.readers.options import ReadOptions
from workers.readers.report import ReadReport, Rejected
from workers.readers.slack_text import addressed, block_text, readable
from workers.readers.slack_workspace import LISTS, OTHERS, Channel, Workspace, load_workspace, name_in, place_of

_STAMP = re.compile(r"(\d{9,11})\.(\d{1,6})", re.ASCII)
_STAMPED = re.compile(rb'"ts"\s*:\s*"\d{9,11}\.\d{1,6}"')
_MESSAGE = re.compile(rb'"type"\s*:\s*"message"')
_USER = re.compile(rb'"id"\s*:\s*"[UW][A-Z0-9]{1,30}"')
_CHANNEL = re.compile(rb'"id"\s*:\s*"[CGD][A-Z0-9]{1,30}"')
_SPOKEN = frozenset({"", "thread_broadcast", "reply_broadcast", "me_message", "file_share", "file_comment"})
_BOT = frozenset({"bot_message", "slackbot_response"})


@dataclass(frozen=True, slots=True)
class SlackReader:
    """Reads the day files of an export, with the names that its lists give.

    `external_id` is `channel:ts`, with the channel's ID where the lists state one, so a message is one episode in every
    export that holds it; an edited one is a revision as of its edit. Replies of a thread belong to their channel.
    """

    source: str = "slack"
    _loaded: dict[tuple[str, str, str], Workspace] = field(default_factory=dict, repr=False, compare=False)

    def recognises(self, file: SourceFile) -> bool:
        """Whether the head is an array of messages with Slack's stamps, or one of an export's lists."""
        if not file.is_array:
            return False
        if _STAMPED.search(file.head) and _MESSAGE.search(file.head) and not {"speaker", "role", "sender"} & file.keys:
            return True
        if {"id", "profile", "name"} <= file.keys and _USER.search(file.head):
            return True
        if {"id", "members"} <= file.keys and _CHANNEL.search(file.head):
            return True
        if file.stem in OTHERS or file.stem in LISTS:
            return file.beside_exists("users.json") and file.beside_exists("channels.json")
        return file.start.strip() == b"[]" and file.beside_exists("../users.json")

    def read(self, file: SourceFile, options: ReadOptions, report: ReadReport) -> Iterator[EpisodeDraft | Rejected]:
        """The messages in the order of the file; what nobody said is counted."""
        if not _STAMPED.search(file.head):
            report.skipped["list of a workspace"] += 1
            return
        day = _Day(self._workspace(file, report), place_of(file)[1], self.source, options, report)
        conversation = Conversation(self.source, file.name, options, report, file.modified, copies=True)
        with file.open() as opened:
            for record in read_objects(split_items(opened), file.name, report):
                found = record if isinstance(record, Rejected) else day.utterance(record, file.name)
                if isinstance(found, Rejected):
                    yield found
                elif found is not None:
                    yield from conversation.add(found)
        yield from conversation.close()

    def _workspace(self, file: SourceFile, report: ReadReport) -> Workspace:
        """The lists of the file's export; those of the last one are kept, since an export has a file for each day."""
        folder, before = place_of(file)
        parent = file.entry.rpartition("/")[0] if file.archive else str(file.path.absolute().parent)
        export = parent.rpartition("/")[0] if folder else f"{parent}/{before}"
        key = (str(file.path) if file.archive else "", folder, export)
        if key not in self._loaded:
            self._loaded.clear()
            self._loaded[key] = load_workspace(file, report)
        return self._loaded[key]


class _Day:
    """The messages of one channel's day."""

    def __init__(self, workspace: Workspace, folder: str, source: str, options: ReadOptions, report: ReadReport) -> None:
        self._workspace, self._source, self._options, self._report = workspace, source, options, report
        self._channel = workspace.channels.get(folder, Channel(folder, folder))

    def utterance(self, record: Record, name: str) -> Utterance | Rejected | None:
        """What a message says; None where nobody says anything, which is counted."""
        message = record.value
        if message.get("subtype") == "message_changed" and isinstance(message.get("message"), dict):
            message = message["message"]
        kind = self._unsaid(message)
        if kind is not None:
            self._report.skipped[kind] += 1
            return None
        stamp = _instant(message.get("ts"))
        if stamp is None:
            return Rejected(name, record.line, "timestamp", "the message's `ts` is no time of Slack's")
        text = message.get("text")
        if not isinstance(text, str) and text is not None:
            return Rejected(name, record.line, "text", "the message has no text")
        if not text or not text.strip():
            text = block_text(message.get("blocks"))
        for extra in ("files", "attachments"):
            if isinstance(message.get(extra), list) and message[extra]:
                self._report.skipped[extra.removesuffix("s")] += len(message[extra])
        if not text.strip():
            if not message.get("files") and not message.get("attachments"):
                self._report.skipped["no text"] += 1
            return None
        user = message.get("user")
        user = user if isinstance(user, str) and user else None
        edited = message.get("edited")
        thread = message.get("thread_ts")
        return Utterance(
            text=readable(text, self._name),
            external_id=f"{self._channel.id}:{message['ts']}",
            line=record.line,
            stamp=stamp,
            speaker=self._speaker(message, user),
            addressee=self._addressee(text, user),
            group=self._channel.name,
            metadata={
                "channel": self._channel.id,
                **({"thread": thread} if isinstance(thread, str) and thread != message["ts"] else {}),
                **({"user": user} if user else {}),
            },
            revised=_instant(edited.get("ts")) if isinstance(edited, dict) else None,
        )

    def _unsaid(self, message: dict[str, Any]) -> str | None:
        """Why a record is no speech; None where it is."""
        if message.get("type") != "message":
            return f"record {str(message.get('type'))[:40]}"
        subtype = message.get("subtype")
        subtype = "" if subtype is None else str(subtype)[:40]
        user = message.get("user")
        if subtype in _BOT or message.get("bot_id") or user == "USLACKBOT" or (isinstance(user, str) and user in self._workspace.bots):
            return None if self._options.include_bots and subtype in _SPOKEN | _BOT else "bot"
        if message.get("hidden") is True and subtype in _SPOKEN:
            return "hidden message"
        return None if subtype in _SPOKEN else subtype

    def _speaker(self, message: dict[str, Any], user: str | None) -> str | None:
        if user is not None:
            name = self._workspace.person(user, self._options, self._source)
            if name == user and user not in self._workspace.users:
                # People of other workspaces stand in none of the lists, but with their messages.
                name = name_in(message.get("user_profile")) or user
                if name == user:
                    self._report.mended["user ID without a name"] += 1
            return name
        bot = message.get("bot_profile")
        for value in (message.get("username"), bot.get("name") if isinstance(bot, dict) else None, message.get("bot_id")):
            if isinstance(value, str) and value.strip():
                return value
        return "bot" if message.get("subtype") in _BOT else None

    def _addressee(self, text: str, user: str | None) -> str | None:
        named = addressed(text)
        if named is None and len(self._channel.members) == 2 and user in self._channel.members:
            named = next((member for member in self._channel.members if member != user), None)
        return None if named is None or named == user else self._workspace.person(named, self._options, self._source)

    def _name(self, kind: str, id: str) -> str:
        if kind == "user":
            return self._workspace.person(id, self._options, self._source)
        return self._workspace.channels[id].name if kind == "channel" and id in self._workspace.channels else id


def _instant(stamp: Any) -> Instant | None:
    """The instant of a `ts` such as `1779267600.000100`."""
    match = _STAMP.fullmatch(stamp) if isinstance(stamp, str) else None
    return int(match[1]) * 1_000_000 + int(match[2].ljust(6, "0")) if match else None
