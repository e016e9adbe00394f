"""The index on disk: so that a start catches up instead of reading the whole ledger again.

A folder of one generation: a file of arrays for each namespace, and last of all a file that says what they are. What cannot be read
whole, or is of another ledger or version, is as if it were not there.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph.ledger.schema import OPEN
from graph.recall.columns import Columns, Grouped, Numbers
from graph.recall.feed import EpisodeRow
from graph.recall.namespace import NOBODY, Indexed

log = logging.getLogger(__name__)

FORMAT = 1
_MARK = "index.json"
_NUMBERS = ("things", "bases", "slots", "predicates", "qualifiers", "groups", "sources", "speakers", "episode_keys", "terms")


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a kept index has followed which ledger."""

    format: int
    ledger: str
    watermark: int
    at: int
    namespaces: tuple[str, ...]


def keep(folder: Path, mark: Mark, spaces: Mapping[str, Indexed]) -> None:
    """Write all namespaces. A kill at any step leaves the old ones or these."""
    building = folder.with_name(f"{folder.name}.building")
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir(parents=True)
    for number, name in enumerate(mark.namespaces):
        with (building / f"{number}.npz").open("wb") as file:
            np.savez(file, allow_pickle=False, **_arrays(spaces[name]))
    (building / _MARK).write_text(json.dumps(asdict(mark)), encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    building.rename(folder)


def kept(folder: Path) -> Mark | None:
    """What a folder holds; None for nothing that can be read."""
    try:
        found = json.loads((folder / _MARK).read_text(encoding="utf-8"))
        mark = Mark(**{**found, "namespaces": tuple(found["namespaces"])})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as failure:
        log.warning("the kept recall index cannot be read (%s); it is made anew", failure)
        return None
    return mark if mark.format == FORMAT else None


def restored(folder: Path, mark: Mark) -> dict[str, Indexed] | None:
    """The namespaces of a folder; None where they cannot be read whole."""
    found: dict[str, Indexed] = {}
    try:
        for number, name in enumerate(mark.namespaces):
            with np.load(folder / f"{number}.npz", allow_pickle=False) as arrays:
                found[name] = _restored(arrays)
    except Exception as failure:
        # Whatever a damaged file does to its reader: it is only a copy.
        log.warning("the kept recall index cannot be read (%s: %s); it is made anew", type(failure).__name__, failure)
        return None
    return found


def _arrays(indexed: Indexed) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {}
    for name in _NUMBERS:
        numbers: Numbers = getattr(indexed, name)
        # No name holds a NUL.
        names = list(numbers.names)
        arrays[f"{name}/text"] = np.frombuffer("\0".join(names).encode("utf-8", "surrogatepass"), np.uint8)
        arrays[f"{name}/count"] = np.array(len(names))
    for name, columns in _columns(indexed).items():
        arrays |= {f"{name}/{column}": values for column, values in columns.kept().items()}
    for name, grouped in _grouped(indexed).items():
        arrays |= {f"{name}/{column}": values for column, values in grouped.kept().items()}
    arrays["literals"] = np.array(sorted(indexed.literals), np.int64)
    return arrays


def _columns(indexed: Indexed) -> dict[str, Columns]:
    return {
        "claims": indexed.claims,
        "episodes": indexed.episodes,
        "rectangles": indexed.rectangles,
        "claim_lengths": indexed.claim_words.documents,
        "episode_lengths": indexed.episode_words.documents,
    }


def _grouped(indexed: Indexed) -> dict[str, Grouped]:
    return {
        "edges": indexed.edges,
        "claim_postings": indexed.claim_words.postings,
        "episode_postings": indexed.episode_words.postings,
    }


def _restored(arrays: Mapping[str, NDArray[Any]]) -> Indexed:
    indexed = Indexed()
    for name in _NUMBERS:
        text = arrays[f"{name}/text"].tobytes().decode("utf-8", "surrogatepass")
        names = text.split("\0") if int(arrays[f"{name}/count"]) else []
        if len(names) != int(arrays[f"{name}/count"]):
            raise ValueError(f"{len(names)} names of {name}, not as many as were written")
        getattr(indexed, name).take_over(names)
    for name, columns in _columns(indexed).items():
        columns.extend({column: arrays[f"{name}/{column}"] for column in columns.kept()})
    for name, grouped in _grouped(indexed).items():
        grouped.take_over({column: arrays[f"{name}/{column}"] for column in grouped.columns})
    indexed.literals |= set(arrays["literals"].tolist())
    _stand_up(indexed)
    indexed.settle()
    return indexed


def _stand_up(indexed: Indexed) -> None:
    """What follows from the rows: which episodes are found now, in which order."""
    table = indexed.episodes
    docs = np.flatnonzero(table["tx_to"] == OPEN)
    indexed.standing = {int(table["episode"][doc]): int(doc) for doc in docs}

    def named(numbers: Numbers, number: int) -> str | None:
        return None if number == NOBODY else numbers.names[number]

    indexed.turns.restore(
        EpisodeRow(
            int(table["row"][doc]),
            indexed.episode_keys.names[table["episode"][doc]],
            named(indexed.groups, int(table["group"][doc])),
            indexed.sources.names[table["source"][doc]],
            named(indexed.speakers, int(table["speaker"][doc])),
            int(table["said"][doc]),
        )
        for doc in docs
    )
