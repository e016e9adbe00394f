"""One database file of Kuzu or Ladybug, held open: who may use it when.

Either allows one Database object on a path, one write transaction at a time, and no call on a connection after an error; and
closing a database under a running query crashes the process. So: a lock file, a lock around writes, connections that are
thrown away after any error, and a gate that closing waits at until the readers have left.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from filelock import FileLock, Timeout

from graph.store.driver import Native, driver
from graph.store.port import GraphClosed, GraphUnreadable
from graph.store.settings import GraphSettings
from ontology.errors import DataFolderBusy


class Run:
    """A connection with its prepared statements. Not to be shared between threads."""

    def __init__(self, native: Native, database: Any, threads: int) -> None:
        self._driver = driver(native)
        # Ladybug keeps a plan for each query and the widths of its numbers, since one that was made for a small number may misread
        # a large one; Kuzu plans every text that it is given anew.
        self._plans_itself = native == "ladybug"
        self._connection = self._driver.Connection(database, num_threads=threads)
        self._prepared: dict[str, Any] = {}

    def rows(self, query: str, parameters: Mapping[str, Any] | None = None) -> list[list[Any]]:
        """The answer to a query that is worth preparing. Raises RuntimeError."""
        if self._plans_itself:
            return self._all(query, parameters)
        prepared = self._prepared.get(query)
        if prepared is None:
            # Connection.prepare is deprecated, though execute alone would parse and plan the text every time.
            prepared = self._prepared[query] = self._driver.PreparedStatement(self._connection, query, dict(parameters or {}))
        return self._all(prepared, parameters)

    def once(self, query: str, parameters: Mapping[str, Any] | None = None) -> list[list[Any]]:
        """The answer to a query that is not."""
        return self._all(query, parameters)

    def _all(self, query: Any, parameters: Mapping[str, Any] | None) -> list[list[Any]]:
        result = self._connection.execute(query, dict(parameters or {}))
        try:
            return cast(list[list[Any]], result.get_all())
        finally:
            result.close()

    def close(self) -> None:
        """Close the connection; an open transaction is rolled back."""
        self._prepared.clear()
        self._connection.close()


class Session:
    """Opens the file on construction, by the driver that the settings name.

    Raises DataFolderBusy where somebody has it open, GraphUnreadable where the driver cannot read it, InvalidInput where there is
    no such driver.
    """

    def __init__(self, path: Path, settings: GraphSettings) -> None:
        if settings.engine == "sql":
            raise ValueError("the ledger's own tables have no graph file")
        self._native: Native = settings.engine
        self._driver = driver(self._native)
        self._path = path
        self._settings = settings
        self._lock = FileLock(f"{path}.lock")
        self._writes = threading.RLock()
        self._gate = threading.Condition()
        self._readers = 0
        self._shut = False
        self._idle: list[Run] = []
        self._writer: Run | None = None
        self._database: Any = None
        try:
            self._lock.acquire(timeout=0)
        except Timeout as failure:
            raise DataFolderBusy(f"the graph in {path.name} is open already") from failure
        try:
            self._open()
        except BaseException:
            self._lock.release()
            raise

    def _open(self) -> None:
        size = 1 << (self._settings.max_size_mb * 2**20 - 1).bit_length()
        try:
            self._database = self._driver.Database(
                self._path,
                buffer_pool_size=self._settings.buffer_pool_mb * 2**20,
                max_num_threads=self._settings.threads,
                max_db_size=size,
                # A kill inside a second checkpoint of one Database object can leave the file unreadable: see `reopen`.
                auto_checkpoint=False,
            )
            self._writer = Run(self._native, self._database, self._settings.threads)
        except (RuntimeError, OSError, MemoryError, IndexError) as failure:
            self._drop()
            raise GraphUnreadable(f"{self._path.name} cannot be opened: {failure}") from failure

    @contextmanager
    def reading(self) -> Iterator[Run]:
        """A connection for one call. Waits while the file is reopened; raises GraphClosed after `close`."""
        run = self._enter()
        healthy = False
        try:
            yield run
            healthy = True
        finally:
            self._leave(run, healthy)

    def _enter(self) -> Run:
        with self._gate:
            self._gate.wait_for(lambda: self._shut or self._database is not None)
            if self._shut or self._database is None:
                raise GraphClosed("the graph is closed")
            self._readers += 1
            if self._idle:
                return self._idle.pop()
        try:
            return Run(self._native, self._database, self._settings.threads)
        except BaseException:
            with self._gate:
                self._readers -= 1
                self._gate.notify_all()
            raise

    def _leave(self, run: Run, healthy: bool) -> None:
        if not healthy:
            run.close()
        with self._gate:
            self._readers -= 1
            if healthy:
                self._idle.append(run)
            self._gate.notify_all()

    @contextmanager
    def writing(self) -> Iterator[Run]:
        """A write transaction: committed at the end, rolled back by any exception, after which the connection is replaced."""
        with self._writes:
            writer = self._writer
            if writer is None or self._database is None:
                raise GraphClosed("the graph is closed")
            try:
                writer.once("BEGIN TRANSACTION")
                yield writer
                writer.once("COMMIT")
            except BaseException:
                # Not ROLLBACK: a call on a connection whose BEGIN failed crashes the process.
                self._writer = None
                writer.close()
                self._writer = Run(self._native, self._database, self._settings.threads)
                raise

    def renew(self) -> None:
        """Replace the connection that writes. Ladybug keeps a plan for every Arrow table that was copied in, and the table with it."""
        with self._writes:
            writer, self._writer = self._writer, None
            if writer is None or self._database is None:
                raise GraphClosed("the graph is closed")
            writer.close()
            self._writer = Run(self._native, self._database, self._settings.threads)

    def reopen(self) -> None:
        """Checkpoint, by closing and opening again: the first checkpoint of a Database object is the only one to survive a kill."""
        with self._writes:
            if self._shut:
                raise GraphClosed("the graph is closed")
            with self._gate:
                self._drop_when_idle()
            self._open_again()

    def _open_again(self) -> None:
        try:
            with self._gate:
                self._open()
        finally:
            with self._gate:
                self._shut = self._shut or self._database is None
                self._gate.notify_all()

    def _drop_when_idle(self) -> None:
        """Within the gate. New readers wait as soon as there is no database."""
        database, self._database = self._database, None
        self._gate.wait_for(lambda: self._readers == 0)
        self._database = database
        self._drop()

    def _drop(self) -> None:
        runs: Sequence[Run] = [*self._idle, *([self._writer] if self._writer else [])]
        self._idle, self._writer = [], None
        for run in runs:
            run.close()
        database, self._database = self._database, None
        if database is not None:
            database.close()

    def close(self) -> None:
        """Wait for readers and the writer, then release the file."""
        with self._writes:
            with self._gate:
                if not self._shut:
                    self._shut = True
                    self._gate.notify_all()
                    self._drop_when_idle()
            self._lock.release()
