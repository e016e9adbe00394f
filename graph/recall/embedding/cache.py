"""The vectors that embedders made, kept beside the ledger so that rebuilding an index embeds nothing again."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from threading import RLock
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from graph.recall.embedding.port import EmbedderMismatch, Vectors
from ontology.errors import Overloaded

log = logging.getLogger(__name__)

T = TypeVar("T")

_HASH_BYTES = 16
_PART = 500
"""Hashes of one statement: SQLite builds are known that take 999 variables."""

_LAYOUT = 1

_PAGE = 8192
"""Bytes: five vectors of 384 numbers a page, where the usual 4,096 hold two and waste a quarter."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS embedders (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, dim INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS vectors (
    number INTEGER PRIMARY KEY, text BLOB NOT NULL, embedder INTEGER NOT NULL REFERENCES embedders, vector BLOB NOT NULL,
    UNIQUE (text, embedder)
);
CREATE TABLE IF NOT EXISTS uses (document BLOB NOT NULL, text BLOB NOT NULL, PRIMARY KEY (document, text)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS uses_by_text ON uses (text);
"""


class VectorCache:
    """The vectors of one embedder's texts, in a file that may hold those of others too. Thread-safe.

    Texts are known by a keyed hash, so that the file confirms no guess about an erased text without the `secret`. Every vector is of
    a text that some document uses: `put` keeps no others, so an erasure while a text is with the embedder leaves nothing behind.
    Whoever begins (or rebuilds) an index says all its uses again, then `retain`s its documents: a file begun anew knows none.

    The driver itself, not SQLAlchemy: a rebuild moves 100,000 rows of bytes, which is all that this file knows.
    """

    def __init__(self, path: Path, *, secret: bytes, embedder: str, patience: float = 10.0) -> None:
        """Open or begin the file. One that is damaged is moved aside, and a new one begun.

        `patience`: seconds to wait for other programs that read the file.
        """
        self._path, self._secret, self._embedder = path, secret[:64], embedder
        self._aside = path.with_name(f"{path.name}.damaged")
        self._lock = RLock()
        self._patience = patience
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._connection = self._open()
        except sqlite3.DatabaseError as failure:
            if not _damaged(failure):
                raise
            self._set_aside(failure)
            self._connection = self._open()

    @property
    def embedder(self) -> str:
        """The ID of the embedder whose vectors these are."""
        return self._embedder

    def close(self) -> None:
        """Release the file."""
        with self._lock:
            self._connection.close()

    def use(self, pairs: Iterable[tuple[bytes, str]]) -> None:
        """Say that documents (16-byte IDs) use the vectors of texts; again: no change."""
        rows = [(document, self._hash(text)) for document, text in pairs]
        self._write(lambda connection: connection.executemany("INSERT OR IGNORE INTO uses VALUES (?, ?)", rows))

    def put(self, texts: Sequence[str], vectors: Vectors) -> int:
        """Keep vectors (n, dim) of texts; those in use, once each. How many were new.

        Raises EmbedderMismatch where they are not as many, or of another length than those kept.
        """
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise EmbedderMismatch(f"{len(texts)} texts have an array of vectors {list(vectors.shape)}")
        if not len(texts):
            return 0
        exact = np.ascontiguousarray(vectors, dtype="<f4")
        rows = [(self._hash(text), vector.tobytes()) for text, vector in zip(texts, exact, strict=True)]

        def keep(connection: sqlite3.Connection) -> int:
            number = self._number(connection, exact.shape[1])
            before = connection.total_changes
            connection.executemany(
                "INSERT OR IGNORE INTO vectors (text, embedder, vector) SELECT ?1, ?2, ?3"
                " WHERE EXISTS (SELECT 1 FROM uses WHERE uses.text = ?1)",
                [(text, number, vector) for text, vector in rows],
            )
            return connection.total_changes - before

        return self._write(keep)

    def get(self, texts: Iterable[str]) -> dict[str, Vectors]:
        """The vectors (dim,) of the texts that have one; read-only."""
        hashes = {text: self._hash(text) for text in texts}
        found = self._vectors(set(hashes.values()))
        return {text: np.frombuffer(found[key], dtype="<f4") for text, key in hashes.items() if key in found}

    def every(self, batch: int = 16_384) -> Iterator[tuple[list[bytes], Vectors]]:
        """All documents with the vectors (n, dim) of what they use, in the file's own order: to fill a matrix that is empty."""
        with self._lock:
            row = self._read(
                lambda connection: connection.execute("SELECT number FROM embedders WHERE id = ?", (self._embedder,)).fetchone(), None
            )
            if row is None:
                return
            used = "SELECT uses.document, vector FROM vectors JOIN uses ON uses.text = vectors.text WHERE embedder = ? ORDER BY number"
            found = self._connection.execute(used, row)
            while rows := found.fetchmany(batch):
                vectors = np.frombuffer(b"".join(vector for _, vector in rows), dtype="<f4").reshape(len(rows), -1)
                yield [document for document, _ in rows], vectors

    def rows(self, texts: Sequence[str]) -> tuple[Vectors, NDArray[np.bool_]]:
        """(n, dim) vectors in the order of the texts, rows of zeros where there is none, and (n,) which there are.

        `dim` is 0 before the first vector.
        """
        hashes = [self._hash(text) for text in texts]
        found = self._vectors(set(hashes))
        there = np.fromiter((key in found for key in hashes), dtype=np.bool_, count=len(hashes))
        dim = len(next(iter(found.values()))) // 4 if found else self.dim or 0
        blank = bytes(4 * dim)
        # One copy, of what may be more than the rest of the process.
        joined = bytearray().join(found.get(key, blank) for key in hashes)
        matrix = np.frombuffer(joined, dtype="<f4").reshape(len(hashes), dim)
        return matrix, there

    @property
    def dim(self) -> int | None:
        """The length of the embedder's vectors; None before the first."""
        row = self._read(
            lambda connection: connection.execute("SELECT dim FROM embedders WHERE id = ?", (self._embedder,)).fetchone(), None
        )
        return int(row[0]) if row else None

    def count(self) -> int:
        """How many vectors of the embedder there are."""
        asked = "SELECT count(*) FROM vectors WHERE embedder = (SELECT number FROM embedders WHERE id = ?)"
        return int(self._read(lambda connection: connection.execute(asked, (self._embedder,)).fetchone()[0], 0))

    def release(self, documents: Iterable[bytes]) -> int:
        """Documents use nothing any more: vectors, of whatever embedder, that nobody else uses are deleted. How many.

        When this returns no byte of them is in the file, its log, or a damaged file that was moved aside.
        """
        return self._drop(documents, "document IN (SELECT document FROM told)")

    def retain(self, documents: Iterable[bytes]) -> int:
        """`release` all documents but these: for whoever begins anew, as a kill may have come between an erasure and its release."""
        return self._drop(documents, "document NOT IN (SELECT document FROM told)")

    def forget_others(self) -> int:
        """Delete the vectors of all embedders but this one. How many."""

        def drop(connection: sqlite3.Connection) -> int:
            others = "(SELECT number FROM embedders WHERE id <> ?)"
            deleted = connection.execute(f"DELETE FROM vectors WHERE embedder IN {others}", (self._embedder,)).rowcount  # noqa: S608
            connection.execute("DELETE FROM embedders WHERE id <> ?", (self._embedder,))
            return deleted

        return self._erase(drop)

    def _hash(self, text: str) -> bytes:
        return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_HASH_BYTES, key=self._secret).digest()

    def _vectors(self, hashes: set[bytes]) -> dict[bytes, bytes]:
        nothing: dict[bytes, bytes] = {}
        return self._read(lambda connection: self._found(connection, hashes), nothing)

    def _found(self, connection: sqlite3.Connection, hashes: set[bytes]) -> dict[bytes, bytes]:
        row = connection.execute("SELECT number FROM embedders WHERE id = ?", (self._embedder,)).fetchone()
        if row is None or not hashes:
            return {}
        if 4 * len(hashes) >= (connection.execute("SELECT max(number) FROM vectors").fetchone()[0] or 0):
            # Hashes lie all over the file: reading all 100,000 rows in its own order takes a third of the time of seeking each.
            every = connection.execute("SELECT text, vector FROM vectors WHERE embedder = ? ORDER BY number", row)
            return {text: vector for text, vector in every if text in hashes}
        found: dict[bytes, bytes] = {}
        # In the order of the index, whose pages are then read once.
        wanted = sorted(hashes)
        for start in range(0, len(wanted), _PART):
            part = wanted[start : start + _PART]
            marks = ",".join("?" * len(part))
            asked = f"SELECT text, vector FROM vectors WHERE embedder = ? AND text IN ({marks})"  # noqa: S608
            found.update(connection.execute(asked, (row[0], *part)))
        return found

    def _number(self, connection: sqlite3.Connection, dim: int) -> int:
        """The row of the embedder, made with the length of its first vectors."""
        row = connection.execute("SELECT number, dim FROM embedders WHERE id = ?", (self._embedder,)).fetchone()
        if row is None:
            made = connection.execute("INSERT INTO embedders (id, dim) VALUES (?, ?) RETURNING number", (self._embedder, dim))
            return int(made.fetchone()[0])
        if row[1] != dim:
            raise EmbedderMismatch(f"the vectors of {self._embedder} have {row[1]} numbers, these have {dim}")
        return int(row[0])

    def _drop(self, documents: Iterable[bytes], which: str) -> int:
        told = [(document,) for document in documents]

        def drop(connection: sqlite3.Connection) -> int:
            connection.execute("CREATE TEMP TABLE told (document BLOB PRIMARY KEY) WITHOUT ROWID")
            connection.executemany("INSERT OR IGNORE INTO told VALUES (?)", told)
            connection.execute(f"CREATE TEMP TABLE freed AS SELECT DISTINCT text FROM uses WHERE {which}")  # noqa: S608
            connection.execute(f"DELETE FROM uses WHERE {which}")  # noqa: S608
            unused = "text IN (SELECT text FROM freed) AND NOT EXISTS (SELECT 1 FROM uses WHERE uses.text = vectors.text)"
            deleted = connection.execute(f"DELETE FROM vectors WHERE {unused}").rowcount  # noqa: S608
            connection.execute("DROP TABLE told")
            connection.execute("DROP TABLE freed")
            return deleted

        return self._erase(drop)

    def _read(self, question: Callable[[sqlite3.Connection], T], nothing: T) -> T:
        """An answer of the file; `nothing` where it turns out damaged, which begins a new one."""
        with self._lock:
            try:
                return question(self._connection)
            except sqlite3.DatabaseError as failure:
                if not _damaged(failure):
                    raise
                self._renew(failure)
                return nothing

    def _write(self, change: Callable[[sqlite3.Connection], T]) -> T:
        """A change as one transaction, made in a new file where this one turns out damaged."""
        with self._lock:
            try:
                with _transaction(self._connection) as connection:
                    return change(connection)
            except sqlite3.DatabaseError as failure:
                if not _damaged(failure):
                    raise
                self._renew(failure)
                with _transaction(self._connection) as connection:
                    return change(connection)

    def _erase(self, change: Callable[[sqlite3.Connection], int]) -> int:
        with self._lock:
            deleted = self._write(change)
            # Pages as they were stay in the log until it is written back and cut off.
            busy = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            if busy:
                raise Overloaded(f"another program reads {self._path}, so what is erased stays in its log; stop it and try again")
            self._aside.unlink(missing_ok=True)
            return deleted

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False, timeout=self._patience)
        try:
            # NORMAL: a power cut may lose the last vectors, which are made again. FULL would wait for the disk at each batch.
            for pragma in (
                f"page_size={_PAGE}",
                "journal_mode=WAL",
                "synchronous=NORMAL",
                "secure_delete=ON",
                "temp_store=MEMORY",
            ):
                connection.execute(f"PRAGMA {pragma}")
            with _transaction(connection):
                if connection.execute("PRAGMA user_version").fetchone()[0] not in (0, _LAYOUT):
                    raise _OtherLayout("it has the layout of another version")
                for statement in _SCHEMA.split(";"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version={_LAYOUT}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _renew(self, failure: sqlite3.DatabaseError) -> None:
        self._connection.close()
        self._set_aside(failure)
        self._connection = self._open()

    def _set_aside(self, failure: sqlite3.DatabaseError) -> None:
        log.warning("%s is damaged (%s); it is moved to %s and begun anew", self._path, failure, self._aside.name)
        for suffix in ("-wal", "-shm"):
            # A log belongs to its file alone.
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        self._path.replace(self._aside)


class _OtherLayout(sqlite3.DatabaseError):
    """A file that an earlier or later version made; it is worth no more than a damaged one."""


def _damaged(failure: sqlite3.DatabaseError) -> bool:
    if isinstance(failure, _OtherLayout):
        return True
    # Not a full disk or a lock, which are no fault of the file.
    return getattr(failure, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
