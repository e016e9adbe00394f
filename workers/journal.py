"""What a destination has acknowledged, on disk: it makes running an import again cheap. That it is right rests on the ledger alone.

A destination is a namespace of a data folder or of a server. The journal holds digests of drafts and of files, no text. It claims
nothing that was not acknowledged: digests are written after the acknowledgement, in one SQLite transaction with an anchor, a
transaction of the destination that came after them. Where the destination has no such transaction any more (another folder, a backup
that was brought back) the journal forgets. A kill loses the last second of it, which is then sent again and known there.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Protocol

from ontology.episode import EpisodeDraft
from ontology.errors import ErstwhileError
from ontology.instant import Instant
from workers.readers import Draft, StatedEpisode

VERSION = 1
"""Of the file's layout and of the digests: a file of another one is begun anew."""
SECONDS = 1.0
"""Acknowledgements wait so long to be written."""
MANY = 5000
"""So many do not wait."""
_ASKED = 500

_SCHEMA = """
CREATE TABLE destinations (id INTEGER PRIMARY KEY, namespace TEXT UNIQUE NOT NULL, number INTEGER, at INTEGER);
CREATE TABLE drafts (destination INTEGER, digest BLOB, PRIMARY KEY (destination, digest)) WITHOUT ROWID;
CREATE TABLE files (
  destination INTEGER, device INTEGER, inode INTEGER, entry BLOB, size INTEGER NOT NULL, modified INTEGER NOT NULL,
  head BLOB NOT NULL, options BLOB NOT NULL, drafts INTEGER NOT NULL, PRIMARY KEY (destination, device, inode, entry)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Anchor:
    """A transaction of the destination: its number and time."""

    number: int
    at: Instant


class Clock(Protocol):
    """The transactions of a destination. Both raise ErstwhileError where it does not answer."""

    def last(self) -> Anchor:
        """The last one; number 0 where there is none."""
        ...

    def last_by(self, at: Instant) -> int:
        """The number of the last one at or before a time; 0 where there is none."""
        ...


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as it was read: `device`, `inode` and `entry` (hashed path in an archive) name it whatever its name, the rest is its content.

    `size` is in bytes, `modified` in nanoseconds; `head` is the hash of its first 256 KB, `options` that of how it was read.
    """

    device: int
    inode: int
    entry: bytes
    size: int
    modified: int
    head: bytes
    options: bytes


_NAMED = tuple(each.name for each in fields(EpisodeDraft) if each.name not in ("content", "metadata"))


def digest_of(draft: Draft) -> bytes:
    """16 bytes that stand for a draft with all that it states."""
    claims = draft.claims if isinstance(draft, StatedEpisode) else ()
    episode = draft.episode if isinstance(draft, StatedEpisode) else draft
    named = [getattr(episode, name) for name in _NAMED]
    # What is written differently though it is equal is sent again, and known there: plain `repr` is fast.
    digest = blake2b(repr((named, sorted(episode.metadata.items()), claims)).encode(errors="surrogatepass"), digest_size=16)
    digest.update(episode.content.encode(errors="surrogatepass"))
    return digest.digest()


