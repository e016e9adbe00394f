"""The graph's files in the data folder: the live one, one under construction, and at most one set aside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from graph.store.driver import NATIVE, Native
from graph.store.port import GraphGivenUp, GraphUnreadable

# How often a process may die while opening a file before the file counts as unreadable, and while loading one before it is given up.
_ATTEMPTS = 2


class GraphFiles:
    """Kuzu and Ladybug keep a graph in one file, with others beside it that carry its name and a suffix. Neither reads the other's."""

    def __init__(self, folder: Path, engine: Native = "kuzu") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.live = folder / f"graph.{engine}"
        self.building = folder / f"building.{engine}"
        self.aside = folder / f"set-aside.{engine}"
        self._opening = folder / f"opening.{engine}"
        self._loading = folder / f"loading.{engine}"
        self._others = [folder / f"{name}.{other}" for other in NATIVE if other != engine for name in ("graph", "building", "set-aside")]

    @contextmanager
    def opening(self) -> Iterator[None]:
        """Surrounds the opening of the live file. Raises GraphUnreadable where opening it has killed the process twice.

        Nothing can be caught when native code crashes on a broken file; the supervisor's restart would crash again, for ever.
        So the attempt is written down before and struck out after.
        """
        attempts = len(self._opening.read_bytes()) if self._opening.exists() else 0
        if attempts >= _ATTEMPTS:
            self._opening.unlink()
            raise GraphUnreadable(f"the process died {attempts} times while opening {self.live.name}")
        self._opening.write_bytes(b"." * (attempts + 1))
        try:
            yield
        finally:
            # An exception is no crash.
            self._opening.unlink(missing_ok=True)

    @contextmanager
    def loading(self, pool_mb: int) -> Iterator[None]:
        """Surrounds the loading of the file under construction. Raises GraphGivenUp where loading it has killed the process twice.

        A load is the same each time: what was too large for the pool is so again after a restart, and the service would die for ever.
        Attempts are counted as in `opening`, for one size of the pool in MB: with more memory it is worth another try.
        """
        tried, attempts = self._loads()
        attempts = attempts if tried == pool_mb else 0
        if attempts >= _ATTEMPTS:
            raise GraphGivenUp(f"the process died {attempts} times while loading {self.live.name} with a pool of {pool_mb} MB")
        # A kill amid this costs the count, never the start: what cannot be read counts as none.
        self._loading.write_text(f"{pool_mb} {attempts + 1}")
        try:
            yield
        finally:
            # An exception is no crash.
            self._loading.unlink(missing_ok=True)

    def _loads(self) -> tuple[int, int]:
        """The pool in MB that a load was tried with, and how often the process died of it."""
        words = self._loading.read_text().split() if self._loading.exists() else []
        return (int(words[0]), int(words[1])) if len(words) == 2 and all(word.isdigit() for word in words) else (0, 0)

    def forget_loads(self) -> None:
        """Somebody asks for a load by hand: the deaths of earlier ones do not count."""
        self._loading.unlink(missing_ok=True)

    def set_aside(self) -> None:
        """Move the live file out of the way, over an earlier one."""
        _remove(self.aside)
        _rename(self.live, self.aside)
        self._opening.unlink(missing_ok=True)

    def discard_building(self) -> None:
        """Remove what a rebuild that was cut short left."""
        _remove(self.building)

    def discard_others(self) -> None:
        """Remove the graph of another engine, which nobody keeps up any more and which would keep what is erased here.

        One that a process has open stays.
        """
        for path in self._others:
            try:
                with FileLock(f"{path}.lock", timeout=0):
                    _remove(path)
            except Timeout:
                continue

    def promote(self) -> None:
        """Make the finished file the live one."""
        _rename(self.building, self.live)


def _parts(path: Path) -> list[Path]:
    """The file and those beside it; the main file last, so that it is never without its log. Lock files belong to no copy."""
    found = [part for part in path.parent.glob(f"{path.name}*") if part.suffix != ".lock"]
    return sorted(found, key=lambda part: (part == path, part.name))


def _remove(path: Path) -> None:
    for part in reversed(_parts(path)):
        if part.is_dir():
            for inner in sorted(part.rglob("*"), reverse=True):
                inner.rmdir() if inner.is_dir() else inner.unlink()
            part.rmdir()
        else:
            part.unlink()


def _rename(path: Path, target: Path) -> None:
    for part in _parts(path):
        part.rename(target.with_name(target.name + part.name.removeprefix(path.name)))
