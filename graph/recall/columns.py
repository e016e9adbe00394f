"""Columns that grow: numpy arrays with room at the end, so that a row costs its bytes and a reader an array view."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

_ROOM = 1024
_GROWTH = 3


class Columns:
    """Named arrays of one length. Rows are appended, and cells changed in place; a view taken before sees the change or not.

    That is safe for what is changed here: a row's last transaction goes from OPEN to one that no reader of then stands on.
    """

    def __init__(self, **types: DTypeLike) -> None:
        self._arrays: dict[str, NDArray[Any]] = {name: np.zeros(_ROOM, dtype=kind) for name, kind in types.items()}
        self.size = 0

    def __getitem__(self, name: str) -> NDArray[Any]:
        """The rows there are now of a column, as a view."""
        return self._arrays[name][: self.size]

    def append(self, rows: Sequence[tuple[Any, ...]]) -> int:
        """Add rows, given in the order of the columns; answers with the number of the first."""
        first, size = self.size, self.size + len(rows)
        if not rows:
            return first
        self._make_room(size)
        for name, values in zip(self._arrays, zip(*rows, strict=True), strict=True):
            self._arrays[name][first:size] = values
        self.size = size
        return first

    def extend(self, columns: Mapping[str, NDArray[Any]]) -> int:
        """Add rows given as whole columns; answers with the number of the first."""
        first = self.size
        size = first + len(next(iter(columns.values())))
        self._make_room(size)
        for name, values in columns.items():
            self._arrays[name][first:size] = values
        self.size = size
        return first

    def _make_room(self, size: int) -> None:
        for name, array in self._arrays.items():
            if size > len(array):
                # A reader may still hold the old one.
                larger = np.zeros(max(size, len(array) * 3 // 2), dtype=array.dtype)
                larger[: self.size] = array[: self.size]
                self._arrays[name] = larger

    def kept(self) -> dict[str, NDArray[Any]]:
        """All columns, to be written to a file."""
        return {name: self[name] for name in self._arrays}


class Numbers:
    """Numbers for things by their names: 0, 1, 2 in the order in which they are first named. Thread-safe."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names: list[str] = list(names)
        self._known = {name: number for number, name in enumerate(self.names)}
        self._lock = Lock()

    def of(self, name: str) -> int:
        """The number of a thing; a new one where it has none."""
        number = self._known.get(name)
        if number is not None:
            return number
        with self._lock:
            if name not in self._known:
                self.names.append(name)
                self._known[name] = len(self.names) - 1
            return self._known[name]

    def take_over(self, names: Sequence[str]) -> None:
        """Give the numbers 0, 1, 2 to names; there were none."""
        self.names[:] = names
        self._known |= {name: number for number, name in enumerate(names)}

    def known(self, name: str) -> int | None:
        """The number of a thing, if it has one."""
        return self._known.get(name)

    def __len__(self) -> int:
        return len(self.names)


