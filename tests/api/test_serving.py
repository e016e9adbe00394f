"""The server as a user runs it: a supervised worker that owns its data folder."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from api.folder import OWNER, Owner, owned, owner_of
from api.server import listen, url_of
from ontology.errors import DataFolderBusy, InvalidInput
from tests.api.clients import OverHttp, until_ready
from tests.api.following import socket, stream, subscribe, told
from tests.api.jobs import WATCH, handed_in, said
from tests.api.stating import state


def processes_of(group: int) -> list[int]:
    """The living processes of a session."""
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                fields = (path / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == group and fields[0] != "Z":
                found.append(int(path.name))
    return found


def gone(group: int, patience: float = 60) -> bool:
    """Whether no process of a session is left within some seconds."""
    end = time.monotonic() + patience
    while processes_of(group):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


@contextmanager
def serving(folder: Path, *more: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server process in a session of its own, and its address."""
    command = [sys.executable, "-m", "tests.api.serving", str(folder), "0", *more]
    root = Path(__file__).parents[2]
    process = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        address = re.search(r"http://\S+?(?=/graphql)", line)
        yield process, address[0] if address else line
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        for left in processes_of(process.pid):
            os.kill(left, signal.SIGKILL)


def worker_of(folder: Path) -> int:
    """The process that says it owns the folder."""
    return int(json.loads((folder / OWNER).read_text())["pid"])


def test_a_killed_worker_is_replaced_and_nothing_is_lost(tmp_path: Path, http: httpx.Client) -> None:
    with serving(tmp_path) as (process, url):
        until_ready(url)
        client = OverHttp(http, url)
        state(client, "1", "2023-01-01", ("Ada", "works_at", "Acme"))
        ingest = 'mutation { ingestEpisode(input: {content: "Bo likes tea", source: "t"}) { __typename } }'
        assert client.ok(ingest)["ingestEpisode"]["__typename"] == "IngestEpisodePayload"
        before = worker_of(tmp_path)
        assert owner_of(tmp_path) == Owner(before, url)
        os.kill(before, signal.SIGKILL)
        until_ready(url)
        after = worker_of(tmp_path)
        assert after != before
        assert client.ok('{ asOf { entity(name: "Ada") { name } } }')["asOf"]["entity"] == {"name": "Ada"}
        with serving(tmp_path) as (second, _):
            _, errors = second.communicate(timeout=60)
        assert f"process {after}" in errors
        assert second.returncode == 1
        # The worker and its extracting process end with the supervisor, however that ends.
        process.kill()
        process.wait()
        assert gone(process.pid), processes_of(process.pid)
    assert owner_of(tmp_path) is None


@pytest.mark.parametrize("again", [pytest.param((), marks=pytest.mark.deep), (signal.SIGTERM, signal.SIGINT, signal.SIGINT)])
def test_it_starts_and_stops_quietly_and_leaves_no_process(tmp_path: Path, again: tuple[signal.Signals, ...]) -> None:
    with serving(tmp_path) as (process, url):
        until_ready(url)
        worker = worker_of(tmp_path)
        # As Ctrl-C in a terminal: to every process of the group. The worker hears of it from the supervisor too, in any order.
        for number in again:
            os.kill(worker, number)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0
        assert errors == ""
        assert gone(process.pid), processes_of(process.pid)
    assert not (tmp_path / OWNER).exists()


@pytest.mark.deep
def test_a_mistake_in_the_settings_is_one_sentence_and_not_tried_again(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "api.cli", "serve", "--port", "0", "--data", str(tmp_path)]
    environment = {"PATH": os.environ["PATH"], "ERSTWHILE_QDRANT_URL": "me:hush@nowhere"}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 1
    assert ran.stderr.count("\n") == 1
    assert "ERSTWHILE_QDRANT_URL is no address" in ran.stderr
    assert "hush" not in ran.stderr


def test_a_folder_has_one_owner(tmp_path: Path) -> None:
    assert owner_of(tmp_path) is None
    with owned(tmp_path, "http://127.0.0.1:1"):
        owner = owner_of(tmp_path)
        assert owner is not None
        assert (owner.pid, owner.url) == (os.getpid(), "http://127.0.0.1:1")
        with pytest.raises(DataFolderBusy) as refused, owned(tmp_path):
            pass
        assert refused.value.pid == os.getpid()
    assert owner_of(tmp_path) is None


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::"])
def test_it_listens_on_loopback_only(host: str) -> None:
    with pytest.raises(InvalidInput, match="loopback"):
        listen(host, 0)


def test_a_taken_port_is_named() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = int(url_of(taken).rsplit(":", 1)[1])
        with pytest.raises(InvalidInput, match=str(port)):
            listen("127.0.0.1", port)


def test_pages_around_graphql(url: str, http: httpx.Client) -> None:
    page = http.get(f"{url}/graphql", headers={"Accept": "text/html"})
    assert page.status_code == 200
    assert "graphiql" in page.text.lower()
    assert http.get(f"{url}/livez").text == "ok\n"
    assert http.get(f"{url}/readyz").text == "ready\n"
    assert http.get(f"{url}/nothing").status_code == 404
    assert http.get(f"{url}/livez", headers={"Host": "evil.example"}).status_code == 400
    assert http.post(f"{url}/graphql", content="{").status_code == 400


def test_requests_have_ids(url: str, http: httpx.Client) -> None:
    assert http.get(f"{url}/livez", headers={"X-Request-ID": "abc-1"}).headers["X-Request-ID"] == "abc-1"
    made = http.get(f"{url}/livez", headers={"X-Request-ID": "a b"}).headers["X-Request-ID"]
    assert re.fullmatch("[0-9a-f]{32}", made)


def test_a_server_that_stops_does_not_wait_for_who_follows(tmp_path: Path, http: httpx.Client) -> None:
    with serving(tmp_path) as (process, url):
        until_ready(url)
        go = tmp_path / "go"
        client = OverHttp(http, url)
        job = handed_in(client, said("one", f"wait for {go}"))
        with socket(url, "default", init={}) as connection, stream(http, url, "default", WATCH, {"id": job["id"]}) as events:
            subscribe(connection, "1", WATCH, id=job["id"])
            assert next(events)[1]["data"]["ingestJob"]["progress"]["pending"] == 1
            assert told(connection)["type"] == "next"
            process.send_signal(signal.SIGTERM)
            ends = [(name, carried and carried["errors"][0]["extensions"]["code"]) for name, carried in events]
            assert ends == [("next", "OVERLOADED"), ("complete", None)]
            with pytest.raises(ConnectionClosed):
                while told(connection):
                    pass
            # What it is extracting it finishes.
            go.touch()
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, "timeout graceful shutdown exceeded" in errors) == (0, False), errors