class Journal:
    """The journal of one namespace in a file, which other processes may use too. Thread-safe.

    Where the file cannot be read or written any more (the disk is full) `problem` says so, and an import does without: the journal knows
    and keeps nothing from then on.
    """

    def __init__(self, path: Path, namespace: str, clock: Clock) -> None:
        """Raises OSError where the file cannot be made, ErstwhileError where the destination does not answer."""
        self._path, self._clock = path, clock
        self._lock = Lock()
        self.problem: str | None = None
        self._drafts: set[bytes] = set()
        self._files: dict[tuple[int, int, bytes], tuple[FileState, int]] = {}
        self._written = time.monotonic()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = _opened(path)
        with self._transaction() as connection:
            connection.execute("INSERT OR IGNORE INTO destinations (namespace) VALUES (?)", (namespace,))
        row = self._connection.execute("SELECT id, number, at FROM destinations WHERE namespace = ?", (namespace,)).fetchone()
        self._id: int = row[0]
        anchor = None if row[1] is None else Anchor(row[1], row[2])
        if anchor is not None and not _stands(anchor, clock):
            self.forget()

    def known(self, digests: Sequence[bytes]) -> set[bytes]:
        """Which of some drafts are acknowledged."""
        found: set[bytes] = set()
        with self._lock, self._trying():
            found |= self._drafts.intersection(digests)
            for at in range(0, len(digests), _ASKED):
                part = digests[at : at + _ASKED]
                places = ",".join("?" * len(part))
                rows = self._connection.execute(
                    f"SELECT digest FROM drafts WHERE destination = ? AND digest IN ({places})",  # noqa: S608
                    (self._id, *part),
                )
                found.update(row[0] for row in rows)
        return found

    def acknowledge(self, digests: Iterable[bytes]) -> None:
        """Some drafts are safe at the destination."""
        with self._lock:
            if self.problem is not None:
                return
            self._drafts.update(digests)
            due = len(self._drafts) >= MANY or time.monotonic() - self._written >= SECONDS
        if due:
            self.flush()

    def drafts_of(self, file: FileState) -> int | None:
        """How many drafts a file has that was read whole as it is, whatever its name was, and all of which is acknowledged; else None."""
        key, row = (file.device, file.inode, file.entry), None
        with self._lock, self._trying():
            if key in self._files:
                found, drafts = self._files[key]
                return drafts if found == file else None
            row = self._connection.execute(
                "SELECT drafts, size, modified, head, options FROM files WHERE destination = ? AND device = ? AND inode = ? AND entry = ?",
                (self._id, *key),
            ).fetchone()
        return int(row[0]) if row is not None and row[1:] == (file.size, file.modified, file.head, file.options) else None

    def finish(self, file: FileState, drafts: int) -> None:
        """All of a file, so many drafts, is acknowledged."""
        with self._lock:
            self._files[file.device, file.inode, file.entry] = file, drafts

    def flush(self) -> None:
        """Write what is acknowledged. Where the destination does not answer now it waits for the next time."""
        with self._lock:
            if self.problem is not None or not (self._drafts or self._files):
                return
            self._written = time.monotonic()
            drafts, files = list(self._drafts), dict(self._files)
        try:
            # After the acknowledgements: whoever has this transaction has all of them.
            anchor = self._clock.last()
        except ErstwhileError:
            return
        if anchor.number == 0:
            return
        with self._lock, self._trying(), self._transaction() as connection:
            connection.executemany("INSERT OR IGNORE INTO drafts VALUES (?, ?)", ((self._id, digest) for digest in drafts))
            rows = ((self._id, *astuple(file), count) for file, count in files.values())
            connection.executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
            connection.execute("UPDATE destinations SET number = ?, at = ? WHERE id = ?", (anchor.number, anchor.at, self._id))
            self._drafts.difference_update(drafts)
            for key, file in files.items():
                if self._files.get(key) == file:
                    del self._files[key]

    def forget(self) -> None:
        """Begin anew: nothing is acknowledged."""
        with self._lock, self._transaction() as connection:
            self._drafts.clear()
            self._files.clear()
            connection.execute("DELETE FROM drafts WHERE destination = ?", (self._id,))
            connection.execute("DELETE FROM files WHERE destination = ?", (self._id,))
            connection.execute("UPDATE destinations SET number = NULL, at = NULL WHERE id = ?", (self._id,))

    def close(self) -> None:
        """Write what waits, and close the file."""
        try:
            self.flush()
        finally:
            self._connection.close()

    @contextmanager
    def _trying(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as failure:
            self.problem = str(failure)
            self._drafts.clear()
            self._files.clear()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield self._connection
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")


def _stands(anchor: Anchor, clock: Clock) -> bool:
    """Whether the destination has this very transaction."""
    return clock.last_by(anchor.at) == anchor.number and clock.last_by(anchor.at - 1) < anchor.number


def _opened(path: Path) -> sqlite3.Connection:
    """The database; one that cannot be read, or has another layout, is put aside for an empty one."""
    try:
        return _connected(path)
    except sqlite3.DatabaseError as failure:
        if isinstance(failure, sqlite3.OperationalError) and "lock" in str(failure):
            raise
        for ending in ("", "-wal", "-shm"):
            Path(f"{path}{ending}").unlink(missing_ok=True)
        return _connected(path)


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
    try:
        # What a loss of power takes of the last seconds is sent again.
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=30000"):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("BEGIN IMMEDIATE")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version == 0:
            for statement in _SCHEMA.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {VERSION}")
            path.chmod(0o600)
        elif version != VERSION:
            raise sqlite3.DatabaseError("another layout")
        connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection
