"""From a path to drafts: folders walked in order, each file read by the reader that recognises its content."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import Protocol

from ontology.instant import zone_named
from workers.readers.archives import Archive
from workers.readers.chat import ChatReader
from workers.readers.chatgpt import ChatGptReader
from workers.readers.claude_code import ClaudeCodeReader
from workers.readers.codex import CodexReader
from workers.readers.files import HEAD, SourceFile
from workers.readers.locomo import LocomoReader
from workers.readers.mcp_memory import McpMemoryReader
from workers.readers.meeting import MeetingReader
from workers.readers.notes import ENDINGS, NotesReader
from workers.readers.options import ReadOptions
from workers.readers.report import ReadReport, Rejected
from workers.readers.slack import SlackReader
from workers.readers.stated import Draft
from workers.readers.whatsapp import WhatsAppReader

KNOWN_ENDINGS = ENDINGS | {".json", ".jsonl", ".ndjson", ".vtt", ".srt", ".zip"}
"""The endings of files that are looked into where a folder is read; others are counted."""


class Reader(Protocol):
    """What reads one format. `source` is the name under which its episodes are kept."""

    @property
    def source(self) -> str:
        """The name of the source, part of an episode's key."""
        ...

    def recognises(self, file: SourceFile) -> bool:
        """Whether the file's head is of this format; its name is not asked."""
        ...

    def read(self, file: SourceFile, options: ReadOptions, report: ReadReport) -> Iterator[Draft | Rejected]:
        """The drafts in the order of the file. One bad line costs itself alone; OSError may pass."""
        ...


def built_in_readers() -> tuple[Reader, ...]:
    """The readers, in the order in which they are asked."""
    assistants = (ClaudeCodeReader(), CodexReader(), ChatGptReader(), McpMemoryReader())
    return (*assistants, LocomoReader(), SlackReader(), ChatReader(), MeetingReader(), WhatsAppReader(), NotesReader())


def read_path(
    path: Path, options: ReadOptions | None = None, report: ReadReport | None = None, readers: Sequence[Reader] | None = None
) -> Iterator[Draft | Rejected]:
    """The unscrubbed drafts of a file, or of a folder's files in sorted order, and what could not be read.

    `report` is filled on the way. In a folder hidden files, and files of no known format whose ending is none of notes,
    are passed over and counted. Nothing but an unknown time zone raises (InvalidInput, at once).
    """
    options = options or ReadOptions()
    zone_named(options.time_zone)
    report = report if report is not None else ReadReport()
    return _read(Path(path), options, report, readers or built_in_readers())


def _read(path: Path, options: ReadOptions, report: ReadReport, readers: Sequence[Reader]) -> Iterator[Draft | Rejected]:
    for found, relative in _files(path):
        for item in [found] if isinstance(found, Rejected) else _read_file(found, relative, found == path, options, report, readers):
            if isinstance(item, Rejected):
                report.reject(item)
            yield item


def _files(path: Path) -> Iterator[tuple[Path | Rejected, str]]:
    """The files to read with their path from the folder asked for, or their own, on; what cannot be looked into is refused."""
    try:
        folder_asked_for = stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        yield Rejected(str(path), None, "missing", "there is no such file or folder"), ""
        return
    except OSError as refusal:
        yield Rejected(str(path), None, "unreadable", f"this cannot be looked at ({refusal.strerror})"), ""
        return
    if not folder_asked_for:
        yield path, f"{path.absolute().parent.name}/{path.name}".lstrip("/")
        return
    base = path.absolute().name
    failures: list[OSError] = []
    for folder, folders, names in os.walk(path, onerror=failures.append):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(name for name in names if not name.startswith(".")):
            file = Path(folder, name)
            yield file, f"{base}/{file.relative_to(path).as_posix()}".lstrip("/")
    for failure in failures:
        yield Rejected(str(failure.filename), None, "unreadable", f"the folder cannot be read ({failure.strerror})"), ""


def _read_file(
    path: Path, relative: str, asked_for: bool, options: ReadOptions, report: ReadReport, readers: Sequence[Reader]
) -> Iterator[Draft | Rejected]:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            yield Rejected(str(path), None, "unreadable", "this is no regular file")
            return
        with path.open("rb") as opened:
            head = opened.read(HEAD)
        file = SourceFile(path, str(path), relative, head, round(status.st_mtime * 1_000_000), status.st_size)
        if file.is_zip and not any(reader.recognises(file) for reader in readers):
            yield from _read_archive(file, options, report, readers)
        else:
            yield from _read_source(file, asked_for, options, report, readers)
    except OSError as failure:
        yield Rejected(str(path), None, "unreadable", f"the file cannot be read ({failure.strerror or failure})")


def _read_archive(file: SourceFile, options: ReadOptions, report: ReadReport, readers: Sequence[Reader]) -> Iterator[Draft | Rejected]:
    """The files of a zip archive, as those of a folder of its name; a broken one costs itself alone."""
    with closing(Archive(file.path)) as archive:
        for entry in archive.names:
            name = f"{file.name}:{entry}"
            try:
                if PurePosixPath(entry).suffix.lower() not in KNOWN_ENDINGS - {".zip"}:
                    report.skipped[f"file {PurePosixPath(entry).suffix.lower()}"] += 1
                    continue
                with archive.open(entry) as opened:
                    head = opened.read(HEAD)
                within = f"{file.stem}/{entry}"
                inner = SourceFile(file.path, name, within, head, file.modified, archive.size(entry), archive, entry)
                yield from _read_source(inner, False, options, report, readers)
            except OSError as failure:
                yield Rejected(name, None, "unreadable", f"the file cannot be read ({failure.strerror or failure})")


def _read_source(
    file: SourceFile, asked_for: bool, options: ReadOptions, report: ReadReport, readers: Sequence[Reader]
) -> Iterator[Draft | Rejected]:
    if not file.start:
        yield Rejected(file.name, None, "empty", "the file is empty")
        return
    if not asked_for and file.suffix not in KNOWN_ENDINGS:
        report.skipped[f"file {file.suffix}"] += 1
        return
    if file.is_binary and not file.is_zip:
        yield Rejected(file.name, None, "binary", "the file is no text")
        return
    reader = next((reader for reader in readers if reader.recognises(file)), None)
    if reader is None:
        yield Rejected(file.name, None, "unrecognised", "the file is of no format that is known here")
        return
    report.files += 1
    yield from reader.read(file, options, report)
