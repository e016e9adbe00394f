"""Embedding in the background: the texts of which the index wants vectors, embedded in other processes and handed back."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Condition, Thread
from typing import TYPE_CHECKING, Protocol

import numpy as np

from graph.recall.embedding.port import Embedder, EmbedderUnavailable, Vectors
from workers.processes import ATTEMPTS, Processes

# Each process imports this module, and needs no settings.
if TYPE_CHECKING:
    from graph.recall.embedding.choosing import EmbedderFactory

logger = logging.getLogger(__name__)

BATCH = 256
"""Texts that are asked for at a time."""

CHUNK = 32
"""Texts of one task: a third of a second of MiniLM, which is how long closing waits."""

GRACE = 5.0
"""Seconds that closing gives the texts at hand; a server that embeds may be slower, and what it was asked is asked again."""

_LONGEST_PAUSE = 60.0


class Wanting(Protocol):
    """What wants vectors: the graph."""

    def unembedded(self, limit: int = 256) -> list[str]: ...

    def record_vectors(self, texts: Sequence[str], vectors: Vectors) -> None: ...


class Remote(Protocol):
    """Embeds elsewhere. Thread-safe."""

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """(n, dim), as `Embedder.embed_documents`. Raises EmbedderUnavailable, and others where it is for the texts."""
        ...

    def close(self) -> None:
        """Whoever waits is told so with EmbedderUnavailable."""
        ...


class _FailsAtAll(Exception):
    """So many texts failed one after the other that it is not for what they say."""

    def __init__(self, texts: Sequence[str], cause: Exception) -> None:
        super().__init__(f"the embedder fails at text after text: {cause}")
        self.texts = texts


def _embed(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    return embedder.embed_documents(texts)


class Embedding:
    """Follows `graph` in a thread that `notify` wakes. Thread-safe.

    `workers` processes load an embedder each when they are first needed; with 0 the thread itself does. With a `remote` it is asked
    by so many threads in place of processes, and closed at the end. `niceness` is that of the processes. While the embedder fails
    the thread tries again, after pauses (from `pause` seconds to a minute), and `degraded` says why texts wait. A text that fails
    where its neighbours do not is left alone until the next start.
    """

    def __init__(
        self,
        graph: Wanting,
        factory: EmbedderFactory,
        *,
        workers: int = 1,
        chunk: int = CHUNK,
        niceness: int = 0,
        pause: float = 1.0,
        remote: Remote | None = None,
    ) -> None:
        self._graph = graph
        self._factory = factory
        self._chunk = chunk
        self._pause = pause
        self._remote = remote
        self._processes = Processes(factory, workers=workers, niceness=niceness) if workers and remote is None else None
        self._threads = ThreadPoolExecutor(workers, "embedding") if workers > 1 else None
        self._own: Embedder | None = None
        self._left_alone: set[str] = set()
        self._given: frozenset[str] = frozenset()
        self._changed = Condition()
        self._asked = 0
        self._done = 0
        self._failures = 0
        self._closing = False
        self._thread = Thread(target=self._follow, name="embedding", daemon=True)
        self.degraded: str | None = None

    def start(self) -> None:
        """Begin, with what is wanted already."""
        with self._changed:
            if self._thread.ident is None and not self._closing:
                self._thread.start()
        self.notify()

    def notify(self) -> None:
        """There may be texts without vectors."""
        with self._changed:
            self._asked += 1
            self._changed.notify_all()

    def finish(self, timeout: float | None = None) -> bool:
        """Work off all that is wanted; whether everything has its vectors. False too after ATTEMPTS failures: `degraded` says why."""
        self.start()
        with self._changed:
            # What failed before is tried anew at once.
            self._failures = 0
            self._asked += 1
            mine = self._asked
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._done >= mine or self._closing or self._failures >= ATTEMPTS, timeout)
            return self._done >= mine and not self._left_alone

    def close(self) -> None:
        """Stop after the texts at hand, or GRACE; the others are wanted again at the next start."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._remote is not None:
            self._remote.close()
        if self._processes is not None:
            self._processes.close(grace=GRACE)
        if self._thread.ident is not None:
            self._thread.join()
        if self._threads is not None:
            self._threads.shutdown()

    def _follow(self) -> None:
        while (asked := self._sleep()) is not None:
            try:
                while self._take_up():
                    self._succeed()
                self._succeed()
            except Exception as failure:
                self._fail(failure)
            else:
                with self._changed:
                    if not self._closing:
                        self._done = asked
                    self._changed.notify_all()

    def _sleep(self) -> int | None:
        """Until there may be work, or the pause after a failure is over: what had been asked for by then. None at the end."""
        with self._changed:
            if self._failures:
                pause = min(_LONGEST_PAUSE, self._pause * 2 ** min(self._failures - 1, 10))
                self._changed.wait_for(lambda: self._closing or not self._failures, pause)
            else:
                self._changed.wait_for(lambda: self._closing or self._asked > self._done)
            return None if self._closing else self._asked

    def _succeed(self) -> None:
        with self._changed:
            self._failures = 0
            left = len(self._left_alone)
            self.degraded = f"{left} texts could not be embedded; they are left alone until the next start" if left else None

    def _fail(self, failure: Exception) -> None:
        with self._changed:
            if self._closing:
                return
            self._failures += 1
            if isinstance(failure, _FailsAtAll) and self._failures >= ATTEMPTS:
                # They would be the first again, and keep those behind them waiting for ever.
                self._left_alone.update(failure.texts)
            told, self.degraded = self.degraded, f"texts wait for their vectors: {failure}"
            self._changed.notify_all()
        if told == self.degraded:
            return
        if isinstance(failure, EmbedderUnavailable):
            logger.warning("%s; it is tried again", self.degraded)
        else:
            logger.error("texts cannot be embedded; it is tried again", exc_info=failure)

    def _take_up(self) -> bool:
        """Embed one batch and hand it over as it gets done; False where there is none."""
        wanted = [text for text in self._graph.unembedded(BATCH + len(self._left_alone)) if text not in self._left_alone][:BATCH]
        before, self._given = self._given, frozenset()
        if not wanted or self._closing:
            return False
        if before.issuperset(wanted):
            # This would go round for ever.
            logger.error("%d texts are wanted again at once though their vectors were handed over", len(wanted))
            self._left_alone.update(wanted)
            return True
        # Texts of one length, which some embedders run together, come to stand in one task.
        wanted.sort(key=len)
        given: set[str] = set()
        for texts, vectors in self._vectors([wanted[start : start + self._chunk] for start in range(0, len(wanted), self._chunk)]):
            if texts:
                self._graph.record_vectors(texts, vectors)
                given.update(texts)
        self._given = frozenset(given)
        return not self._closing

    def _vectors(self, chunks: Iterable[list[str]]) -> Iterator[tuple[list[str], Vectors]]:
        """The chunks' texts that could be embedded with their vectors, in order."""
        if self._threads is None:
            return map(self._of_chunk, chunks)
        return self._threads.map(self._of_chunk, chunks)

    def _of_chunk(self, texts: list[str]) -> tuple[list[str], Vectors]:
        if self._closing:
            return [], np.zeros((0, 0), dtype=np.float32)
        try:
            return texts, self._embed(texts)
        except EmbedderUnavailable:
            raise
        except Exception:
            if not self._closing:
                logger.warning("%d texts cannot be embedded together; they are tried one by one", len(texts), exc_info=True)
        return self._one_by_one(texts)

    def _one_by_one(self, texts: Sequence[str]) -> tuple[list[str], Vectors]:
        done: list[str] = []
        rows: list[Vectors] = []
        failed: list[str] = []
        row_of_failures: list[str] = []
        for text in texts:
            if self._closing:
                break
            try:
                rows.append(self._embed([text]))
                done.append(text)
                row_of_failures = []
            except EmbedderUnavailable:
                raise
            except Exception as failure:
                failed.append(text)
                row_of_failures.append(text)
                if len(row_of_failures) == ATTEMPTS:
                    raise _FailsAtAll(row_of_failures, failure) from failure
        if not self._closing:
            self._left_alone.update(failed)
        return done, np.concatenate(rows) if rows else np.zeros((0, 0), dtype=np.float32)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        if self._remote is not None:
            vectors = self._remote(texts)
        elif self._processes is not None:
            vectors = self._processes.run(_embed, texts)
        else:
            if self._own is None:
                self._own = self._factory()
            vectors = self._own.embed_documents(texts)
        if len(vectors) != len(texts):
            raise EmbedderUnavailable(f"the embedder made {len(vectors)} vectors of {len(texts)} texts; choose another")
        return vectors
