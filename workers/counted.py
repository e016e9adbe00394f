"""Files whose bytes are counted as they are read, for a bar that knows how far it is."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import BinaryIO, cast

from workers.readers.files import SourceFile
from workers.readers.paths import KNOWN_ENDINGS

_BUFFER = 2**18


class Passed:
    """Bytes of one file that were read, told on as they grow: never more than `size`, and all of them at the end."""

    def __init__(self, size: int, tell: Callable[[int], None]) -> None:
        self._left, self._tell = size, tell

    def add(self, count: int) -> None:
        """So many more were read, maybe for the second time."""
        count = min(count, self._left)
        self._left -= count
        if count:
            self._tell(count)

    def end(self) -> None:
        """Nothing more is read."""
        self.add(self._left)


class _Counting(io.RawIOBase):
    """The bytes of a file, counted."""

    def __init__(self, opened: BinaryIO, passed: Passed) -> None:
        self._opened, self._passed = opened, passed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        data = self._opened.read(len(buffer))
        buffer[: len(data)] = data
        self._passed.add(len(data))
        return len(data)

    def close(self) -> None:
        self._opened.close()
        super().close()


@dataclass(frozen=True)
class CountedFile(SourceFile):
    """A file to be read whose bytes are counted. Those of an entry in an archive are counted at its end."""

    passed: Passed = field(default_factory=lambda: Passed(0, lambda count: None))

    def open(self) -> BinaryIO:
        """The file's bytes from the start. Raises OSError."""
        opened = super().open()
        return (
            opened
            if self.archive is not None
            else cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, _Counting(opened, self.passed)), _BUFFER))
        )


def counted(file: SourceFile, passed: Passed) -> CountedFile:
    """The same file, its bytes told to `passed`."""
    return CountedFile(**{each.name: getattr(file, each.name) for each in fields(SourceFile)}, passed=passed)


def total_bytes(paths: Iterable[Path]) -> int:
    """Bytes of the files that reading some paths would look into; what cannot be looked at counts nothing."""
    return sum(_sizes(paths))


def _sizes(paths: Iterable[Path]) -> Iterator[int]:
    for path in paths:
        if path.is_file():
            yield path.stat().st_size
            continue
        for folder, folders, names in os.walk(path):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in names:
                if not name.startswith(".") and Path(name).suffix.lower() in KNOWN_ENDINGS:
                    try:
                        status = Path(folder, name).stat()
                    except OSError:
                        continue
                    if stat.S_ISREG(status.st_mode):
                        yield status.st_size
