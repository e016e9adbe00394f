"""What a worker does with texts to be embedded."""

from __future__ import annotations

import logging
from base64 import b64encode
from collections.abc import Callable
from typing import TYPE_CHECKING

from celery.exceptions import SoftTimeLimitExceeded
from redis import Redis

from graph.work import MAX_STARTS
from workers.broker.connection import Keys
from workers.broker.messages import LONGEST_REASON, VERSION, Embedded, EmbedTask, Malformed, packed, unpacked
from workers.broker.signing import Forged, Purpose, Signer

if TYPE_CHECKING:
    from graph.recall.embedding.choosing import Choice
    from graph.recall.embedding.port import Embedder

logger = logging.getLogger(__name__)

EmbedderChoice = Callable[[], "Choice | None"]
"""The embedder that a worker's settings choose. Raises ErstwhileError."""


class EmbeddingTasks:
    """Embeds texts, in one process of a worker, and puts the vectors on their stream."""

    def __init__(self, client: Redis, keys: Keys, signer: Signer, choice: EmbedderChoice, *, refuse: Callable[[str], None]) -> None:
        self._client, self._keys, self._signer = client, keys, signer
        self._choice, self._refuse = choice, refuse
        self._loaded: Embedder | None = None

    def run(self, body: object, mark: object) -> None:
        """Embed the texts of a task; when this returns its answer is on the stream. Raises RedisError."""
        try:
            task = unpacked(EmbedTask, self._signer.check(Purpose.EMBED, body, mark))
        except (Forged, Malformed) as failure:
            self._refuse(f"a task is refused: {failure}")
            return
        if not self._client.exists(self._keys.embedding(task.id)):
            # Who asked has given up, and asks again.
            return
        begun = int(self._client.incr(self._keys.embedding(task.id)))
        if begun > MAX_STARTS:
            self._tell(Embedded(v=VERSION, id=task.id, failed=f"the worker died {begun - 1} times while it embedded these texts"))
            return
        self._tell(self._embedded(task))

    def _embedded(self, task: EmbedTask) -> Embedded:
        # Loaded here: numpy begins its threads where it is loaded, which must be after the fork.
        import numpy as np

        from ontology.errors import ErstwhileError

        try:
            vectors = np.ascontiguousarray(self._embedder(task.embedder).embed_documents(task.texts), dtype="<f4")
        except SoftTimeLimitExceeded:
            return Embedded(v=VERSION, id=task.id, failed="embedding took longer than the time limit")
        except ErstwhileError as failure:
            return Embedded(v=VERSION, id=task.id, refused=failure.message[:LONGEST_REASON])
        except Exception as failure:
            logger.warning("%d texts cannot be embedded (%s)", len(task.texts), type(failure).__name__)
            return Embedded(v=VERSION, id=task.id, failed=type(failure).__name__)
        return Embedded(v=VERSION, id=task.id, dim=vectors.shape[1], vectors=b64encode(vectors.tobytes()).decode())

    def _embedder(self, wanted: str) -> Embedder:
        from graph.recall.embedding.port import EmbedderUnavailable

        if self._loaded is None:
            choice = self._choice()
            if choice is None or choice.id != wanted:
                chosen = "none" if choice is None else choice.id
                raise EmbedderUnavailable(f"a worker has the embedder {chosen}, not {wanted}; set ERSTWHILE_EMBEDDER alike everywhere")
            self._loaded = choice.load()
        if self._loaded.id != wanted:
            raise EmbedderUnavailable(f"a worker has the embedder {self._loaded.id}, not {wanted}; set ERSTWHILE_EMBEDDER alike everywhere")
        return self._loaded

    def _tell(self, answer: Embedded) -> None:
        body = packed(answer)
        self._client.xadd(self._keys.vectors, {"body": body, "mark": self._signer.mark(Purpose.VECTORS, body)})
