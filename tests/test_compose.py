"""docker-compose.yml: held against the specification, and its own commands and Redis' run from it without an engine."""

from __future__ import annotations

import inspect
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from compose_spec import PyCompose
from redis import Redis
from redis.exceptions import OutOfMemoryError

from api.credentials import Access, entry_of, new_key
from api.probe import PATIENCE
from api.settings_table import settings_classes, settings_of
from api.supervisor import Supervisor
from tests import compose
from tests.redis_server import free_port, redis_executable
from workers.beat import STALE

TEXT = compose.FILE.read_text(encoding="utf-8")
EXAMPLE = (compose.ROOT / ".env.example").read_text(encoding="utf-8")
GIVEN = {"REDIS_PASSWORD": "0f" * 32, "ERSTWHILE_WORKER_KEY": "1e" * 32, "ERSTWHILE_EMBEDDER": "none"}
SERVICES = compose.read(GIVEN)["services"]
OURS = ("api", "worker-live", "worker-bulk")
SECRET = re.compile(r"PASSWORD|SECRET|TOKEN|_KEY$")
WORKERS = pytest.mark.skipif(find_spec("workers.celery_app") is None, reason="there is no worker to run yet")
every_service = pytest.mark.parametrize("name", sorted(SERVICES))


def test_it_follows_the_specification() -> None:
    parsed = PyCompose.from_yaml(yaml.safe_dump(compose.read(GIVEN)))
    parsed.validate()
    assert sorted(parsed.service_names()) == sorted(SERVICES) == ["api", "qdrant", "redis", "worker-bulk", "worker-live"]
    # That the check checks: the same file with a field that no service has, and with a network that is none.
    wrongs: list[dict[str, list[str]]] = [{"ports_": []}, {"networks": ["nowhere"]}]
    for wrong in wrongs:
        broken = compose.read(GIVEN)
        broken["services"]["api"] |= wrong
        with pytest.raises(ValueError):
            PyCompose.from_yaml(yaml.safe_dump(broken)).validate()


def test_it_does_not_start_without_its_secrets() -> None:
    for name in ("REDIS_PASSWORD", "ERSTWHILE_WORKER_KEY"):
        for absent in ({}, {name: ""}):
            with pytest.raises(compose.Missing, match=name):
                compose.read({**{other: value for other, value in GIVEN.items() if other != name}, **absent})


def test_no_secret_has_a_value_in_what_is_checked_in() -> None:
    named = compose.variables(TEXT)
    secret = {name: how for name, how in named.items() if SECRET.search(name)}
    assert {"REDIS_PASSWORD", "ERSTWHILE_WORKER_KEY", "ERSTWHILE_QDRANT_KEY"} <= set(secret)
    assert all(how is not None and (how.startswith(":?") or how == "-") for how in secret.values()), secret
    for line in EXAMPLE.splitlines():
        name, _, value = line.lstrip("#").partition("=")
        assert not (SECRET.search(name) and value), line
    for service in SERVICES.values():
        for name, value in service.get("environment", {}).items():
            if SECRET.search(name):
                assert value in ("", *GIVEN.values()), name


def test_the_example_of_the_environment_lists_every_variable_and_no_other() -> None:
    listed = re.findall(r"^#?([A-Z][A-Z0-9_]+)=(.*)$", EXAMPLE, re.MULTILINE)
    named = compose.variables(TEXT)
    assert sorted(name for name, _ in listed) == sorted(named)
    defaults = {name: how.lstrip(":-") for name, how in named.items() if how and "-" in how[:2]}
    shown = {name: value for name, value in listed if name in defaults}
    assert {name: value for name, value in shown.items() if name != "ERSTWHILE_QDRANT_URL"} == {
        name: value for name, value in defaults.items() if name != "ERSTWHILE_QDRANT_URL"
    }


def test_every_setting_in_it_is_one() -> None:
    known = {setting.variable for kind in settings_classes() for setting in settings_of(kind)}
    named = {name for service in SERVICES.values() for name in service.get("environment", {}) if name.startswith("ERSTWHILE_")}
    to_come = {"ERSTWHILE_BROKER_URL", "ERSTWHILE_WORKER_KEY"} if find_spec("workers.settings") is None else set()
    assert named - known == to_come


