"""Notes: Markdown and plain text, one episode a file, or several where it is long."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from ontology.episode import EpisodeDraft
from ontology.errors import InvalidInput
from ontology.instant import Instant, zone_named
from ontology.names import MAX_CONTENT
from workers.readers.conversation import Conversation, Utterance
from workers.readers.files import SourceFile
from workers.readers.meeting import MeetingReader
from workers.readers.options import ReadOptions
from workers.readers.report import ReadReport, Rejected
from workers.readers.stamps import parse_stamp, stamp_problem
from workers.readers.texts import cut
from workers.readers.whatsapp import WhatsAppReader

ENDINGS = frozenset({".md", ".markdown", ".mdx", ".txt", ".text", ".rst", ".org", ""})
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(.{0,16000}?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|$)", re.DOTALL)
_NAME_DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)([-_.]?)(\d\d)\2(\d\d)(?!\d)")
_DATE_KEYS = ("date", "said", "created", "created_at", "timestamp")
_CHUNK = 2**18


@dataclass(frozen=True, slots=True)
class NotesReader:
    """Reads notes.

    The external ID is the front matter's `id`, or the path from the folder asked for on (`notes/2025-03-01.md`); later parts
    have `#2` and so on. Said at: the front matter's date, or a date in the file's name, or when the file was modified.
    The speaker is the option, or the front matter's author, or the speaker map's default, or nobody.
    """

    source: str = "notes"

    def recognises(self, file: SourceFile) -> bool:
        """Whether the file's ending is one of notes, and it is no JSON, no chat and no meeting, which are texts too."""
        if file.suffix not in ENDINGS or file.is_array or file.is_lines or file.is_zip:
            return False
        return not (WhatsAppReader().recognises(file) or MeetingReader().recognises(file))

    def read(self, file: SourceFile, options: ReadOptions, report: ReadReport) -> Iterator[EpisodeDraft | Rejected]:
        """The note in parts of at most 100,000 characters, cut at headings or paragraphs."""
        try:
            front = _front_matter(file)
            stamp, basis = self._said(file, front, options)
        except InvalidInput as failure:
            yield Rejected(file.name, None, "timestamp", failure.message)
            return
        author = front.get("author")
        name = front.get("id")
        external_id = str(name) if isinstance(name, (str, int)) and str(name).strip() else file.relative
        conversation = Conversation(self.source, file.name, options, report, file.modified)
        for place, text in enumerate(_parts(file, report), 1):
            yield from conversation.add(
                Utterance(
                    text=text,
                    external_id=external_id + (f"#{place}" if place > 1 else ""),
                    line=1,
                    stamp=stamp,
                    speaker=None if options.speaker or not isinstance(author, str) else author,
                    group=external_id,
                    metadata={"saidAtFrom": basis, **({"title": front["title"]} if isinstance(front.get("title"), str) else {})},
                )
            )

    def _said(self, file: SourceFile, front: Mapping[str, Any], options: ReadOptions) -> tuple[Instant, str]:
        zone = zone_named(options.time_zone)
        for key in _DATE_KEYS:
            if front.get(key) not in (None, ""):
                try:
                    return parse_stamp(front[key], zone), "front matter"
                except InvalidInput as failure:
                    raise InvalidInput(f"front matter, {key}: {stamp_problem(front[key], failure)}") from failure
        for match in _NAME_DATE.finditer(file.filename):
            try:
                return parse_stamp(f"{match[1]}-{match[3]}-{match[4]}", zone), "file name"
            except InvalidInput:
                # Eight digits that are no date, such as a number of a document.
                continue
        return file.modified, "file"


class _Texts(yaml.SafeLoader):
    """Reads scalars as they are written: a date that does not exist is then refused where dates are read."""


_Texts.yaml_implicit_resolvers = {}


def _front_matter(file: SourceFile) -> dict[str, Any]:
    match = _FRONT_MATTER.match(_decoder(file).decode(file.head[:65_536]).removeprefix("\ufeff"))
    if not match:
        return {}
    try:
        found = yaml.load(match[1], Loader=_Texts)  # noqa: S506 - a SafeLoader
    except (yaml.YAMLError, RecursionError):
        return {}
    return {str(key).lower(): value for key, value in found.items()} if isinstance(found, dict) else {}


def _decoder(file: SourceFile) -> codecs.IncrementalDecoder:
    encoding = "utf-16" if file.head.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    return codecs.getincrementaldecoder(encoding)(errors="replace")


def _parts(file: SourceFile, report: ReadReport) -> Iterator[str]:
    """The text in parts, with little more than one in memory."""
    decoder = _decoder(file)
    waiting = ""
    with file.open() as opened:
        while chunk := opened.read(_CHUNK):
            waiting += decoder.decode(chunk)
            while len(waiting) > MAX_CONTENT:
                size = cut(waiting[: MAX_CONTENT + 1], MAX_CONTENT)
                yield waiting[:size]
                waiting = waiting[size:]
    waiting += decoder.decode(b"", True)
    if "\ufffd" in waiting:
        report.mended["invalid UTF-8"] += 1
    yield waiting
