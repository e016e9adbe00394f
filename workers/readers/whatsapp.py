"""WhatsApp chats as Android and iOS export them: a text file, or a zip that holds one."""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256

from ontology.episode import EpisodeDraft
from ontology.errors import InvalidInput
from ontology.instant import Instant, civil_from_days, parse_clock, wall_to_instant, zone_named
from workers.readers.conversation import Conversation, Utterance
from workers.readers.date_order import day_of
from workers.readers.files import SourceFile
from workers.readers.lines import decoded, split_lines
from workers.readers.options import DateOrder, ReadOptions
from workers.readers.report import ReadReport, Rejected
from workers.readers.whatsapp_chat import Chat, survey
from workers.readers.whatsapp_lines import Head, is_copied, parse_head
from workers.readers.whatsapp_notices import spoken

_LONGEST = 2_000_000
"""Characters of one message; what is longer is no message."""

_REMEMBERED = 256
"""So many minutes, or seconds, are known in which a message may be the second of its text."""

_OPEN = (
    "the dates may be day-month or month-day, and nothing in the chat says which, so it was not read: "
    "say which with --date-order dmy, mdy or ymd"
)
_LOG = re.compile(r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b")


@dataclass(slots=True)
class _Message:
    line: int
    head: Head
    lines: list[str]
    size: int = 0
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class WhatsAppReader:
    """Reads exported chats.

    `external_id` is the chat's name with the message's local time and three hex digits of who said what, which tell the
    messages of one minute apart and are too few to confirm a guess at an erased text; the second equal one has `~2`. So a
    later, longer export adds only what is new.
    """

    source: str = "whatsapp"

    def recognises(self, file: SourceFile) -> bool:
        """Whether the first lines of the head are those of a chat."""
        lines = [line for line in file.start[:65_536].decode(errors="replace").split("\n")[:50] if line.strip()]
        heads = [parse_head(line.rstrip("\r")) for line in lines]
        known = [head for head in heads if head is not None]
        first = next((place for place, head in enumerate(heads) if head is not None), len(heads))
        return bool(known) and first < 3 and len(known) > first and not any(_LOG.match(head.rest) for head in known)

    def read(self, file: SourceFile, options: ReadOptions, report: ReadReport) -> Iterator[EpisodeDraft | Rejected]:
        """The messages in the order of the file, or one refusal where nothing in it says which number is the day."""
        unreported = ReadReport()
        with file.open() as opened:
            chat = survey(file, (decoded(line.data or b"", unreported).rstrip("\r") for line in split_lines(opened)))
        order = chat.orders.decided(options.date_order, year_first=chat.shape.period == "before")
        if order is None:
            yield Rejected(file.name, None, "date-order", _OPEN)
            return
        conversation = Conversation(self.source, file.name, options, report, file.modified)
        teller = _Teller(file, chat, order, options, report)
        for message in _messages(file, chat, report):
            found = message if isinstance(message, Rejected) else teller.utterance(message)
            if isinstance(found, Rejected):
                yield found
            elif found is not None:
                yield from conversation.add(found)
        yield from conversation.close()


def _messages(file: SourceFile, chat: Chat, report: ReadReport) -> Iterator[_Message | Rejected]:
    """Heads with the lines that go on with them. Copies of other messages are marked as quotations."""
    message: _Message | None = None
    with file.open() as opened:
        for line in split_lines(opened):
            if line.data is None:
                yield Rejected(file.name, line.number, "too-long", "the line is too long")
                continue
            text = decoded(line.data, report).rstrip("\r")
            head = parse_head(text)
            if head is not None and head.shape == chat.shape:
                if message is not None:
                    yield message
                message = _Message(line.number, head, [])
                text = head.rest
            elif message is None:
                if text.strip("\ufeff \t"):
                    report.skipped["text before the first message"] += 1
                continue
            else:
                if is_copied(text):
                    report.mended["copied message marked as a quotation"] += 1
                    message.quoted = True
                message.quoted = message.quoted and bool(text.strip())
                text = f"> {text}" if message.quoted else text
            message.size += len(text) + 1
            if message.size <= _LONGEST:
                message.lines.append(text)
            elif message.size - len(text) - 1 <= _LONGEST:
                yield Rejected(file.name, line.number, "too-long", f"a message of more than {_LONGEST:,} characters was cut here")
    if message is not None:
        yield message


@dataclass(slots=True)
class _Teller:
    """Makes utterances of a chat's messages."""

    file: SourceFile
    chat: Chat
    order: DateOrder
    options: ReadOptions
    report: ReadReport
    _equal: OrderedDict[str, Counter[str]] = field(default_factory=OrderedDict)

    def utterance(self, message: _Message) -> Utterance | Rejected | None:
        """What a message says; None where nobody says anything, which is counted."""
        head = message.head
        try:
            days = day_of(head.date, self.order)
            clock = parse_clock(f"{head.hour}:{head.minute}", head.hour if head.hour >= 0 else 24, head.minute, head.second, "")
            stamp: Instant = wall_to_instant(days, clock, zone_named(self.options.time_zone))
        except InvalidInput as failure:
            return Rejected(self.file.name, message.line, "timestamp", failure.message)
        sender, text = self.chat.split("\n".join(message.lines))
        if sender is None:
            self.report.skipped["system"] += 1
            return None
        text, left_out, edited = spoken(text)
        if left_out is not None:
            self.report.skipped[left_out] += 1
        if not text:
            return None
        if is_copied(text):
            self.report.mended["copied message marked as a quotation"] += 1
            text = f"> {text}"
        others = [name for name in self.chat.people if name != sender]
        wall = "{:04d}-{:02d}-{:02d}".format(*civil_from_days(days)) + f"T{head.hour:02d}:{head.minute:02d}"
        return Utterance(
            text=text,
            external_id=self._external_id(wall + (f":{head.second:02d}" if head.shape.seconds else ""), f"{sender}: {text}"),
            line=message.line,
            stamp=stamp,
            speaker=sender,
            addressee=others[0] if len(others) == 1 and sender in self.chat.people and not self.chat.is_group else None,
            group=self.chat.name,
            metadata={"edited": True} if edited else {},
        )

    def _external_id(self, wall: str, said: str) -> str:
        tag = sha256(said.encode(errors="replace")).hexdigest()[:3]
        seen = self._equal.setdefault(wall, Counter())
        if len(self._equal) > _REMEMBERED:
            self._equal.popitem(last=False)
        seen[tag] += 1
        return f"{self.chat.name}@{wall}:{tag}" + (f"~{seen[tag]}" if seen[tag] > 1 else "")
