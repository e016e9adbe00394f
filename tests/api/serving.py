"""Serves the tests' service as a process of its own: `python -m tests.api.serving FOLDER PORT`."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from api.server import serve
from api.service import Service
from api.settings import Settings
from ontology.errors import ErstwhileError


def open_lately(folder: Path) -> Service:
    """The service; what it is made of is imported in the worker only."""
    from tests.api.opening import open_test_service

    return open_test_service(folder)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    try:
        sys.exit(serve(Settings(data=folder, host="127.0.0.1", port=int(sys.argv[2])), partial(open_lately, folder)))
    except ErstwhileError as failure:
        sys.exit(f"refused: {failure.message}")