@every_service
def test_each_service_is_confined(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["init"] is True
    assert int(service["user"].partition(":")[0]) >= 1000
    assert service["restart"] == "unless-stopped"
    assert {"mem_limit", "pids_limit", "stop_grace_period", "healthcheck"} <= set(service)
    assert service["logging"]["options"].keys() == {"max-size", "max-file"}
    assert not {"privileged", "cap_add", "network_mode", "pid", "ipc", "devices"} & set(service)
    for volume in service.get("volumes", ()):
        assert re.fullmatch(r"[a-z]+:/[a-z/]+", volume), "a volume of its own, nothing of the host"
    image, _, tag = service["image"].rpartition(":")
    assert tag != "latest" or image == "erstwhile"


@every_service
def test_only_the_api_is_reached_from_outside_and_from_this_machine_alone(name: str) -> None:
    service = SERVICES[name]
    assert service.get("ports", []) == (["127.0.0.1:8000:8000"] if name == "api" else [])
    assert service["networks"] == (["inner", "outer"] if name == "api" else ["inner"])
    assert compose.read(GIVEN)["networks"]["inner"] == {"internal": True}


def test_services_wait_for_what_they_need() -> None:
    for name in OURS:
        assert SERVICES[name]["depends_on"]["redis"] == {"condition": "service_healthy"}
    # Started only with its profile, Qdrant is not required.
    assert SERVICES["qdrant"]["profiles"] == ["qdrant"]
    assert SERVICES["api"]["depends_on"]["qdrant"] == {"condition": "service_healthy", "required": False}


def test_times_fit_each_other() -> None:
    grace = inspect.signature(Supervisor.__init__).parameters["grace"].default
    assert grace < compose.seconds(SERVICES["api"]["stop_grace_period"])
    for name in OURS:
        check = SERVICES[name]["healthcheck"]
        assert max(PATIENCE, 1) < compose.seconds(check["timeout"]) <= compose.seconds(check["interval"])
    # A worker that is stuck is known as such before a second minute is over.
    check = SERVICES["worker-live"]["healthcheck"]
    assert STALE + check["retries"] * compose.seconds(check["interval"]) < 120
    assert compose.seconds("1h2m3s4ms") == 3723.004


def test_redis_may_hold_less_than_its_container() -> None:
    limit = re.search(r"--maxmemory (\d+)mb ", SERVICES["redis"]["command"][2])
    assert limit is not None
    assert int(limit[1]) * 1.3 < int(SERVICES["redis"]["mem_limit"].removesuffix("m"))


def test_the_qdrant_server_is_one_that_its_client_speaks_to() -> None:
    image = re.search(r"v(\d+)\.(\d+)\.\d+", SERVICES["qdrant"]["image"])
    assert image is not None
    major, minor, *_ = version("qdrant-client").split(".")
    assert image[1] == major
    assert abs(int(image[2]) - int(minor)) <= 1


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


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("containers"), free_port(), free_port(), free_port())


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


@pytest.fixture(scope="module")
def redis(place: Place) -> Iterator[Redis]:
    with running("redis", place), Redis(port=place.redis, password=GIVEN["REDIS_PASSWORD"], decode_responses=True) as client:
        yield client


def test_redis_runs_as_the_file_says(redis: Redis, place: Place) -> None:
    assert redis.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
    assert redis.config_get("save") == {"save": ""}
    assert redis.config_get("appendonly") == {"appendonly": "no"}
    assert redis.config_get("maxmemory") == {"maxmemory": str(512 * 2**20)}
    # Without the password it answers nobody, and its health check does not take a refusal for health.
    service = {**SERVICES["redis"], "environment": {"REDISCLI_AUTH": "wrong"}}
    command = [place.mapped(part) for part in compose.health_check(service)]
    assert subprocess.run(command, env=place.environment(service), capture_output=True, check=False).returncode != 0


