"""Making vectors tells nobody."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]


@pytest.mark.parametrize("asked_for", [None, "0"])
def test_the_runtime_of_the_models_keeps_no_record_of_its_use(tmp_path: Path, asked_for: str | None) -> None:
    code = """
from graph.recall.embedding.minilm import load_minilm
assert load_minilm().embed_query("hello").shape == (384,)
print("made")
"""
    home = {"HOME": str(tmp_path), "TMPDIR": str(tmp_path), "PATH": os.environ["PATH"]}
    switch = {} if asked_for is None else {"ORT_DISABLE_TELEMETRY": asked_for}
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=home | switch, capture_output=True, text=True, timeout=120, check=False
    )
    assert (ran.stdout, ran.stderr) == ("made\n", "")
    # With it on, it keeps a device ID and what it will send in the user's cache.
    assert list(tmp_path.rglob("*")) == []
