"""A file to be read, and what its first bytes say about it."""

from __future__ import annotations

import json
import posixpath
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from ontology.instant import Instant
from workers.readers.archives import Archive
from workers.readers.lines import BYTE_ORDER_MARK

HEAD = 2**18
"""Bytes by which a format is recognised."""

_KEY = re.compile(rb'"([A-Za-z_][\w-]{0,40})"\s*:')
_ARRAY = re.compile(rb"\[\s*[{\]]")
ZIP = b"PK\x03\x04"
_MAGIC = (ZIP, b"%PDF", b"\x89PNG", b"\x1f\x8b", b"SQLite format 3")
# A write torn by a crash leaves a run of NUL in a text: it counts once.
_CONTROL = re.compile(rb"\x00+|[\x01-\x08\x0e-\x1a\x1c-\x1f]")


@dataclass(frozen=True)
class SourceFile:
    """`name` is how the caller wrote its path, `relative` its path from the name of the folder asked for, or of
    its own, on (`notes/2025/standup.md`).

    `head` are its first 256 KB, `modified` is when it was last modified, `size` its bytes. An entry of an archive has the
    archive's `path` and time; `entry` is its own path in there.
    """

    path: Path
    name: str
    relative: str
    head: bytes
    modified: Instant
    size: int
    archive: Archive | None = None
    entry: str = ""

    def open(self) -> BinaryIO:
        """The file's bytes from the start. Raises OSError."""
        return self.path.open("rb") if self.archive is None else self.archive.open(self.entry)

    def beside(self, name: str) -> BinaryIO | None:
        """Another file by its path from this one's folder (`../users.json`), or None. Raises OSError where it cannot be read."""
        if not self.beside_exists(name):
            return None
        return (self.path.absolute().parent / name).open("rb") if self.archive is None else self.archive.open(self._entry(name))

    def beside_exists(self, name: str) -> bool:
        """Whether there is another file at a path from this one's folder."""
        if self.archive is not None:
            return self.archive.holds(self._entry(name))
        try:
            return (self.path.absolute().parent / name).is_file()
        except OSError:
            # A name that is too long, or a folder that may not be looked into.
            return False

    def _entry(self, name: str) -> str:
        return posixpath.normpath(posixpath.join(posixpath.dirname(self.entry), name))

    @property
    def filename(self) -> str:
        """The file's name without its folders."""
        return PurePosixPath(self.entry).name if self.archive else self.path.name

    @property
    def stem(self) -> str:
        """The file's name without its ending."""
        return PurePosixPath(self.filename).stem

    @property
    def suffix(self) -> str:
        """The ending of the file's name, in small letters (`.json`)."""
        return PurePosixPath(self.filename).suffix.lower()

    @property
    def folder(self) -> str:
        """The name of the folder that it lies in; for what lies outermost in an archive the archive's, without its ending."""
        if self.archive is None:
            return self.path.absolute().parent.name
        return PurePosixPath(self.entry).parent.name or self.path.stem

    @property
    def place(self) -> str:
        """The stem with the name of the folder that it lies in (`friends/messages`): files of one name mostly lie apart."""
        return f"{self.folder}/{self.stem}" if self.folder else self.stem

    @property
    def is_zip(self) -> bool:
        """Whether it is a zip archive."""
        return self.head.startswith(ZIP)

    @cached_property
    def start(self) -> bytes:
        """The head from its first visible character."""
        return self.head.removeprefix(BYTE_ORDER_MARK).lstrip(b"\0 \t\r\n")

    @property
    def is_binary(self) -> bool:
        """Whether it holds what no text does (UTF-16 with its mark is text)."""
        if self.head.startswith((b"\xff\xfe", b"\xfe\xff")):
            return False
        sample = self.head[:8192]
        return self.head.startswith(_MAGIC) or len(_CONTROL.findall(sample)) > max(8, len(sample) // 20)

    @cached_property
    def first_objects(self) -> list[dict[str, Any]]:
        """The objects on the first lines of the head that hold one each."""
        found = []
        for line in self.start.split(b"\n")[:200]:
            try:
                value = json.loads(line.decode(errors="replace"), strict=False)
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict):
                found.append(value)
        return found

    @cached_property
    def is_array(self) -> bool:
        """Whether it is one JSON array, and not lines of which the first happens to be one."""
        if not _ARRAY.match(self.start):
            return False
        first, _, rest = self.start.partition(b"\n")
        if not rest.strip():
            return True
        try:
            json.loads(first.decode(errors="replace"))
        except (ValueError, RecursionError):
            return first.strip() in (b"[", b"") or not first.rstrip().endswith(b"]")
        return False

    @cached_property
    def is_lines(self) -> bool:
        """Whether it is JSON Lines: an object or what is left of one on each."""
        if self.is_array:
            return False
        if self.first_objects:
            return True
        return self.start[:2] in (b'{"', b"[]") or self.start.startswith(b'{ "')

    @cached_property
    def keys(self) -> set[str]:
        """The keys, at any depth, in the head."""
        return {key.decode() for key in _KEY.findall(self.head)}
