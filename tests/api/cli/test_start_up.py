"""A reading command loads only what it needs: these modules take longer to load than the answer takes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HEAVY = ("spacy", "extraction.extractor", "dateparser", "alembic", "httpx", "kuzu", "pyarrow", "sqlalchemy.orm")


def test_reading_loads_nothing_heavy(tmp_path: Path) -> None:
    arguments = ["ask", "Ana", "lives_in", "Rome", "--at", "2024-03-01"]
    code = f"""
import sys
from api.cli.commands import app
for _ in range(2):  # the first run makes the ledger, which does need the migrations
    before = set(sys.modules)
    app({[*arguments, "--data", str(tmp_path)]!r}, standalone_mode=False)
    if _ == 0:
        for name in [name for name in sys.modules if name.split(".")[0] == "alembic"]:
            del sys.modules[name]
loaded = [name for name in {HEAVY!r} if name in sys.modules]
sys.exit(f"loaded: {{loaded}}" if loaded else 0)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
