"""A server on loopback that answers as OpenAI's does, and fails when it is told to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

from graph.recall.embedding.hashing import HashingEmbedder

DIM = 32


@dataclass
class EmbeddingServer:
    """Vectors of `dim` numbers, longer than one, listed backwards. `failures` are answered first: a status, `hang` or a body."""

    url: str = ""
    dim: int = DIM
    failures: list[int | str | dict[str, Any]] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    stopping: Event = field(default_factory=Event)

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        vectors = 3 * HashingEmbedder(self.dim).embed_documents(body["input"])
        found = [{"index": index, "embedding": vector.tolist()} for index, vector in enumerate(vectors)]
        return {"data": found[::-1], "model": body["model"]}


def _handler(server: EmbeddingServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.paths.append(self.path)
            server.asked.append(body)
            server.keys.append(self.headers["Authorization"])
            failure = server.failures.pop(0) if server.failures else None
            if failure == "hang":
                server.stopping.wait(5)
                self.close_connection = True
                return
            answer: object = server.answer(body) if failure is None else failure
            self.send_response(failure if isinstance(failure, int) else 200)
            self.end_headers()
            told = f"you sent {self.headers['Authorization']}" if isinstance(answer, int) else json.dumps(answer)
            self.wfile.write(told.encode())

        def log_message(self, format: str, *args: Any) -> None:
            """Tell nobody."""

    return Handler


@contextmanager
def serving() -> Iterator[EmbeddingServer]:
    """A server while the block runs."""
    server = EmbeddingServer()
    http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(server))
    server.url = f"http://127.0.0.1:{http.server_port}/v1"
    thread = Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.stopping.set()
        http.shutdown()
        thread.join()
        http.server_close()
