"""Embeddings from a server that speaks as OpenAI's does: `POST .../embeddings` with a model and texts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray

from graph.recall.embedding.port import EmbedderUnavailable, Vectors, readable, unit_rows

BATCH = 64
"""Texts of one request."""

ATTEMPTS = 3
"""How often a request is sent that fails for a reason that may pass."""

_LONGEST_PAUSE = 10.0
_PASSING = {408, 409, 425, 429}
_REASONS = {
    401: "refuses the key; set ERSTWHILE_EMBEDDER_KEY",
    403: "refuses the key; set ERSTWHILE_EMBEDDER_KEY",
    404: "does not know the address or the model; check ERSTWHILE_EMBEDDER and ERSTWHILE_EMBEDDER_MODEL",
}


def _address(url: str) -> httpx.URL:
    address = httpx.URL(url)
    path = address.path.rstrip("/")
    return address.copy_with(path=path if path.endswith("/embeddings") else f"{path}/embeddings")


def is_address(url: str) -> bool:
    """Whether a URL names a server."""
    try:
        return bool(httpx.URL(url).host)
    except httpx.InvalidURL:
        return False


def endpoint_id(url: str, model: str) -> str:
    """The ID of a model on a server, without credentials or a query that the URL may hold.

    The server may put another model under the same name; nothing tells of that.
    """
    return f"endpoint/{model}@{_public(_address(url))}"


def _public(address: httpx.URL) -> str:
    return str(address.copy_with(username=None, password=None, query=None, fragment=None))


class EndpointEmbedder:
    """One model of a server. `timeout` and `pause` in seconds; the pause grows with each attempt.

    No message and no log holds the key or what the server answered, which may repeat the key or the texts.
    """

    def __init__(self, url: str, model: str, *, key: str | None = None, timeout: float = 30.0, pause: float = 0.5) -> None:
        """Ask once, for the length of the vectors. Raises EmbedderUnavailable."""
        self.id = endpoint_id(url, model)
        self._url, self._model, self._pause = _address(url), model, pause
        self._shown = _public(self._url)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.Client(headers=headers, timeout=timeout)
        self.dim = 0
        self.dim = self._ask(["a"]).shape[1]

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors (n, dim) of texts, in requests of BATCH."""
        rows = np.zeros((len(texts), self.dim))
        read = [(row, found) for row, text in enumerate(texts) if (found := readable(text))]
        for start in range(0, len(read), BATCH):
            part = read[start : start + BATCH]
            rows[[row for row, _ in part]] = self._ask([text for _, text in part])
        return unit_rows(rows)

    def embed_query(self, text: str) -> Vectors:
        """The vector (dim,) of a question."""
        found: Vectors = self.embed_documents([text])[0]
        return found

    def _ask(self, texts: list[str]) -> NDArray[np.float64]:
        body = {"model": self._model, "input": texts, "encoding_format": "float"}
        for attempt in range(1, ATTEMPTS + 1):
            wait = min(_LONGEST_PAUSE, self._pause * 2 ** (attempt - 1))
            cause: Exception | None = None
            try:
                response = self._client.post(self._url, json=body)
            except httpx.TimeoutException as failure:
                trouble, cause = "does not answer in time", failure
            except httpx.HTTPError as failure:
                trouble, cause = f"cannot be reached ({type(failure).__name__})", failure
            else:
                if response.is_success:
                    return self._vectors(response, len(texts))
                status = response.status_code
                trouble = f"answers {status} {response.reason_phrase}".rstrip()
                if status < 500 and status not in _PASSING:
                    raise self._unavailable(_REASONS.get(status, f"{trouble}; check ERSTWHILE_EMBEDDER_MODEL"))
                wait = max(wait, _told_wait(response))
            if attempt == ATTEMPTS:
                raise self._unavailable(f"{trouble}, {ATTEMPTS} times; check that it runs and try again") from cause
            time.sleep(wait)
        raise AssertionError("the last attempt answers or raises")

    def _vectors(self, response: httpx.Response, count: int) -> NDArray[np.float64]:
        try:
            told: list[dict[str, Any]] = response.json()["data"]
            # The server may answer in another order than it was asked.
            ordered = {each.get("index", place): each["embedding"] for place, each in enumerate(told)}
            rows = np.array([ordered[place] for place in range(count)], dtype=np.float64)
        except (ValueError, KeyError, TypeError, AttributeError):
            # The chain is cut: a parse error quotes what it read.
            raise self._unavailable(f"gives no vectors for {count} texts; check that it speaks OpenAI's protocol") from None
        if len(told) != count or rows.ndim != 2 or rows.shape[1] == 0 or (self.dim and rows.shape[1] != self.dim):
            wanted = f"a vector of {self.dim} numbers" if self.dim else "a vector"
            raise self._unavailable(f"gives an array {list(rows.shape)} for {count} texts, not {wanted} for each; check the model")
        return rows

    def _unavailable(self, what: str) -> EmbedderUnavailable:
        return EmbedderUnavailable(f"the embedder {self._shown} {what}")


def _told_wait(response: httpx.Response) -> float:
    """Seconds that the server asks to wait, within reason."""
    told = response.headers.get("Retry-After", "")
    return min(_LONGEST_PAUSE, float(told)) if told.isdecimal() else 0.0
