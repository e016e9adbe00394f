"""Transcripts written by tests, and reading them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ontology.episode import EpisodeDraft
from workers.readers import Draft, ReadOptions, ReadReport, Rejected, read_path
from workers.readers.files import HEAD, SourceFile

SAMPLES = Path(__file__).parent / "samples"
SESSION = "7c1d2f0e-0000-4000-8000-000000000001"


def uuid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012d}"


def record(number: int, content: Any, kind: str = "user", **more: Any) -> dict[str, Any]:
    """A record of a Claude Code session, `number` seconds after nine."""
    message: dict[str, Any] = {"role": kind, "content": content}
    return {
        "type": kind,
        "uuid": uuid(number),
        "timestamp": f"2025-03-01T09:{number // 60:02d}:{number % 60:02d}.000Z",
        "sessionId": SESSION,
        "version": "2.1.144",
        "cwd": "/home/maya/billing",
        "gitBranch": "main",
        "isSidechain": False,
        "message": message,
    } | more


def write_lines(path: Path, lines: Iterable[Any]) -> Path:
    """JSON Lines: objects as JSON, bytes as they are."""
    path.write_bytes(b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines))
    return path


def read_all(path: Path, options: ReadOptions | None = None) -> tuple[list[Draft], list[Rejected], ReadReport]:
    """What a path holds, in words and stated, and what could not be read."""
    report = ReadReport()
    items = list(read_path(path, options, report))
    drafts = [item for item in items if not isinstance(item, Rejected)]
    rejections = [item for item in items if isinstance(item, Rejected)]
    assert report.read == len(drafts)
    assert report.rejections == rejections
    return drafts, rejections, report


def read(path: Path, options: ReadOptions | None = None) -> tuple[list[EpisodeDraft], list[Rejected], ReadReport]:
    """What a path that states nothing holds in words, and what could not be read."""
    items, rejections, report = read_all(path, options)
    drafts = [item for item in items if isinstance(item, EpisodeDraft)]
    assert len(drafts) == len(items)
    return drafts, rejections, report


def texts(drafts: Iterable[EpisodeDraft]) -> list[str]:
    return [draft.content for draft in drafts]


def drafts_of(path: Path, options: ReadOptions | None = None) -> list[EpisodeDraft]:
    return read(path, options)[0]


def source_file(path: Path) -> SourceFile:
    """A file as readers are asked about it."""
    status = path.stat()
    return SourceFile(path, str(path), path.name, path.read_bytes()[:HEAD], round(status.st_mtime * 1_000_000), status.st_size)
