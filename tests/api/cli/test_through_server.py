"""The commands use the server that owns the data folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.folder import owner_of
from tests.api.cli.running import erstwhile
from tests.api.clients import until_ready


@pytest.fixture
def served_folder(tmp_path: Path) -> Iterator[Path]:
    command = "from api.cli import main; main()"
    arguments = [sys.executable, "-c", command, "serve", "--port", "0", "--data", str(tmp_path)]
    # What the embedder is makes no difference here, but for the seconds that it takes to load.
    with subprocess.Popen(arguments, stderr=subprocess.DEVNULL, env={**os.environ, "ERSTWHILE_EMBEDDER": "none"}) as server:
        try:
            end = time.monotonic() + 60
            while not ((owner := owner_of(tmp_path)) and owner.url):
                assert server.poll() is None and time.monotonic() < end, "the server does not start"
                time.sleep(0.05)
            until_ready(owner.url, 60)
            yield tmp_path
        finally:
            server.send_signal(signal.SIGTERM)
            assert server.wait(60) == 0


def test_commands_go_through_the_server(served_folder: Path, transcript: Path) -> None:
    first = erstwhile("ingest", transcript, "--data", served_folder, "--json").json
    assert (first["accepted"], first["failed"]) == (4, 0)
    assert erstwhile("ingest", transcript, "--data", served_folder, "--json").json["known"] == 4
    assert "server at http://127.0.0.1:" in erstwhile("status", "--data", served_folder).out
    assert "  2024-03-03 .. now   Lisbon" in erstwhile("timeline", "Ana", "lives_in", "--data", served_folder).out
    withdrawn = erstwhile("retract", "chat", "chat@2024-03-10T10:00:00Z", "--data", served_folder)
    assert "Ana | lives_in | Porto" in withdrawn.out
    assert "Lisbon" not in erstwhile("timeline", "Ana", "lives_in", "--data", served_folder).out
    assert "Ana | lives_in | Porto" in erstwhile("recall", "where does Ana live?", "--data", served_folder).out
    assert erstwhile("context", "where does Ana live?", "--data", served_folder).out.startswith("<erstwhile-recall>\n")
    assert erstwhile("rebuild", "--index", "--data", served_folder).out == "the recall index was rebuilt from the ledger: 1\n"
    refused = erstwhile("timeline", "x" * 1001, "lives_in", "--data", served_folder)
    assert (refused.status, refused.err.count("\n")) == (1, 1)
