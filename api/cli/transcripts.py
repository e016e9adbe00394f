"""What a file holds that can be tried out: turns as rows, or a transcript of any format."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from extraction.rows import turn_from_row
from ontology.episode import EpisodeDraft, Turn
from ontology.errors import ErstwhileError
from ontology.instant import format_instant
from workers.readers import ReadOptions, Rejected, StatedEpisode, read_path
from workers.turns import said_at, turn_of


def turns_of(path: Path, options: ReadOptions) -> Iterable[Turn]:
    """The turns of a file; what cannot be read is said on standard error."""
    rows = _turn_rows(path)
    if rows is not None:
        yield from (turn_from_row(row) for row in rows)
        return
    yield from (turn_of(draft, said_at(draft)) for draft in _speech(path, options))


def drafts_of(path: Path, options: ReadOptions) -> Iterator[EpisodeDraft]:
    """The episodes of speech of a file of turns or of any transcript; what cannot be read is said on standard error."""
    rows = _turn_rows(path)
    if rows is not None:
        for turn in map(turn_from_row, rows):
            yield EpisodeDraft(
                turn.text,
                source="preview",
                external_id=turn.id,
                speaker=turn.speaker,
                addressee=turn.addressee,
                said_at=format_instant(turn.said),
                time_zone=turn.time_zone,
                project=turn.project,
            )
        return
    yield from _speech(path, options)


def _speech(path: Path, options: ReadOptions) -> Iterator[EpisodeDraft]:
    for item in read_path(path, options):
        if isinstance(item, Rejected):
            print(f"erstwhile: {item}", file=sys.stderr)
        elif not isinstance(item, StatedEpisode) and item.speech:
            yield item


def _turn_rows(path: Path) -> list[dict[str, Any]] | None:
    """The rows of a file of turns (`id`, `said`, `text` on each line); None where it is something else."""
    try:
        with path.open(encoding="utf-8", newline="\n") as lines:
            rows = [json.loads(line) for line in lines if line.strip()]
    except IsADirectoryError:
        return None
    except OSError as failure:
        raise ErstwhileError(f"{path} cannot be read: {failure.strerror}") from failure
    except ValueError:
        return None
    turns = all(isinstance(row, dict) and {"id", "said", "text"} <= row.keys() for row in rows)
    return rows if rows and turns else None
