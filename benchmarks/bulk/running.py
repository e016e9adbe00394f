"""Erstwhile as it is run: a service, and where it is asked for Redis and workers, each in processes of its own on loopback."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil

from tests.redis_server import RedisServer, free_port

PATIENCE = 120.0
"""Seconds that a process may take to answer."""


@dataclass
class Running:
    """A service that answers. `processes` are its own and those of its workers, supervisors included."""

    url: str
    client: httpx.Client
    processes: list[psutil.Process]

    def ask(self, document: str, **variables: Any) -> dict[str, Any]:
        """The data of one operation. Raises RuntimeError for errors."""
        reply = self.client.post(f"{self.url}/graphql", json={"query": document, "variables": variables}).json()
        if reply.get("errors"):
            raise RuntimeError(str(reply["errors"]))
        found: dict[str, Any] = reply["data"]
        return found

    def memory(self) -> int:
        """Bytes that the service and what it started hold, without its workers."""
        service = self.processes[0]
        return sum(each.memory_info().rss for each in (service, *service.children(recursive=True)))


@contextmanager
def running(folder: Path, *, workers: int, broker: bool, embedder: str = "none", **settings: str) -> Iterator[Running]:
    """A service on a fresh folder, which extracts in `workers` processes: its own, or with `broker` those of a Celery worker."""
    environment = {
        **os.environ,
        "ERSTWHILE_DATA": str(folder / "data"),
        "ERSTWHILE_EMBEDDER": embedder,
        "ERSTWHILE_EXTRACTION_WORKERS": str(1 if broker else workers),
        "ERSTWHILE_EMBEDDING_WORKERS": str(workers),
        **settings,
    }
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    with ExitStack() as stack:
        if broker:
            redis = stack.enter_context(RedisServer(folder / "redis"))
            environment |= {"ERSTWHILE_BROKER_URL": redis.url, "ERSTWHILE_WORKER_KEY": "benchmark-of-bulk-ingestion"}
        service = stack.enter_context(_process(folder / "serve.log", environment, "serve", "--port", str(port)))
        processes = [service]
        if broker:
            count = str(workers)
            processes.append(stack.enter_context(_process(folder / "worker.log", environment, "worker", "--concurrency", count)))
        client = stack.enter_context(httpx.Client(timeout=PATIENCE, trust_env=False))
        url = f"http://127.0.0.1:{port}"
        _until_ready(client, url, service)
        yield Running(url, client, [psutil.Process(each.pid) for each in processes])


@contextmanager
def _process(log: Path, environment: Mapping[str, str], *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        process = subprocess.Popen([sys.executable, "-m", "api.cli", *arguments], env=environment, stdout=output, stderr=subprocess.STDOUT)
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _until_ready(client: httpx.Client, url: str, service: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            if client.get(f"{url}/readyz").status_code == 200:
                return
        except httpx.HTTPError as failure:
            if time.monotonic() > end or service.poll() is not None:
                raise RuntimeError("the service does not answer; see serve.log") from failure
        time.sleep(0.1)
