"""A transcript of 200 MB: how much memory an import of it takes, and how soon the next run is where a killed one was."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from tests.api.cli.importing_process import Process
from tests.api.cli.test_resuming import episodes
from tests.workers.readers.writing import record

SIZE = 200 * 2**20
GROWTH = 200
"""MB."""
SOON = 10.0
"""Seconds of a core."""


def large_session(path: Path) -> Path:
    """A session as they are: a message now and then, and results of tools of some KB."""
    rng = Random(7)
    text = "".join(rng.choice("abcdefghij klmnop\n") for _ in range(60_000))
    number = 0
    with path.open("w", encoding="utf-8") as opened:
        while opened.tell() < SIZE:
            number += 1
            if number % 40 == 0:
                row = record(number, f"Ada likes tea{number}")
            else:
                at, length = rng.randrange(50_000), rng.randrange(500, 8_000)
                content = [{"type": "tool_result", "tool_use_id": f"t{number}", "content": text[at : at + length]}]
                row = record(number, content, toolUseResult={"stdout": text[at : at + length]})
            row["timestamp"] = f"2026-01-{1 + number // 86_400:02}T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z"
            opened.writelines([json.dumps(row), "\n"])
    return path


@dataclass
class Usage:
    """What a process uses: memory of its own in MB, seconds of a core."""

    pid: int
    most: int = 0
    seconds: float = 0.0
    tick: int = field(default_factory=lambda: os.sysconf("SC_CLK_TCK"))

    def look(self) -> bool:
        """Look again; true."""
        found = re.search(r"RssAnon:\s+(\d+)", Path(f"/proc/{self.pid}/status").read_text(encoding="ascii"))
        assert found is not None
        self.most = max(self.most, int(found[1]) // 1024)
        times = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        self.seconds = (int(times[11]) + int(times[12])) / self.tick
        return True


@pytest.mark.deep
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="what a process uses is read from /proc")
def test_a_large_transcript_takes_little_memory_and_a_killed_import_of_it_goes_on_soon(tmp_path: Path) -> None:
    path, data = large_session(tmp_path / "session.jsonl"), tmp_path / "data"
    process = Process("ingest", path, data=data)
    usage = Usage(process.pid)
    process.until(lambda: usage.look() and episodes(data) > 0, 120)
    before = usage.most
    process.until(lambda: usage.look() and episodes(data) >= 14_000, 600)
    process.kill()
    assert usage.most - before < GROWTH
    reached = episodes(data)
    process = Process("ingest", path, data=data)
    again = Usage(process.pid)
    process.until(lambda: again.look() and episodes(data) > reached, 120)
    assert again.seconds < SOON
    status, out, err = process.ended(600)
    assert status == 0, err
    # Of the last second before the kill the journal knows nothing, and the ledger all.
    assert re.findall(r"known before (\d+)", out) == [str(reached)]
    assert again.most - before < GROWTH
