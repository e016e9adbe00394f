"""The feed of changes on the command line, once and followed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from api.cli.drift_documents import FOLLOW
from api.cli.link import Refused, RemoteLink
from api.cli.options import reading_link
from tests.api.cli.faced import Faced
from tests.api.cli.running import erstwhile
from tests.api.stating import state

PATIENCE = 60


@contextmanager
def following(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """`changes --follow` in a process of its own."""
    command = [sys.executable, "-m", "api.cli", "changes", "--follow", "--json", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def read(process: subprocess.Popen[str], count: int) -> list[Any]:
    """So many changes, as they come."""
    assert process.stdout is not None
    return [json.loads(process.stdout.readline()) for _ in range(count)]


def told(rows: list[Any]) -> list[tuple[str, str, str | None]]:
    return [(row["kind"], row["statement"]["object"]["name"], row["statement"]["validTime"]["to"]) for row in rows]


def stopped(process: subprocess.Popen[str]) -> str:
    """What it says last after Ctrl-C."""
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, said
    return said.splitlines()[-1]


def test_changes_are_listed_in_pages_that_go_on_where_the_last_ended(faced: Faced) -> None:
    assert faced.run("changes").out == "nothing changed\n"
    state(faced.client, "e1", "2020-01-01", ("Ana", "lives_in", "Porto"))
    state(faced.client, "e2", "2023-01-01", ("Ana", "lives_in", "Lisbon"), ("Ben", "likes", "tea"))
    whole = faced.run("changes")
    lines = [line.split("  ", 2)[1:] for line in whole.out.splitlines()]
    assert [line for _, line in lines][:2] == [f"{sign} Ana | lives_in | Porto   2020-01-01 .. now" for sign in "+-"]
    assert int(lines[1][0][1:]) == int(lines[0][0][1:]) + 1
    assert len(whole.out.splitlines()) == 5 and whole.err.startswith("erstwhile: go on with --after ")
    rows: list[Any] = []
    after: list[str] = []
    while page := faced.run("changes", "--first", "2", "--json", *after).json["changes"]:
        rows += page
        after = ["--after", page[-1]["cursor"]]
    assert len(rows) == 5 and len({row["cursor"] for row in rows}) == 5
    about = faced.run("changes", "--about", "Ben", "--predicate", "likes", "--json").json
    assert told(about["changes"]) == [("OPENED", "tea", None)]
    assert faced.run("changes", "--after", "nonsense").status == 1


@pytest.mark.deep
def test_following_a_server_tells_what_comes_and_ends_with_the_cursor_to_go_on_with(faced: Faced) -> None:
    state(faced.client, "e1", "2020-01-01", ("Ana", "lives_in", "Porto"))
    cursor = faced.run("changes", "--json").json["cursor"]
    with following("--after", cursor, *faced.options) as process:
        state(faced.client, "e2", "2023-01-01", ("Ana", "lives_in", "Lisbon"))
        rows = read(process, 3)
        assert {(kind, value) for kind, value, _ in told(rows)} == {("CLOSED", "Porto"), ("OPENED", "Porto"), ("OPENED", "Lisbon")}
        assert stopped(process) == f"erstwhile: go on with --after {rows[-1]['cursor']}"
    with following("--after", rows[0]["cursor"], *faced.options) as process:
        assert read(process, 2) == rows[1:]
        assert stopped(process).endswith(rows[-1]["cursor"])


@pytest.mark.deep
def test_following_a_folder_leaves_it_free_for_others(tmp_path: Path, transcript: Path) -> None:
    assert erstwhile("ingest", transcript, "--data", tmp_path, "--workers", "1").status == 0
    first = erstwhile("changes", "--data", tmp_path, "--json").json["changes"]
    with following("--after", first[0]["cursor"], "--data", str(tmp_path)) as process:
        assert read(process, len(first) - 1) == first[1:]
        time.sleep(0.5)
        assert erstwhile("retract", "chat", "chat@2024-03-10T10:00:00Z", "--data", tmp_path).status == 0
        after = read(process, 2)
        assert "Lisbon" in {row["statement"]["object"]["name"] for row in after}
        assert stopped(process).startswith("erstwhile: go on with --after ")


def test_events_of_a_server_are_read_as_they_come_and_a_refusal_is_one(faced: Faced) -> None:
    state(faced.client, "e1", "2020-01-01", ("Ana", "lives_in", "Porto"))
    cursor = faced.run("changes", "--json").json["cursor"]
    with reading_link(faced.folder, faced.client.namespace) as link:
        assert isinstance(link, RemoteLink)
        events = link.events(FOLLOW, {"after": cursor})
        state(faced.client, "e2", "2020-02-01", ("Ben", "likes", "tea"))
        assert told([next(events)["changes"]["node"]]) == [("OPENED", "tea", None)]
        events.close()
        with pytest.raises(Refused) as failure:
            next(link.events(FOLLOW, {"after": "nonsense"}))
    assert failure.value.code == "BAD_USER_INPUT"
