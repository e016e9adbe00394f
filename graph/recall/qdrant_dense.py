"""The vectors of one part of a namespace on a Qdrant server."""

from __future__ import annotations

import logging
from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from qdrant_client import QdrantClient, models

from graph.recall import points
from graph.recall.columns import Bools, Floats, Ints
from graph.recall.dense import MARGIN, Around, DenseUnavailable, Life, Vectors

if TYPE_CHECKING:
    from graph.recall.qdrant import Qdrant

log = logging.getLogger(__name__)

T = TypeVar("T")

BATCH = 500
"""Points of one request: of 1,024 numbers each they take about 10 MB of the 32 that a server accepts."""
PAGE = 10_000
"""Points of one request that brings no vectors."""
FEW = 1000
"""Documents that are asked for by their numbers: among so few no other filter could be as exact."""
ROOM = 16
"""How many more are asked for than are needed, for those that come close to the last."""
RECENT = 4096
"""Vectors that are kept here: what was found is scored at once, and often found again by the next question."""
NOWHERE = -1


class QdrantDense:
    """Implements Dense on a server. What it does not take waits here and is sent later; until then questions fail."""

    filters = True

    def __init__(self, server: Qdrant, space: points.Space) -> None:
        self._server = server
        self._space = space
        self._lock = RLock()
        # What is on the server, by documents: marks of vectors (NOWHERE where there is none) and of lives.
        self._there: tuple[Ints, Ints] | None = None
        self._lives: dict[int, Life] = {}
        self._vectors: dict[int, Vectors] = {}
        self._failed = False
        self._recent = _Recent()

    # ------------------------------------------------------------ writing

    def put(self, docs: Ints, vectors: Vectors) -> None:
        """Send vectors, with what was told of their documents; where the server fails, later."""
        with self._lock:
            self._vectors.update(zip(docs.tolist(), np.array(vectors, np.float32), strict=True))
            self._recent.forget(docs)
        self.send()

    def describe(self, lives: dict[int, Life]) -> None:
        """Send when documents count, of those that are there; the others' goes with their vectors."""
        with self._lock:
            self._lives.update(lives)
        self.send()

    @property
    def behind(self) -> int:
        """How many documents the server has not taken."""
        with self._lock:
            return len(self._vectors.keys() | self._changed().keys()) if self._failed else 0

    def send(self) -> None:
        """Send what waits."""
        try:
            self._send()
        except DenseUnavailable as failure:
            if not self._failed:
                log.warning("vectors wait to be sent: %s", failure.message)
            self._failed = True

    def _send(self) -> None:
        with self._lock:
            if self._there is None:
                if not self._vectors:
                    return
                self._server.ready(len(next(iter(self._vectors.values()))))
                self._there = self._look()
            for some in _parts(sorted(self._vectors)):
                self._send_vectors(some)
            self._send_lives(self._changed())
            self._failed = False

    def _look(self) -> tuple[Ints, Ints]:
        """What is on the server from an index that was made before: a rebuilt one sends only what differs."""
        vectors, lives = np.full(1024, NOWHERE), np.full(1024, NOWHERE)
        offset: models.ExtendedPointId | None = None
        while True:
            found, offset = self._server.ask(partial(self._page, offset))
            if found:
                docs = self._space.docs(found)
                vectors, lives = (_reaching(marks, int(docs.max()) + 1) for marks in (vectors, lives))
                for marks, name in ((vectors, "vector"), (lives, "life")):
                    marks[docs] = [(each.payload or {}).get(name, NOWHERE) for each in found]
            if offset is None:
                return vectors, lives

    def _page(
        self, start: models.ExtendedPointId | None, client: QdrantClient
    ) -> tuple[list[models.Record], models.ExtendedPointId | None]:
        mine = models.Filter(must=[self._space.mine])
        return client.scroll(self._server.collection, mine, limit=PAGE, offset=start, with_payload=["vector", "life"])

    def _send_vectors(self, docs: Sequence[int]) -> None:
        marks, lives = self._marks(docs[-1] + 1)
        whole: list[models.PointStruct] = []
        operations: list[models.UpdateOperation] = []
        noted: dict[int, tuple[int, int]] = {}
        for doc in docs:
            vector, life, point = self._vectors[doc], self._lives.get(doc), self._space.point(doc)
            mark = points.vector_mark(vector)
            if marks[doc] == mark:
                continue
            if life is None and marks[doc] != NOWHERE:
                # Its mark last: it tells of a vector that has arrived.
                moved = models.UpdateVectors(points=[models.PointVectors(id=point, vector=vector.tolist())])
                operations.append(models.UpdateVectorsOperation(update_vectors=moved))
                operations.append(_set({"vector": mark}, [point]))
                noted[doc] = mark, int(lives[doc])
                continue
            kept = {"space": self._space.name, "vector": mark, **points.payload(life or points.ALWAYS)}
            whole.append(models.PointStruct(id=point, vector=vector.tolist(), payload=kept))
            noted[doc] = mark, kept["life"]
        if whole:
            operations.append(models.UpsertOperation(upsert=models.PointsList(points=whole)))
        self._do(operations)
        for doc, (mark, life_mark) in noted.items():
            marks[doc], lives[doc] = mark, life_mark
        for doc in docs:
            del self._vectors[doc]

    def _changed(self) -> dict[int, Life]:
        """What was told of documents that are there and is not known there."""
        if self._there is None:
            return {}
        vectors, lives = self._there
        there = {doc: life for doc, life in self._lives.items() if doc < len(vectors) and vectors[doc] != NOWHERE}
        return {doc: life for doc, life in there.items() if lives[doc] != points.life_mark(life)}

    def _send_lives(self, changed: dict[int, Life]) -> None:
        alike: dict[Life, list[int]] = defaultdict(list)
        for doc, life in changed.items():
            alike[life].append(doc)
        _, lives = self._marks(0)
        for some in _parts(list(alike)):
            self._do([_set(points.payload(life), self._space.points(alike[life])) for life in some])
            for life in some:
                lives[alike[life]] = points.life_mark(life)
        vectors, _ = self._marks(0)
        self._lives = {doc: life for doc, life in self._lives.items() if doc >= len(vectors) or vectors[doc] == NOWHERE}

    def _marks(self, size: int) -> tuple[Ints, Ints]:
        assert self._there is not None
        vectors, lives = (_reaching(marks, size) for marks in self._there)
        self._there = vectors, lives
        return vectors, lives

    def _do(self, operations: Sequence[models.UpdateOperation]) -> None:
        if operations:
            self._server.ask(lambda client: client.batch_update_points(self._server.collection, operations, wait=True))

    # ------------------------------------------------------------ reading

    def nearest(self, query: Vectors, admitted: Bools, around: Around, limit: int) -> Ints:
        """By the server's filters, again with more until enough are admitted. Raises DenseUnavailable."""
        docs = np.flatnonzero(admitted)
        limit = min(limit, len(docs))
        if limit == 0:
            return np.zeros(0, np.int64)
        self._catch_up()
        condition = points.these(self._space, docs.tolist()) if len(docs) <= FEW else points.during(self._space, around)
        wanted = limit + ROOM
        while True:
            found, scores = self._found(query, condition, wanted)
            mine = found < len(admitted)
            mine[mine] = admitted[found[mine]]
            near, each = found[mine], scores[mine]
            enough = len(near) >= limit and scores[-1] < each[limit - 1] - MARGIN
            if enough or len(found) < wanted:
                break
            wanted *= 4
        if len(near) < limit:
            raise DenseUnavailable("points are missing on the Qdrant server; `erstwhile rebuild --index` mends it")
        return np.sort(near[each >= each[limit - 1] - MARGIN])

    def _found(self, query: Vectors, condition: models.Filter, wanted: int) -> tuple[Ints, Floats]:
        """The best points, best first, with their scores."""
        # What is found is scored next, unless there is too much of it.
        vectors = wanted <= FEW
        answer = self._server.ask(
            lambda client: client.query_points(
                self._server.collection,
                query=query.tolist(),
                query_filter=condition,
                limit=wanted,
                search_params=models.SearchParams(exact=True) if self._server.exact else models.SearchParams(hnsw_ef=2 * wanted),
                with_payload=False,
                with_vectors=vectors,
            )
        )
        docs = self._space.docs(answer.points)
        if vectors:
            self._recent.keep(docs, [each.vector for each in answer.points])
        return docs, np.array([each.score for each in answer.points], np.float64)

    def vectors(self, docs: Ints) -> Vectors:
        """The very numbers that were put: those of a dot product are kept as they are. Raises DenseUnavailable."""
        found = self._recent.of(docs)
        with self._lock:
            found |= {doc: self._vectors[doc] for doc in docs.tolist() if doc in self._vectors}
        for some in _parts([doc for doc in docs.tolist() if doc not in found]):
            ids = self._space.points(some)
            records = self._server.ask(partial(self._retrieve, ids))
            found |= self._recent.keep(self._space.docs(records), [each.vector for each in records])
        if any(doc not in found for doc in docs.tolist()):
            raise DenseUnavailable("points are missing on the Qdrant server; `erstwhile rebuild --index` mends it")
        return np.array([found[doc] for doc in docs.tolist()], np.float32)

    def _retrieve(self, ids: list[models.ExtendedPointId], client: QdrantClient) -> list[models.Record]:
        return client.retrieve(self._server.collection, ids, with_payload=False, with_vectors=True)

    def _catch_up(self) -> None:
        """An answer without what waits would be wrong, and nobody would know. Raises DenseUnavailable."""
        if self._failed:
            self._send()

    def close(self) -> None:
        """Let go of what waits; the points stay for the next start."""
        with self._lock:
            self._lives, self._vectors = {}, {}


