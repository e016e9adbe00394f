"""Vectors on a Qdrant server: it finds the candidates of a basis, everything exact is done here as ever.

One collection for each ledger and embedder, in which the parts of namespaces are told apart by their payload: what Qdrant advises for
tenants of like vectors, as a collection costs memory and files of its own (https://qdrant.tech/documentation/guides/multiple-partitions/).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from hashlib import blake2b
from threading import RLock
from typing import TypeVar

import httpx
from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from graph.recall.dense import DenseUnavailable
from graph.recall.namespace import Part
from graph.recall.points import INDEXES, Space
from graph.recall.qdrant_dense import QdrantDense

log = logging.getLogger(__name__)

T = TypeVar("T")

TRIES = 3
TIMEOUT = 10
"""Seconds; what took that long is not tried again."""
PAUSE = 5.0
"""Seconds in which a server that failed is not asked: every question would wait for it. Twice as long after each further failure."""
_LONGEST_PAUSE = 60.0
_BACK_OFF = 0.1
_TENANT_LINKS = 16
"""Links of a point to others of its space, where the search may be approximate."""


def open_qdrant(url: str, key: str | None, *, exact: bool = True) -> Callable[[str, str], Qdrant]:
    """What opens the collection of a ledger and an embedder, by their IDs. Nothing is asked of the server before there is need."""

    def client() -> QdrantClient:
        return QdrantClient(url=url, api_key=key, timeout=TIMEOUT, check_compatibility=False)

    return lambda ledger, embedder: Qdrant(client, ledger, embedder, exact=exact)


class Qdrant:
    """The vectors of one ledger by one embedder, on a server. Thread-safe."""

    def __init__(self, client: Callable[[], QdrantClient], ledger: str, embedder: str, *, exact: bool = True, pause: float = PAUSE) -> None:
        """`exact`: the server looks at all points that the filter lets through, instead of following a graph (HNSW)."""
        self._family = f"erstwhile-{_short(ledger)}-"
        self.collection = f"{self._family}{_short(embedder)}"
        self.exact = exact
        self._open = client
        self._pause = self._first_pause = pause
        self._lock = RLock()
        self._client: QdrantClient | None = None
        self._ready = False
        self._anew = False
        self._rests_until = 0.0
        self._failure = ""

    def __call__(self, namespace: str, part: Part) -> QdrantDense:
        """The place for the vectors of a part of a namespace."""
        return QdrantDense(self, Space(f"{part}:{namespace}"))

    # ------------------------------------------------------------ asking

    def ask(self, work: Callable[[QdrantClient], T]) -> T:
        """Have the server do something, again where it fails at once. Raises DenseUnavailable."""
        if time.monotonic() < self._rests_until:
            raise DenseUnavailable(self._failure)
        for attempt in range(1, TRIES + 1):
            try:
                done = work(self._connected())
            except Exception as failure:
                # Whatever a client raises, also for an address that is none: the ledger is followed all the same.
                if attempt < TRIES and _passes(failure):
                    time.sleep(_BACK_OFF * 4 ** (attempt - 1))
                    continue
                self._failure = f"the Qdrant server fails: {_told(failure)}"
                self._rests_until = time.monotonic() + self._pause
                self._pause = min(2 * self._pause, _LONGEST_PAUSE)
                raise DenseUnavailable(self._failure) from failure
            self._pause = self._first_pause
            return done
        raise AssertionError("the last attempt returns or raises")

    def _connected(self) -> QdrantClient:
        with self._lock:
            if self._client is None:
                self._client = self._open()
            return self._client

    # ------------------------------------------------------------ the collection

    def ready(self, dim: int) -> None:
        """See that the collection is there, for vectors of that length, and no other one of the ledger. Raises DenseUnavailable."""
        with self._lock:
            if not self._ready:
                self.ask(lambda client: self._prepare(client, dim))
                self._ready, self._anew = True, False

    def _prepare(self, client: QdrantClient, dim: int) -> None:
        for name in [each.name for each in client.get_collections().collections]:
            if name.startswith(self._family) and (name != self.collection or self._anew or not _holds(client, name, dim)):
                log.info("deleting the old collection %s", name)
                client.delete_collection(name)
        if not client.collection_exists(self.collection):
            # No graph over all spaces: nobody asks for more than one. For exact answers none at all.
            graph = models.HnswConfigDiff(m=0, payload_m=0 if self.exact else _TENANT_LINKS)
            vectors = models.VectorParams(size=dim, distance=models.Distance.DOT)
            client.create_collection(self.collection, vectors_config=vectors, hnsw_config=graph)
        for name, kind in INDEXES.items():
            client.create_payload_index(self.collection, name, field_schema=kind)

    def clear(self) -> None:
        """Begin with an empty collection when there is next something to keep."""
        with self._lock:
            self._ready, self._anew = False, True

    def close(self) -> None:
        """Release the connection."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None


def _short(name: str) -> str:
    return blake2b(name.encode(), digest_size=8).hexdigest()


def _holds(client: QdrantClient, name: str, dim: int) -> bool:
    vectors = client.get_collection(name).config.params.vectors
    return isinstance(vectors, models.VectorParams) and vectors.size == dim and vectors.distance == models.Distance.DOT


def _passes(failure: Exception) -> bool:
    """Whether a failure may be gone the next moment."""
    if isinstance(failure, UnexpectedResponse):
        return failure.status_code is None or failure.status_code >= 500 or failure.status_code in (408, 429)
    if isinstance(failure, ResponseHandlingException):
        return not isinstance(failure.source, httpx.TimeoutException)
    return isinstance(failure, ResourceExhaustedResponse)


def _told(failure: Exception) -> str:
    """A failure in words that hold no address, which may have a password in it."""
    if isinstance(failure, UnexpectedResponse):
        lost = "; if its collection is lost, `erstwhile rebuild --index` mends it" if failure.status_code == 404 else ""
        return f"it answers {failure.status_code} {failure.reason_phrase}".strip() + lost
    source = failure.source if isinstance(failure, ResponseHandlingException) else failure
    return type(source).__name__
