"""Workers for the supervisor's tests, in a module that imports next to nothing: each is spawned."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from socket import socket

REFUSED = 3


def dies(log: Path, listening: socket) -> None:
    """Writes a line and dies."""
    _note(log)
    os._exit(9)


def refuses(log: Path, listening: socket) -> None:
    """Cannot work, now or later."""
    _note(log)
    sys.exit(REFUSED)


def works(log: Path, listening: socket) -> None:
    """Works until it is told to stop."""
    _note(log)
    time.sleep(60)


def _note(log: Path) -> None:
    with log.open("a") as file:
        file.write(f"{os.getpid()}\n")
