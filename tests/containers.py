"""Runs the services of docker-compose.yml as their containers would, without an engine."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import compose
from tests.compose import GIVEN, SERVICES
from tests.redis_server import redis_executable


@dataclass(frozen=True, slots=True)
class Place:
    """Where a container's addresses and folders are on this machine."""

    folder: Path
    api: int
    redis: int
    qdrant: int

    def mapped(self, text: str) -> str:
        """A text of the file with them put in."""
        put = {
            "@redis:6379/": f"@127.0.0.1:{self.redis}/",
            "-p 6379": f"-p {self.redis}",
            "exec redis-server": f"exec redis-server --bind 127.0.0.1 --port {self.redis}",
            "/127.0.0.1/6333": f"/127.0.0.1/{self.qdrant}",
            "--dir /tmp": f"--dir {shlex.quote(str(self.folder))}",
            "/tmp/": f"{self.folder}/",
            "/run/secrets/": f"{self.folder}/",
            "/data": f"{self.folder}/data",
            "0.0.0.0": "127.0.0.1",
        }
        for of_container, here in put.items():
            # What one put in is not looked at by the next.
            text = text.replace(of_container, here) if str(self.folder) not in text else text
        return text

    def environment(self, service: Mapping[str, Any]) -> dict[str, str]:
        """The environment of a service's container: the file's alone."""
        path = [str(Path(sys.executable).parent), str(redis_executable().parent), "/usr/bin", "/bin"]
        # A value that is none would be taken from whoever calls Compose.
        assert all(isinstance(value, str) for value in service["environment"].values()), service["environment"]
        named = {name: self.mapped(value) for name, value in service["environment"].items()}
        if "ERSTWHILE_PORT" in named:
            named["ERSTWHILE_PORT"] = str(self.api)
        return {"PATH": os.pathsep.join(path), "HOME": str(self.folder), **named}


def healthy(name: str, place: Place) -> bool:
    """What the health check of a service says."""
    service = SERVICES[name]
    command = [place.mapped(part) for part in compose.health_check(service)]
    timeout = compose.seconds(service["healthcheck"]["timeout"])
    ran = subprocess.run(command, env=place.environment(service), timeout=timeout, capture_output=True, text=True, check=False)
    assert "Traceback" not in ran.stderr
    return ran.returncode == 0


@contextmanager
def running(name: str, place: Place, patience: float = 60) -> Iterator[subprocess.Popen[str]]:
    """A service as its container runs it, from when it is healthy; stopped as Compose stops it, in its time."""
    service = SERVICES[name]
    command = [place.mapped(part) for part in service["command"]]
    written = place.folder / f"{name}.log"
    # The folder for what is temporary is a new one for each container.
    (place.folder / "worker.beat").unlink(missing_ok=True)
    with written.open("w") as log:
        process = subprocess.Popen(
            command, env=place.environment(service), cwd=place.folder, stdout=log, stderr=log, text=True, start_new_session=True
        )
    try:
        end = time.monotonic() + patience
        while not healthy(name, place):
            assert process.poll() is None, written.read_text()
            assert time.monotonic() < end, f"{name} is not healthy:\n{written.read_text()}"
            time.sleep(0.05)
        yield process
        process.send_signal(signal.SIGTERM)
        assert process.wait(compose.seconds(service["stop_grace_period"])) == 0, written.read_text()
        assert not healthy(name, place)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        assert GIVEN["REDIS_PASSWORD"] not in written.read_text()
