"""Measures all on the same facts: `python -m benchmarks.peers.run [ours graphiti mem0] [--ingest-only]`. Prints a Markdown table.

Each peer has an environment of its own, made once under `build/peers/` (that needs a package index; measuring needs no network).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measuring import machine, table
from benchmarks.peers.common import DIM, Measured

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "peers"

REQUIREMENTS = {
    # Graphiti imports httpx without asking for it, and the OpenAI client has stopped bringing it along.
    "graphiti": ("graphiti-core[kuzu]==0.31.2", "kuzu==0.11.3", "numpy==2.4.6", "openai==3.57.0", "httpx==0.28.1"),
    "mem0": ("mem0ai==2.2.1", "qdrant-client==1.20.0", "numpy==2.4.6", "openai==3.57.0"),
}
HEAD = ("system", "ingest, s", "CPU, s", "facts/s", "search p50 / p95, ms", "CPU, ms", "fact in the first 10", "")

# `ours` first: it fails soonest.
SYSTEMS = ("ours", *REQUIREMENTS)


def interpreter(name: str) -> Path:
    """The Python of a system's environment."""
    return environment(name, REQUIREMENTS[name]) if name in REQUIREMENTS else Path(sys.executable)


def environment(name: str, requirements: Sequence[str]) -> Path:
    """The Python of an environment, which is made if it is not there or is of other versions."""
    folder = BUILD / name
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    wanted, note = "\n".join(requirements), folder / "installed.txt"
    if not note.exists() or note.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements], check=True)
        note.write_text(wanted)
    return python


def run(name: str, options: Sequence[str]) -> list[Measured]:
    """The rows of one system, measured in a process of its own."""
    python, report = interpreter(name), BUILD / f"{name}.json"
    # What they keep beside their data goes under build/ as well.
    home = BUILD / "home"
    home.mkdir(parents=True, exist_ok=True)
    variables = {key: value for key, value in os.environ.items() if not key.startswith(("OPENAI_API", "OPENAI_BASE", "ERSTWHILE_"))}
    variables |= {"HOME": str(home), "EMBEDDING_DIM": str(DIM), "MEM0_TELEMETRY": "false", "GRAPHITI_TELEMETRY_ENABLED": "false"}
    subprocess.run([python, "-m", f"benchmarks.peers.{name}", report, *options], check=True, cwd=ROOT, env=variables)
    return [Measured(**row) for row in json.loads(report.read_text())]


def cells(row: Measured) -> list[str]:
    """One row of the table."""
    searches = [""] * 3
    if row.search_p50_ms is not None:
        searches = [f"{row.search_p50_ms:.1f} / {row.search_p95_ms:.1f}", f"{row.search_cpu_ms:.1f}", f"{row.found:.0%}"]
    ingest = [f"{row.ingest_seconds:.1f}", f"{row.ingest_cpu_seconds:.1f}", f"{row.facts_per_second:,.0f}"]
    return [f"{row.name} ({row.version})", *ingest, *searches, row.note]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("systems", nargs="*", choices=[*SYSTEMS, []], default=[])
    parser.add_argument("--ingest-only", action="store_true", help="of ours: neither embed nor search")
    arguments = parser.parse_args()
    rows = []
    for name in arguments.systems or SYSTEMS:
        rows += run(name, ["--ingest-only"] if name == "ours" and arguments.ingest_only else [])
    print(f"{machine()}; 1,000 facts, 100 questions after 10 to warm up, vectors of {DIM} by hashing\n")
    print(table(HEAD, map(cells, rows)))


if __name__ == "__main__":
    main()