def test_redis_full_refuses_and_drops_nothing(redis: Redis) -> None:
    limit = str(redis.config_get("maxmemory")["maxmemory"])
    redis.set("pending", "task")
    try:
        redis.config_set("maxmemory", "1mb")
        with pytest.raises(OutOfMemoryError):
            for number in range(100):
                redis.set(f"filler-{number}", "x" * 100_000)
        assert redis.get("pending") == "task"
    finally:
        redis.config_set("maxmemory", limit)
        redis.flushall()


@pytest.fixture(scope="module")
def key(place: Place) -> str:
    made = new_key()
    (place.folder / "api_keys").write_text(json.dumps([entry_of(made, "ana", ["team"], Access.WRITE)]))
    return made


@pytest.mark.usefixtures("redis")
def test_the_service_runs_as_the_file_says(place: Place, key: str, http: httpx.Client) -> None:
    url = f"http://127.0.0.1:{place.api}"
    assert not healthy("api", place)
    with running("api", place):
        ask = {"query": "{ stats { episodes } }"}
        headers = {"Authorization": f"Bearer {key}", "Erstwhile-Namespace": "team"}
        assert http.post(f"{url}/graphql", json=ask, headers=headers).json() == {"data": {"stats": {"episodes": 0}}}
        assert http.post(f"{url}/graphql", json=ask).status_code == 401
        assert http.post(f"{url}/graphql", json=ask, headers={**headers, "Erstwhile-Namespace": "other"}).status_code == 403
        assert http.get(f"{url}/livez", headers={"Host": "api:8000"}).status_code == 200
        assert http.get(f"{url}/livez", headers={"Host": "evil.example"}).status_code == 400
        assert (place.folder / "data" / "ledger.db").exists()
        # `docker compose exec api erstwhile status` asks the service that runs.
        command = ["erstwhile", "status", "--namespace", "team"]
        environment = {**place.environment(SERVICES["api"]), "ERSTWHILE_API_KEY": key}
        status = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        assert f"server at {url}" in status
    written = (place.folder / "api.log").read_text().splitlines()
    # A line of its own, and what was refused: nothing else is said at a first start.
    assert [line for line in written if "was refused" not in line] == [line for line in written if "Erstwhile answers at" in line]
    assert len(written) == 2
    assert key not in "".join(written)


@WORKERS
@pytest.mark.usefixtures("redis")
@pytest.mark.parametrize("name", ["worker-live", "worker-bulk"])
def test_the_workers_run_as_the_file_says(place: Place, name: str) -> None:
    with running(name, place) as process:
        assert process.poll() is None


class _Ready(BaseHTTPRequestHandler):
    status = 200

    def do_GET(self) -> None:
        self.send_response(self.status if self.path == "/readyz" else 404)
        self.end_headers()
        self.wfile.write(b"all shards are ready\n")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class _Starting(_Ready):
    status = 503


@pytest.mark.parametrize(("handler", "well"), [(_Ready, True), (_Starting, False), (None, False)])
def test_the_health_check_of_qdrant_takes_readiness_for_health(place: Place, handler: type[_Ready] | None, well: bool) -> None:
    if handler is None:
        assert healthy("qdrant", place) is well
        return
    with HTTPServer(("127.0.0.1", place.qdrant), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            assert healthy("qdrant", place) is well
        finally:
            server.shutdown()
            thread.join()


def test_qdrant_does_not_start_without_a_key(place: Place) -> None:
    command: Sequence[str] = SERVICES["qdrant"]["command"]
    script = place.folder / "entrypoint.sh"
    script.write_text("#!/bin/sh\necho started\n")
    script.chmod(0o755)

    def start(key: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": "/usr/bin:/bin", "QDRANT__SERVICE__API_KEY": key}
        return subprocess.run(command, cwd=place.folder, env=environment, capture_output=True, text=True, check=False)

    assert start("k").stdout == "started\n"
    refused = start("")
    assert (refused.returncode != 0, refused.stdout) == (True, "")
    assert "set ERSTWHILE_QDRANT_KEY" in refused.stderr


@pytest.fixture(scope="module")
def http() -> Iterator[httpx.Client]:
    with httpx.Client(timeout=30) as client:
        yield client
