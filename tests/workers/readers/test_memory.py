"""Files of 200 MB are read in little memory, measured in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.workers.readers.test_chatgpt import chain, message
from tests.workers.readers.test_codex import assistant, line, meta, user
from tests.workers.readers.writing import record

SIZE = 200_000_000
GROWTH = 60_000_000
OUTPUT = "0001 | the quick brown fox jumps over the lazy dog\n" * 800
WORDS = "We moved the billing service to Postgres. " * 20

# The peak that the system keeps of a process begins with that of the process it was forked from, so it is sampled.
READ = """
import sys
from pathlib import Path
import psutil
from workers.readers import Rejected, read_path
here = psutil.Process()
before = peak = here.memory_info().rss
count = bad = 0
for item in read_path(Path(sys.argv[1])):
    count += 1
    bad += isinstance(item, Rejected)
    if count % 20 == 0:
        peak = max(peak, here.memory_info().rss)
print(count, bad, peak - before)
"""


def claude_code(number: int) -> Iterator[dict[str, Any]]:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 200_000}}
    yield record(number, f"{number} {WORDS}", uuid=f"u{number}", timestamp=1_740_000_000_000 + number * 1000)
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": f"{number} {OUTPUT}"}
    yield record(number, [result, image] if number % 50 == 0 else [result], uuid=f"r{number}", timestamp=1_740_000_000_500 + number * 1000)


def codex(number: int) -> Iterator[dict[str, Any]]:
    if number == 0:
        yield meta()
    yield user(number % 60, f"{number} {WORDS}")
    yield line(number % 60, "response_item", type="function_call_output", call_id=f"c{number}", output=f"{number} {OUTPUT}")
    yield assistant(number % 60, f"Done with {number}.")


def chatgpt(number: int) -> Iterator[dict[str, Any]]:
    said = (message(number * 100 + place, f"{place} {WORDS}") for place in range(5))
    told = (message(number * 100 + 10 + place, f"{place} {OUTPUT}", "tool") for place in range(5))
    yield chain(*said, *told, conversation_id=f"conversation {number}")


def written(path: Path, rows: Callable[[int], Iterator[dict[str, Any]]], *, array: bool) -> Path:
    number = 0
    with path.open("wb") as file:
        file.write(b"[" if array else b"")
        while file.tell() < SIZE:
            for row in rows(number):
                file.write((b",\n" if array and file.tell() > 1 else b"") + json.dumps(row).encode() + (b"" if array else b"\n"))
            number += 1
        file.write(b"]" if array else b"")
    return path


@pytest.mark.deep
@pytest.mark.parametrize(
    ("rows", "array"), [(claude_code, False), (codex, False), (chatgpt, True)], ids=["claude-code", "codex", "chatgpt"]
)
def test_a_file_of_200_mb_grows_memory_by_far_less(tmp_path: Path, rows: Callable[[int], Iterator[dict[str, Any]]], array: bool) -> None:
    path = written(tmp_path / ("f.json" if array else "f.jsonl"), rows, array=array)
    child = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True, timeout=600)
    count, bad, growth = map(int, child.stdout.split())
    assert count > 5000
    assert bad == 0
    assert 0 < growth < GROWTH, f"{growth / 1e6:.0f} MB"
