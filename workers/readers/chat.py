"""Chat messages as JSON: an array, or one on each line, of `{role|speaker|name, content|text, timestamp?}`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from ontology.episode import EpisodeDraft
from ontology.errors import InvalidInput
from ontology.instant import Instant, format_instant, zone_named
from ontology.names import MAX_NAME
from workers.readers.conversation import Conversation, Utterance
from workers.readers.files import SourceFile
from workers.readers.lines import Record, read_objects, split_items, split_lines
from workers.readers.options import ReadOptions
from workers.readers.report import ReadReport, Rejected
from workers.readers.slack import SlackReader
from workers.readers.stamps import parse_stamp, stamp_problem

TEXT = ("content", "text", "message")
SPEAKER = ("speaker", "name", "author", "sender", "role")
ADDRESSEE = ("addressee", "recipient", "to")
STAMP = ("timestamp", "said", "said_at", "saidAt", "time", "datetime", "date", "created_at", "createdAt", "ts")
GROUP = ("conversation", "conversation_id", "session", "session_id", "group", "channel", "thread")
MACHINE = frozenset({"system", "tool", "function", "developer", "ipython", "environment"})
_KEPT = ("id", "role", "model", "channel")
_UNIQUE = 16
_AHEAD = 100
"""So many messages are looked at for who takes part before the first is handed out."""


def _first(record: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((record[key] for key in keys if record.get(key) is not None), None)


def _name(value: Any) -> str | None:
    """A name, or that of an object such as `{"role": "user", "name": null}`."""
    if isinstance(value, dict):
        value = _first(value, ("name", "role", "id"))
    return value.strip() or None if isinstance(value, str) else None


def _machine(record: dict[str, Any]) -> str | None:
    """The role of a message that no participant wrote."""
    role = record.get("role") or record.get("type")
    return role if isinstance(role, str) and role in MACHINE else None


def _text(content: Any, report: ReadReport) -> str | None:
    """The text of a message: a string, or the text parts of a list; None where there is no such thing."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    texts = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and isinstance(part.get("text"), str) and str(part.get("type", "text")).endswith("text"):
            texts.append(part["text"])
        else:
            kind = str(part.get("type")) if isinstance(part, dict) else type(part).__name__
            report.skipped["image" if "image" in kind else kind[:40]] += 1
    return "\n\n".join(text for text in texts if text.strip())


