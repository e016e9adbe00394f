"""Zip archives that are read without unpacking them to disk: what lies in them, entry by entry, within limits."""

from __future__ import annotations

import io
import lzma
import struct
import zipfile
import zlib
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import BinaryIO

MAX_ENTRY = 4 * 2**30
"""Longest entry that is read, in unpacked bytes."""

MAX_RATIO = 200
"""How many times its packed size an entry of more than `SMALL` bytes may unpack to. Transcripts come to 5 to 30."""

SMALL = 64 * 2**20
MAX_ENTRIES = 200_000

# What zipfile and the decompressors raise for broken, encrypted and unknown entries.
_FAILURES = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
    KeyError,
)


class ArchiveFailure(OSError):
    """An archive, or an entry of one, that cannot be read. `strerror` says why and quotes nothing of it."""


class _Entry(io.RawIOBase):
    """The unpacked bytes of an entry; whatever is wrong with it is an ArchiveFailure."""

    def __init__(self, opened: io.BufferedIOBase, limit: int) -> None:
        self._opened, self._left = opened, limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        try:
            data = self._opened.read(len(buffer))
        except _FAILURES as failure:
            raise ArchiveFailure(None, f"the entry is broken ({type(failure).__name__})") from failure
        self._left -= len(data)
        if self._left < 0:
            raise ArchiveFailure(None, "the entry is longer than it says")
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._opened.close()
        super().close()


class Archive:
    """A zip file. Its directory is read once; raises ArchiveFailure where there is none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except _FAILURES as failure:
            raise ArchiveFailure(None, "the archive is broken") from failure
        if len(self._zip.infolist()) > MAX_ENTRIES:
            self._zip.close()
            raise ArchiveFailure(None, f"the archive has more than {MAX_ENTRIES:,} entries")

    def close(self) -> None:
        """Close the file."""
        self._zip.close()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The files in it, without hidden ones, in the order in which a folder is walked: a folder's files before its folders."""
        found = set()
        for name in self._zip.namelist():
            parts = PurePosixPath(name).parts
            if not name.endswith("/") and parts and not any(part.startswith((".", "__MACOSX")) for part in parts):
                found.add(name)
        return tuple(sorted(found, key=_walked))

    def holds(self, name: str) -> bool:
        """Whether there is an entry of that name."""
        return name in self._zip.NameToInfo

    def size(self, name: str) -> int:
        """The unpacked size that the directory states, in bytes."""
        return self._zip.getinfo(name).file_size

    def open(self, name: str) -> BinaryIO:
        """An entry to be read as a stream. Raises ArchiveFailure; KeyError where there is none of that name."""
        info = self._zip.getinfo(name)
        if info.file_size > MAX_ENTRY or info.file_size > max(SMALL, MAX_RATIO * info.compress_size):
            raise ArchiveFailure(None, f"the entry would unpack to {info.file_size:,} bytes")
        try:
            opened = self._zip.open(info)
        except _FAILURES as failure:
            why = "it is encrypted" if info.flag_bits & 1 else type(failure).__name__
            raise ArchiveFailure(None, f"the entry cannot be opened ({why})") from failure
        return io.BufferedReader(_Entry(opened, info.file_size), 2**18)  # type: ignore[arg-type,type-var]


def _walked(name: str) -> list[tuple[int, str]]:
    *folders, file = PurePosixPath(name).parts
    return [*((1, folder) for folder in folders), (0, file)]
