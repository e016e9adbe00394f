"""What the benchmarks share: percentiles, tables, and what machine they ran on."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which a share of the values lies (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def timed(runs: int, call: Callable[[int], object], *, warm_up: int = 10) -> list[float]:
    """Milliseconds of each call after some that do not count."""
    for number in range(warm_up):
        call(number)
    found = []
    for number in range(runs):
        start = time.perf_counter()
        call(warm_up + number)
        found.append((time.perf_counter() - start) * 1000)
    return found


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def machine() -> str:
    """Cores, memory, processor, Python and load, on one line."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        model = next((line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")), model)
    return f"{os.cpu_count()} cores, {memory:.0f} GiB, {model}, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}"