@dataclass(frozen=True, slots=True)
class ChatReader:
    """Reads chat files.

    `external_id` is a message's own ID where that is long enough to be unique (16 characters). Else it is the file's stem
    with the message's stamp (`friends@2023-01-14T18:02:00Z`, with `~2` for a second message of that time), so that it
    survives a move of the file and messages put before it; without a stamp it is the folder's and the file's name with
    the message's own ID or place (`chats/friends:12`).
    """

    source: str = "chat"

    def recognises(self, file: SourceFile) -> bool:
        """Whether the head holds messages with a text and somebody who wrote it."""
        if "record_type" in file.keys:
            # A line that only older Codex rollouts have, between items that are messages.
            return False
        if file.is_lines and file.first_objects:
            return any(_first(record, TEXT) is not None and _first(record, SPEAKER) is not None for record in file.first_objects)
        if (
            not (file.is_array or file.is_lines)
            or SlackReader().recognises(file)
            or {"mapping", "dia_id", "sessionId", "parentUuid", "payload"} & file.keys
        ):
            return False
        return bool(file.keys & set(TEXT)) and bool(file.keys & set(SPEAKER))

    def read(self, file: SourceFile, options: ReadOptions, report: ReadReport) -> Iterator[EpisodeDraft | Rejected]:
        """The messages in the order of the file."""
        with file.open() as opened:
            lines = split_items(opened) if file.is_array else split_lines(opened)
            yield from self._conversation(file, read_objects(lines, file.name, report), options, report)

    def _conversation(
        self, file: SourceFile, records: Iterator[Record | Rejected], options: ReadOptions, report: ReadReport
    ) -> Iterator[EpisodeDraft | Rejected]:
        conversation = Conversation(self.source, file.name, options, report, file.modified)
        ahead = list(islice(records, _AHEAD))
        people = _People((record.value for record in ahead if isinstance(record, Record)), lambda name: options.name_of(name, self.source))
        latest: Instant | None = None
        equal = 0
        zone = zone_named(options.time_zone)
        for record in chain(ahead, records):
            if isinstance(record, Rejected):
                yield record
                continue
            machine = _machine(record.value)
            if machine is not None:
                report.skipped[machine] += 1
                continue
            text = _text(_first(record.value, TEXT), report)
            if text is None:
                if "tool_calls" in record.value or "function_call" in record.value:
                    report.skipped["tool_calls"] += 1
                else:
                    yield Rejected(file.name, record.line, "text", "the message has no text")
                continue
            stated = _first(record.value, STAMP)
            try:
                stamp = None if stated is None or stated == "" else parse_stamp(stated, zone)
            except InvalidInput as failure:
                yield Rejected(file.name, record.line, "timestamp", stamp_problem(stated, failure))
                continue
            if stamp is not None and (latest is None or stamp >= latest):
                equal = equal + 1 if stamp == latest else 1
                latest = stamp
                which = equal
            else:
                which = 0
            speaker = _name(_first(record.value, SPEAKER))
            people.add(speaker)
            group = _first(record.value, GROUP)
            yield from conversation.add(
                Utterance(
                    text=text,
                    external_id=_external_id(file, record, stamp, which),
                    line=record.line,
                    stamp=stamp,
                    speaker=speaker,
                    addressee=_name(_first(record.value, ADDRESSEE)) or people.other_than(speaker, record.value.get("role")),
                    group=group if isinstance(group, str) and group.strip() else file.place,
                    metadata={key: record.value[key] for key in _KEPT if isinstance(record.value.get(key), str)},
                )
            )
        yield from conversation.close()


def _external_id(file: SourceFile, record: Record, stamp: Instant | None, which: int) -> str:
    """The message's own ID, or one of its stamp and `which` of that stamp it is (0: earlier than one before it)."""
    own = _first(record.value, ("uuid", "id", "message_id", "messageId"))
    known = isinstance(own, (str, int)) and not isinstance(own, bool) and bool(str(own).strip())
    if known and len(str(own)) >= _UNIQUE:
        return str(own)
    if stamp is None:
        return f"{file.place}:{own if known else record.place}"
    # Behind its time a message may share it with one that is long past, so its place tells them apart.
    return f"{file.stem}@{format_instant(stamp)}" + (f"~{which}" if which > 1 else "" if which else f":{record.place}")


class _People:
    """Who takes part, by the names that IDs are mapped to. The addressee of a message is known where they are two."""

    def __init__(self, records: Iterable[dict[str, Any]], name_of: Callable[[str], str]) -> None:
        self._name_of = name_of
        self._names: dict[str, str] = {}
        self._user: str | None = None
        for record in records:
            name = _name(_first(record, SPEAKER))
            if _machine(record) is not None:
                continue
            self.add(name)
            if record.get("role") in ("user", "human") and self._user is None:
                self._user = name

    def add(self, name: str | None) -> None:
        if name is not None and len(name) <= MAX_NAME and len(self._names) < 3:
            self._names.setdefault(self._name_of(name), name)

    def other_than(self, speaker: str | None, role: Any) -> str | None:
        mapped = self._name_of(speaker) if speaker is not None else None
        if len(self._names) == 2 and mapped in self._names:
            return next(name for known, name in self._names.items() if known != mapped)
        if len(self._names) > 2:
            return None
        if role in ("user", "human"):
            return "assistant"
        return (self._user or "user") if role == "assistant" else None
