"""Who owns a data folder: one process at a time, known by a lock that ends with it and by a file that says where it answers."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from ontology.errors import DataFolderBusy

LOCK = "owner.lock"
OWNER = "owner.json"
PATIENCE = 0.5
"""Seconds for which a folder may seem owned only because somebody looks whether it is."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that owns a folder, and the address at which it answers (None: it serves nobody)."""

    pid: int
    url: str | None


def _lock(folder: Path) -> FileLock:
    # Not a singleton: two locks on one folder exclude each other inside one process too.
    return FileLock(folder / LOCK, thread_local=False)


def _stated_owner(folder: Path) -> Owner | None:
    try:
        stated = json.loads((folder / OWNER).read_text(encoding="utf-8"))
        return Owner(int(stated["pid"]), stated.get("url"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        # Being written just now, or left by a crash: the lock alone decides.
        return None


def owner_of(folder: Path) -> Owner | None:
    """The process that owns the folder now; None where none does. Its pid is 0 in the moment before it has said who it is."""
    if not (folder / LOCK).exists():
        return None
    lock = _lock(folder)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return _stated_owner(folder) or Owner(0, None)
    lock.release()
    return None


@contextmanager
def owned(folder: Path, url: str | None = None) -> Iterator[None]:
    """Own the folder (made where it is missing). Raises DataFolderBusy naming the process that owns it."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = _lock(folder)
    try:
        lock.acquire(timeout=PATIENCE, poll_interval=0.02)
    except Timeout as failure:
        owner = _stated_owner(folder)
        who = f"process {owner.pid}" if owner else "another process"
        raise DataFolderBusy(f"{folder} is in use by {who}", pid=owner.pid if owner else None) from failure
    try:
        written = folder / f"{OWNER}.new"
        written.write_text(json.dumps({"pid": os.getpid(), "url": url}), encoding="utf-8")
        written.replace(folder / OWNER)
        yield
    finally:
        (folder / OWNER).unlink(missing_ok=True)
        lock.release()