class _Recent:
    """The last vectors that the server gave. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: OrderedDict[int, Vectors] = OrderedDict()

    def keep(self, docs: Ints, vectors: Sequence[Any]) -> dict[int, Vectors]:
        """Keep some, and answer with them."""
        found = {doc: np.array(vector, np.float32) for doc, vector in zip(docs.tolist(), vectors, strict=True)}
        with self._lock:
            for doc, vector in found.items():
                self._kept[doc] = vector
                self._kept.move_to_end(doc)
            while len(self._kept) > RECENT:
                self._kept.popitem(last=False)
        return found

    def of(self, docs: Ints) -> dict[int, Vectors]:
        """Those of some documents that are kept."""
        with self._lock:
            return {doc: self._kept[doc] for doc in docs.tolist() if doc in self._kept}

    def forget(self, docs: Ints) -> None:
        """Let go of some."""
        with self._lock:
            for doc in docs.tolist():
                self._kept.pop(doc, None)


def _set(payload: dict[str, Any], ids: list[models.ExtendedPointId]) -> models.SetPayloadOperation:
    return models.SetPayloadOperation(set_payload=models.SetPayload(payload=payload, points=ids))


def _reaching(marks: Ints, size: int) -> Ints:
    """Marks with room for so many documents."""
    if size <= len(marks):
        return marks
    return np.concatenate((marks, np.full(max(size, len(marks) * 3 // 2) - len(marks), NOWHERE)))


def _parts(things: Sequence[T]) -> Iterator[Sequence[T]]:
    """In parts of one request each."""
    return (things[start : start + BATCH] for start in range(0, len(things), BATCH))