class Grouped:
    """Entries by an integer key, each key's in the order of their arrival: postings, and the edges of a node.

    They lie in levels, each sorted by key: what is appended makes a level of its own, which takes in those before it that are
    not several times as large. So there are few, and an entry is sorted again only a few times. Readers take `view`; it never
    changes.
    """

    def __init__(self, **types: DTypeLike) -> None:
        self._types: dict[str, DTypeLike] = {"key": np.int32, **types}
        self.entries = Columns(**self._types)
        """What was appended since the last view was made."""
        self.view = GroupedView((), {name: self.entries[name] for name in types})

    def settle(self) -> None:
        """Make a view of all that was appended."""
        size = self.entries.size
        if not size:
            return
        levels, parts = list(self.view.levels), [self.entries.kept()]
        while levels and levels[-1].size < _GROWTH * size:
            size += levels[-1].size
            parts.insert(0, levels.pop().entries())
        self._show((*levels, _Level.of({name: np.concatenate([part[name] for part in parts]) for name in self._types})))
        self.entries = Columns(**self._types)

    def _show(self, levels: tuple[_Level, ...]) -> None:
        self.view = GroupedView(levels, {name: self.entries[name][:0] for name in self._types if name != "key"})

    def kept(self) -> dict[str, NDArray[Any]]:
        """All entries, to be written to a file."""
        self.settle()
        parts = [level.entries() for level in self.view.levels] or [self.entries.kept()]
        return {name: np.concatenate([part[name] for part in parts]) for name in self._types}

    def take_over(self, entries: dict[str, NDArray[Any]]) -> None:
        """Begin with entries; there were none."""
        if len(entries["key"]):
            self._show((_Level.of(entries),))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, that of the key first."""
        return tuple(self._types)


class _Level:
    """Entries sorted by key; those of `keys[n]` are `[starts[n], starts[n + 1])`. Nothing else holds them."""

    __slots__ = ("columns", "keys", "starts")

    def __init__(self, keys: NDArray[np.int32], starts: Ints, columns: dict[str, NDArray[Any]]) -> None:
        self.keys, self.starts, self.columns = keys, starts, columns

    @property
    def size(self) -> int:
        """How many entries it has."""
        return int(self.starts[-1])

    @classmethod
    def of(cls, entries: dict[str, NDArray[Any]]) -> _Level:
        """Sort some entries, at least one."""
        keys = entries["key"]
        if np.any(keys[1:] < keys[:-1]):
            order = np.argsort(keys, kind="stable")
            entries = {name: values[order] for name, values in entries.items()}
            keys = entries["key"]
        first = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
        starts = np.concatenate((first, [len(keys)])).astype(np.int64)
        return cls(keys[first], starts, {name: values for name, values in entries.items() if name != "key"})

    def entries(self) -> dict[str, NDArray[Any]]:
        """The entries, sorted."""
        return {"key": np.repeat(self.keys, np.diff(self.starts)), **self.columns}

    def spans(self, keys: NDArray[Any]) -> tuple[Ints, Ints]:
        """Where the entries of some keys begin and end."""
        # Of one type with those here: else all of these are converted, each time.
        keys = keys.astype(self.keys.dtype, copy=False)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        found = self.keys[place] == keys
        return np.where(found, self.starts[place], 0), np.where(found, self.starts[place + 1], 0)


class GroupedView:
    """A view of Grouped at one time."""

    __slots__ = ("_types", "levels")

    def __init__(self, levels: tuple[_Level, ...], types: dict[str, NDArray[Any]]) -> None:
        self.levels, self._types = levels, types

    def of(self, key: int, *names: str) -> list[NDArray[Any]]:
        """The entries of one key: a column for each name."""
        wanted = np.array([key], dtype=np.int32)
        parts: list[list[NDArray[Any]]] = [[] for _ in names]
        for level in self.levels:
            (start,), (end,) = level.spans(wanted)
            if end > start:
                for part, name in zip(parts, names, strict=True):
                    part.append(level.columns[name][start:end])
        return [self._joined(part, name) for part, name in zip(parts, names, strict=True)]

    def counts(self, keys: NDArray[Any]) -> Ints:
        """How many entries each key has."""
        total = np.zeros(len(keys), np.int64)
        for level in self.levels:
            starts, ends = level.spans(keys)
            total += ends - starts
        return total

    def among(self, keys: NDArray[Any], *names: str) -> tuple[Ints, list[NDArray[Any]]]:
        """The entries of many keys, key by key: the place in `keys` of each entry, and a column for each name."""
        owners: list[Ints] = []
        found: list[list[NDArray[Any]]] = [[] for _ in names]
        for level in self.levels:
            starts, ends = level.spans(keys)
            lengths = ends - starts
            total = int(lengths.sum())
            if total == 0:
                continue
            owners.append(np.repeat(np.arange(len(keys)), lengths))
            offsets = np.repeat(starts - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths)
            places = np.arange(total) + offsets
            for column, name in zip(found, names, strict=True):
                column.append(level.columns[name][places])
        owner = np.concatenate(owners) if owners else np.zeros(0, np.int64)
        columns = [self._joined(part, name) for part, name in zip(found, names, strict=True)]
        if len(owners) > 1:
            order = np.argsort(owner, kind="stable")
            return owner[order], [column[order] for column in columns]
        return owner, columns

    def _joined(self, parts: list[NDArray[Any]], name: str) -> NDArray[Any]:
        if len(parts) == 1:
            return parts[0]
        return np.concatenate(parts) if parts else self._types[name][:0]
